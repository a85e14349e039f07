// Implements placeFast(), weightsBy() and ranksOf().
#include "engine/plan/search/fast_tier.h"

#include "engine/plan/search/large_neighbourhood.h"
#include "engine/plan/search/series_parallel.h"
#include "engine/plan/search/skyline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace gantry::plan {

namespace {

double weightOf(const Problem &problem, uint32_t item, OrderKey key) {
  const double duration = static_cast<double>(problem.end[item] - problem.begin[item]);
  const double size = static_cast<double>(problem.size[item]);
  switch (key) {
  case OrderKey::kDuration:
    return duration;
  case OrderKey::kArea:
    return duration * size;
  case OrderKey::kSize:
    return size;
  case OrderKey::kEdge:
    return duration * std::sqrt(size);
  }
  return 0;
}

struct Attempt {
  OrderKey key;
  Skyline::Prefer prefer;
};

/// The attempts that reach the bound most often come first.
constexpr Attempt kAttempts[] = {
    {OrderKey::kDuration, Skyline::Prefer::kTouching},
    {OrderKey::kArea, Skyline::Prefer::kRank},
    {OrderKey::kEdge, Skyline::Prefer::kTouching},
    {OrderKey::kDuration, Skyline::Prefer::kRank},
    {OrderKey::kArea, Skyline::Prefer::kTouching},
    {OrderKey::kEdge, Skyline::Prefer::kRank},
    {OrderKey::kSize, Skyline::Prefer::kTouching},
    {OrderKey::kSize, Skyline::Prefer::kRank},
};

/// The limit on work and on height for the first placement, which must succeed.
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

/// Runs heuristics on one problem and keeps the lowest placement.
class Search {
public:
  Search(const Problem &problem, WorkMeter &meter) : problem_(problem), meter_(meter) {}

  bool atBound() const { return best_ && best_->height <= problem_.lowerBound; }
  bool done() { return best_ && (atBound() || meter_.exhausted()); }
  Placement take() { return std::move(*best_); }

  void skyline(size_t attempts) {
    std::optional<Skyline> skyline;
    std::vector<uint32_t> ranks;
    OrderKey ranksKey = kAttempts[0].key;
    for (size_t i = 0; i < attempts; ++i) {
      const Attempt &attempt = kAttempts[i];
      if (done())
        return;
      if (!skyline)
        skyline.emplace(problem_);
      if (ranks.empty() || ranksKey != attempt.key) {
        ranks = ranksOf(problem_, weightsBy(problem_, attempt.key));
        ranksKey = attempt.key;
      }
      attemptOnce(*skyline, ranks, attempt.prefer);
    }
  }

  /// Joins items to boxes and, if that leaves few boxes, places the boxes. Returns true if so few
  /// boxes are left that the other heuristic is not worth its time.
  bool boxes() {
    meter_.spend(uint64_t{problem_.count()} * kVisitsPerJoin);
    const std::optional<SeriesParallel> joined = joinToFew(problem_);
    if (!joined)
      return false;
    const Problem &reduced = joined->reduced();
    Search inner(reduced, meter_);
    inner.skyline(std::size(kAttempts));
    Placement placement = inner.take();
    // Placing a few boxes again costs little compared with joining the items.
    WorkMeter tries = meter_.part(kTriesWork + problem_.count() * kVisitsPerJoin);
    placement = improvePlacement(reduced, std::move(placement), 0, tries);
    meter_.settle(tries);
    best_ = joined->expand(placement);
    return uint64_t{reduced.count()} * kSettledFactor <= problem_.count();
  }

private:
  static constexpr uint64_t kVisitsPerJoin = 10; // Work to join one item, in units of the meter.
  static constexpr uint64_t kTriesWork = 20'000; // Fixed part of the work for placing boxes again.
  // boxes() returns true if there are at least this many items per box.
  static constexpr uint64_t kSettledFactor = 64;

  void attemptOnce(Skyline &skyline, const std::vector<uint32_t> &ranks, Skyline::Prefer prefer) {
    if (!best_) {
      WorkMeter unlimited(kNoLimit);
      best_ = skyline.place(ranks, prefer, kNoLimit, unlimited);
      meter_.spend(unlimited.spent());
      return;
    }
    if (std::optional<Placement> placement = skyline.place(ranks, prefer, best_->height, meter_))
      best_ = std::move(placement);
  }

  const Problem &problem_;
  WorkMeter &meter_;
  std::optional<Placement> best_;
};

} // namespace

std::vector<double> weightsBy(const Problem &problem, OrderKey key) {
  std::vector<double> weight(problem.count());
  for (uint32_t item = 0; item < problem.count(); ++item)
    weight[item] = weightOf(problem, item, key);
  return weight;
}

std::vector<uint32_t> ranksOf(const Problem &problem, const std::vector<double> &weight) {
  const uint32_t count = problem.count();
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (weight[a] != weight[b])
      return weight[a] < weight[b];
    if (problem.size[a] != problem.size[b])
      return problem.size[a] < problem.size[b];
    return a > b;
  });
  std::vector<uint32_t> rank(count);
  for (uint32_t place = 0; place < count; ++place)
    rank[order[place]] = place + 1;
  return rank;
}

Placement placeFast(const Problem &problem, WorkMeter &meter) {
  Search search(problem, meter);
  if (!search.boxes())
    search.skyline(std::size(kAttempts));
  return search.take();
}

} // namespace gantry::plan
