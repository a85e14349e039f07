// Instances for the planner's tests and benchmarks, made from a seed: planted packings, whose
// optimum is the lower bound, and graphs like those of models. Also a checker of placements that
// shares no code with the solvers.
//
// The same seed gives the same instance on every machine. Items are in random order.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::test {

/// An item before time is compressed. It is alive in [begin, end).
struct Interval {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t sizeBytes = 0;
};

/// Builds the solvers' form, with compressed time, lower bound and peak step.
plan::Problem problemOf(const std::vector<Interval> &intervals);

/// Cuts a rectangle of time × addresses into `count` pieces, so a perfect packing exists. Each step
/// cuts the largest piece from edge to edge, at 20 to 80 % of its side. `moments` is the number of
/// points in time at which cuts are possible; 0: 64 per item, so that few cuts share one.
std::vector<Interval> guillotinePacking(uint32_t count, uint64_t seed, uint32_t moments = 0);

/// Like guillotinePacking, but a third of the cuts divide a piece into a spiral of five pieces,
/// which no cut from edge to edge can separate.
std::vector<Interval> spiralPacking(uint32_t count, uint64_t seed);

enum class GraphKind {
  kInference,   // Weights live forever; chains of temporaries; some skip connections.
  kTransformer, // Training: equal layers; most activations are kept for the backward pass.
  kConvolution, // Training: activations shrink and weights grow with depth; all sizes differ.
  kRecompute,   // Training: only the input of each layer is kept; gradients are kept.
};
inline constexpr GraphKind kGraphKinds[] = {GraphKind::kInference, GraphKind::kTransformer,
                                            GraphKind::kConvolution, GraphKind::kRecompute};
const char *graphKindName(GraphKind kind);

/// Makes between half of and twice `count` buffers.
std::vector<Interval> modelGraph(GraphKind kind, uint32_t count, uint64_t seed);

/// Makes random lifetimes and sizes. The lower bound is mostly out of reach.
std::vector<Interval> randomIntervals(uint32_t count, uint32_t steps, uint64_t maxSize,
                                      uint64_t seed);

/// Returns what is wrong with a placement, or an empty string. Sweeps over time with the live items
/// by address, in O(n log n).
std::string faultOf(const plan::Problem &problem, const plan::Placement &placement);

} // namespace gantry::test
