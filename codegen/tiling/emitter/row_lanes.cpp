#include "codegen/tiling/emitter/row_lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::codegen {

using namespace mlir;

Columns RowLanes::columnsOf(const IndexExpr &chunk, const IndexExpr &extent, int64_t held,
                            int64_t run) {
  Columns columns;
  const int64_t runsPerChunk = held / run * tile_.lanes;
  const IndexExpr last = space_.sub(space_.floorDiv(extent, IndexExpr(run)), IndexExpr(1));
  const IndexExpr lane = tile_.lanes > 1 ? invocation_.lane : IndexExpr(0);
  for (int64_t j = 0; j < held; ++j) {
    if (j % run != 0) {
      columns.index.push_back(space_.add(columns.index[j - j % run], IndexExpr(j % run)));
      columns.inside.push_back(columns.inside.back());
      continue;
    }
    IndexExpr position = space_.add(space_.scale(chunk, runsPerChunk),
                                    space_.add(IndexExpr(j / run * tile_.lanes), lane));
    IndexExpr inside = space_.sub(last, position);
    if (space_.range(inside).low < 0) {
      sink_.count(Cost::kArithmetic);
      Value clamped = sink_.create<arith::MinUIOp>(sink_.index(position), sink_.index(last));
      position = space_.addVariable(clamped, 0, space_.range(last).high, true);
    } else {
      inside = IndexExpr(0);
    }
    columns.index.push_back(space_.scale(position, run));
    columns.inside.push_back(inside);
  }
  return columns;
}

Value RowLanes::reduceLanes(Value value, Combine combine) {
  for (int64_t distance = 1; distance < tile_.lanes; distance *= 2) {
    sink_.count(Cost::kShuffle);
    sink_.count(Cost::kArithmetic);
    value = sink_.build(
        [&](OpBuilder &, Location) { return combine(value, sink_.shuffleXor(value, distance)); });
  }
  return value;
}

} // namespace gantry::codegen
