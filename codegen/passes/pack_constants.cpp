// Implements the pass pack-constants (Passes.td), which permutes a constant operand of a reduction
// at compile time to the order in which kernels read it.
#include "codegen/passes/constant_bytes.h"
#include "codegen/passes/passes.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AsmState.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PACKCONSTANTS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// A dimension of a packed constant, with `size` elements. It holds a part of dimension `position`
/// of the original constant: the index along the packed dimension is floor(i / block) mod size,
/// where i is the index along the original dimension.
struct Part {
  unsigned position;
  int64_t block, size;
};

/// The order of the dimensions of a packed constant, from the outermost to the innermost. A
/// dimension is parallel or a reduction dimension, as the loop that indexes it. An index along the
/// last parallel dimension is called a channel here. Each order begins with the dimensions of
/// extent 1 that no loop indexes, and the parallel dimensions except the last. Then come:
/// - kRows: the reduction dimensions in loop order, then the channels.
/// - kBlocksOfEight: the blocks of eight channels (of four, if the number of channels is not a
///   multiple of eight); then the reduction dimensions, of which the largest one that is a multiple
///   of four comes last and is divided into groups of four steps; then the channels of a block;
///   then the four steps of a group.
/// - kBlocksOfAll: as kBlocksOfEight, with all channels in one block.
/// If no reduction dimension is a multiple of four, all three orders are kRows.
enum class Order { kRows, kBlocksOfEight, kBlocksOfAll };

/// Returns the dimensions of the packed operand, from the outermost to the innermost. `map` is the
/// operand's indexing map and `shape` its shape. The result is empty if the operand already has the
/// order `wanted` or cannot be permuted.
llvm::SmallVector<Part> packedOrder(linalg::GenericOp op, AffineMap map,
                                    llvm::ArrayRef<int64_t> shape, Order wanted) {
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) || map.getNumResults() < 2)
    return {};
  auto iterators = op.getIteratorTypesArray();
  llvm::SmallVector<Part> order;
  llvm::SmallVector<unsigned> parallel, reduction;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    if (isa<AffineConstantExpr>(
            map.getResult(i))) { // The dimension has one element, as in depthwise weights.
      order.push_back({i, 1, shape[i]});
      continue;
    }
    bool reduces = iterators[map.getDimPosition(i)] == utils::IteratorType::reduction;
    (reduces ? reduction : parallel).push_back(i);
  }
  if (parallel.empty() || reduction.empty() ||
      (wanted != Order::kBlocksOfAll && shape[parallel.back()] % 4 != 0))
    return {};
  llvm::sort(reduction,
             [&](unsigned a, unsigned b) { return map.getDimPosition(a) < map.getDimPosition(b); });
  const unsigned inner = parallel.pop_back_val();
  for (unsigned i : parallel)
    order.push_back({i, 1, shape[i]});
  const unsigned *deep = nullptr;
  for (const unsigned &i : reduction)
    if (wanted != Order::kRows && shape[i] % 4 == 0 && (!deep || shape[i] > shape[*deep]))
      deep = &i;
  const int64_t block = wanted == Order::kBlocksOfAll ? shape[inner]
                        : shape[inner] % 8 == 0       ? 8
                                                      : 4;
  if (deep && wanted != Order::kBlocksOfAll)
    order.push_back({inner, block, shape[inner] / block});
  for (const unsigned &i : reduction)
    if (&i != deep)
      order.push_back({i, 1, shape[i]});
  if (deep)
    order.append({{*deep, 4, shape[*deep] / 4}, {inner, 1, block}, {*deep, 1, 4}});
  else
    order.push_back({inner, 1, shape[inner]});
  if (!deep &&
      llvm::is_sorted(order, [](const Part &a, const Part &b) { return a.position < b.position; }))
    return {};
  return order;
}

/// Copies the elements of a tensor with this shape, of `size` bytes each, to `target` in the order
/// `order`.
void permute(llvm::ArrayRef<char> source, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Part> order,
             size_t size, char *target) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  llvm::SmallVector<int64_t> index(order.size(), 0);
  int64_t count = source.size() / size, from = 0;
  for (int64_t to = 0; to < count; ++to) {
    std::memcpy(target + to * size, source.data() + from * size, size);
    for (size_t d = order.size(); d-- > 0;) {
      const int64_t step = strides[order[d].position] * order[d].block;
      from += step;
      if (++index[d] < order[d].size)
        break;
      from -= step * order[d].size;
      index[d] = 0;
    }
  }
}

struct PackConstantsPass : impl::PackConstantsBase<PackConstantsPass> {
  using PackConstantsBase::PackConstantsBase;

  void runOnOperation() override {
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 0)
        return;
      for (OpOperand *operand : op.getDpsInputOperands())
        if (auto constant = operand->get().getDefiningOp<arith::ConstantOp>())
          pack(op, *operand, constant);
    });
  }

  /// Replaces a constant operand of a reduction by a packed copy, and changes the operand's
  /// indexing map accordingly.
  void pack(linalg::GenericOp op, OpOperand &operand, arith::ConstantOp constant) {
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!type)
      return;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    // linalg takes a loop's extent from an operand that is indexed by the loop itself. A blocked
    // constant is indexed by quotients and remainders of the loop, so another operand must be
    // indexed by the loop itself.
    auto inOther = [&](AffineExpr dim) {
      return llvm::any_of(op->getOpOperands(), [&](OpOperand &other) {
        return &other != &operand && isa<RankedTensorType>(other.get().getType()) &&
               llvm::is_contained(op.getMatchingIndexingMap(&other).getResults(), dim);
      });
    };
    const Type element = type.getElementType();
    const bool inBlocks = blocks && (element.isF32() || element.isF16() || element.isInteger(8));
    auto order = packedOrder(op, map, type.getShape(),
                             dots && byteFactorsOf(op) ? Order::kBlocksOfAll
                             : inBlocks                ? Order::kBlocksOfEight
                                                       : Order::kRows);
    if (llvm::any_of(order, [&](const Part &part) {
          return part.block > 1 && !inOther(map.getResult(part.position));
        }))
      order = packedOrder(op, map, type.getShape(), Order::kRows);
    if (order.empty())
      return;
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<AffineExpr> exprs;
    for (const Part &part : order) {
      shape.push_back(part.size);
      AffineExpr expr = map.getResult(part.position);
      const bool whole = part.block * part.size == type.getDimSize(part.position);
      if (part.block > 1)
        expr = expr.floorDiv(part.block);
      exprs.push_back(whole ? expr : expr % part.size);
    }
    auto packedType = RankedTensorType::get(shape, type.getElementType());
    Attribute packed;
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) {
      packed = splat.resizeSplat(packedType);
    } else {
      llvm::ArrayRef<char> bytes = constantBytes(constant.getValue());
      unsigned bits = type.getElementTypeBitWidth();
      if (bytes.empty() || bits % 8 != 0)
        return;
      AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes.size(), 64);
      permute(bytes, type.getShape(), order, bits / 8, blob.getMutableData().data());
      packed = DenseResourceElementsAttr::get(packedType, "packed", std::move(blob));
    }
    OpBuilder builder(constant);
    auto replacement =
        builder.create<arith::ConstantOp>(constant.getLoc(), packedType, cast<TypedAttr>(packed));
    operand.set(replacement);
    auto maps = op.getIndexingMapsArray();
    maps[operand.getOperandNumber()] =
        AffineMap::get(map.getNumDims(), 0, exprs, builder.getContext());
    op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
    if (constant->use_empty())
      constant->erase();
  }
};

} // namespace
} // namespace gantry::codegen
