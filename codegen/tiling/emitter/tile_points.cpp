// Implements tile_points.h.
#include "codegen/tiling/emitter/tile_points.h"

#include "codegen/tiling/emitter/memory/vector_views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::codegen {

using namespace mlir;

/// The invocation's points along one tile dimension.
struct TilePoints::Line {
  IndexList index;
  // By point: the point lies inside the result if this is >= 0. With hasPartialRun, >= 0 only says
  // that the point's run lies inside at least in part; the point itself lies inside if, in
  // addition, its index is below the extent.
  IndexList inside;
  // Whether the last run of the lanes' points may lie partly beyond the result.
  bool hasPartialRun = false;
};

void splitMerged(const TileShape &tile, IndexSpace &space, KernelShapes &shapes, Point &point) {
  auto shape = shapes.shapeOf(shapes.result());
  if (tile.merged >= shape.size())
    return;
  IndexExpr rest = point.index.pop_back_val();
  llvm::SmallVector<IndexExpr, 4> parts;
  for (size_t d = shape.size(); d-- > tile.merged;) {
    parts.push_back(d == tile.merged ? rest : space.mod(rest, shape[d]));
    if (d > tile.merged)
      rest = space.floorDiv(rest, shape[d]);
  }
  point.index.append(parts.rbegin(), parts.rend());
}

// ---- the invocation's position ------------------------------------------------------------------

/// Sets the invocation's position. Returns its coordinates among the workgroup's invocations for
/// staged tiles without cooperative matrices, and zeros for other tiles.
IndexList TilePoints::placeInvocation(const InvocationIds &ids, size_t rank,
                                      Invocation &invocation) {
  if (tile_.matrix) {
    placeMatrices(ids, invocation);
  } else if (isStaged()) {
    invocation.inWorkgroup = space_.addVariable(ids.lane, 0, volumeOf(tile_.threads) - 1, true);
    return delinearize(space_, sink_, invocation.inWorkgroup, tile_.threads);
  } else {
    invocation.lane = space_.addVariable(ids.lane, 0, tile_.lanes - 1, true);
  }
  return IndexList(rank, IndexExpr(0));
}

void TilePoints::placeMatrices(const InvocationIds &ids, Invocation &invocation) {
  const MatrixTile &matrix = tile_.matrix;
  MatrixPlaces &places = invocation.matrix;
  const int64_t subgroups = matrix.down * matrix.across;
  const IndexExpr inSubgroup = space_.addVariable(ids.lane, 0, matrix.lanes - 1, true);
  const IndexExpr subgroup =
      subgroups == 1 ? IndexExpr(0) : space_.addVariable(ids.subgroup, 0, subgroups - 1);
  invocation.inWorkgroup = space_.add(space_.scale(subgroup, matrix.lanes), inSubgroup);
  auto place = delinearize(space_, sink_, subgroup, {matrix.down, matrix.across});
  places.down = place[0];
  places.across = place[1];
  place = delinearize(space_, sink_, inSubgroup, {matrix.rowsPerPass(), matrix.vectorsPerRow()});
  places.row = place[0];
  places.vector = place[1];
}

/// Returns the coordinate along dimension `dim`, counted from the start of the workgroup's tile, of
/// an invocation's point number `point` along this dimension. The invocation reads the sums of its
/// points from its subgroup's blocks (MatrixTile).
IndexExpr TilePoints::placeInMatrices(unsigned dim, int64_t point, const MatrixPlaces &places) {
  const MatrixTile &matrix = tile_.matrix;
  if (dim != matrix.rows && dim != matrix.columns)
    return IndexExpr(point);
  const bool isRow = dim == matrix.rows;
  const int64_t perBlock = isRow ? matrix.vectorsPerLane() : kVectorWidth;
  const int64_t blocks = tile_.result[dim] / perBlock, inBlock = point % perBlock;
  const IndexExpr block = space_.add(space_.scale(isRow ? places.down : places.across, blocks),
                                     IndexExpr(point / perBlock));
  const IndexExpr inside =
      isRow ? space_.add(IndexExpr(inBlock * matrix.rowsPerPass()), places.row)
            : space_.add(space_.scale(places.vector, kVectorWidth), IndexExpr(inBlock));
  return space_.add(space_.scale(block, isRow ? matrix.m : matrix.n), inside);
}

// ---- points -------------------------------------------------------------------------------------

/// Returns the tile's coordinate along a dimension, as a variable.
IndexExpr TilePoints::coordinateOf(unsigned dim, const IndexExpr &extent, Value id) {
  return space_.addVariableBelow(id, space_.ceilDiv(extent, tile_.extent(dim)),
                                 tile_.lanes == 1 && !isStaged());
}

/// Adds the j-th point of a lane along the dimension that the lanes share. The runs of the tile are
/// dealt to the lanes round-robin. The index of a run that is not inside the extent is moved to the
/// last run that is, so that loads at it are valid; it is not stored. A run is inside if all of its
/// points are, or with line.hasPartialRun if one of them is.
void TilePoints::addLanePoint(Line &line, int64_t j, const IndexExpr &extent,
                              const IndexExpr &coordinate, const Invocation &invocation) {
  if (j % tile_.run != 0) {
    const int64_t first = j - j % tile_.run;
    line.index.push_back(space_.add(line.index[first], IndexExpr(j % tile_.run)));
    line.inside.push_back(line.inside[first]);
    return;
  }
  const int64_t runs = tile_.result[tile_.laneDim] / tile_.run;
  const IndexExpr position =
      space_.add(space_.scale(coordinate, runs * tile_.lanes),
                 space_.add(IndexExpr(j / tile_.run * tile_.lanes), invocation.lane));
  IndexExpr clamped = position;
  const IndexExpr runsOfExtent = line.hasPartialRun ? space_.ceilDiv(extent, tile_.run)
                                                    : space_.floorDiv(extent, IndexExpr(tile_.run));
  const IndexExpr last = space_.sub(runsOfExtent, IndexExpr(1));
  const IndexExpr inside = space_.sub(last, position);
  if (space_.range(inside).low < 0) {
    sink_.count(Cost::kArithmetic);
    Value value = sink_.create<arith::MinSIOp>(sink_.index(position), sink_.index(last));
    // If the extent has no whole run, index 0 is used. Loading a vector there is valid: texel
    // buffers are padded to whole vectors (isPaddedView() in vector_views.h).
    if (space_.range(last).low < 0)
      value = sink_.create<arith::MaxSIOp>(value, sink_.create<arith::ConstantIndexOp>(0));
    clamped = space_.addVariable(value, 0, space_.range(last).high, true);
  }
  line.index.push_back(space_.scale(clamped, tile_.run));
  line.inside.push_back(inside);
}

/// Returns the invocation's points along a dimension. coordinate: the tile's; place: the
/// invocation's, from placeInvocation().
TilePoints::Line TilePoints::lineOf(unsigned dim, const IndexExpr &extent,
                                    const IndexExpr &coordinate, const IndexExpr &place,
                                    const Invocation &invocation) {
  Line line;
  // The partial run of a tile with one dimension belongs to no lane; tail() returns its points.
  line.hasPartialRun = tile_.hasLanesAlong(dim) && extent.isConstant() &&
                       extent.constant % tile_.run != 0 && shapes_.tileSpace(tile_).size() > 1;
  const IndexExpr base = space_.scale(coordinate, tile_.extent(dim));
  for (int64_t j = 0; j < tile_.result[dim]; ++j) {
    if (tile_.hasLanesAlong(dim)) {
      addLanePoint(line, j, extent, coordinate, invocation);
      continue;
    }
    // In a staged tile, neighbouring invocations have neighbouring points or neighbouring vectors.
    const IndexExpr within = tile_.matrix ? placeInMatrices(dim, j, invocation.matrix)
                             : isStaged() ? space_.add(IndexExpr(j * tile_.threads[dim]), place)
                                          : IndexExpr(j);
    line.index.push_back(space_.add(base, within));
    // The first point of an unstaged tile always lies inside the result, so it needs no condition.
    // Exception: if lanes share the tile, it gets a condition like the other points. The lanes can
    // share the loads of several vectors (memory_access.cpp) only if the guards of these vectors
    // have conditions that differ only by constants. A tile that reduces rows has no other points.
    const IndexExpr tested =
        tile_.matrix ? guards_.testedIndex(line.index.back(), extent) : line.index.back();
    line.inside.push_back(j > 0 || isStaged() || (tile_.lanes > 1 && !tile_.reducesRows)
                              ? space_.sub(space_.sub(extent, IndexExpr(1)), tested)
                              : IndexExpr(0));
  }
  return line;
}

TilePoints::Points TilePoints::compute(const InvocationIds &ids, Invocation &invocation) {
  auto space = shapes_.tileSpace(tile_);
  const auto places = placeInvocation(ids, space.size(), invocation);
  Points points{std::vector<Point>(1), std::vector<Point>(1)};
  bool foundOutermost = false;
  for (unsigned d = 0; d < space.size(); ++d) {
    const IndexExpr coordinate =
        coordinateOf(d, space[d], d < ids.tile.size() ? ids.tile[d] : Value());
    invocation.matrix.base.push_back(space_.scale(coordinate, tile_.extent(d)));
    if (!foundOutermost && !coordinate.isConstant()) {
      sink_.setOutermost(coordinate.terms.front().first);
      foundOutermost = true;
    }
    if (tile_.lanes == 1 && !isStaged() && d + 1 == space.size())
      invocation.lane = coordinate;
    const Line line = lineOf(d, space[d], coordinate, places[d], invocation);
    const bool isRagged = !space[d].isConstant() || space[d].constant % tile_.extent(d) != 0;
    // Loads through texel buffers may touch elements beyond a row. A vector of four points is
    // therefore loaded if its first element exists.
    const bool byVectors = readsTexels_ && tile_.lanes == 1 && d + 1 == space.size() &&
                           tile_.result[d] % kVectorWidth == 0;
    Points next;
    for (const auto &[load, store] : llvm::zip(points.load, points.store)) {
      for (auto [j, index, inside] : llvm::enumerate(line.index, line.inside)) {
        Point moved = load, stored = store;
        moved.index.push_back(index);
        if (isRagged) {
          bool never = false;
          stored.guard = guards_.with(stored.guard, inside, never);
          // Loads along the lanes' dimension need no guard, because runs are moved inside.
          if (byVectors)
            moved.guard = guards_.with(moved.guard, line.inside[j - j % kVectorWidth], never);
          if (!tile_.hasLanesAlong(d))
            moved.guard = byVectors ? guards_.withPartial(moved.guard, inside,
                                                          Guards::Partial::kElement, never)
                                    : guards_.with(moved.guard, inside, never);
          if (line.hasPartialRun) {
            const IndexExpr inRun = space_.sub(space_.sub(space[d], IndexExpr(1)), index);
            stored.guard = guards_.with(stored.guard, inRun, never);
            moved.guard = guards_.withPartial(moved.guard, inRun, Guards::Partial::kElement, never);
          }
        }
        stored.index = moved.index;
        next.load.push_back(std::move(moved));
        next.store.push_back(std::move(stored));
      }
    }
    points = std::move(next);
  }
  for (auto [load, store] : llvm::zip(points.load, points.store)) {
    splitMerged(tile_, space_, shapes_, load);
    store.index = load.index;
    bool never = false;
    if (tile_.reducesRows && tile_.lanes > 1) // Each lane has the result; the first one stores it.
      store.guard = guards_.with(store.guard, space_.scale(invocation.lane, -1), never);
  }
  invocation.matrix.points = points.load;
  return points;
}

std::vector<Point> TilePoints::tail() {
  const auto space = shapes_.tileSpace(tile_);
  if (space.size() != 1 || !tile_.hasLanesAlong(0))
    return {};
  const IndexExpr &extent = space.front();
  if (extent.isConstant()
          ? extent.constant % tile_.run == 0
          : (space_.baseDivisor(extent) % tile_.run == 0 && extent.constant % tile_.run == 0))
    return {};
  const IndexExpr first = space_.scale(space_.floorDiv(extent, IndexExpr(tile_.run)), tile_.run);
  std::vector<Point> points;
  for (int64_t i = 0; i < tile_.run - 1; ++i) {
    Point point;
    point.index.push_back(space_.add(first, IndexExpr(i)));
    bool never = false;
    point.guard =
        guards_.with(0, space_.sub(space_.sub(extent, IndexExpr(1)), point.index.front()), never);
    splitMerged(tile_, space_, shapes_, point);
    if (!never)
      points.push_back(std::move(point));
  }
  return points;
}

} // namespace gantry::codegen
