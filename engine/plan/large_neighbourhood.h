// Large-neighbourhood search: lowers a placement of a graph of any size until it is at the bound or
// the work is used up.
//
// A placement is described by the weights of its items, in whose order the skyline (skyline.h)
// places them, and is changed by disturbing weights: of all items, starting from one of the keys
// (a restart), or of the items of one span of time around a step that is too high, starting from
// the best so far, the others keeping their order (a neighbourhood). What is not worse is kept. The
// search runs on the boxes (series_parallel.h) as well as on the items, since a graph that falls
// into few boxes takes microseconds for a try: hard instances of some hundred items are mostly
// solved in milliseconds this way, where exact search takes seconds. After Bean 1994, "Genetic
// algorithms and random keys", for the description, Shaw 1998, "Using constraint programming and
// local search methods to solve vehicle routing problems", for the neighbourhoods.
//
// What it is not: a proof. That is the exact tier's.
//
// Deterministic where the meter has no deadline: the random numbers are its own, and the arithmetic
// is IEEE's basic operations. Threads: no shared state. Memory: some 150 bytes per item.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <memory>

namespace gantry::plan {

/// A search that can be gone on with: what was tried is not tried again. One thread at a time.
class LargeNeighbourhoodSearch {
public:
  /// The problem must outlive the search.
  explicit LargeNeighbourhoodSearch(const Problem &problem);
  ~LargeNeighbourhoodSearch();
  LargeNeighbourhoodSearch(const LargeNeighbourhoodSearch &) = delete;
  LargeNeighbourhoodSearch &operator=(const LargeNeighbourhoodSearch &) = delete;

  /// The lowest placement found, start (a valid placement) among them. Stops once a height of
  /// target or the problem's lower bound is reached, or with the meter.
  ///
  /// Problems with fixed items get start back, since the skyline does not know them; segments are
  /// not looked at.
  Placement improve(Placement start, uint64_t target, WorkMeter &meter);

private:
  struct State;
  const Problem &problem_;
  std::unique_ptr<State> state_; // made when it is needed first
};

/// One search by itself.
Placement improvePlacement(const Problem &problem, Placement start, uint64_t target,
                           WorkMeter &meter);

} // namespace gantry::plan
