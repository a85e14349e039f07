#include "tests/support/test_model.h"
#include "engine/hazards/hazards.h"
#include "engine/plan/plan.h"
#include "tests/support/add_address.h"
#include "tests/support/add_storage.h"
#include "tests/support/add_texel.h"
#include "tests/support/invert_address.h"
#include "tests/support/invert_storage.h"
#include "tests/support/twice_address.h"
#include "tests/support/twice_storage.h"
#include "tests/support/twice_texel.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

namespace gantry::test {

using artifact::Binding;
using artifact::ExprOp;
using artifact::Storage;

namespace {

constexpr int64_t kWorkgroupSize = 64; // The same as in kernels/binding.glsl.

struct KernelCode {
  const char *name;
  uint32_t buffers;
  std::vector<uint32_t> storage;
  std::vector<uint32_t> address;
  std::vector<uint32_t> texel; // Reads all buffers but the last as texels; empty: no such variant.
  std::vector<std::string> capabilities;
};

template <size_t N> std::vector<uint32_t> words(const uint32_t (&code)[N]) {
  return {std::begin(code), std::end(code)};
}

KernelCode codeOf(TestKernel kernel) {
  switch (kernel) {
  case TestKernel::kAdd:
    return {"add", 3, words(kAddStorage), words(kAddAddress), words(kAddTexel), {}};
  case TestKernel::kTwice:
    return {"twice", 2, words(kTwiceStorage), words(kTwiceAddress), words(kTwiceTexel), {}};
  case TestKernel::kInvert:
    break;
  }
  return {
      "invert", 2, words(kInvertStorage), words(kInvertAddress), {}, {"storageBuffer8BitAccess"}};
}

} // namespace

TestModel::TestModel(std::string name) : kernels_(3, UINT32_MAX) {
  program_.name = std::move(name);
  program_.producer = "gantry tests";
  program_.source = "test_model.cpp";
  program_.profile = "vulkan:generic";
}

uint32_t TestModel::number(int64_t value) {
  program_.exprs.push_back(artifact::Expr(ExprOp::constant, 0, 0, value));
  return static_cast<uint32_t>(program_.exprs.size() - 1);
}

uint32_t TestModel::symbol(const std::string &name, uint32_t input, uint32_t dim, int64_t min,
                           int64_t max) {
  auto symbol = std::make_unique<artifact::SymbolT>();
  symbol->name = name;
  symbol->input = input;
  symbol->dim = dim;
  symbol->min = min;
  symbol->max = max;
  program_.symbols.push_back(std::move(symbol));
  program_.dynamic = true;
  program_.exprs.push_back(
      artifact::Expr(ExprOp::symbol, 0, 0, static_cast<int64_t>(program_.symbols.size() - 1)));
  return static_cast<uint32_t>(program_.exprs.size() - 1);
}

uint32_t TestModel::combine(ExprOp op, uint32_t lhs, uint32_t rhs) {
  const artifact::Expr &a = program_.exprs[lhs], &b = program_.exprs[rhs];
  if (a.op() == ExprOp::constant && b.op() == ExprOp::constant) {
    if (op == ExprOp::mul)
      return number(a.value() * b.value());
    if (op == ExprOp::add)
      return number(a.value() + b.value());
  }
  program_.exprs.push_back(artifact::Expr(op, lhs, rhs, 0));
  return static_cast<uint32_t>(program_.exprs.size() - 1);
}

uint32_t TestModel::elements(const std::vector<uint32_t> &dims) {
  uint32_t product = number(1);
  for (uint32_t dim : dims)
    product = combine(ExprOp::mul, product, dim);
  return product;
}

uint32_t TestModel::addValue(const std::string &name, Storage storage, ElementType type,
                             std::vector<uint32_t> dims) {
  auto value = std::make_unique<artifact::ValueT>();
  value->name = name;
  value->storage = storage;
  value->type = type;
  value->size = combine(ExprOp::mul, elements(dims),
                        number(static_cast<int64_t>(artifact::elementSize(type))));
  value->dims = std::move(dims);
  value->slot = static_cast<uint32_t>(program_.values.size());
  program_.values.push_back(std::move(value));
  return static_cast<uint32_t>(program_.values.size() - 1);
}

uint32_t TestModel::input(const std::string &name, ElementType type, std::vector<uint32_t> dims) {
  const uint32_t value = addValue(name, Storage::input, type, dims);
  auto port = std::make_unique<artifact::PortT>();
  port->name = name;
  port->type = type;
  port->dims = std::move(dims);
  port->value = value;
  program_.inputs.push_back(std::move(port));
  return value;
}

uint32_t TestModel::donatedInput(const std::string &name, ElementType type,
                                 std::vector<uint32_t> dims) {
  const uint32_t value = input(name, type, std::move(dims));
  program_.values[value]->storage = Storage::transient;
  return value;
}

uint32_t TestModel::constant(const std::string &name, const std::vector<float> &values) {
  const uint32_t value = addValue(name, Storage::constant, ElementType::f32,
                                  {number(static_cast<int64_t>(values.size()))});
  constantValues_.push_back(values);
  storedConstants_.push_back({value, constantValues_.size() - 1});
  program_.constant_bytes += 4 * values.size();
  return value;
}

uint32_t TestModel::fill(const std::string &name, int64_t count, float fillValue) {
  const uint32_t value = addValue(name, Storage::constant, ElementType::f32, {number(count)});
  program_.values[value]->fill = true;
  std::memcpy(&program_.values[value]->fill_word, &fillValue, 4);
  program_.constant_bytes += 4 * static_cast<uint64_t>(count);
  return value;
}

uint32_t TestModel::kernelIndex(TestKernel kernel) {
  uint32_t &index = kernels_[static_cast<size_t>(kernel)];
  if (index != UINT32_MAX)
    return index;
  const KernelCode code = codeOf(kernel);
  auto entry = std::make_unique<artifact::KernelT>();
  entry->name = code.name;
  entry->entry_point = "main";
  entry->workgroup_size = {static_cast<uint32_t>(kWorkgroupSize), 1, 1};
  entry->buffer_count = code.buffers;
  entry->dim_count = 1;
  entry->tile = "one element per invocation";
  for (Binding binding : {Binding::storage_buffer, Binding::address, Binding::texel}) {
    const bool address = binding == Binding::address, texel = binding == Binding::texel;
    if (texel && code.texel.empty())
      continue;
    auto variant = std::make_unique<artifact::KernelVariantT>();
    variant->binding = binding;
    variant->spirv = address ? code.address : texel ? code.texel : code.storage;
    variant->push_constant_bytes = 8 * (1 + (address ? code.buffers : 0));
    for (uint32_t i = 0; texel && i + 1 < code.buffers; ++i)
      variant->texels.push_back(artifact::TexelRead(i, artifact::TexelFormat::rgba32f, true));
    variant->capabilities = code.capabilities;
    entry->variants.push_back(std::move(variant));
  }
  program_.kernels.push_back(std::move(entry));
  return index = static_cast<uint32_t>(program_.kernels.size() - 1);
}

void TestModel::addCommand(artifact::CommandT command, std::vector<uint32_t> operands,
                           uint32_t result) {
  const uint32_t zero = number(0), one = number(1);
  const artifact::ValueT &value = *program_.values[result];
  const uint32_t count = elements(value.dims);
  command.location = "test_model.cpp";
  command.bindings = std::move(operands);
  command.writes.assign(command.bindings.size(), false);
  command.bindings.push_back(result);
  command.writes.push_back(true);
  if (command.kind == artifact::CommandKind::dispatch) {
    command.dims = {count};
    command.workgroups = {combine(ExprOp::ceil_div, count, number(kWorkgroupSize)), one, one};
    command.flops = count;
  } else {
    command.workgroups = {zero, zero, zero};
    command.flops = zero;
  }
  command.bytes_moved =
      combine(ExprOp::mul, value.size, number(static_cast<int64_t>(command.bindings.size())));
  program_.values[result]->op = command.name;
  program_.commands.push_back(std::make_unique<artifact::CommandT>(std::move(command)));
}

uint32_t TestModel::apply(TestKernel kernel, std::vector<uint32_t> operands,
                          const std::string &name) {
  const uint32_t first = operands[0];
  const uint32_t result = addValue(name + ":0", Storage::transient, program_.values[first]->type,
                                   program_.values[first]->dims);
  artifact::CommandT command;
  command.name = name;
  command.kernel = kernelIndex(kernel);
  addCommand(std::move(command), std::move(operands), result);
  return result;
}

uint32_t TestModel::applyInPlace(TestKernel kernel, std::vector<uint32_t> operands,
                                 const std::string &name) {
  const uint32_t slot = program_.values[operands[0]]->slot;
  const uint32_t result = apply(kernel, std::move(operands), name);
  program_.values[result]->slot = slot;
  program_.commands.back()->in_place = 0;
  return result;
}

uint32_t TestModel::copy(uint32_t from, const std::string &name) {
  const uint32_t result = addValue(name + ":0", Storage::transient, program_.values[from]->type,
                                   program_.values[from]->dims);
  artifact::CommandT command;
  command.kind = artifact::CommandKind::copy;
  command.name = name;
  addCommand(std::move(command), {from}, result);
  return result;
}

uint32_t TestModel::join(const std::vector<uint32_t> &parts, const std::string &name) {
  uint32_t length = number(0), start = number(0);
  for (const uint32_t part : parts)
    length = combine(ExprOp::add, length, program_.values[part]->dims[0]);
  const uint32_t result =
      addValue(name, Storage::transient, program_.values[parts[0]]->type, {length});
  for (const uint32_t part : parts) {
    artifact::ValueT &value = *program_.values[part];
    value.slot = program_.values[result]->slot;
    value.slot_offset = start;
    value.alignment = 16;
    start = combine(ExprOp::add, start, value.size);
  }
  return result;
}

// The bytes from the start of a value's slot to the value, in a static program.
uint64_t TestModel::startOf(uint32_t value) const {
  const uint32_t expr = program_.values[value]->slot_offset;
  return expr == UINT32_MAX ? 0 : static_cast<uint64_t>(program_.exprs[expr].value());
}

void TestModel::output(const std::string &name, uint32_t value) {
  program_.values[value]->storage = Storage::output;
  auto port = std::make_unique<artifact::PortT>();
  port->name = name;
  port->type = program_.values[value]->type;
  port->dims = program_.values[value]->dims;
  port->value = value;
  program_.outputs.push_back(std::move(port));
}

void TestModel::state(uint32_t inputValue, std::optional<uint32_t> outputValue,
                      uint64_t capacityBytes) {
  const auto portOf = [](const auto &ports, uint32_t value) {
    for (uint32_t i = 0; i < ports.size(); ++i)
      if (ports[i]->value == value)
        return i;
    return UINT32_MAX;
  };
  auto state = std::make_unique<artifact::StateT>();
  state->name = program_.values[inputValue]->name;
  state->input = portOf(program_.inputs, inputValue);
  if (outputValue) {
    state->output = portOf(program_.outputs, *outputValue);
    for (auto &command : program_.commands)
      if (command->bindings.back() == *outputValue &&
          command->kind == artifact::CommandKind::dispatch)
        for (uint32_t b = 0; b + 1 < command->bindings.size(); ++b)
          if (command->bindings[b] == inputValue)
            command->in_place = b;
  }
  state->capacity_bytes =
      capacityBytes != 0
          ? capacityBytes
          : static_cast<uint64_t>(program_.exprs[program_.values[inputValue]->size].value());
  program_.states.push_back(std::move(state));
}

void TestModel::initial(uint32_t constant) {
  program_.states.back()->initial = constant;
  program_.constant_bytes -=
      static_cast<uint64_t>(program_.exprs[program_.values[constant]->size].value());
}

void TestModel::onlyBinding(Binding binding) {
  for (auto &kernel : program_.kernels)
    std::erase_if(kernel->variants, [&](const auto &v) { return v->binding != binding; });
}

artifact::ProgramT &TestModel::finish() {
  if (finished_)
    return program_;
  finished_ = true;
  auto &values = program_.values;
  const auto last = static_cast<uint32_t>(std::max<size_t>(program_.commands.size(), 1) - 1);
  for (auto &value : values) {
    const bool throughout = value->storage != Storage::transient;
    value->first_use = throughout ? 0 : last;
    value->last_use = throughout ? last : 0;
  }
  for (uint32_t c = 0; c < program_.commands.size(); ++c)
    for (uint32_t v : program_.commands[c]->bindings) {
      values[v]->first_use = std::min(values[v]->first_use, c);
      values[v]->last_use = std::max(values[v]->last_use, c);
    }
  for (const auto &port : program_.inputs) // Inputs exist before the first command.
    values[port->value]->first_use = 0;
  if (program_.dynamic)
    return program_;

  auto sizeOf = [&](uint32_t v) {
    return static_cast<uint64_t>(program_.exprs[values[v]->size].value());
  };
  std::map<uint32_t, plan::Value> slots;
  for (uint32_t v = 0; v < values.size(); ++v) {
    if (values[v]->storage != Storage::transient)
      continue;
    auto [at, isNew] = slots.try_emplace(values[v]->slot);
    plan::Value &slot = at->second;
    slot.sizeBytes = std::max(slot.sizeBytes, startOf(v) + sizeOf(v));
    slot.alignment = 256;
    slot.firstUse = isNew ? values[v]->first_use : std::min(slot.firstUse, values[v]->first_use);
    slot.lastUse = std::max(slot.lastUse, values[v]->last_use);
  }
  std::vector<plan::Value> list;
  for (const auto &[number, slot] : slots)
    list.push_back(slot);
  const plan::Plan placed = plan::planArena(list).take();
  program_.arena_bytes = placed.heightBytes;
  program_.lower_bound_bytes = placed.lowerBoundBytes;
  program_.peak_command = placed.peakCommand;
  for (auto &value : values)
    if (value->storage == Storage::transient)
      value->byte_offset =
          placed
              .offsets[static_cast<size_t>(std::distance(slots.begin(), slots.find(value->slot)))];

  // The output of a state lies in the buffer of its input.
  std::map<uint32_t, uint32_t> inputOfOutput;
  for (const auto &state : program_.states)
    if (state->output != UINT32_MAX)
      inputOfOutput[program_.outputs[state->output]->value] = program_.inputs[state->input]->value;
  std::vector<hazards::Command> commands;
  for (const auto &source : program_.commands) {
    hazards::Command command;
    for (size_t b = 0; b < source->bindings.size(); ++b) {
      const uint32_t v = source->bindings[b];
      const bool transient = values[v]->storage == Storage::transient;
      const uint32_t buffer = inputOfOutput.contains(v) ? inputOfOutput[v] : v;
      command.accesses.push_back({transient ? 0 : buffer + 1,
                                  transient ? values[v]->byte_offset + startOf(v) : 0, sizeOf(v),
                                  source->writes[b]});
    }
    commands.push_back(std::move(command));
  }
  hazards::placeBarriers(commands);
  for (size_t c = 0; c < commands.size(); ++c)
    program_.commands[c]->barrier_before = commands[c].barrierBefore;
  return program_;
}

Status TestModel::write(const std::string &path) {
  finish();
  std::vector<artifact::ConstantData> data;
  for (const auto &[value, index] : storedConstants_) {
    artifact::ConstantData constant;
    constant.bytes = {reinterpret_cast<const uint8_t *>(constantValues_[index].data()),
                      4 * constantValues_[index].size()};
    data.push_back(constant);
  }
  artifact::layoutConstants(data);
  for (size_t i = 0; i < data.size(); ++i)
    program_.values[storedConstants_[i].first]->byte_offset = data[i].offset;
  for (auto &value : program_.values)
    if (value->storage == Storage::constant && value->fill)
      value->byte_offset = 0;
  return artifact::write(path, program_, data);
}

void buildChain(TestModel &model, uint32_t dim, const std::vector<float> &bias) {
  const uint32_t in = model.input("in", ElementType::f32, {dim});
  const uint32_t b = model.constant("bias", bias);
  const uint32_t t0 = model.apply(TestKernel::kTwice, {in}, "Twice_0");
  const uint32_t t1 = model.apply(TestKernel::kAdd, {t0, b}, "Add_1");
  const uint32_t t2 = model.applyInPlace(TestKernel::kTwice, {t1}, "Twice_2");
  const uint32_t t3 = model.apply(TestKernel::kAdd, {t2, t0}, "Add_3");
  const uint32_t out = model.apply(TestKernel::kTwice, {t3}, "Twice_4");
  model.output("out", out);
}

float chainResult(float in, float bias) { return 2 * (2 * (2 * in + bias) + 2 * in); }

} // namespace gantry::test
