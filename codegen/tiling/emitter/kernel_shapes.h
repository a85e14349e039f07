// The extents of a kernel's tensors and loops as index expressions, and the points that an
// operation reads.
//
// Extents that the inputs decide are variables of the kernel's IndexSpace, each made when it is
// first asked for.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/sink/kernel_sink.h"
#include "codegen/tiling/layout.h"
#include "codegen/tiling/tile_shape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace gantry::codegen {

class KernelShapes {
public:
  /// `kernel`: the outlined function (tensors, then the sizes of dynamic dimensions → one tensor),
  /// which stays unchanged. dims: the values of these sizes in the emitted kernel; none when
  /// counting.
  KernelShapes(mlir::func::FuncOp kernel, IndexSpace &space, KernelSink &sink,
               mlir::ValueRange dims);

  mlir::func::FuncOp kernel() const { return kernel_; }
  /// The tensor that the kernel computes.
  mlir::Value result() const { return result_; }
  /// The number of tensor arguments, which is also the result's buffer.
  unsigned tensorCount() const { return tensorCount_; }
  /// How a buffer's elements lie in memory.
  Layout layout(unsigned buffer) const { return layouts_[buffer]; }

  llvm::SmallVector<IndexExpr> shapeOf(mlir::Value tensor);
  /// The extents of the result along the tile dimensions.
  llvm::SmallVector<IndexExpr> tileSpace(const TileShape &tile);
  /// The extents of an operation's loops.
  llvm::SmallVector<IndexExpr> loopExtents(mlir::linalg::GenericOp op);
  /// The loops' coordinates at a point of the output with this map. Loops that the output does not
  /// depend on are at 0.
  LoopIndex loopCoordinates(mlir::linalg::GenericOp op, mlir::AffineMap outputMap,
                            const Point &point);
  /// The point of an operand with this map at the loops' coordinates.
  Point operandPoint(mlir::AffineMap map, llvm::ArrayRef<IndexExpr> loops, int32_t guard);

  /// The value of an index in the kernel's function, outside of any body.
  IndexExpr indexOf(mlir::Value value);
  /// A list in which dynamic entries are taken from `values`, in order.
  llvm::SmallVector<IndexExpr> mixedValues(llvm::ArrayRef<int64_t> constants,
                                           mlir::ValueRange values);
  /// The sizes of the kernel's dynamic dimensions.
  unsigned dimCount() { return kernel_.getNumArguments() - tensorCount_; }
  IndexExpr dim(unsigned position);

private:
  llvm::SmallVector<IndexExpr> computeShape(mlir::Value tensor);
  llvm::SmallVector<IndexExpr> argumentShape(mlir::BlockArgument argument);

  mlir::func::FuncOp kernel_;
  IndexSpace &space_;
  KernelSink &sink_;
  llvm::SmallVector<mlir::Value> dimValues_;
  mlir::Value result_;
  unsigned tensorCount_ = 0;
  llvm::SmallVector<llvm::SmallVector<int64_t>>
      layouts_; // By buffer: the tensors, then the result.
  llvm::DenseMap<mlir::Value, IndexExpr> indexValues_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<IndexExpr>> shapes_;
};

} // namespace gantry::codegen
