// Two searches of the order search (order.h) over one part of a graph: an exact search
// (exact_search.cpp) and a beam search (beam_search.cpp). Internal to engine/plan/order.
//
// A set is a set of operators of the part that have run. The argument `work` is the rest of
// OrderOptions::work. The exact search subtracts 1 from it for each set that it examines, the beam
// search for each candidate (a set and one operator to add). Units: bytes. Threads: pure functions.
#pragma once

#include "engine/plan/order/order_graph.h"

namespace gantry::plan {

inline constexpr uint32_t kMaxExactOperators = 64; // A set of operators is one 64-bit word.

struct PartResult {
  std::vector<uint32_t> operators; // Operators of the whole graph, in the new order.
  uint64_t peakBytes = 0;          // The peak, or the argument enoughBytes if that is higher.
  bool found = false;
  /// Proven: no order of the part has a lower peak than the result, or no order has a peak below
  /// the argument belowBytes.
  bool exhausted = false;
};

/// Searches for the order with the lowest peak below belowBytes. An order with a peak of
/// enoughBytes or less ends the search. The part has at most kMaxExactOperators operators. The
/// search examines at most maxStates sets.
PartResult searchPartExactly(const OrderGraph &graph, const OrderPart &part, uint64_t belowBytes,
                             uint64_t enoughBytes, uint64_t maxStates, uint64_t &work);

/// Always finds an order; the part may have any size. After each operator the search keeps the best
/// `width` sets, or only the best one once `work` is 0. Peaks up to enoughBytes count as equal.
PartResult searchPartByBeam(const OrderGraph &graph, const OrderPart &part, uint64_t enoughBytes,
                            unsigned width, uint64_t &work);

/// Returns the operators of the graph at these positions of the part.
inline std::vector<uint32_t> graphOperators(const OrderPart &part,
                                            const std::vector<uint32_t> &positions) {
  std::vector<uint32_t> operators;
  for (const uint32_t at : positions)
    operators.push_back((*part.order)[part.first + at]);
  return operators;
}

} // namespace gantry::plan
