#include "codegen/tiling/emitter/kernel_emitter.h"

namespace gantry::codegen {

using namespace mlir;

// The classes refer to each other, because evaluating a tensor evaluates the operands of its
// operation. The constructors must only keep the references: some objects do not exist yet.
KernelEmitter::KernelEmitter(func::FuncOp kernel, const TileShape &tile, IndexSpace &space,
                             KernelSink &sink, ValueRange dims)
    : tile_(tile), space_(space), sink_(sink), shapes_(kernel, space, sink, dims),
      guards_(space, sink),
      loops_(space, sink, shapes_), context_{tile_,   space_, sink_,      shapes_,
                                             guards_, loops_, invocation_},
      access_(context_), shared_(context_), lanes_(context_),
      evaluator_(context_, access_, bodies_, reductions_), bodies_(context_, evaluator_),
      staging_(context_, shared_, access_, evaluator_), accumulation_(context_, bodies_, staging_),
      dots_(context_, access_, evaluator_), attention_(context_, evaluator_, accumulation_, lanes_),
      matmul_(context_, shared_, evaluator_),
      reductions_(context_,
                  {evaluator_, accumulation_, shared_, staging_, dots_, attention_, matmul_}) {}

void KernelEmitter::emit(const InvocationIds &ids) {
  if (tile_.rowLength) {
    RowKernel::placeInvocation(tile_, space_, ids.lane, invocation_);
    RowKernel(context_, access_, evaluator_, bodies_, reductions_, lanes_).emit(ids.tile);
    return;
  }
  const TilePoints::Points points =
      TilePoints(tile_, space_, sink_, shapes_, guards_).compute(ids, invocation_);
  const PointGrid grid{tile_.result, tile_.laneDim};
  const Values values = evaluator_.evaluate(shapes_.result(), points.load, grid);
  if (!sink_.unsupported() && !staging_.storeResult(points.store, values))
    access_.store(points.store, values);
}

} // namespace gantry::codegen
