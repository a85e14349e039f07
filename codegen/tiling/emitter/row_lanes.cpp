// Implements row_lanes.h.
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

Columns RowLanes::shiftedColumnsOf(const IndexExpr &chunk, const IndexExpr &rowStart,
                                   int64_t held) {
  constexpr int64_t kRun = 4;
  const IndexExpr width(kRun), extent(tile_.rowLength);
  // The number of elements of the first run that lie before the row. The columns contain it as an
  // expression (`shift`), which cancels out with rowStart in addresses. The conditions contain
  // the same number as a new variable (`known`), because a variable can be given the range 0 to 3,
  // while the range of the expression cannot be derived.
  const IndexExpr shift =
      space_.sub(rowStart, space_.scale(space_.floorDiv(rowStart, width), kRun));
  const IndexExpr known = space_.addVariable(sink_.index(shift), 0, kRun - 1, tile_.lanes == 1);
  const IndexExpr last = space_.floorDiv(space_.add(known, IndexExpr(tile_.rowLength - 1)),
                                         width); // The row's last run.
  const IndexExpr lane = tile_.lanes > 1 ? invocation_.lane : IndexExpr(0);
  const int64_t runsPerChunk = held / kRun * tile_.lanes;
  Columns columns;
  for (int64_t j = 0; j < held; j += kRun) {
    const IndexExpr position = space_.add(space_.scale(chunk, runsPerChunk),
                                          space_.add(IndexExpr(j / kRun * tile_.lanes), lane));
    IndexExpr clamped = position;
    if (space_.range(space_.sub(last, position)).low < 0) {
      sink_.count(Cost::kArithmetic);
      Value value = sink_.create<arith::MinUIOp>(sink_.index(position), sink_.index(last));
      clamped = space_.addVariable(value, 0, space_.range(last).high, true);
    }
    for (int64_t i = 0; i < kRun; ++i) {
      const IndexExpr place = space_.add(space_.scale(position, kRun), IndexExpr(i));
      columns.index.push_back(
          space_.sub(space_.add(space_.scale(clamped, kRun), IndexExpr(i)), shift));
      columns.begun.push_back(space_.sub(place, known));
      columns.inside.push_back(space_.sub(space_.sub(extent, IndexExpr(1)), columns.begun.back()));
    }
  }
  return columns;
}

Values RowLanes::forChunks(const IndexExpr &rowStart, Values carried,
                           llvm::function_ref<void(const Columns &, Values &)> body) {
  const int64_t held = tile_.heldColumns(), perChunk = held * tile_.lanes;
  const int64_t chunks = (tile_.coveredRow() + perChunk - 1) / perChunk;
  auto emitChunk = [&](const IndexExpr &chunk, Values &inside) {
    body(tile_.shiftedRows ? shiftedColumnsOf(chunk, rowStart, held)
                           : columnsOf(chunk, IndexExpr(tile_.rowLength), held, tile_.run),
         inside);
  };
  if (chunks == 1)
    emitChunk(IndexExpr(0), carried);
  else
    loops_.forChunks(chunks, carried, emitChunk);
  return carried;
}

llvm::SmallVector<int32_t> RowLanes::guardsOf(const Columns &columns) {
  llvm::SmallVector<int32_t> guards;
  for (size_t j = 0; j < columns.index.size(); ++j) {
    bool never = false;
    guards.push_back(columns.begun.empty()
                         ? guards_.with(0, columns.inside[j], never)
                         : guards_.withPartial(0, {columns.inside[j], columns.begun[j]},
                                               Guards::Partial::kVector, never));
  }
  return guards;
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
