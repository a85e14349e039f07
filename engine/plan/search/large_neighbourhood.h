// Large-neighbourhood search: lowers a placement (an offset for each item, problem.h) of a graph of
// any size until its height (the largest offset + size) is at most a target or the work is used up.
//
// One weight per item describes a placement: the skyline heuristic (skyline.h) places the items in
// the order of their weights. A try changes weights at random and places all items again.
// There are two kinds of tries. A restart takes the weights of an order key (OrderKey in
// fast_tier.h) and changes all of them. A neighbourhood takes the weights of the search's best
// placement and changes some weights of items around one time step, usually the first step of an
// item whose top is above the lower bound. The result is kept unless it is worse. The search runs
// on boxes (joined items, series_parallel.h) as well as on items: a graph that can be joined to
// few boxes takes microseconds per try, so hard instances of a few hundred items are often solved
// in milliseconds where an exact search takes seconds. Describing placements by weights follows
// Bean 1994, "Genetic algorithms and random keys"; the neighbourhoods follow Shaw 1998, "Using
// constraint programming and local search methods to solve vehicle routing problems".
//
// The search proves nothing; the exact search (valley_search.h) does.
//
// Deterministic where the meter has no deadline: the search has its own random numbers and uses
// only basic IEEE arithmetic. Threads: one at a time per object. Memory: about 150 bytes per item.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <memory>

namespace gantry::plan {

/// A search that can be continued: a later call continues where the last call stopped.
class LargeNeighbourhoodSearch {
public:
  /// The problem must outlive the search.
  explicit LargeNeighbourhoodSearch(const Problem &problem);
  ~LargeNeighbourhoodSearch();
  LargeNeighbourhoodSearch(const LargeNeighbourhoodSearch &) = delete;
  LargeNeighbourhoodSearch &operator=(const LargeNeighbourhoodSearch &) = delete;

  /// Returns the lowest placement found, or `start`, which must be valid, if none is lower. Stops
  /// at a height of `targetBytes` or lower, at the lower bound, or when the meter is exhausted.
  Placement improve(Placement start, uint64_t targetBytes, WorkMeter &meter);

private:
  struct State;
  const Problem &problem_;
  std::unique_ptr<State> state_; // Created by the first call that needs it.
};

/// Runs one new search.
Placement improvePlacement(const Problem &problem, Placement start, uint64_t targetBytes,
                           WorkMeter &meter);

} // namespace gantry::plan
