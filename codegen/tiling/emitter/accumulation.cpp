// Implements accumulation.h.
#include "codegen/tiling/emitter/accumulation.h"

#include "codegen/tiling/emitter/staging.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kGroupRows = 4, kGroupColumns = 2;

} // namespace

std::vector<llvm::SmallVector<unsigned>> accumulationGroups(const PointGrid &grid, int64_t lanes,
                                                            size_t count) {
  std::vector<llvm::SmallVector<unsigned>> groups;
  const llvm::ArrayRef<int64_t> extents = grid.extents;
  const int64_t size = volumeOf(extents);
  size_t block = extents.size();
  for (size_t d = 0; d < extents.size(); ++d) {
    const bool isShared = lanes > 1 && d == grid.laneDim;
    if (!isShared && (block == extents.size() || extents[d] > extents[block]))
      block = d;
  }
  if (size != static_cast<int64_t>(count) || block == extents.size()) {
    for (unsigned i = 0; i < count; ++i)
      groups.push_back({i});
    return groups;
  }
  const int64_t inner = volumeOf(extents.drop_front(block + 1));
  const int64_t extent = extents[block], others = size / extent;
  for (int64_t i = 0; i < extent; i += kGroupRows)
    for (int64_t n = 0; n < others; n += kGroupColumns) {
      auto &group = groups.emplace_back();
      for (int64_t m = n; m < std::min(n + kGroupColumns, others); ++m)
        for (int64_t j = i; j < std::min(i + kGroupRows, extent); ++j)
          group.push_back(static_cast<unsigned>((m / inner * extent + j) * inner + m % inner));
    }
  return groups;
}

void Accumulation::accumulate(linalg::GenericOp op, llvm::ArrayRef<LoopIndex> steps,
                              llvm::ArrayRef<Point> points, const PointGrid &grid,
                              Values &accumulators, const KnownOperand &known) {
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  std::vector<LoopIndex> coordinates; // By point.
  coordinates.reserve(points.size());
  for (const Point &point : points)
    coordinates.push_back(shapes_.loopCoordinates(op, outputMap, point));
  std::vector<LoopIndex> loops;
  loops.reserve(steps.size() * points.size());
  llvm::SmallVector<int32_t> guards;
  guards.reserve(steps.size() * points.size());
  for (const LoopIndex &step : steps) {
    for (auto [point, at] : llvm::zip(points, coordinates)) {
      loops.push_back(at);
      for (unsigned dim : reductionDims)
        loops.back()[dim] = step[dim];
      guards.push_back(point.guard);
    }
  }
  // The operands of all steps and points are evaluated together, so that shared elements are loaded
  // once.
  llvm::SmallVector<Values> inputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (operand == known.operand)
      inputs.emplace_back(known.elements);
    else if (staging_.isStaged(operand))
      inputs.push_back(staging_.read(op, operand, loops));
    else
      inputs.push_back(bodies_.elementsOf(op, *operand, loops, guards, grid));
  }
  // All steps are applied to one group of points before the next group begins, so that the group's
  // accumulators stay in registers.
  const size_t count = points.size();
  // The arguments of one evaluation of the body. The lists keep their memory from one evaluation to
  // the next.
  llvm::SmallVector<Values, 4> arguments(inputs.size() + 1);
  std::vector<LoopIndex> at;
  llvm::SmallVector<int32_t> under;
  for (const auto &group : accumulationGroups(grid, tile_.lanes, count)) {
    for (size_t step = 0; step < steps.size(); ++step) {
      for (Values &list : arguments)
        list.clear();
      at.clear();
      under.clear();
      for (unsigned point : group) {
        for (auto [list, values] : llvm::zip(arguments, inputs))
          list.push_back(values[step * count + point]);
        arguments.back().push_back(accumulators[point]);
        at.push_back(loops[step * count + point]);
        under.push_back(guards[step * count + point]);
      }
      Values next = bodies_.evaluate(op, {at, under, arguments, grid})[0];
      for (auto [point, value] : llvm::zip(group, next))
        accumulators[point] = value;
    }
  }
  sink_.sinkShuffles();
}

} // namespace gantry::codegen
