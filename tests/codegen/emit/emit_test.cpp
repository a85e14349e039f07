// Compiles MLIR text and checks the artifact: commands, storage slots, the arena's size, barriers,
// expressions of sizes, and the variants of kernels and of the program. Also tests that a failed
// compilation leaves no file.
#include "codegen/pipeline.h"
#include "engine/artifact/artifact.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace gantry::codegen {
namespace {

namespace fs = std::filesystem;
using artifact::Storage;

struct Compiled {
  CompileResult result;
  std::vector<std::string> errors;
  std::unique_ptr<artifact::Artifact> artifact;
  fs::path output;
};

class Emit : public testing::Test {
protected:
  Emit() {
    std::string name = (fs::temp_directory_path() / "gantry_emit_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Emit() override { fs::remove_all(folder_); }

  Compiled compile(const std::string &text,
                   const std::vector<std::string> &profiles = {"vulkan:generic"}) {
    fs::path model = folder_ / "model.mlir";
    std::ofstream(model) << text;
    Compiled compiled;
    compiled.output = folder_ / "model.gantry";
    CompileOptions options;
    options.profiles = profiles;
    options.diagnostic = [&](int severity, const std::string &message) {
      if (severity == 0)
        compiled.errors.push_back(message);
    };
    compiled.result = compileModel(model.string(), compiled.output.string(), options);
    if (compiled.result == CompileResult::kOk) {
      auto opened = artifact::Artifact::open(compiled.output.string());
      EXPECT_TRUE(opened.isOk()) << opened.status().message();
      if (opened.isOk())
        compiled.artifact = opened.take();
    }
    return compiled;
  }

  fs::path folder_;
};

// The program computes e = exp(x), the sum of e over each row, and their quotient, which reuses the
// storage of e. Both outputs are computed from the quotient. ROWS, DIM and SIZE are placeholders.
constexpr const char *kSoftmaxTail = R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#t = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%x: tensor<ROWSx8xf32>) -> (tensor<8xROWSxf32>, tensor<8xROWSxf32>) {
  %z = arith.constant 0.0 : f32
  DIM
  %e = tensor.empty(SIZE) : tensor<ROWSx8xf32>
  %er = tensor.empty(SIZE) : tensor<ROWSxf32>
  %et = tensor.empty(SIZE) : tensor<8xROWSxf32>
  %f = linalg.fill ins(%z : f32) outs(%er : tensor<ROWSxf32>) -> tensor<ROWSxf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<ROWSx8xf32>) outs(%e : tensor<ROWSx8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.exp %p : f32
    linalg.yield %v : f32
  } -> tensor<ROWSx8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<ROWSx8xf32>) outs(%f : tensor<ROWSxf32>) {
  ^bb0(%p: f32, %acc: f32):
    %v = arith.addf %acc, %p : f32
    linalg.yield %v : f32
  } -> tensor<ROWSxf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<ROWSx8xf32>, tensor<ROWSxf32>) outs(%e : tensor<ROWSx8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %v = arith.divf %p, %q : f32
    linalg.yield %v : f32
  } -> tensor<ROWSx8xf32>
  %5 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<ROWSx8xf32>) outs(%et : tensor<8xROWSxf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<8xROWSxf32>
  %6 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<ROWSx8xf32>) outs(%et : tensor<8xROWSxf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = math.tanh %p : f32
    linalg.yield %v : f32
  } -> tensor<8xROWSxf32>
  return %5, %6 : tensor<8xROWSxf32>, tensor<8xROWSxf32>
}
)";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST_F(Emit, StaticProgramIsPlannedAndSharesStorageInPlace) {
  std::string text = replaced(kSoftmaxTail, "ROWS", "64");
  text = replaced(replaced(text, "DIM", ""), "SIZE", "");
  Compiled compiled = compile(text);
  ASSERT_EQ(compiled.result, CompileResult::kOk);
  const auto &program = compiled.artifact->program();
  EXPECT_FALSE(program.dynamic());
  EXPECT_EQ(program.symbols()->size(), 0u);
  ASSERT_EQ(program.commands()->size(), 5u);
  // The exponential and the quotient share a slot of 2 KiB; the sums have a slot of 256 bytes.
  EXPECT_EQ(program.arena_bytes(), 64u * 8 * 4 + 256);
  EXPECT_EQ(program.lower_bound_bytes(), program.arena_bytes());
  std::map<uint32_t, int> slots;
  for (const auto *value : *program.values())
    if (value->storage() == Storage::transient)
      ++slots[value->slot()];
  EXPECT_EQ(slots.size(), 2u);
  // Each of the commands 1 to 3 reads the result of the previous one.
  EXPECT_FALSE(program.commands()->Get(0)->barrier_before());
  for (uint32_t c = 1; c < 4; ++c)
    EXPECT_TRUE(program.commands()->Get(c)->barrier_before()) << c;
  // The commands of the two outputs are independent.
  EXPECT_FALSE(program.commands()->Get(4)->barrier_before());
}

TEST_F(Emit, DynamicProgramHasExpressionsInsteadOfOffsets) {
  std::string text = replaced(kSoftmaxTail, "ROWS", "?");
  text = replaced(text, "DIM",
                  "%c0 = arith.constant 0 : index\n  %d = tensor.dim %x, %c0 : tensor<?x8xf32>");
  text = replaced(text, "SIZE", "%d");
  Compiled compiled = compile(text);
  ASSERT_EQ(compiled.result, CompileResult::kOk)
      << (compiled.errors.empty() ? "" : compiled.errors[0]);
  const auto &program = compiled.artifact->program();
  EXPECT_TRUE(program.dynamic());
  ASSERT_EQ(program.symbols()->size(), 1u);
  int64_t rows = 37;
  auto values = artifact::evaluateExprs(program, {&rows, 1});
  ASSERT_TRUE(values.isOk()) << values.status().message();
  const auto *output = program.values()->Get(program.outputs()->Get(0)->value());
  EXPECT_EQ((*values)[output->size()], 37 * 8 * 4);
  const auto *exponential = program.commands()->Get(0);
  EXPECT_EQ((*values)[exponential->flops()], 37 * 8);
}

TEST_F(Emit, ViewsOfInputsAndConstantsAreCopiedOut) {
  Compiled compiled = compile(R"(
func.func @main(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<2xf32>) {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0, %c : tensor<32xf32>, tensor<2xf32>
}
)");
  ASSERT_EQ(compiled.result, CompileResult::kOk);
  const auto &program = compiled.artifact->program();
  ASSERT_EQ(program.commands()->size(), 2u);
  for (const auto *command : *program.commands())
    EXPECT_EQ(command->kind(), artifact::CommandKind::copy);
}

TEST_F(Emit, AKernelHasAStorageBufferAndAnAddressVariant) {
  Compiled compiled = compile(R"(
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
)");
  ASSERT_EQ(compiled.result, CompileResult::kOk);
  const auto *kernel = compiled.artifact->program().kernels()->Get(0);
  ASSERT_EQ(kernel->variants()->size(), 2u);
  EXPECT_EQ(kernel->variants()->Get(0)->binding(), artifact::Binding::storage_buffer);
  EXPECT_EQ(kernel->variants()->Get(0)->capabilities()->size(), 0u);
  EXPECT_EQ(kernel->variants()->Get(1)->binding(), artifact::Binding::address);
  EXPECT_EQ(kernel->variants()->Get(1)->push_constant_bytes(), 16u);
}

TEST_F(Emit, AFailedCompilationLeavesNothing) {
  Compiled compiled = compile("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {");
  EXPECT_EQ(compiled.result, CompileResult::kBadInput);
  EXPECT_EQ(compiled.errors.size(), 1u);
  EXPECT_FALSE(fs::exists(compiled.output));
}

TEST_F(Emit, TensorsBeyond32BitAddressesAreRefused) {
  Compiled compiled = compile(R"(
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4294967296xf32>) -> tensor<4294967296xf32> {
  %e = tensor.empty() : tensor<4294967296xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4294967296xf32>) outs(%e : tensor<4294967296xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.negf %p : f32
    linalg.yield %v : f32
  } -> tensor<4294967296xf32>
  return %0 : tensor<4294967296xf32>
}
)");
  EXPECT_EQ(compiled.result, CompileResult::kUnsupported);
  ASSERT_EQ(compiled.errors.size(), 1u);
  EXPECT_NE(compiled.errors[0].find("2^31"), std::string::npos) << compiled.errors[0];
}

TEST_F(Emit, VariantsShareTheirConstants) {
  const std::string text = R"(
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
})";
  const Compiled one = compile(text);
  ASSERT_EQ(one.result, CompileResult::kOk) << (one.errors.empty() ? "" : one.errors[0]);
  EXPECT_EQ(one.artifact->program().variants()->size(), 0u);
  const size_t constantBytes = one.artifact->constants().size();
  EXPECT_GT(constantBytes, 0u);
  const Compiled both = compile(text, {"vulkan:lavapipe", "vulkan:generic", "vulkan:lavapipe"});
  ASSERT_EQ(both.result, CompileResult::kOk) << (both.errors.empty() ? "" : both.errors[0]);
  const artifact::Program &root = both.artifact->program();
  EXPECT_EQ(root.profile()->str(), "vulkan:lavapipe");
  ASSERT_EQ(root.variants()->size(), 1u);
  EXPECT_EQ(root.variants()->Get(0)->profile()->str(), "vulkan:generic");
  EXPECT_EQ(both.artifact->constants().size(), constantBytes) << "the constants are stored twice";
}

} // namespace
} // namespace gantry::codegen
