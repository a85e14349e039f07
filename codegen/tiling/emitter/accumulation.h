// Applies steps of a reduction to accumulators in registers, one accumulator for each point. A step
// is one combination of values of the reduction's loop counters. A point is one element of the
// reduction's result (sink/point.h).
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/body_evaluator.h"

namespace gantry::codegen {

class Staging;

/// Divides `count` points into groups whose accumulators stay in registers. A group has up to four
/// points along one dimension, the longest that is not divided among lanes (invocations of a
/// subgroup), times up to two points of the other dimensions. Returns the positions of each group's
/// points. Each group has one point if `count` is not the number of points in the grid. lanes: the
/// number of lanes that share the tile, the part of the result that they compute together.
std::vector<llvm::SmallVector<unsigned>> accumulationGroups(const PointGrid &grid, int64_t lanes,
                                                            size_t count);

/// An operand of a reduction whose elements the caller has evaluated, by step and then by point.
struct KnownOperand {
  mlir::OpOperand *operand = nullptr;
  llvm::ArrayRef<mlir::Value> elements{};
};

class Accumulation {
public:
  Accumulation(const KernelContext &context, BodyEvaluator &bodies, Staging &staging)
      : tile_(context.tile), sink_(context.sink), shapes_(context.shapes), bodies_(bodies),
        staging_(staging) {}

  /// Applies the reduction's body to the accumulators, one per point, for one step after the other.
  /// steps: the loop coordinates of each step; only those of reduction loops are used.
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
