// Generates the kernel of a dispatch.
//
// A dispatch is a small graph of linalg operations on tensors, with at most one reduction (row
// kernels and attentions have several). An invocation of the kernel computes the elements of its
// tile: a handful of points of the result. KernelEmitter computes these points, evaluates the
// result there (tensor_evaluator.h) and stores what comes out.
//
// The kernel goes to a sink: BuildingSink builds its IR, CountingSink counts what it costs.
//
// Threads: one emitter per kernel and thread.
#pragma once

#include "codegen/tiling/emitter/body_evaluator.h"
#include "codegen/tiling/emitter/dot_products.h"
#include "codegen/tiling/emitter/matmul.h"
#include "codegen/tiling/emitter/memory_access.h"
#include "codegen/tiling/emitter/online_softmax.h"
#include "codegen/tiling/emitter/reduction.h"
#include "codegen/tiling/emitter/row_kernel.h"
#include "codegen/tiling/emitter/staging.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/emitter/tile_points.h"

namespace gantry::codegen {

class KernelEmitter {
public:
  /// `kernel`: the outlined function (tensors, then the sizes of dynamic dimensions → one tensor),
  /// which stays unchanged. Its signature (`gantry.signature`) tells how its tensors and its result
  /// lie in memory. dims: the values of the sizes; none when counting. `space` and `sink` are the
  /// kernel's own and live as long as the emitter.
  KernelEmitter(mlir::func::FuncOp kernel, const TileShape &tile, IndexSpace &space,
                KernelSink &sink, mlir::ValueRange dims = {});

  /// Evaluates and stores the tile of an invocation. Call once. sink.unsupported() tells whether
  /// the kernel could be computed.
  void emit(const InvocationIds &ids = {});

  /// The extents of the result along the tile dimensions.
  llvm::SmallVector<IndexExpr> tileSpace() { return shapes_.tileSpace(tile_); }
  /// The boxes in shared memory, and the rounds of the loops; after emit().
  const SharedMemory &shared() const { return shared_; }
  const Loops &loops() const { return loops_; }

private:
  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes shapes_;
  Guards guards_;
  Loops loops_;
  Invocation invocation_; // Filled in by emit(), before anything reads it.
  KernelContext context_;

  MemoryAccess access_;
  SharedMemory shared_;
  RowLanes lanes_;
  TensorEvaluator evaluator_;
  BodyEvaluator bodies_;
  Staging staging_;
  Accumulation accumulation_;
  DotProducts dots_;
  OnlineSoftmax attention_;
  Matmul matmul_;
  Reductions reductions_;
};

} // namespace gantry::codegen
