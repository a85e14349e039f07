// Implements boxes.h.
#include "codegen/emit/boxes.h"

#include "engine/hazards/hazards.h"

#include <algorithm>

namespace gantry::codegen {

using namespace mlir;
using artifact::Storage;

namespace {

/// A dimension in memory. A layout may divide a dimension of the tensor into several: channels in
/// blocks of four are a dimension of blocks and one inside of a block (codegen/tiling/layout.h).
/// Index i along `dim` of the tensor has the index i / block, rounded down, along the part. If
/// `outer` is not 0, this index is taken modulo outer / block.
struct Part {
  int64_t dim, block, outer; // outer: the next larger block of the dimension; 0: there is none.
};

llvm::SmallVector<Part> partsOfLayout(llvm::ArrayRef<int64_t> layout, int64_t rank) {
  llvm::SmallVector<Part> parts;
  for (int64_t d = 0; layout.empty() && d < rank; ++d)
    parts.push_back({d, 1, 0});
  for (size_t i = 0; i < layout.size(); i += 2) {
    int64_t outer = 0;
    for (size_t j = 0; j < layout.size(); j += 2)
      if (layout[j] == layout[i] && layout[j + 1] > layout[i + 1] &&
          (outer == 0 || layout[j + 1] < outer))
        outer = layout[j + 1];
    parts.push_back({layout[i], layout[i + 1], outer});
  }
  return parts;
}

} // namespace

std::vector<uint32_t> boxExprs(ShapeExprs &exprs, const Placement &place, LayoutAttr layout,
                               llvm::ArrayRef<uint32_t> dims) {
  std::vector<uint32_t> box;
  if (layout.getWithin().empty() && layout.getStart() == 0)
    return box;
  if (layout.getWithin().empty()) { // One range that begins after the bound address.
    const uint32_t start = exprs.constant(startOf(place, layout.getParts()));
    uint32_t size = exprs.constant(1);
    for (uint32_t dim : dims)
      size = exprs.mul(size, dim);
    return {exprs.add(start, size), start, size};
  }
  for (const Part &part : partsOfLayout(layout.getParts(), static_cast<int64_t>(dims.size()))) {
    const auto inBlocks = [&](uint32_t extent) {
      return part.outer
                 ? exprs.constant(part.outer / part.block)
                 : exprs.binary(artifact::ExprOp::floor_div, extent, exprs.constant(part.block));
    };
    const int64_t within = layout.getWithin()[part.dim];
    if (const int64_t step = place.steps[part.dim]; step > 1) {
      // Two dimensions: the groups of `step` neighbours, and the neighbours in a group, of which
      // one belongs to the tensor.
      const int64_t first = place.offsets[part.dim];
      box.insert(box.end(),
                 {exprs.constant(within / step), exprs.constant(first / step), dims[part.dim],
                  exprs.constant(step), exprs.constant(first % step), exprs.constant(1)});
      continue;
    }
    const int64_t offset = place.offsets[part.dim] / part.block;
    box.push_back(inBlocks(within == -1 ? dims[part.dim] : exprs.constant(within)));
    box.push_back(exprs.constant(part.outer ? offset % (part.outer / part.block) : offset));
    box.push_back(inBlocks(dims[part.dim]));
  }
  return box;
}

Box boxOf(const artifact::ValueT &value, const ShapeExprs &exprs) {
  const auto number = [&](uint32_t expr) {
    return static_cast<uint64_t>(*exprs.constantValue(expr));
  };
  if (value.box.empty())
    return boxOfRange(value.slot_offset == kNotSet ? 0 : number(value.slot_offset),
                      number(value.size));
  Box box{artifact::elementSize(value.type), {}};
  for (size_t i = 0; i < value.box.size(); i += 3)
    box.dims.push_back({number(value.box[i]), number(value.box[i + 1]), number(value.box[i + 2])});
  return box;
}

Status checkProgramStorage(const artifact::ProgramT &program, const ShapeExprs &exprs,
                           llvm::ArrayRef<uint32_t> buffers) {
  // `values` has an entry for each value of the program, so that messages name values by their
  // numbers in the program. The entries of constants and of inputs that are neither donated nor
  // belong to a state that the program changes are unused.
  std::vector<hazards::StoredValue> values(program.values.size());
  std::vector<bool> isChecked(program.values.size());
  // Returns the input of the state whose output a value is, or kNotSet.
  const auto stateInput = [&](uint32_t v) {
    const bool isState = program.values[v]->base == kNotSet && buffers[v] < program.inputs.size();
    return isState && buffers[v] != v ? buffers[v] : kNotSet;
  };
  uint64_t end = program.arena_bytes; // This check places the outputs one by one after the arena.
  for (size_t v = 0; v < program.values.size(); ++v) {
    const artifact::ValueT &value = *program.values[v];
    const auto sizeOf = [&](const artifact::ValueT &entry) {
      return static_cast<uint64_t>(*exprs.constantValue(entry.size));
    };
    if (value.storage == Storage::transient) {
      values[v].offset = value.byte_offset;
      isChecked[v] = true;
    } else if (value.storage == Storage::output) {
      values[v].offset = end;
      isChecked[v] = true;
      uint64_t size = sizeOf(value);
      if (const uint32_t input = stateInput(static_cast<uint32_t>(v)); input != kNotSet) {
        values[input].offset = end;
        isChecked[input] = true;
        size = std::max(size, sizeOf(*program.values[input]));
      }
      end += size;
    }
  }
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (!isChecked[v])
      continue;
    const artifact::ValueT &value = *program.values[v];
    hazards::StoredValue &entry = values[v];
    entry.storage = value.base == kNotSet ? static_cast<uint32_t>(v) : value.base;
    entry.offset = values[entry.storage].offset;
    // An input that is checked is donated or belongs to a state. It has its contents before the
    // first command.
    entry.isFilledBefore = v < program.inputs.size();
    entry.box = boxOf(value, exprs);
  }
  std::vector<hazards::StorageCommand> commands;
  for (const auto &command : program.commands) {
    hazards::StorageCommand entry;
    for (size_t b = 0; b < command->bindings.size(); ++b)
      if (const uint32_t value = command->bindings[b]; isChecked[value])
        (command->writes[b] ? entry.writes : entry.reads).push_back(value);
    if (command->in_place != kNotSet && isChecked[command->bindings[command->in_place]])
      entry.inPlace = command->bindings[command->in_place];
    entry.isPartial = command->partial;
    // The runtime omits the copy of a state to itself, which a state that keeps its value has.
    if (command->kind == artifact::CommandKind::copy &&
        stateInput(command->bindings[1]) == command->bindings[0])
      entry.inPlace = command->bindings[0];
    // A value that is overwritten in place counts as a storage of its own. The check then reports a
    // later read of this value, even if both values are parts of one output's storage.
    if (entry.inPlace)
      values[*entry.inPlace].storage = *entry.inPlace;
    commands.push_back(std::move(entry));
  }
  // The caller reads the outputs after the last command.
  hazards::StorageCommand last;
  for (const auto &output : program.outputs)
    if (const uint32_t value = output->value; isChecked[value])
      last.reads.push_back(value);
  commands.push_back(std::move(last));
  return hazards::checkStorage(values, commands);
}

} // namespace gantry::codegen
