// Implements program_builder.h. program_ports.cpp has the functions for outputs and states.
#include "codegen/emit/program_builder.h"

#include "codegen/emit/boxes.h"
#include "codegen/emit/model_names.h"
#include "codegen/emit/size_bounds.h"
#include "codegen/passes/constant_bytes.h"
#include "codegen/passes/storage/in_place.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"
#include "engine/hazards/hazards.h"
#include "engine/plan/slots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/SHA256.h"

#include <numeric>

namespace gantry::codegen {

using namespace mlir;
using artifact::Storage;

namespace {

constexpr int64_t kWorkgroupsAlongX = artifact::kWorkgroupsAlongX;
constexpr uint32_t kNever = ~0u; // ValueT::first_use or ValueT::slot before it is known.

} // namespace

artifact::ElementType elementTypeOf(Type type, bool &known) {
  using artifact::ElementType;
  known = true;
  if (type.isF32())
    return ElementType::f32;
  if (type.isF16())
    return ElementType::f16;
  if (type.isF64())
    return ElementType::f64;
  if (type.isBF16())
    return ElementType::bf16;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return ElementType::bool8;
    case 8:
      return isUnsigned ? ElementType::u8 : ElementType::i8;
    case 16:
      return isUnsigned ? ElementType::u16 : ElementType::i16;
    case 32:
      return isUnsigned ? ElementType::u32 : ElementType::i32;
    case 64:
      return isUnsigned ? ElementType::u64 : ElementType::i64;
    default:
      break;
    }
  }
  known = false;
  return ElementType::f32;
}

/// Returns the name and the range of an input's dimension. Without a port attribute, the name is
/// empty and the size has no upper limit.
DimAttr ProgramBuilder::dimOf(PortAttr port, unsigned dim) {
  if (port && dim < port.getDims().size())
    return port.getDims()[dim];
  return DimAttr::get(function_.getContext(), StringAttr::get(function_.getContext(), ""), 1, 0);
}

llvm::SmallVector<uint32_t> ProgramBuilder::dimsOf(Value tensor) {
  OpBuilder builder(function_.getContext());
  if (Operation *op = tensor.getDefiningOp())
    builder.setInsertionPointAfter(op);
  else
    builder.setInsertionPointToStart(&function_.getBody().front());
  llvm::SmallVector<uint32_t> dims;
  for (OpFoldResult dim : tensorDims(builder, tensor))
    dims.push_back(exprs_.of(dim));
  return dims;
}

uint32_t ProgramBuilder::sizeOf(RankedTensorType type, llvm::ArrayRef<uint32_t> dims) {
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  uint32_t size = exprs_.constant(std::max(1u, bits / 8));
  for (uint32_t dim : dims)
    size = exprs_.mul(size, dim);
  return size;
}

uint32_t ProgramBuilder::addValue(Value tensor, Storage storage, std::string name) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto value = std::make_unique<artifact::ValueT>();
  auto dims = dimsOf(tensor);
  bool known;
  value->name = std::move(name);
  value->storage = storage;
  value->type = elementTypeOf(type.getElementType(), known);
  value->dims.assign(dims.begin(), dims.end());
  value->size = sizeOf(type, dims);
  value->alignment = kArenaAlignment;
  value->first_use = kNever;
  value->last_use = 0;
  value->slot = kNever;
  value->op = tensor.getDefiningOp() ? locationName(tensor.getLoc()) : "";
  program_.values.push_back(std::move(value));
  return program_.values.size() - 1;
}

void ProgramBuilder::addSymbol(DimAttr bounds, unsigned input, unsigned dim) {
  uint32_t expr = exprs_.symbol(bounds.getName().str(), input, dim);
  artifact::SymbolT &symbol = *program_.symbols[program_.exprs[expr].value()];
  symbol.min = std::max(symbol.min, bounds.getMin());
  if (const int64_t max = bounds.getMax(); max > 0 && (symbol.max == 0 || max < symbol.max))
    symbol.max = max;
}

/// Adds the expressions that must not be negative (gantry.requirements). The runtime checks them.
Status ProgramBuilder::addRequirements() {
  const auto requirements = attributeOf<RequirementsAttr>(function_);
  if (!requirements)
    return {};
  llvm::SmallVector<uint32_t> symbols;
  for (StringAttr name : requirements.getSymbols()) {
    const auto found = llvm::find_if(
        program_.symbols, [&](const auto &symbol) { return symbol->name == name.getValue(); });
    if (found == program_.symbols.end())
      return Status(StatusCode::kInternal,
                    "a requirement names the size \"" + name.str() + "\", which no input has");
    symbols.push_back(exprs_.symbol((*found)->name, (*found)->input, (*found)->dim));
  }
  for (AffineMap map : requirements.getNonNegative())
    program_.requirements.push_back(exprs_.of(map.getResult(0), symbols));
  return {};
}

Status ProgramBuilder::addInputs() {
  for (BlockArgument argument : function_.getArguments()) {
    unsigned i = argument.getArgNumber();
    const auto attribute = argumentAttribute<PortAttr>(function_, i);
    const std::string name = attribute ? attribute.getName().str() : "arg" + std::to_string(i);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool known = false;
    if (type)
      elementTypeOf(type.getElementType(), known);
    if (!known)
      return statusf(StatusCode::kUnsupported, "input '%s' is not a tensor of a supported type",
                     name.c_str());
    for (unsigned d = 0; d < static_cast<unsigned>(type.getRank()); ++d)
      if (type.isDynamicDim(d))
        addSymbol(dimOf(attribute, d), i, portDim(function_, i, d));
    uint32_t index =
        addValue(argument, isDonatedInput(argument) ? Storage::transient : Storage::input, name);
    program_.values[index]->type = portType(program_.values[index]->type, attribute);
    values_[argument] = index;
    auto port = std::make_unique<artifact::PortT>();
    port->name = name;
    port->type = program_.values[index]->type;
    port->dims = portDims(argumentAttribute<StateAttr>(function_, i), program_.values[index]->dims);
    port->value = index;
    program_.inputs.push_back(std::move(port));
  }
  return Status::ok();
}

Status ProgramBuilder::addConstant(Value value, Attribute data, std::string name,
                                   uint32_t &indexOut) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  uint64_t count = type.getNumElements(), bytesEach = std::max(1u, bits / 8);
  llvm::ArrayRef<char> bytes = constantBytes(data);
  std::vector<uint8_t> owned;
  bool fill = false;
  uint32_t word = 0;
  auto dense = dyn_cast<DenseElementsAttr>(data);
  if (dense && (dense.isSplat() || bits == 1)) {
    if (bits == 1) {
      for (bool element : dense.getValues<bool>())
        owned.push_back(element);
    } else {
      llvm::ArrayRef<char> one = dense.getRawData();
      fill = count * bytesEach % 4 == 0 && bytesEach <= 4;
      if (fill)
        for (unsigned i = 0; i < 4; ++i)
          word |= static_cast<uint32_t>(static_cast<uint8_t>(one[i % bytesEach])) << (8 * i);
      else
        for (uint64_t i = 0; i < count; ++i)
          owned.insert(owned.end(), one.begin(), one.begin() + bytesEach);
    }
    bytes = {reinterpret_cast<const char *>(owned.data()), owned.size()};
  }
  const unsigned long long expected = count * bytesEach;
  if (!fill && bytes.size() != expected)
    return statusf(StatusCode::kInternal, "a constant of %s has %zu bytes instead of %llu",
                   locationName(value.getLoc()).c_str(), bytes.size(), expected);

  std::string key;
  if (fill) {
    key = "fill " + std::to_string(word) + " x " + std::to_string(count * bytesEach);
  } else {
    auto hash = llvm::SHA256::hash(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
    key.assign(reinterpret_cast<const char *>(hash.data()), hash.size());
  }
  auto [found, inserted] = constantsByHash_.try_emplace(key, 0);
  if (inserted) {
    uint32_t index = addValue(value, Storage::constant, std::move(name));
    artifact::ValueT &entry = *program_.values[index];
    entry.fill = fill;
    entry.fill_word = word;
    if (!fill) {
      artifact::ConstantData constant;
      if (!owned.empty()) {
        emission_.ownedBytes.push_back(std::move(owned));
        constant.bytes = emission_.ownedBytes.back();
      } else {
        constant.bytes = {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()};
      }
      // For now an index in emission_.constants, which build() replaces by the constant's offset.
      entry.byte_offset = emission_.constants.size();
      emission_.constants.push_back(constant);
    } else {
      entry.byte_offset = 0;
    }
    program_.constant_bytes += count * bytesEach;
    found->second = index;
  }
  indexOut = found->second;
  return Status::ok();
}

Status ProgramBuilder::valueOf(Value tensor, uint32_t &index, LayoutAttr layout) {
  Value storage = viewedTensor(tensor);
  auto found = values_.find(storage);
  if (auto concat = storage.getDefiningOp<ConcatOp>(); concat && found == values_.end()) {
    index = addValue(storage, Storage::transient, modelName(concat));
    values_[storage] = index;
    notePlace(storage, index, layout);
    return Status::ok();
  }
  if (found == values_.end()) {
    auto constant = storage.getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return statusf(StatusCode::kInternal, "'%s' is not in a dispatch",
                     storage.getDefiningOp()->getName().getStringRef().str().c_str());
    GANTRY_RETURN_IF_ERROR(addConstant(storage, constant.getValue(), modelName(constant), index));
    values_[storage] = index;
    return Status::ok();
  }
  index = found->second;
  return Status::ok();
}

/// If the tensor shares its storage with others, sets where Program.values[index], the tensor's
/// value, lies in this storage. layout: the tensor's layout in the dispatches that write or read
/// it; null: row-major.
void ProgramBuilder::notePlace(Value tensor, uint32_t index, LayoutAttr layout) {
  if (!isInSharedStorage(tensor))
    return;
  const Placement place = placementOf(tensor);
  artifact::ValueT &value = *program_.values[index];
  shared_[place.storage].push_back(index);
  if (place.storage == place.box)
    return;
  if (!layout)
    layout = LayoutAttr::get(tensor.getContext(), {});
  value.box = boxExprs(exprs_, place, layout, value.dims);
  const int64_t start = codegen::startOf(place, layout.getParts()) - layout.getStart();
  if (start == 0)
    return;
  const uint64_t bytes = static_cast<uint64_t>(start) * artifact::elementSize(value.type);
  value.slot_offset = exprs_.constant(static_cast<int64_t>(bytes));
  value.alignment = static_cast<uint32_t>(std::min<uint64_t>(kArenaAlignment, bytes & -bytes));
}

/// Sets the base of each value that lies in the storage of another, its base. Adds a value for a
/// storage that no command binds as a whole. Called after assignLifetimes().
void ProgramBuilder::setBases() {
  for (auto &[storage, parts] : shared_) {
    auto found = values_.find(storage);
    if (found == values_.end()) {
      const uint32_t index =
          addValue(storage, Storage::transient, modelName(storage.getDefiningOp()));
      artifact::ValueT &whole = *program_.values[index];
      whole.first_use = 0;
      for (uint32_t part : parts) {
        // The whole value is first used when its last part is written.
        whole.first_use = std::max(whole.first_use, program_.values[part]->first_use);
        whole.last_use = std::max(whole.last_use, program_.values[part]->last_use);
      }
      found = values_.try_emplace(storage, index).first;
      parts.push_back(index);
    }
    const artifact::ValueT &base = *program_.values[found->second];
    for (uint32_t part : parts)
      if (artifact::ValueT &value = *program_.values[part]; part != found->second) {
        value.base = found->second;
        value.storage = base.storage; // An output, if the program returns the base.
        // A reader of the base reads its parts.
        value.last_use = std::max(value.last_use, base.last_use);
      }
  }
}

Status ProgramBuilder::addDispatch(DispatchOp dispatch) {
  uint32_t kernel = kernels_.lookup(dispatch.getKernel()->getRootReference().getValue());
  auto command = std::make_unique<artifact::CommandT>();
  command->kind = artifact::CommandKind::dispatch;
  command->name = locationName(dispatch.getLoc());
  command->location = locationSource(dispatch.getLoc());
  command->kernel = kernel;
  if (dispatch.getCopyReason())
    command->copy_reason = dispatch.getCopyReason()->str();
  const auto layoutOf = [&](size_t tensor) {
    return dispatch.getLayouts() ? cast<LayoutAttr>((*dispatch.getLayouts())[tensor])
                                 : LayoutAttr();
  };
  uint32_t moved = exprs_.constant(0);
  for (auto [i, operand] : llvm::enumerate(dispatch.getInputs())) {
    uint32_t index;
    GANTRY_RETURN_IF_ERROR(valueOf(operand, index, layoutOf(i)));
    command->bindings.push_back(index);
    command->writes.push_back(false);
    if (!dispatch.getScattered() || dispatch.getInPlace() != i)
      moved = exprs_.add(moved, program_.values[index]->size);
  }
  Value result = dispatch.getResult();
  uint32_t index = addValue(result, Storage::transient, modelName(dispatch));
  values_[result] = index;
  notePlace(result, index, layoutOf(dispatch.getInputs().size()));
  if (dispatch.getInPlace()) {
    command->in_place = static_cast<uint32_t>(*dispatch.getInPlace());
    command->partial = dispatch.getScattered().has_value();
    inPlace_.push_back(
        {index, command->bindings[command->in_place], dispatch.getScattered().has_value()});
  }
  command->bindings.push_back(index);
  command->writes.push_back(true);
  // The extents over which the kernel is launched: those of the result, or, if the dispatch only
  // replaces rows, those of the rows that it writes.
  llvm::SmallVector<uint32_t> written;
  for (int64_t extent : dispatch.getScattered().value_or(llvm::ArrayRef<int64_t>()))
    written.push_back(extent < 0 ? exprs_.of(dispatch.getDims()[-1 - extent])
                                 : exprs_.constant(extent));
  llvm::append_range(
      written,
      llvm::ArrayRef(program_.values[index]->dims).drop_front(dispatch.getScattered() ? 1 : 0));
  command->bytes_moved =
      exprs_.add(moved, sizeOf(cast<RankedTensorType>(result.getType()), written));
  for (Value dim : dispatch.getDims())
    command->dims.push_back(exprs_.of(dim));
  command->flops = dispatch.getFlops() ? exprs_.of(dispatch.getFlops()) : exprs_.constant(0);

  if (const auto collapsed = static_cast<size_t>(dispatch.getCollapsed()); collapsed > 1) {
    for (size_t d = 1; d < collapsed; ++d)
      written[0] = exprs_.mul(written[0], written[d]);
    written.erase(written.begin() + 1, written.begin() + collapsed);
  }
  const KernelGeometry &geometry = geometry_[kernel];
  command->workgroups = workgroupsOf(geometry.front(), written);
  for (const Grid &grid : llvm::drop_begin(geometry))
    llvm::append_range(command->other_workgroups, workgroupsOf(grid, written));
  program_.commands.push_back(std::move(command));
  return Status::ok();
}

std::vector<uint32_t> ProgramBuilder::workgroupsOf(const Grid &grid,
                                                   llvm::ArrayRef<uint32_t> dims) {
  uint32_t tiles = exprs_.constant(1), merged = exprs_.constant(1);
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (d < grid.merged)
      tiles = exprs_.mul(tiles, exprs_.ceilDiv(dim, grid.tile[d]));
    else
      merged = exprs_.mul(merged, dim);
  }
  if (grid.merged < dims.size())
    tiles = exprs_.mul(tiles, exprs_.ceilDiv(merged, grid.tile[grid.merged]));
  uint32_t workgroups = exprs_.ceilDiv(tiles, grid.tilesPerWorkgroup);
  return {exprs_.min(workgroups, kWorkgroupsAlongX), exprs_.ceilDiv(workgroups, kWorkgroupsAlongX),
          exprs_.constant(1)};
}

Status ProgramBuilder::addMove(MoveOp move) {
  uint32_t source;
  GANTRY_RETURN_IF_ERROR(valueOf(move.getSource(), source));
  const uint32_t index = addValue(
      move.getResult(), move.getToHost() ? Storage::host : Storage::transient, modelName(move));
  values_[move.getResult()] = index;
  addCopy(source, index,
          "move " + program_.values[index]->name + (move.getToHost() ? " to the host" : " back"),
          "the memory budget moves the tensor to the host and back");
  program_.commands.back()->location = locationSource(move.getLoc());
  return Status::ok();
}

void ProgramBuilder::addCopy(uint32_t from, uint32_t to, std::string name, std::string reason) {
  auto command = std::make_unique<artifact::CommandT>();
  command->kind = artifact::CommandKind::copy;
  command->name = std::move(name);
  command->copy_reason = std::move(reason);
  command->bindings = {from, to};
  command->writes = {false, true};
  command->workgroups = {exprs_.constant(0), exprs_.constant(0), exprs_.constant(0)};
  command->flops = exprs_.constant(0);
  command->bytes_moved = exprs_.mul(program_.values[to]->size, exprs_.constant(2));
  program_.commands.push_back(std::move(command));
}

void ProgramBuilder::assignLifetimes() {
  for (uint32_t c = 0; c < program_.commands.size(); ++c) {
    for (uint32_t index : program_.commands[c]->bindings) {
      artifact::ValueT &value = *program_.values[index];
      value.first_use = std::min(value.first_use, c);
      value.last_use = std::max(value.last_use, c);
    }
  }
  for (uint32_t i = 0; i < program_.values.size(); ++i)
    if (artifact::ValueT &value = *program_.values[i];
        value.first_use == kNever || i < program_.inputs.size()) // Inputs are alive from the start.
      value.first_use = 0;
}

Status ProgramBuilder::assignSlots() {
  std::vector<uint32_t> parent(program_.values.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](uint32_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  };
  for (auto [result, operand, isScatter] : inPlace_)
    if (program_.values[result]->storage == Storage::transient &&
        program_.values[operand]->storage == Storage::transient)
      parent[find(result)] = find(operand);
  for (const auto &[storage, values] : shared_)
    for (uint32_t value : values)
      parent[find(value)] = find(values.front());
  std::map<uint32_t, uint32_t> slots;
  for (uint32_t i = 0; i < program_.values.size(); ++i) {
    if (program_.values[i]->storage != Storage::transient) {
      program_.values[i]->slot = 0;
      continue;
    }
    auto [found, inserted] = slots.try_emplace(find(i), slots.size());
    program_.values[i]->slot = found->second;
  }
  return Status::ok();
}

bool ProgramBuilder::isBounded() const {
  return options_.planForBounds && program_.dynamic &&
         llvm::all_of(program_.symbols, [](const auto &symbol) { return symbol->max > 0; });
}

Status ProgramBuilder::planArena() {
  program_.bounded = program_.dynamic;
  GANTRY_ASSIGN_OR_RETURN(const std::vector<int64_t> maxima, maxOfExprs(program_));
  std::vector<plan::Slot> slots;
  for (const auto &value : program_.values) {
    if (value->storage != Storage::transient)
      continue;
    if (value->slot >= slots.size())
      slots.resize(value->slot + 1, plan::Slot{kArenaAlignment, {}});
    std::vector<plan::SlotUse> &uses = slots[value->slot].uses;
    if (!program_.dynamic) {
      const ByteRange range = rangeOf(boxOf(*value, exprs_));
      uses.push_back({range.offset, range.sizeBytes, value->first_use, value->last_use});
      continue;
    }
    // The place of a part (a value with a base) depends on the sizes, so the slot is used as a
    // whole.
    if (uses.empty())
      uses.push_back({0, 0, kNever, 0});
    plan::SlotUse &use = uses.front();
    if (value->base == kNotSet) // A part lies in its base, which has the same slot.
      use.sizeBytes = std::max<uint64_t>(use.sizeBytes, maxima[value->size]);
    use.firstUse = std::min(use.firstUse, value->first_use);
    use.lastUse = std::max(use.lastUse, value->last_use);
  }
  GANTRY_ASSIGN_OR_RETURN(plan::Plan plan, plan::planSlots(slots));
  GANTRY_RETURN_IF_ERROR(plan::validateSlots(slots, plan));
  program_.arena_bytes = plan.heightBytes;
  program_.lower_bound_bytes = plan.lowerBoundBytes;
  program_.peak_command = plan.peakCommand;
  GANTRY_RETURN_IF_ERROR(reportOrder());
  for (auto &value : program_.values)
    if (value->storage == Storage::transient)
      value->byte_offset = plan.offsets[value->slot];
  // The hazards of a dynamic program depend on its sizes, so the runtime places its barriers.
  if (program_.dynamic)
    return Status::ok();
  GANTRY_RETURN_IF_ERROR(checkProgramStorage(program_, exprs_, buffersOfValues()));
  return placeBarriers();
}

/// Copies the results of the passes order-dispatches and fit-budget into the program. fit-budget
/// compares the budget with the peak of live bytes; this function compares the budget with the size
/// of the arena, which may be larger.
Status ProgramBuilder::reportOrder() {
  if (auto order = attributeOf<OrderAttr>(function_)) {
    program_.model_order_bytes = order.getModelPeakBytes();
    program_.model_order_stages = order.getModelStages();
    program_.order_stages = order.getStages();
  }
  const auto budget = attributeOf<BudgetAttr>(function_);
  if (!budget)
    return Status::ok();
  program_.budget = std::make_unique<artifact::MemoryBudgetT>();
  program_.budget->bytes = budget.getBytes();
  program_.budget->before_bytes = budget.getPeakBefore();
  program_.budget->recomputed = budget.getRecomputed();
  program_.budget->recomputed_bytes = budget.getRecomputedPeak();
  program_.budget->moved = budget.getMoved();
  if (program_.arena_bytes <= program_.budget->bytes)
    return Status::ok();
  return statusf(StatusCode::kInvalidArgument,
                 "the live tensors fit the memory budget of %lld bytes at every moment, but the "
                 "arena that holds them takes %llu bytes; try a budget near that size",
                 static_cast<long long>(budget.getBytes()),
                 static_cast<unsigned long long>(program_.arena_bytes));
}

Status ProgramBuilder::placeBarriers() {
  std::vector<hazards::Command> commands;
  const std::vector<uint32_t> buffers = buffersOfValues();
  for (const auto &command : program_.commands) {
    hazards::Command entry;
    for (size_t b = 0; b < command->bindings.size(); ++b) {
      const artifact::ValueT &value = *program_.values[command->bindings[b]];
      const bool transient = value.storage == Storage::transient;
      // The runtime binds a part of a storage at slot_offset, which is rounded down to the
      // alignment of buffers. This offset may lie before the part's first byte, among bytes of
      // another part. Barriers are placed for the bound ranges, because the hazard checks of the
      // runtime and of Vulkan's validation layers use them, too.
      const ByteRange range = rangeOf(boxOf(value, exprs_));
      const uint64_t start = value.slot_offset == kNotSet
                                 ? 0
                                 : static_cast<uint64_t>(*exprs_.constantValue(value.slot_offset));
      const uint64_t size = range.sizeBytes == 0 ? 0 : range.offset + range.sizeBytes - start;
      entry.accesses.push_back({transient ? 0 : buffers[command->bindings[b]] + 1,
                                (transient ? value.byte_offset : 0) + start, size,
                                static_cast<bool>(command->writes[b])});
    }
    commands.push_back(std::move(entry));
  }
  hazards::placeBarriers(commands);
  GANTRY_RETURN_IF_ERROR(hazards::checkHazards(commands));
  for (size_t c = 0; c < commands.size(); ++c)
    program_.commands[c]->barrier_before = commands[c].barrierBefore;
  return Status::ok();
}

Status ProgramBuilder::build() {
  GANTRY_RETURN_IF_ERROR(addInputs());
  GANTRY_RETURN_IF_ERROR(addRequirements());
  func::ReturnOp end;
  // The operations are collected before the first is visited, because building size expressions
  // adds operations to the block.
  llvm::SmallVector<Operation *> steps;
  for (Operation &op : function_.getBody().front()) {
    if (isa<DispatchOp, MoveOp>(op))
      steps.push_back(&op);
    else if (auto candidate = dyn_cast<func::ReturnOp>(op))
      end = candidate;
  }
  for (Operation *op : steps) {
    auto move = dyn_cast<MoveOp>(op);
    GANTRY_RETURN_IF_ERROR(move ? addMove(move) : addDispatch(cast<DispatchOp>(op)));
  }
  GANTRY_RETURN_IF_ERROR(addOutputs(end));
  GANTRY_RETURN_IF_ERROR(addFirstValues());
  if (!exprs_.ok())
    return Status(StatusCode::kInternal, "a size is not an expression of the inputs' dimensions");
  assignLifetimes();
  placeScatters();
  setBases();
  GANTRY_RETURN_IF_ERROR(assignSlots());
  program_.dynamic = !program_.symbols.empty();
  GANTRY_RETURN_IF_ERROR(assignCapacities());

  // Kernels compute the index of an element in 32 bits.
  for (const auto &value : program_.values) {
    auto size = exprs_.constantValue(value->size);
    if (size && (*size < 0 || *size / artifact::elementSize(value->type) > INT32_MAX))
      return statusf(
          StatusCode::kUnsupported,
          "tensor '%s' has %lld bytes and more than 2^31 - 1 elements, the limit for a tensor",
          value->name.c_str(), static_cast<long long>(*size));
  }
  artifact::layoutConstants(emission_.constants);
  for (auto &value : program_.values)
    if (value->storage == Storage::constant && !value->fill)
      value->byte_offset = emission_.constants[value->byte_offset].offset;
  return !program_.dynamic || isBounded() ? planArena() : Status::ok();
}

} // namespace gantry::codegen
