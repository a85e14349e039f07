// Implements the functions of ProgramBuilder (program_builder.h) for outputs and states.
//
// A state is an input and an output that share one buffer across runs; the output is the state's
// next value. A dispatch writes the next value to this buffer directly if no later command reads
// the old value. Otherwise the next value is computed elsewhere, and a copy at the end of the run
// writes it to the buffer.
//
// An output may have parts, values that lie in its storage: the inputs of a concatenation that the
// program returns, and tensors whose rows are replaced in place.
#include "codegen/emit/program_builder.h"

#include "codegen/emit/boxes.h"
#include "codegen/emit/size_bounds.h"
#include "codegen/passes/storage/in_place.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"

#include <numeric>

namespace gantry::codegen {

using namespace mlir;
using artifact::Storage;

namespace {

/// Returns why the dispatch that computes the returned tensor cannot write it to the buffer of the
/// state's input `argument`, or "" if it can.
std::string whyCopied(BlockArgument argument, Value returned) {
  if (viewedTensor(returned) == argument)
    return "a run keeps the value";
  auto dispatch = viewedTensor(returned).getDefiningOp<DispatchOp>();
  if (!dispatch || isInSharedStorage(dispatch.getResult()))
    return "the value lies in other storage";
  if (isUsedAfter(argument, dispatch))
    return "the old value is used later";
  if (Value start = startOfScatters(dispatch))
    return start == argument ? "" : "rows of another tensor are replaced";
  for (auto [i, operand] : llvm::enumerate(dispatch.getInputs()))
    if (viewedTensor(operand) == argument && dispatch.getInPlace() != i)
      return "elements depend on other elements of the old value";
  return "";
}

/// Returns the name of a symbol without an upper limit on which an expression depends, or "".
std::string unlimitedSymbolOf(const artifact::ProgramT &program, uint32_t index) {
  const artifact::Expr &expr = program.exprs[index];
  if (expr.op() == artifact::ExprOp::constant)
    return "";
  if (expr.op() == artifact::ExprOp::symbol) {
    const artifact::SymbolT &symbol = *program.symbols[static_cast<size_t>(expr.value())];
    return symbol.max == 0 ? symbol.name : "";
  }
  std::string name = unlimitedSymbolOf(program, expr.lhs());
  return name.empty() ? unlimitedSymbolOf(program, expr.rhs()) : name;
}

} // namespace

artifact::ElementType portType(artifact::ElementType type, PortAttr port) {
  using artifact::ElementType;
  if (!port || !port.getIsUnsigned())
    return type;
  switch (type) {
  case ElementType::i8:
    return ElementType::u8;
  case ElementType::i16:
    return ElementType::u16;
  case ElementType::i32:
    return ElementType::u32;
  case ElementType::i64:
    return ElementType::u64;
  default:
    return type;
  }
}

std::vector<uint32_t> portDims(StateAttr state, llvm::ArrayRef<uint32_t> dims) {
  std::vector<uint32_t> ordered(dims.begin(), dims.end());
  if (state)
    for (auto [i, dim] : llvm::enumerate(state.getOrder()))
      ordered[dim] = dims[i];
  return ordered;
}

/// Returns the port attribute of a result of the function, and sets `name` to the port's name.
PortAttr ProgramBuilder::resultPort(unsigned result, std::string &name) {
  const auto attribute = resultAttribute<PortAttr>(function_, result);
  name = attribute ? attribute.getName().str() : "result" + std::to_string(result);
  return attribute;
}

Status ProgramBuilder::addOutputs(func::ReturnOp end) {
  for (auto [i, operand] : llvm::enumerate(end.getOperands())) {
    std::string name;
    resultPort(static_cast<unsigned>(i), name);
    bool known;
    elementTypeOf(cast<RankedTensorType>(operand.getType()).getElementType(), known);
    if (!known)
      return statusf(StatusCode::kUnsupported, "output '%s' has an unsupported type", name.c_str());
  }
  program_.outputs.resize(end.getNumOperands());
  // States come first. If the program returns a tensor as a state and as another output, the tensor
  // is computed in the state's buffer, and the other output is a copy.
  std::vector<StateCopy> copies; // The copies at the end of the run.
  for (unsigned i = 0; i < function_.getNumArguments(); ++i)
    if (argumentAttribute<StateAttr>(function_, i))
      GANTRY_RETURN_IF_ERROR(addStateOutput(end, i, copies));
  for (unsigned i = 0; i < end.getNumOperands(); ++i) {
    if (program_.outputs[i])
      continue;
    uint32_t source;
    GANTRY_RETURN_IF_ERROR(valueOf(end.getOperand(i), source));
    uint32_t index = source;
    std::string name;
    resultPort(i, name);
    if (program_.values[source]->storage == Storage::transient &&
        source >= program_.inputs.size()) {
      program_.values[source]->storage = Storage::output;
      program_.values[source]->name = name;
    } else {
      index = addValue(end.getOperand(i), Storage::output, name);
      addCopy(source, index, "copy to " + name,
              program_.values[source]->storage == Storage::output
                  ? "the program returns the tensor twice"
                  : "the program returns an input or a constant");
    }
    GANTRY_RETURN_IF_ERROR(addOutput(end, i, index));
  }
  // A copy may overwrite the input of a state that another copy reads, so such inputs are saved to
  // transients. This does not apply to a state that keeps its value: its copy has the same buffer
  // as source and target, and the runtime omits it.
  const std::vector<uint32_t> buffers = buffersOfValues();
  for (auto &[source, target, why] : copies)
    if (source < program_.inputs.size() && buffers[target] != source) {
      const uint32_t saved = addValue(function_.getArgument(source), Storage::transient,
                                      program_.values[source]->name);
      addCopy(source, saved, "save " + program_.values[source]->name,
              "the buffer of the state is overwritten before it is read");
      source = saved;
    }
  for (const StateCopy &copy : copies)
    addCopy(copy.source, copy.target, "copy to state " + program_.values[copy.target]->name,
            copy.why);
  return Status::ok();
}

/// If the result of a dispatch that replaces rows in place lies in an output, the dispatch's
/// operand lies there too. The dispatches are visited from the last to the first, because the
/// operand of one may be the result of another.
void ProgramBuilder::placeScatters() {
  for (const InPlace &pair : llvm::reverse(inPlace_)) {
    const artifact::ValueT &result = *program_.values[pair.result];
    artifact::ValueT &operand = *program_.values[pair.operand];
    if (!pair.isScatter || result.storage != Storage::output ||
        operand.storage != Storage::transient)
      continue;
    operand.storage = Storage::output;
    operand.base = result.base == kNotSet ? pair.result : result.base;
  }
}

/// Adds the port of a result whose value is `value`. state: the state whose next value the result
/// is, or null.
Status ProgramBuilder::addOutput(func::ReturnOp end, unsigned result, uint32_t value,
                                 StateAttr state) {
  auto port = std::make_unique<artifact::PortT>();
  const PortAttr attribute = resultPort(result, port->name);
  program_.values[value]->type = portType(program_.values[value]->type, attribute);
  port->type = program_.values[value]->type;
  port->dims = portDims(state, dimsOf(end.getOperand(result)));
  port->value = value;
  program_.outputs[result] = std::move(port);
  return Status::ok();
}

/// Adds the state of an argument, and its output if it has one. A copy that the output needs is
/// added to `copies`.
Status ProgramBuilder::addStateOutput(func::ReturnOp end, unsigned argument,
                                      std::vector<StateCopy> &copies) {
  const auto attribute = argumentAttribute<StateAttr>(function_, argument);
  auto state = std::make_unique<artifact::StateT>();
  state->name = program_.inputs[argument]->name;
  state->input = argument;
  state->order.assign(attribute.getOrder().begin(), attribute.getOrder().end());
  if (attribute.getResult() >= 0) {
    const auto result = static_cast<unsigned>(attribute.getResult());
    if (program_.outputs[result])
      return statusf(StatusCode::kInvalidArgument, "output '%s' belongs to two states",
                     program_.outputs[result]->name.c_str());
    state->output = result;
    Value returned = end.getOperand(result);
    uint32_t source;
    GANTRY_RETURN_IF_ERROR(valueOf(returned, source));
    uint32_t index = source;
    std::string name;
    resultPort(result, name);
    std::string why = whyCopied(function_.getArgument(argument), returned);
    if (why.empty() && program_.values[source]->storage != Storage::transient)
      why = "another output has the value";
    if (why.empty()) {
      program_.values[source]->storage = Storage::output;
      program_.values[source]->name = name;
    } else {
      index = addValue(returned, Storage::output, name);
      copies.push_back({source, index, std::move(why)});
    }
    GANTRY_RETURN_IF_ERROR(addOutput(end, result, index, attribute));
  }
  program_.states.push_back(std::move(state));
  return Status::ok();
}

/// Adds the initial values of states as constants. Program.constant_bytes, the size of the
/// constants on the device, does not include them.
Status ProgramBuilder::addFirstValues() {
  for (auto &state : program_.states) {
    const auto attribute = argumentAttribute<StateAttr>(function_, state->input);
    if (!attribute.getInitial())
      continue;
    const uint64_t before = program_.constant_bytes;
    GANTRY_RETURN_IF_ERROR(addConstant(function_.getArgument(state->input), attribute.getInitial(),
                                       state->name, state->initial));
    program_.constant_bytes = before;
  }
  return Status::ok();
}

/// Sets the size of each state's buffer: the largest size of its input and of its output.
Status ProgramBuilder::assignCapacities() {
  if (program_.states.empty())
    return Status::ok();
  // The program's expressions with a limit for every symbol (dynamic dimension), as maxOfExprs()
  // requires. A symbol without a limit gets an arbitrary one: the size of a state that depends on
  // it is refused below.
  artifact::ProgramT limits;
  limits.exprs = program_.exprs;
  for (const auto &symbol : program_.symbols) {
    limits.symbols.push_back(std::make_unique<artifact::SymbolT>(*symbol));
    if (symbol->max == 0)
      limits.symbols.back()->max = std::max<int64_t>(symbol->min, 1);
  }
  GANTRY_ASSIGN_OR_RETURN(const std::vector<int64_t> maxima, maxOfExprs(limits));
  for (auto &state : program_.states) {
    std::vector<uint32_t> values = {program_.inputs[state->input]->value};
    if (state->output != UINT32_MAX)
      values.push_back(program_.outputs[state->output]->value);
    for (uint32_t value : values) {
      const uint32_t size = program_.values[value]->size;
      if (const std::string symbol = unlimitedSymbolOf(program_, size); !symbol.empty())
        return statusf(StatusCode::kInvalidArgument,
                       "the state '%s' depends on the dimension '%s', which has no upper limit, so "
                       "its buffer has no size; give a limit: --dim %s=..MAX",
                       state->name.c_str(), symbol.c_str(), symbol.c_str());
      state->capacity_bytes = std::max(state->capacity_bytes, static_cast<uint64_t>(maxima[size]));
    }
  }
  return Status::ok();
}

/// Returns for each value the value in whose buffer it lies: the input of a state for its output,
/// the base for a part of an output, and the value itself for all others.
std::vector<uint32_t> ProgramBuilder::buffersOfValues() const {
  std::vector<uint32_t> buffers(program_.values.size());
  std::iota(buffers.begin(), buffers.end(), 0);
  for (const auto &state : program_.states)
    if (state->output != UINT32_MAX)
      buffers[program_.outputs[state->output]->value] = program_.inputs[state->input]->value;
  for (size_t v = 0; v < buffers.size(); ++v)
    if (program_.values[v]->storage == Storage::output && program_.values[v]->base != kNotSet)
      buffers[v] = buffers[program_.values[v]->base];
  return buffers;
}

} // namespace gantry::codegen
