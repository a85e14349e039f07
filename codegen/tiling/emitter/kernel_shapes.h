// The extents of a kernel's tensors and loops as index expressions, and the points that an
// operation reads.
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

/// Returns the number of which a size argument of the kernel, at this position among the size
/// arguments, is a multiple.
int64_t multipleOf(mlir::func::FuncOp kernel, size_t dim);

class KernelShapes {
public:
  /// `kernel` is the outlined function, which takes tensors and then the sizes of their dynamic
  /// dimensions, and returns one tensor, or the rows and the positions of a scatter. It is not
  /// changed. dims: the values of these sizes in the emitted kernel, each divided by its
  /// multipleOf(); none with a CountingSink.
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
  /// tensor, or of the storage in which the tensor is a box.
  llvm::SmallVector<IndexExpr> storageShape(unsigned buffer, mlir::Value tensor);
  /// Returns the addresses of points of a buffer, whose tensor is `tensor`, in elements from the
  /// start of the bound buffer.
  llvm::SmallVector<IndexExpr> addressesOf(unsigned buffer, mlir::Value tensor,
                                           llvm::ArrayRef<Point> points);

  llvm::SmallVector<IndexExpr> shapeOf(mlir::Value tensor);
  /// Returns the largest known divisor of each extent of a tensor.
  llvm::SmallVector<int64_t> divisorsOf(mlir::Value tensor);
  /// The extents of the result along the tile dimensions (TileShape::spaceOf).
  llvm::SmallVector<IndexExpr> tileSpace(const TileShape &tile);
  /// The extents of an operation's loops.
  llvm::SmallVector<IndexExpr> loopExtents(mlir::linalg::GenericOp op);
  /// Returns the loop coordinates at a point of the output, whose map is `outputMap`. Loops that
  /// the output does not depend on have coordinate 0.
  LoopIndex loopCoordinates(mlir::linalg::GenericOp op, mlir::AffineMap outputMap,
                            const Point &point);
  /// Returns the point of an operand, whose map is `map`, at these loop coordinates.
  Point operandPoint(mlir::AffineMap map, llvm::ArrayRef<IndexExpr> loops, int32_t guard);

  /// Returns an index value of the kernel's function, outside of any body, as an expression.
  IndexExpr indexOf(mlir::Value value);
  /// Returns `constants` with each kDynamic entry replaced by the next one of `values`.
  llvm::SmallVector<IndexExpr> mixedValues(llvm::ArrayRef<int64_t> constants,
                                           mlir::ValueRange values);
  /// Returns the number of size arguments of the kernel.
  unsigned dimCount() { return kernel_.getNumArguments() - tensorCount_; }
  /// Returns the size argument at this position, not counting the tensors.
  IndexExpr dim(unsigned position);

private:
  llvm::SmallVector<IndexExpr> computeShape(mlir::Value tensor);
  llvm::SmallVector<IndexExpr> argumentShape(mlir::BlockArgument argument);

  mlir::func::FuncOp kernel_;
  IndexSpace &space_;
  KernelSink &sink_;
  llvm::SmallVector<mlir::Value> dimValues_;
  mlir::Value result_, positions_;
  unsigned tensorCount_ = 0;
  llvm::SmallVector<LayoutAttr> layouts_; // By buffer: the tensors, then the result.
  llvm::DenseMap<mlir::Value, IndexExpr> indexValues_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<IndexExpr>> shapes_;
};

} // namespace gantry::codegen
