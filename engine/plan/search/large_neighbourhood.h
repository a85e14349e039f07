// Large-neighbourhood search: lowers a placement of a graph of any size until it reaches a target
// height or the work is used up.
//
// A placement is described by the weights of its items: the skyline (skyline.h) places the items in
// the order of their weights. A try disturbs some weights and places again. A restart disturbs all
// weights, starting from one of the order keys. A neighbourhood disturbs the weights of the items
// around one step that is too high, starting from the best weights so far. The result is kept
// unless it is worse. The search runs on boxes (series_parallel.h) as well as on the items: a graph
// that falls into few boxes takes microseconds per try, so hard instances of some hundred items are
// often solved in milliseconds where an exact search takes seconds. Describing placements by
// weights follows Bean 1994, "Genetic algorithms and random keys"; the neighbourhoods follow Shaw
// 1998, "Using constraint programming and local search methods to solve vehicle routing problems".
//
// The search proves nothing; the exact search (valley_search.h) does.
//
// Deterministic where the meter has no deadline: it has its own random numbers and uses only basic
// IEEE arithmetic. Threads: no shared state. Memory: about 150 bytes per item.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <memory>

namespace gantry::plan {

/// A search that can be continued: a later call goes on where the last one stopped. One thread at a
/// time.
class LargeNeighbourhoodSearch {
public:
  /// The problem must outlive the search.
  explicit LargeNeighbourhoodSearch(const Problem &problem);
  ~LargeNeighbourhoodSearch();
  LargeNeighbourhoodSearch(const LargeNeighbourhoodSearch &) = delete;
  LargeNeighbourhoodSearch &operator=(const LargeNeighbourhoodSearch &) = delete;

  /// Returns the lowest placement found, or `start`, which must be valid. Stops at a height of
  /// `targetBytes` or of the lower bound, or with the meter. A problem with fixed items gets
  /// `start` back, because the skyline does not support them.
  Placement improve(Placement start, uint64_t targetBytes, WorkMeter &meter);

private:
  struct State;
  const Problem &problem_;
  std::unique_ptr<State> state_; // Created by the first call that needs it.
};

/// Runs one search.
Placement improvePlacement(const Problem &problem, Placement start, uint64_t targetBytes,
                           WorkMeter &meter);

} // namespace gantry::plan
