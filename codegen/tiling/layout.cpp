// Implements layout.h.
#include "codegen/tiling/layout.h"

namespace gantry::codegen {

llvm::SmallVector<int64_t> channelsBlocked(int64_t rank, int64_t block) {
  llvm::SmallVector<int64_t> layout{0, 1, 1, block};
  for (int64_t d = 2; d < rank; ++d)
    layout.append({d, 1});
  layout.append({1, 1});
  return layout;
}

llvm::SmallVector<int64_t> rowPanels(int64_t rank, int64_t rows, int64_t columns) {
  llvm::SmallVector<int64_t> layout;
  for (int64_t d = 0; d < rank - 2; ++d)
    layout.append({d, 1});
  layout.append({rank - 2, rows, rank - 1, columns, rank - 2, 1, rank - 1, 1});
  return layout;
}

/// Returns a + b * factor.
static IndexExpr addMultiple(IndexSpace &space, const IndexExpr &a, const IndexExpr &b,
                             const IndexExpr &factor) {
  return factor.isConstant() ? space.addScaled(a, b, factor.constant)
                             : space.add(a, space.mul(b, factor));
}

IndexExpr linearAddress(IndexSpace &space, Layout layout, llvm::ArrayRef<IndexExpr> shape,
                        llvm::ArrayRef<IndexExpr> index) {
  IndexExpr address(0), stride(1);
  if (layout.empty()) {
    // Two neighbouring indices may be the quotient and the remainder of one number by the inner
    // extent; kernels make such indices when they treat several dimensions as one (splitMerged() in
    // emitter/tile_points.h). The number itself then replaces them, which avoids the division.
    IndexList joined(index.begin(), index.end());
    for (size_t d = 1; d < shape.size(); ++d) {
      if (const auto whole = space.joined(joined[d - 1], joined[d], shape[d])) {
        joined[d] = *whole;
        joined[d - 1] = IndexExpr(0);
      }
    }
    for (size_t d = shape.size(); d-- > 0;) {
      address = addMultiple(space, address, joined[d], stride);
      if (d > 0)
        stride = space.mul(stride, shape[d]);
    }
    return address;
  }
  for (size_t i = layout.size(); i > 0; i -= 2) {
    const int64_t dim = layout[i - 2], block = layout[i - 1];
    int64_t outer = 0; // The next larger block of the same dimension; 0: there is none.
    for (size_t j = 0; j < layout.size(); j += 2)
      if (layout[j] == dim && layout[j + 1] > block && (outer == 0 || layout[j + 1] < outer))
        outer = layout[j + 1];
    IndexExpr part = space.floorDiv(index[dim], IndexExpr(block));
    if (outer)
      part = space.mod(part, IndexExpr(outer / block));
    address = addMultiple(space, address, part, stride);
    stride = space.mul(stride, outer ? IndexExpr(outer / block)
                                     : space.floorDiv(shape[dim], IndexExpr(block)));
  }
  return address;
}

} // namespace gantry::codegen
