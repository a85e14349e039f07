// numerics, the special-value test: tests every elementwise operator and every reduction of the
// importer, in every type that it supports, on special values (grid.h), against references with the
// semantics of IEEE 754-2019 and C99.
//
//   numerics [--docs FILE] [--update] [--only OPERATOR] [--type NAME] [--host]
//
// The operators are compiled for vulkan:generic and vulkan:lavapipe, and run with every binding on
// the device that GANTRY_DEVICE names, or on the first one. They are also folded as constants on
// the host. A result must equal the reference in every bit (NaN equals NaN), or be within the error
// bound of its operator. If the device flushes denormal numbers, which the test measures first, a
// denormal operand or result may also be treated as zero.
//
// --docs compares FILE with the generated document, and --update writes the document to FILE.
// --only and --type restrict the test, and --host only folds the operators on the host; the
// document is then not compared. Exit codes: 0: all results are right; 1: a result is wrong, the
// document is stale, an operator has no case, or an option is wrong; 77: there is no device.
#include "tests/e2e/numerics/report.h"
#include "tests/e2e/numerics/runner.h"

#include "codegen/import/import.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace gantry::numerics {
namespace {

constexpr int kSkipped = 77;

struct Options {
  std::string docs, only, type;
  bool update = false, hostOnly = false;
};

/// Compares the table with the importer. Returns the number of operators without a row plus the
/// number of rows without an operator.
int checkRegistry(const std::vector<Case> &all) {
  std::set<std::string> known;
  int wrong = 0;
  const std::vector<std::string> names = importer::supportedOnnxOperators();
  const std::set<std::string> registry(names.begin(), names.end());
  for (const Case &test : all)
    known.insert(test.op);
  for (const auto &[name, kind] : otherOperators())
    known.insert(name);
  for (const std::string &name : registry)
    if (!known.count(name) && ++wrong)
      std::printf("FAILED the operator %s has no row in tests/e2e/numerics/operators.cpp\n",
                  name.c_str());
  for (const std::string &name : known)
    if (!registry.count(name) && ++wrong)
      std::printf("FAILED the importer has no operator %s\n", name.c_str());
  return wrong;
}

int checkDocs(const Options &options, const std::string &text) {
  if (options.docs.empty() || !options.only.empty() || !options.type.empty() || options.hostOnly)
    return 0;
  std::ifstream file(options.docs, std::ios::binary);
  std::stringstream current;
  current << file.rdbuf();
  if (current.str() == text)
    return 0;
  if (options.update) {
    std::ofstream(options.docs, std::ios::binary) << text;
    std::printf("wrote %s\n", options.docs.c_str());
    return 0;
  }
  std::printf("FAILED %s is stale; update it with: numerics --docs %s --update\n",
              options.docs.c_str(), options.docs.c_str());
  return 1;
}

int run(const Options &options) {
  const std::vector<Case> all = cases();
  int failures = checkRegistry(all);
  size_t chosen = 0;
  auto device = Device::open();
  if (!device && !options.hostOnly) {
    std::printf("skipped: there is no Vulkan device: %s\n", device.error().message().c_str());
    return failures == 0 ? kSkipped : 1;
  }
  Report report;
  Runner runner(options.hostOnly ? nullptr : &*device, report);
  runner.measureDenormals();
  for (Type type = GANTRY_TYPE_F32; type <= GANTRY_TYPE_BOOL; type = Type(type + 1)) {
    if (!options.type.empty() && options.type != gantry_type_name(type))
      continue;
    std::vector<const Case *> group;
    for (const Case &test : all)
      if (test.types[0] == type && (options.only.empty() || test.op == options.only))
        group.push_back(&test);
    chosen += group.size();
    if (!group.empty())
      runner.runGroup(type, group);
  }
  if (chosen == 0 && ++failures)
    std::printf("FAILED no case has the operator '%s' and the type '%s' (empty: any)\n",
                options.only.c_str(), options.type.c_str());
  failures += report.failures();
  failures += checkDocs(options, report.markdown());
  std::printf("%zu cases, %lld results compared, %d failures\n", chosen,
              static_cast<long long>(report.compared()), failures);
  return failures ? 1 : 0;
}

} // namespace
} // namespace gantry::numerics

int main(int argc, char **argv) {
  // Each artifact is compiled for one profile. Without this, the runtime warns of each artifact
  // whose profile is not the device's own.
  setenv("GANTRY_LOG", "error", /*overwrite=*/0);
  gantry::numerics::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (name == "--docs")
      options.docs = value();
    else if (name == "--only")
      options.only = value();
    else if (name == "--type")
      options.type = value();
    else if (name == "--update")
      options.update = true;
    else if (name == "--host")
      options.hostOnly = true;
    else {
      std::fprintf(stderr,
                   "numerics takes --docs FILE, --update, --only OPERATOR, --type NAME and "
                   "--host, not '%s'\n",
                   name.c_str());
      return 1;
    }
  }
  return gantry::numerics::run(options);
}
