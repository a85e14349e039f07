// Implements the search for a tensor's place in the storage of a concatenation.
#include "codegen/passes/storage/placement.h"

#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/layout.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

llvm::ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// Returns the product of the static extents, by which tensors of one storage are compared. All
/// tensors of a storage have the same dynamic extents.
int64_t staticElements(Value tensor) {
  int64_t count = 1;
  for (int64_t extent : shapeOf(tensor))
    count *= ShapedType::isDynamic(extent) ? 1 : extent;
  return count;
}

/// Returns the largest gantry.concat with the input `tensor`; null if there is none.
ConcatOp largestConcatOf(Value tensor) {
  ConcatOp largest;
  for (Operation *user : tensor.getUsers())
    if (auto concat = dyn_cast<ConcatOp>(user);
        concat &&
        (!largest || staticElements(concat.getResult()) > staticElements(largest.getResult())))
      largest = concat;
  return largest;
}

} // namespace

Placement placementOf(Value tensor) {
  Placement place;
  place.box = place.storage = viewedTensor(tensor);
  place.offsets.assign(shapeOf(place.storage).size(), 0);
  place.steps.assign(place.offsets.size(), 1);
  const auto enter = [&](ConcatOp concat, Value input) {
    const OperandRange inputs = concat.getInputs();
    const uint64_t dim = concat.getDim();
    const auto number = std::distance(inputs.begin(), llvm::find(inputs, input));
    if (concat.getInterleaved()) {
      const auto count = static_cast<int64_t>(inputs.size());
      place.offsets[dim] = place.offsets[dim] * count + number;
      place.steps[dim] *= count;
    } else {
      for (Value before : inputs.take_front(number))
        place.offsets[dim] += shapeOf(before)[dim];
    }
    place.storage = concat.getResult();
  };
  while (true) {
    if (ConcatOp outer = largestConcatOf(place.storage)) {
      enter(outer, place.storage);
      continue;
    }
    // `place.storage` is no input of a concatenation. But if it is the result of one whose inputs
    // are also inputs of a larger concatenation, it lies in the storage of the larger one.
    auto concat = place.storage.getDefiningOp<ConcatOp>();
    ConcatOp larger = concat ? largestConcatOf(concat.getInputs().front()) : ConcatOp();
    if (!larger || staticElements(larger.getResult()) <= staticElements(place.storage))
      return place;
    enter(larger, concat.getInputs().front());
  }
}

Value storageOf(Value tensor) { return placementOf(tensor).storage; }

bool isInSharedStorage(Value tensor) {
  return storageOf(tensor).getDefiningOp<ConcatOp>() != nullptr;
}

llvm::SmallDenseSet<uint64_t> interleavedDims(Value tensor) {
  llvm::SmallDenseSet<uint64_t> dims;
  if (auto concat = tensor.getDefiningOp<ConcatOp>(); concat && concat.getInterleaved()) {
    dims.insert(concat.getDim());
    for (Value input : concat.getInputs())
      for (const uint64_t dim : interleavedDims(input))
        dims.insert(dim);
  }
  return dims;
}

bool isOneRange(const Placement &place) {
  const llvm::ArrayRef<int64_t> box = shapeOf(place.box), storage = shapeOf(place.storage);
  size_t outermost = 0; // The first dimension along which the box has several elements.
  while (outermost < box.size() && box[outermost] == 1)
    ++outermost;
  return outermost == box.size() ||
         (place.steps[outermost] == 1 &&
          box.drop_front(outermost + 1) == storage.drop_front(outermost + 1));
}

llvm::SmallVector<int64_t> withinOf(const Placement &place) {
  llvm::SmallVector<int64_t> within;
  if (!isOneRange(place))
    for (int64_t extent : shapeOf(place.storage))
      within.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  return within;
}

LayoutAttr boxedLayout(const Placement &place, llvm::ArrayRef<int64_t> parts, int64_t start) {
  const llvm::SmallVector<int64_t> within = withinOf(place);
  llvm::ArrayRef<int64_t> steps(place.steps);
  if (within.empty() || llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    steps = {};
  return LayoutAttr::get(place.box.getContext(), parts, within, start, steps);
}

llvm::SmallVector<Value> partsOf(Value tensor) {
  tensor = viewedTensor(tensor);
  auto concat = tensor.getDefiningOp<ConcatOp>();
  if (!concat)
    return {tensor};
  llvm::SmallVector<Value> parts;
  for (Value input : concat.getInputs())
    llvm::append_range(parts, partsOf(input));
  return parts;
}

int64_t startOf(const Placement &place, llvm::ArrayRef<int64_t> parts) {
  IndexSpace space;
  IndexList shape, index;
  // A dynamic extent may count as 1: the caller guarantees that the address does not depend on it.
  for (int64_t extent : shapeOf(place.storage))
    shape.emplace_back(ShapedType::isDynamic(extent) ? 1 : extent);
  for (int64_t offset : place.offsets)
    index.emplace_back(offset);
  return linearAddress(space, parts, shape, index).constant;
}

} // namespace gantry::codegen
