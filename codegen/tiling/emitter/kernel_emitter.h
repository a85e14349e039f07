// Generates the kernel of a dispatch (one kernel launch).
//
// A dispatch is a small graph of linalg operations on tensors, with at most one reduction (row
// kernels and attentions have several). An invocation of the kernel computes some points (elements)
// of the result. The tile (tile_shape.h) says which and how. KernelEmitter computes these points,
// evaluates the result at them (tensor_evaluator.h) and stores the values.
//
// The operations go to a sink (sink/kernel_sink.h): BuildingSink builds the kernel's IR,
// CountingSink counts its costs.
//
// Threads: one emitter per kernel and thread.
#pragma once

#include "codegen/tiling/emitter/body_evaluator.h"
#include "codegen/tiling/emitter/dot_products.h"
#include "codegen/tiling/emitter/matmul.h"
#include "codegen/tiling/emitter/memory/memory_access.h"
#include "codegen/tiling/emitter/online_softmax.h"
#include "codegen/tiling/emitter/reduction.h"
#include "codegen/tiling/emitter/memory/result_store.h"
#include "codegen/tiling/emitter/row_kernel.h"
#include "codegen/tiling/emitter/row_reduction.h"
#include "codegen/tiling/emitter/staging.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/emitter/tile_points.h"

namespace gantry::codegen {

class KernelEmitter {
public:
  /// `kernel` is the kernel's function on tensors. It takes tensors and then the sizes of their
  /// dynamic dimensions, and returns one tensor, or the rows and the positions of a scatter (which
  /// stores each row at its position; gantry.yield). It is not changed. Its attribute
  /// `gantry.signature` has the layouts of the tensors. dims: the values of the sizes, each divided
  /// by its multipleOf() (kernel_shapes.h); none when counting. readsTexels: vectors of operands
  /// are read through texel buffers. `space` (the owner of the index expressions) and `sink` must
  /// be used for this kernel only. They and `tile` must outlive the emitter.
  KernelEmitter(mlir::func::FuncOp kernel, const TileShape &tile, bool readsTexels,
                IndexSpace &space, KernelSink &sink, mlir::ValueRange dims = {});

  /// Emits the code that evaluates and stores the points of an invocation. Call once. Afterwards
  /// sink.unsupported() is null if the kernel could be computed.
  void emit(const InvocationIds &ids = {});

  /// Returns the extents of the result along the dimensions of the tile (TileShape::spaceOf).
  IndexList tileSpace() { return shapes_.tileSpace(tile_); }
  /// The boxes of the kernel, which are the parts of tensors that lie in shared memory. Complete
  /// after emit().
  const SharedMemory &shared() const { return shared_; }
  /// The rounds of the kernel's loops. Complete after emit().
  const Loops &loops() const { return loops_; }

private:
  void emitTail(const InvocationIds &ids, llvm::ArrayRef<Point> points);
  std::vector<Point> scattered(llvm::ArrayRef<Point> points, const PointGrid &grid);

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes shapes_;
  Guards guards_;
  Loops loops_;
  Invocation invocation_; // emit() fills this in before other objects read it.
  KernelContext context_;

  MemoryAccess access_;
  ResultStore stores_;
  SharedMemory shared_;
  RowLanes lanes_;
  TensorEvaluator evaluator_;
  BodyEvaluator bodies_;
  RowReduction rows_;
  Staging staging_;
  Accumulation accumulation_;
  DotProducts dots_;
  OnlineSoftmax attention_;
  Matmul matmul_;
  Reductions reductions_;
};

} // namespace gantry::codegen
