// A local search for a placement (an offset for each item; an item has a size and a lifetime,
// problem.h) whose height (largest offset + size) is at most a given capacity.
//
// Some items are placed, the others wait. In each turn the search draws some waiting items at
// random, takes the one with the highest price, and places it at the offset where the items in its
// way have the lowest sum of prices. These items are ejected and wait again. The price of an item
// starts at the square root of its area (size × lifetime), in which the steps of time with the most
// live bytes count most. The price rises each time the item is ejected. An item that is in the way
// of many others thus becomes expensive, and other items are ejected instead (breakout: Morris
// 1993, "The breakout method for escaping from local minima"; ejection chains: Glover 1996). The
// rises decay slowly, so that prices reflect recent conflicts (smoothing: Hutter, Tompkins & Hoos
// 2002, "Scaling and probabilistic smoothing"). The candidate offsets of an item are those at which
// it touches another item from above or below, or a border of the capacity (offset_prices.h); among
// equal sums of prices, it gets the place in which it could move the least up or down. The search
// succeeds when no item waits. It restarts after runs of varying lengths (restarts.h) with other
// random numbers.
//
// The ejection search is the strongest search where a plan has some slack: different alignments, or
// a capacity above the lower bound. Where no byte of the capacity may be wasted,
// the exact search (portfolio.h) is better. The ejection search proves nothing.
//
// Alignments are kept. Deterministic where the meter has no deadline. Threads:
// one at a time per object. Memory: 24 or 48 bytes for each pair of items that are alive together.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gantry::plan {

class EjectionSearch {
public:
  /// Returns whether the items, and the pairs of items that are alive together, are few enough, and
  /// whether heights are small enough for the integer types of the search.
  static bool canSearch(const Problem &problem);

  /// Returns the cost of the constructor in units of a WorkMeter. The constructor itself counts
  /// nothing, so callers compare the cost with the work that they may spend.
  static uint64_t workToBegin(const Problem &problem);

  /// The problem must outlive the search. canSearch(problem) must hold.
  explicit EjectionSearch(const Problem &problem);
  ~EjectionSearch();
  EjectionSearch(const EjectionSearch &) = delete;
  EjectionSearch &operator=(const EjectionSearch &) = delete;

  /// Searches until all items lie within the capacity, then fills offsets and returns true. Returns
  /// false if the meter is exhausted first, or if some item is larger than the capacity. After a
  /// failure, a call with the same capacity continues the search.
  bool fit(uint64_t capacityBytes, WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace gantry::plan
