// ONNX's own conformance cases, evaluated on the host: each operator's importer, body and indexing maps
// against the expected outputs, without any kernel. The model's inputs are bound to constants, so that
// everything folds (codegen/import/onnx/evaluate.h).
//
// Cases: libonnx-testdata (Debian) and ../shared/onnx/node, each skipped by name where absent. A case
// whose operators are not supported is counted and named, never passed.
#include "codegen/import/onnx/graph.h"
#include "codegen/import/tensor_proto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

using namespace gantry::importer;
namespace fs = std::filesystem;

namespace {

std::vector<Constant> readTensors(const fs::path &folder, const char *prefix) {
  std::vector<Constant> tensors;
  for (int i = 0;; ++i) {
    fs::path file = folder / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(file))
      return tensors;
    Constant tensor;
    ImportError error{ImportKind::badInput, ""};
    if (!readTensorProto(file.string(), tensor, error))
      throw error;
    tensors.push_back(tensor);
  }
}

// Empty where equal within tolerance.
std::string difference(const HostTensor &actual, const HostTensor &expected) {
  if (actual.type != expected.type)
    return "type " + dtypeName(actual.type).str() + " instead of " + dtypeName(expected.type).str();
  if (actual.dims != expected.dims)
    return "another shape";
  const double tolerance = expected.type == DType::F16 ? 2e-3 : expected.type == DType::BF16 ? 2e-2 : 1e-4;
  for (int64_t i = 0; i < expected.elementCount(); ++i) {
    double a = actual.floatAt(i), e = expected.floatAt(i);
    if ((std::isnan(a) && std::isnan(e)) || a == e)
      continue;
    if (!(std::fabs(a - e) <= tolerance + tolerance * std::fabs(e)))
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " + std::to_string(e);
  }
  return "";
}

struct Tally {
  int passed = 0;
  std::vector<std::string> failed, skipped;
};

void runCase(const fs::path &folder, Tally &tally) {
  std::string name = folder.filename().string();
  try {
    for (int set = 0;; ++set) {
      fs::path data = folder / ("test_data_set_" + std::to_string(set));
      if (!fs::exists(data))
        break;
      std::vector<Constant> inputs = readTensors(data, "input_"), expected = readTensors(data, "output_");
      std::vector<Constant> outputs = evaluateOnnx((folder / "model.onnx").string(), inputs);
      if (outputs.size() < expected.size()) {
        tally.failed.push_back(name + ": too few outputs");
        return;
      }
      for (size_t i = 0; i < expected.size(); ++i)
        if (std::string text = difference(*outputs[i], *expected[i]); !text.empty()) {
          tally.failed.push_back(name + ": output " + std::to_string(i) + ": " + text);
          return;
        }
    }
    ++tally.passed;
  } catch (const ImportError &error) {
    auto &list = error.kind == ImportKind::unsupported ? tally.skipped : tally.failed;
    list.push_back(name + ": " + error.message);
  }
}

Tally runFolder(const fs::path &root) {
  std::vector<fs::path> cases;
  for (const auto &entry : fs::directory_iterator(root))
    if (fs::exists(entry.path() / "model.onnx"))
      cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  Tally tally;
  for (const fs::path &folder : cases)
    runCase(folder, tally);
  for (const std::string &text : tally.skipped)
    std::printf("not supported: %s\n", text.c_str());
  std::printf("%s: %d passed, %zu not supported, %zu failed\n", root.c_str(), tally.passed,
              tally.skipped.size(), tally.failed.size());
  return tally;
}

struct Suite {
  const char *name;
  const char *folder;
  int atLeast; // passing cases: what is supported stays supported
};

class Conformance : public testing::TestWithParam<Suite> {};

TEST_P(Conformance, matchesTheExpectedOutputs) {
  fs::path root(GetParam().folder);
  if (!fs::is_directory(root))
    GTEST_SKIP() << root << " is absent";
  Tally tally = runFolder(root);
  for (const std::string &text : tally.failed)
    ADD_FAILURE() << text;
  EXPECT_GE(tally.passed, GetParam().atLeast);
}

#define GANTRY_TESTDATA "/usr/share/libonnx-testdata/data/"
INSTANTIATE_TEST_SUITE_P(Onnx, Conformance,
                         testing::Values(Suite{"node", GANTRY_TESTDATA "node", 1},
                                         Suite{"pytorch", GANTRY_TESTDATA "pytorch-converted", 1},
                                         Suite{"operator", GANTRY_TESTDATA "pytorch-operator", 1},
                                         Suite{"simple", GANTRY_TESTDATA "simple", 1},
                                         Suite{"newer", GANTRY_SHARED "/onnx/node", 1}),
                         [](const auto &info) { return info.param.name; });

} // namespace
