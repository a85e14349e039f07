// The exact search around fixed items: is there a placement of all items below a capacity, where
// some of them lie already?
//
// The search of valley_search.h fills from below and meets what is fixed further up only when it
// comes there, after many choices that left it no room. This one keeps the set of offsets that each
// item may still have (offset_domains.h), so that what is fixed rules out offsets at once, and
// decides next where the fewest possibilities are left, be it the offset of an item, or, in a step
// where no byte may be lost any more, the item that touches a border from above or from below. Each
// time an item or a step ends in a contradiction its weight grows, and what is heavy is decided
// earlier (Boussemart, Hemery, Lecoutre & Sais 2004, "Boosting systematic search by weighting
// constraints"); after slices of varying lengths (restarts.h) the search begins anew with the
// weights it has.
//
// A choice is an item and an offset: first the item is put there, then the offset is taken from it,
// so that all choices exclude each other and a search that ends is a proof.
//
// Boxes only, with alignments: no segments and no regions. Memory: a bit for each item and unit of
// the capacity, for each level of the search that changes it. Threads: one at a time.
// Deterministic where the meter has no deadline.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/valley_search.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gantry::plan {

class DomainSearch {
public:
  /// Whether the search is for such items, and the rows of bits are short enough at this capacity.
  static bool canSearch(const Problem &problem, uint64_t capacity);

  /// The problem must outlive the search; canSearch must hold.
  DomainSearch(const Problem &problem, uint64_t capacity);
  ~DomainSearch();
  DomainSearch(const DomainSearch &) = delete;
  DomainSearch &operator=(const DomainSearch &) = delete;

  /// kFound fills offsets, one for each item of the problem. After kStopped it may be asked again
  /// and goes on with the weights it has.
  SearchResult run(WorkMeter &meter, std::vector<uint64_t> &offsets);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace gantry::plan
