// Instances for the planner, made from a seed: planted packings, whose optimum is the bound, and
// graphs like those of models. And a judge of placements that shares nothing with the solvers.
//
// The same seed gives the same instance on every machine. Items come in random order.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::test {

/// An item before time is compressed: live in [begin, end).
struct Interval {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t sizeBytes = 0;
};

/// The planner's form: compressed time, lower bound, peak.
plan::Problem problemOf(const std::vector<Interval> &intervals);

/// A rectangle cut from edge to edge, again and again, always the largest piece (at 20 to 80 per
/// cent of its side) into `count` pieces: a perfect packing exists. `moments` is how many points in
/// time there are to cut at; 0: enough that few cuts share one (64 for each item).
std::vector<Interval> guillotinePacking(uint32_t count, uint64_t seed, uint32_t moments = 0);

/// The same, where a third of the cuts turn a piece into a spiral of five, which no cut from edge
/// to edge takes apart.
std::vector<Interval> spiralPacking(uint32_t count, uint64_t seed);

enum class GraphKind {
  kInference,   // weights for ever, chains of temporaries, some skip connections
  kTransformer, // training: equal layers, most activations kept for the backward pass
  kConvolution, // training: activations shrink and weights grow with depth, sizes all differ
  kRecompute,   // training: a layer's input is kept, the rest computed again; gradients kept
};
inline constexpr GraphKind kGraphKinds[] = {GraphKind::kInference, GraphKind::kTransformer,
                                            GraphKind::kConvolution, GraphKind::kRecompute};
const char *graphKindName(GraphKind kind);

/// About `count` buffers (between half and twice as many).
std::vector<Interval> modelGraph(GraphKind kind, uint32_t count, uint64_t seed);

/// Lifetimes and sizes at random; the bound is mostly out of reach.
std::vector<Interval> randomIntervals(uint32_t count, uint32_t steps, uint64_t maxSize,
                                      uint64_t seed);

/// Empty where the placement is valid, else what is wrong. A walk through time with the live items
/// by address; O(n log n). Items count as boxes.
std::string faultOf(const plan::Problem &problem, const plan::Placement &placement);

} // namespace gantry::test
