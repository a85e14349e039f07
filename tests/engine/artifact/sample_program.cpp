// Implements the sample programs of sample_program.h.
#include "tests/engine/artifact/sample_program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace gantry::artifact {

namespace {

PortT port(const char *name, std::vector<uint32_t> dims, uint32_t value) {
  PortT result;
  result.name = name;
  result.dims = std::move(dims);
  result.value = value;
  return result;
}

ValueT value(const char *name, Storage storage, std::vector<uint32_t> dims, uint32_t size) {
  ValueT result;
  result.name = name;
  result.storage = storage;
  result.dims = std::move(dims);
  result.size = size;
  result.op = "Mul_0";
  return result;
}

KernelVariantT variant(Binding binding, uint32_t pushConstantBytes) {
  KernelVariantT result;
  result.binding = binding;
  result.spirv = {0x07230203, 0x00010300, 0, 8, 0, 0x00020011};
  result.push_constant_bytes = pushConstantBytes;
  result.shared_bytes = 128;
  if (binding == Binding::address)
    result.capabilities = {"shaderInt64"};
  return result;
}

template <typename T> void append(std::vector<std::unique_ptr<T>> &list, T item) {
  list.push_back(std::make_unique<T>(std::move(item)));
}

/// Returns a sample program. Expression 0, `batch`, is the first dimension of the tensors.
ProgramT program(const Expr &batch, bool dynamic) {
  ProgramT p;
  p.name = "sample";
  p.producer = "gantry tests";
  p.source = "sample.onnx";
  p.profile = "vulkan:generic";
  p.dynamic = dynamic;
  // Expression 1 is the number 16, 2 the elements of a tensor, 3 the bytes of an element, 4 the
  // bytes of a tensor, 5 the invocations of a workgroup (and the elements of a constant), 6 the
  // workgroups, 7 the number 1, and 8 the bytes of a constant.
  p.exprs = {batch,
             Expr(ExprOp::constant, 0, 0, 16),
             Expr(ExprOp::mul, 0, 1, 0),
             Expr(ExprOp::constant, 0, 0, 4),
             Expr(ExprOp::mul, 2, 3, 0),
             Expr(ExprOp::constant, 0, 0, 64),
             Expr(ExprOp::ceil_div, 2, 5, 0),
             Expr(ExprOp::constant, 0, 0, 1),
             Expr(ExprOp::constant, 0, 0, 256)};
  append(p.inputs, port("x", {0, 1}, 0));
  append(p.outputs, port("y", {0, 1}, 5));

  append(p.values, value("x", Storage::input, {0, 1}, 4));
  ValueT weights = value("weights", Storage::constant, {5}, 8);
  weights.byte_offset = 0;
  append(p.values, std::move(weights));
  ValueT zeros = value("zeros", Storage::constant, {5}, 8);
  zeros.fill = true;
  zeros.fill_word = 0x3f800000;
  append(p.values, std::move(zeros));
  for (const char *name : {"scaled", "shifted"}) {
    ValueT transient = value(name, Storage::transient, {0, 1}, 4);
    transient.slot = 3;
    if (!dynamic)
      transient.byte_offset = 256;
    transient.last_use = 1;
    append(p.values, std::move(transient));
  }
  ValueT y = value("y", Storage::output, {0, 1}, 4);
  y.first_use = y.last_use = 1;
  append(p.values, std::move(y));

  KernelT kernel;
  kernel.name = "scale";
  kernel.entry_point = "main";
  kernel.workgroup_size = {64, 1, 1};
  kernel.buffer_count = 4;
  kernel.dim_count = 1;
  kernel.tile = "64 elements";
  append(kernel.variants, variant(Binding::storage_buffer, 8));
  append(kernel.variants, variant(Binding::address, 40));
  KernelVariantT texel = variant(Binding::texel, 8);
  texel.texels = {TexelRead(0, TexelFormat::rgba32f, true),
                  TexelRead(2, TexelFormat::rgba32i, false)};
  texel.workgroup_size = {8, 1, 1};
  texel.subgroup_size = 8;
  texel.grid = 1;
  texel.comparison = {"8 lanes of 2 points: taken"};
  texel.tile = "8 lanes of 2 points per invocation";
  append(kernel.variants, std::move(texel));
  append(p.kernels, std::move(kernel));

  CommandT dispatch;
  dispatch.name = "Mul_0 + Add_1";
  dispatch.location = "sample.onnx";
  dispatch.kernel = 0;
  dispatch.bindings = {0, 1, 2, 3};
  dispatch.writes = {false, false, false, true};
  dispatch.dims = {0};
  dispatch.workgroups = {6, 7, 7};
  dispatch.other_workgroups = {7, 7, 7};
  dispatch.flops = 2;
  dispatch.bytes_moved = 4;
  append(p.commands, std::move(dispatch));
  CommandT copy;
  copy.kind = CommandKind::copy;
  copy.name = "Identity_2";
  copy.bindings = {4, 5};
  copy.writes = {false, true};
  copy.barrier_before = true;
  append(p.commands, std::move(copy));

  p.arena_bytes = dynamic ? 0 : 512;
  p.lower_bound_bytes = dynamic ? 0 : 256;
  p.peak_command = 1;
  p.constant_bytes = 512;

  StateT state;
  state.name = "x";
  state.input = state.output = 0;
  state.capacity_bytes = dynamic ? 64000 : 128;
  state.order = {1, 0};
  append(p.states, std::move(state));
  return p;
}

} // namespace

ProgramT staticProgram() { return program(Expr(ExprOp::constant, 0, 0, 2), false); }

ProgramT dynamicProgram() {
  ProgramT p = program(Expr(ExprOp::symbol, 0, 0, 0), true);
  SymbolT batch;
  batch.name = "batch";
  batch.max = 1000;
  append(p.symbols, std::move(batch));
  return p;
}

std::vector<uint8_t> sampleConstant() {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * 7 + 1);
  return bytes;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "gantry-artifact-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    std::abort();
  folder_ = name;
}

ScratchFolder::~ScratchFolder() { std::filesystem::remove_all(folder_); }

size_t ScratchFolder::fileCount() const {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                           std::filesystem::directory_iterator()));
}

std::vector<uint8_t> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<uint8_t> fileOf(ProgramT program) {
  const ScratchFolder folder;
  const std::vector<uint8_t> constant = sampleConstant();
  const Status status = write(folder.path("a.gantry"), program, {{0, constant}});
  EXPECT_TRUE(status.isOk()) << status.message();
  return readFile(folder.path("a.gantry"));
}

} // namespace gantry::artifact
