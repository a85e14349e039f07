// Adds steps of a reduction to accumulators in registers.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/body_evaluator.h"

namespace gantry::codegen {

class Staging;

/// Divides points into groups whose accumulators stay in registers: four along the longest
/// dimension of the grid that the lanes do not share, by two of the others. Returns the positions
/// of each group's points; groups of one where the points are no such grid.
std::vector<llvm::SmallVector<unsigned>> accumulationGroups(const PointGrid &grid, int64_t lanes,
                                                            size_t count);

/// An operand of a reduction whose elements are known: those of all points for each step.
struct KnownOperand {
  mlir::OpOperand *operand = nullptr;
  llvm::ArrayRef<mlir::Value> elements{};
};

class Accumulation {
public:
  Accumulation(const KernelContext &context, BodyEvaluator &bodies, Staging &staging)
      : tile_(context.tile), sink_(context.sink), shapes_(context.shapes), bodies_(bodies),
        staging_(staging) {}

  /// Applies the reduction's body to the accumulators, one per point, for each step in turn. steps:
  /// coordinates of all loops, of which only those of the reduction's dimensions are read.
  void accumulate(mlir::linalg::GenericOp op, llvm::ArrayRef<LoopIndex> steps,
                  llvm::ArrayRef<Point> points, const PointGrid &grid, Values &accumulators,
                  const KnownOperand &known = {});

private:
  const TileShape &tile_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  BodyEvaluator &bodies_;
  Staging &staging_;
};

} // namespace gantry::codegen
