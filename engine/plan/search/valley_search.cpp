// Implements ValleySearch.
#include "engine/plan/search/valley_search.h"
#include "engine/plan/search/valley_engine.h"

#include <algorithm>
#include <optional>

namespace gantry::plan {

namespace {

/// Upper limit, in bytes, on the memory of a search whose depth is the number of items.
constexpr uint64_t kMaxBytes = uint64_t{512} << 20;
/// Upper limits on heights, in units of unitOf() bytes (item_table.h): sums of two heights must fit
/// 64 bits, or 32 bits in the engine `narrow`.
constexpr uint64_t kMaxUnits = uint64_t{1} << 61;
constexpr uint64_t kMaxNarrowUnits = uint64_t{1} << 29;

} // namespace

struct ValleySearch::Engines {
  uint32_t count = 0;
  uint64_t unit = 1;
  uint64_t maxUnits = 0; // All items fit within this capacity; larger capacities are reduced to it.
  std::optional<ValleyEngine<int32_t>> narrow;
  std::optional<ValleyEngine<int64_t>> wide;
};

bool ValleySearch::canSearch(const Problem &problem) {
  const uint64_t depth = problem.count();
  const uint64_t bytes = uint64_t{16} * (problem.count() + problem.stepCount);
  return (bytes == 0 || depth <= kMaxBytes / bytes) &&
         stackedHeight(problem) / unitOf(problem) < kMaxUnits;
}

ValleySearch::ValleySearch(const Problem &problem) : engines_(std::make_unique<Engines>()) {
  engines_->count = problem.count();
  engines_->unit = unitOf(problem);
  engines_->maxUnits = stackedHeight(problem) / engines_->unit + 1;
  if (engines_->maxUnits < kMaxNarrowUnits)
    engines_->narrow.emplace(problem, engines_->unit);
  else
    engines_->wide.emplace(problem, engines_->unit);
}

ValleySearch::~ValleySearch() = default;

SearchResult ValleySearch::run(uint64_t capacityBytes, const SearchStyle &style, uint64_t nodeLimit,
                               WorkMeter &meter, std::vector<uint64_t> &offsets) {
  const uint64_t units = std::min(capacityBytes / engines_->unit, engines_->maxUnits);
  const auto search = [&](auto &engine) {
    using Unit = decltype(engine.offsetOf(0));
    const SearchResult result = engine.run(static_cast<Unit>(units), style, nodeLimit, meter);
    if (result != SearchResult::kFound)
      return result;
    offsets.resize(engines_->count);
    for (uint32_t i = 0; i < engines_->count; ++i)
      offsets[i] = static_cast<uint64_t>(engine.offsetOf(i)) * engines_->unit;
    return result;
  };
  return engines_->narrow ? search(*engines_->narrow) : search(*engines_->wide);
}

} // namespace gantry::plan
