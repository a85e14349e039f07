// The extents of a kernel's tensors and loops as index expressions (index_expr.h), and the points
// that an operation reads. A point is one element of a tensor, given by its index along each
// dimension (sink/point.h).
//
// A dynamic extent is a variable of the kernel's IndexSpace, made on first use, or an expression of
// such variables.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/sink/kernel_sink.h"
#include "codegen/tiling/layout.h"
#include "codegen/tiling/tile_shape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gantry::codegen {

/// Returns a number that always divides the kernel's size argument at position `dim`, not counting
/// the tensors.
int64_t multipleOf(mlir::func::FuncOp kernel, size_t dim);

class KernelShapes {
public:
  /// `kernel` is the kernel's function on tensors. It takes tensors and then the sizes of their
  /// dynamic dimensions, and returns one tensor, or the rows and the positions of a scatter (which
  /// stores each row at its position). It is not changed. dims: the values of these sizes in the
  /// emitted kernel, each divided by its multipleOf(); none with a CountingSink, which builds
  /// nothing.
  KernelShapes(mlir::func::FuncOp kernel, IndexSpace &space, KernelSink &sink,
               mlir::ValueRange dims);

  mlir::func::FuncOp kernel() const { return kernel_; }
  /// The tensor that the kernel computes.
  mlir::Value result() const { return result_; }
  /// The positions at which the rows of result() are stored in the result's buffer
  /// (gantry.scatter); null if they are stored in order.
  mlir::Value positions() const { return positions_; }
  /// The number of tensor arguments, which is also the number of the result's buffer.
  unsigned tensorCount() const { return tensorCount_; }
  /// The order of a buffer's elements in memory.
  LayoutAttr layout(unsigned buffer) const { return layouts_[buffer]; }
  /// The extents that determine the strides of a buffer, whose tensor is `tensor`: those of the
  /// tensor, or of the larger tensor in whose memory it lies (LayoutAttr::getWithin).
  IndexList storageShape(unsigned buffer, mlir::Value tensor);
  /// Returns the addresses of points of a buffer, whose tensor is `tensor`. An address is a number
  /// of elements from the start of the bound buffer.
  IndexList addressesOf(unsigned buffer, mlir::Value tensor, llvm::ArrayRef<Point> points);

  IndexList shapeOf(mlir::Value tensor);
  /// Returns the largest known divisor of each extent of a tensor.
  llvm::SmallVector<int64_t> divisorsOf(mlir::Value tensor);
  /// The extents of the result along the dimensions of a tile: its own dimensions, of which the
  /// last ones may be merged into one (TileShape::spaceOf).
  IndexList tileSpace(const TileShape &tile);
  /// The extents of an operation's loops.
  IndexList loopExtents(mlir::linalg::GenericOp op);
  /// Returns the loop coordinates of an operation at a point of its output. outputMap: the indexing
  /// map of the output. Loops that the output does not depend on have coordinate 0.
  LoopIndex loopCoordinates(mlir::linalg::GenericOp op, mlir::AffineMap outputMap,
                            const Point &point);
  /// Returns the point of an operand, whose indexing map is `map`, at these loop coordinates.
  /// guard: the guard of the returned point, which is the number of the conditions under which it
  /// lies in its tensor (guards.h).
  Point operandPoint(mlir::AffineMap map, llvm::ArrayRef<IndexExpr> loops, int32_t guard);

  /// Returns an index value as an expression. The kernel's function must define it outside of the
  /// bodies of linalg operations.
  IndexExpr indexOf(mlir::Value value);
  /// Returns `constants` with each kDynamic entry replaced by the next one of `values`.
  IndexList mixedValues(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values);
  /// Returns the number of size arguments of the kernel.
  unsigned dimCount() { return kernel_.getNumArguments() - tensorCount_; }
  /// Returns the size argument at this position, not counting the tensors.
  IndexExpr dim(unsigned position);

private:
  IndexList computeShape(mlir::Value tensor);
  IndexList argumentShape(mlir::BlockArgument argument);

  mlir::func::FuncOp kernel_;
  IndexSpace &space_;
  KernelSink &sink_;
  llvm::SmallVector<mlir::Value> dimValues_;
  mlir::Value result_, positions_;
  unsigned tensorCount_ = 0;
  llvm::SmallVector<LayoutAttr> layouts_; // By buffer: the tensors, then the result.
  llvm::DenseMap<mlir::Value, IndexExpr> indexValues_;
  llvm::DenseMap<mlir::Value, IndexList> shapes_;
};

} // namespace gantry::codegen
