// pack-constants: see Passes.td.
#include "codegen/passes/constant_bytes.h"
#include "codegen/passes/passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AsmState.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PACKCONSTANTS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// The dimensions of the operand in the order in which a kernel wants them: reduction dimensions in
/// loop order, then the innermost parallel one; other parallel ones stay in front. Empty if the
/// order is right already or the operand cannot be permuted.
llvm::SmallVector<unsigned> packedOrder(linalg::GenericOp op, AffineMap map,
                                        llvm::ArrayRef<int64_t> shape) {
  if (!map.isProjectedPermutation() || map.getNumResults() < 2)
    return {};
  auto iterators = op.getIteratorTypesArray();
  llvm::SmallVector<unsigned> parallel, reduction;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    bool reduces = iterators[map.getDimPosition(i)] == utils::IteratorType::reduction;
    (reduces ? reduction : parallel).push_back(i);
  }
  if (parallel.empty() || reduction.empty() || shape[parallel.back()] % 4 != 0)
    return {};
  llvm::sort(reduction,
             [&](unsigned a, unsigned b) { return map.getDimPosition(a) < map.getDimPosition(b); });
  llvm::SmallVector<unsigned> order(parallel.begin(), parallel.end() - 1);
  order.append(reduction);
  order.push_back(parallel.back());
  return llvm::is_sorted(order) ? llvm::SmallVector<unsigned>{} : order;
}

/// result[i_order[0], i_order[1], …] = source[i_0, i_1, …], elements of `size` bytes.
void permute(llvm::ArrayRef<char> source, llvm::ArrayRef<int64_t> shape,
             llvm::ArrayRef<unsigned> order, size_t size, char *target) {
  size_t rank = shape.size();
  llvm::SmallVector<int64_t> strides(rank, 1);
  for (size_t d = rank; d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  llvm::SmallVector<int64_t> index(rank, 0);
  int64_t count = source.size() / size, from = 0;
  for (int64_t to = 0; to < count; ++to) {
    std::memcpy(target + to * size, source.data() + from * size, size);
    for (size_t d = rank; d-- > 0;) {
      unsigned dim = order[d];
      from += strides[dim];
      if (++index[d] < shape[dim])
        break;
      from -= strides[dim] * shape[dim];
      index[d] = 0;
    }
  }
}

struct PackConstantsPass : impl::PackConstantsBase<PackConstantsPass> {
  void runOnOperation() override {
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 0)
        return;
      for (OpOperand *operand : op.getDpsInputOperands())
        if (auto constant = operand->get().getDefiningOp<arith::ConstantOp>())
          pack(op, *operand, constant);
    });
  }

  void pack(linalg::GenericOp op, OpOperand &operand, arith::ConstantOp constant) {
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!type)
      return;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto order = packedOrder(op, map, type.getShape());
    if (order.empty())
      return;
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<AffineExpr> exprs;
    for (unsigned dim : order) {
      shape.push_back(type.getDimSize(dim));
      exprs.push_back(map.getResult(dim));
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
