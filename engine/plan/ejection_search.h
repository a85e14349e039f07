// A local search for a placement below a capacity, under every constraint.
//
// Some items are placed, the others wait. Again and again a waiting item, a dear one of those, goes
// where it costs least: what lies there is ejected and waits in its turn. An item costs the square
// root of its area, in which full steps count more than others, and more each time it is ejected,
// so that what is in everybody's way becomes dear and others make room for it (breakout: Morris
// 1993, "The breakout method for escaping from local minima"; ejection chains: Glover 1996). What
// was added is slowly forgotten, so that it tells of now and not of long ago (smoothing: Hutter,
// Tompkins & Hoos 2002, "Scaling and probabilistic smoothing"). The places tried for an item are
// those at which it touches another from above or from below, or a border (offset_prices.h); of
// equal ones the narrowest. It ends when nothing waits. Runs of lengths that vary (restarts.h),
// long ones, begin anew with other random numbers.
//
// It is the strongest where a plan has some room: alignments that differ, parts that are pinned, a
// height that was asked for. Where no byte of the capacity may be lost the exact search
// (portfolio.h) is the better one, and this is no proof of anything.
//
// Fixed items, obstacles, segments, alignments and regions are all kept. Deterministic where the
// meter has no deadline. Threads: one at a time. Memory: 24 or 48 bytes for each pair of
// items that are alive together.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gantry::plan {

class EjectionSearch {
public:
  /// Whether the pairs of items that meet are few enough and the numbers small enough.
  static bool canSearch(const Problem &problem);

  /// What the constructor costs, in units of a meter: no meter counts it, so it is for searches
  /// that may spend as much.
  static uint64_t workToBegin(const Problem &problem);

  /// The problem must outlive the search. canSearch(problem) must hold.
  explicit EjectionSearch(const Problem &problem);
  ~EjectionSearch();
  EjectionSearch(const EjectionSearch &) = delete;
  EjectionSearch &operator=(const EjectionSearch &) = delete;

  /// Works until all lie below the capacity, then fills offsets and returns true; false where the
  /// meter is exhausted first, or where some item has no place even alone. Asked again for the same
  /// capacity it goes on where it stopped.
  bool fit(uint64_t capacity, WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace gantry::plan
