// Generates instances for the planner's tests and benchmarks from a seed: packings without gaps,
// whose optimum is the lower bound; graphs that resemble those of models; and random lifetimes.
// Also provides a checker of placements that shares no code with the solvers.
//
// The same seed gives the same instance on every machine. Items are in random order.
#pragma once

#include "engine/plan/problem.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gantry::test {

constexpr uint64_t kNoLimit = uint64_t{1} << 62; // A limit on work or height that is never reached.

/// An item that is alive in [begin, end). The times are arbitrary; problemOf() compresses them.
struct Interval {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t sizeBytes = 0;
};

/// Returns the intervals as the solvers' problem. Compresses time to the steps at which lifetimes
/// begin or end, and computes the lower bound and the peak step.
plan::Problem problemOf(const std::vector<Interval> &intervals);

/// Cuts a rectangle of time × addresses into `count` pieces, so that a packing without gaps exists.
/// Each step cuts the largest piece from edge to edge, at 20 to 80 % of its side. `moments` is the
/// width of the rectangle in units of time; 0: 64 per item and at least 2^20, so that few pieces
/// begin or end at the same time.
std::vector<Interval> guillotinePacking(uint32_t count, uint64_t seed, uint32_t moments = 0);

/// Like guillotinePacking, but a third of the cuts divide a piece into a spiral of five pieces, so
/// that no cut from edge to edge separates them.
std::vector<Interval> spiralPacking(uint32_t count, uint64_t seed);

enum class GraphKind {
  kInference,   // Weights live to the end; chains of temporaries; some skip connections.
  kTransformer, // Training: equal layers; most activations are kept for the backward pass.
  kConvolution, // Training: activations shrink and weights grow with depth; all sizes differ.
  kRecompute,   // Training: the backward pass recomputes activations; gradients live to the end.
};
inline constexpr GraphKind kGraphKinds[] = {GraphKind::kInference, GraphKind::kTransformer,
                                            GraphKind::kConvolution, GraphKind::kRecompute};
const char *graphKindName(GraphKind kind);

/// Returns the buffers of a model: between half of `count` and twice `count`.
std::vector<Interval> modelGraph(GraphKind kind, uint32_t count, uint64_t seed);

/// Returns items with random lifetimes and sizes. Usually no placement reaches the lower bound.
std::vector<Interval> randomIntervals(uint32_t count, uint32_t steps, uint64_t maxSize,
                                      uint64_t seed);

/// Returns a description of the first error in a placement, or an empty string if it is valid.
/// Algorithm: a sweep over time that keeps the live items ordered by address, in O(n log n).
std::string faultOf(const plan::Problem &problem, const plan::Placement &placement);

/// Reads the intervals of a CSV file with the header id,lower,upper,size. Lines without these four
/// fields are skipped.
std::vector<Interval> readIntervals(const std::filesystem::path &path);

/// Returns the numbers 1 to `count` in random order.
std::vector<uint32_t> randomRanks(uint32_t count, uint64_t seed);

} // namespace gantry::test
