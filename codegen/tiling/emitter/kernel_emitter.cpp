// Implements kernel_emitter.h.
#include "codegen/tiling/emitter/kernel_emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::codegen {

using namespace mlir;

// The classes refer to each other, because evaluating a tensor evaluates the operands of its
// operation. The constructors must only keep the references: some objects do not exist yet.
KernelEmitter::KernelEmitter(func::FuncOp kernel, const TileShape &tile, bool readsTexels,
                             IndexSpace &space, KernelSink &sink, ValueRange dims)
    : tile_(tile), space_(space), sink_(sink), shapes_(kernel, space, sink, dims),
      guards_(space, sink),
      loops_(space, sink, shapes_), context_{tile_,   readsTexels, space_, sink_,
                                             shapes_, guards_,     loops_, invocation_},
      access_(context_), stores_(context_), shared_(context_), lanes_(context_),
      evaluator_(context_, access_, bodies_, reductions_), bodies_(context_, evaluator_),
      rows_(context_, evaluator_, bodies_, lanes_),
      staging_(context_, shared_, stores_, evaluator_), accumulation_(context_, bodies_, staging_),
      dots_(context_, access_, evaluator_), attention_(context_, evaluator_, accumulation_, lanes_),
      matmul_(context_, shared_, evaluator_),
      reductions_(context_, {evaluator_, accumulation_, shared_, staging_, dots_, attention_,
                             matmul_, rows_}) {}

void KernelEmitter::emit(const InvocationIds &ids) {
  if (tile_.rowLength && !tile_.reducesRows) {
    RowKernel::placeInvocation(tile_, space_, ids.lane, invocation_);
    RowKernel(context_, stores_, evaluator_, reductions_, rows_, lanes_).emit(ids.tile);
    return;
  }
  TilePoints places(context_);
  const TilePoints::Points points = places.compute(ids, invocation_);
  const PointGrid grid{tile_.result, tile_.laneDim};
  const Values values = evaluator_.evaluate(shapes_.result(), points.load, grid);
  if (shapes_.positions())
    stores_.store(scattered(points.store, grid), values);
  else if (!sink_.unsupported() && !staging_.storeResult(points.store, values))
    stores_.store(points.store, values);
  if (const std::vector<Point> tail = places.tail(); !tail.empty())
    emitTail(ids, tail);
}

/// Lets one invocation of the kernel evaluate and store these points, the tail of the result, which
/// TilePoints::compute() gives to no invocation. The code is the body of a loop that has one round
/// in this invocation and none in the others, because software devices skip a loop without rounds,
/// but execute the code of an scf.if.
void KernelEmitter::emitTail(const InvocationIds &ids, llvm::ArrayRef<Point> points) {
  if (shapes_.positions()) {
    sink_.fail(shapes_.kernel()); // Scatters with a tail are not supported.
    return;
  }
  Value rounds = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
    Value one = builder.create<arith::ConstantIndexOp>(loc, 1);
    Value number = builder.create<arith::AddIOp>(loc, ids.tile.front(), ids.lane);
    Value isFirst = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, number, zero);
    return builder.create<arith::SelectOp>(loc, isFirst, one, zero);
  });
  Values none;
  sink_.loop(space_.addVariable(rounds, 0, 1, true), /*rounds=*/0, none, [&](Value, Values &) {
    stores_.store(points, evaluator_.evaluate(shapes_.result(), points, {{1}, 0}));
  });
}

/// Returns the points of the result's buffer at which a scatter stores the points of its rows: the
/// first index is the row's position, the others are the indices in the row. A row with a negative
/// position is not stored.
std::vector<Point> KernelEmitter::scattered(llvm::ArrayRef<Point> points, const PointGrid &grid) {
  const auto outer =
      static_cast<size_t>(cast<RankedTensorType>(shapes_.positions().getType()).getRank());
  std::vector<Point> rows, placed;
  for (const Point &point : points)
    rows.push_back({{point.index.begin(), point.index.begin() + outer}, point.guard});
  const Values positions = evaluator_.evaluate(shapes_.positions(), rows, grid);
  std::map<std::pair<int32_t, std::vector<IndexExpr>>, IndexExpr> known; // By guard and row.
  for (auto [i, row] : llvm::enumerate(rows)) {
    auto [found, isNew] = known.try_emplace({row.guard, keyOf(row)});
    if (isNew) {
      Value position = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
        return builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), positions[i]);
      });
      found->second = space_.addVariable(position, -1, INT32_MAX, true);
    }
    Point point{{found->second}, 0};
    point.index.append(points[i].index.begin() + outer, points[i].index.end());
    bool never = false;
    point.guard = guards_.with(row.guard, found->second, never);
    placed.push_back(std::move(point));
  }
  return placed;
}

} // namespace gantry::codegen
