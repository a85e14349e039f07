// Evaluates ONNX's own conformance cases on the host, without any kernel.
//
// The cases test each operator's importer, body and indexing maps against the expected outputs. The
// test binds the model's inputs to constants, so that the whole model folds to constants
// (codegen/import/onnx/evaluate.h). The cases are those of libonnx-testdata (Debian) and
// ../shared/onnx/node. If a folder is missing, its test is skipped with a message that names the
// folder. A case with unsupported operators is counted and named as skipped.
#include "codegen/import/onnx/graph.h"
#include "codegen/import/tensor_proto.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

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
    ImportError error{ImportFailure::kBadInput, ""};
    if (!readTensorProto(file.string(), tensor, error))
      throw error;
    tensors.push_back(tensor);
  }
}

/// Returns a description of the first difference beyond the tolerance; empty if there is none.
std::string difference(const HostTensor &actual, const HostTensor &expected) {
  if (actual.type != expected.type)
    return "type " + dtypeName(actual.type).str() + " instead of " + dtypeName(expected.type).str();
  if (actual.dims != expected.dims)
    return "another shape";
  const double tolerance = expected.type == DType::kF16    ? 2e-3
                           : expected.type == DType::kBF16 ? 2e-2
                                                           : 1e-4;
  for (int64_t i = 0; i < expected.elementCount(); ++i) {
    double a = actual.floatAt(i), e = expected.floatAt(i);
    if ((std::isnan(a) && std::isnan(e)) || a == e)
      continue;
    if (!(std::fabs(a - e) <= tolerance + tolerance * std::fabs(e)))
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", expected " +
             std::to_string(e);
  }
  return "";
}

struct Tally {
  int passed = 0;
  std::vector<std::string> failed, skipped;
};

/// Returns why the model is unsupported for all values of its inputs; empty if it may be supported.
/// This check precedes the reading of the data files, because an unsupported model's data may not
/// be tensors.
std::string unsupported(const fs::path &model) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message += diagnostic.str();
    return mlir::success();
  });
  ImportFailure kind = ImportFailure::kBadInput;
  if (importOnnx(context, model.string(), {}, kind) || kind != ImportFailure::kUnsupported)
    return "";
  // Some errors depend on the values of the inputs. runCase() knows the values.
  bool byValue = message.find("only constants are supported") != std::string::npos ||
                 message.find("depends on the values") != std::string::npos ||
                 message.find("dynamic") != std::string::npos;
  return byValue ? "" : message;
}

void runCase(const fs::path &folder, Tally &tally) {
  std::string name = folder.filename().string();
  // The data of ONNX 1.12's package have the type uint16 instead of bfloat16.
  if (name.find("BFLOAT16") != std::string::npos) {
    tally.skipped.push_back(name + ": its data do not have the model's type");
    return;
  }
  // The data of ONNX 1.16 and 1.17 wrap around where the specification says that they saturate.
  if (name.rfind("test_qlinearmatmul_", 0) == 0 && name.find("_int8_") != std::string::npos) {
    tally.skipped.push_back(name + ": its data wrap around instead of saturating");
    return;
  }
  if (std::string why = unsupported(folder / "model.onnx"); !why.empty()) {
    tally.skipped.push_back(name + ": " + why);
    return;
  }
  try {
    for (int set = 0;; ++set) {
      fs::path data = folder / ("test_data_set_" + std::to_string(set));
      if (!fs::exists(data))
        break;
      std::vector<Constant> inputs = readTensors(data, "input_"),
                            expected = readTensors(data, "output_");
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
    auto &list = error.kind == ImportFailure::kUnsupported ? tally.skipped : tally.failed;
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
  int passing; // The number of cases that pass, so that the loss of an operator fails the test.
};

void PrintTo(const Suite &suite, std::ostream *out) { *out << suite.name; }

class Conformance : public testing::TestWithParam<Suite> {};

TEST_P(Conformance, MatchesTheExpectedOutputs) {
  fs::path root(GetParam().folder);
  if (!fs::is_directory(root))
    GTEST_SKIP() << root << " is absent";
  Tally tally = runFolder(root);
  for (const std::string &text : tally.failed)
    ADD_FAILURE() << text;
  EXPECT_EQ(tally.passed, GetParam().passing)
      << (tally.passed < GetParam().passing ? "fewer cases pass than before"
                                            : "more cases pass than before: update the number of "
                                              "this suite at the end of conformance_test.cpp");
}

#define GANTRY_TESTDATA "/usr/share/libonnx-testdata/data/"
INSTANTIATE_TEST_SUITE_P(Onnx, Conformance,
                         testing::Values(Suite{"node", GANTRY_TESTDATA "node", 693},
                                         Suite{"pytorch", GANTRY_TESTDATA "pytorch-converted", 82},
                                         Suite{"operator", GANTRY_TESTDATA "pytorch-operator", 35},
                                         Suite{"simple", GANTRY_TESTDATA "simple", 7},
                                         Suite{"newer", GANTRY_SHARED "/onnx/node", 223}),
                         [](const auto &info) { return info.param.name; });

} // namespace
