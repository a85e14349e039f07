#include "engine/plan/fast_tier.h"

#include "engine/plan/constrained_fit.h"
#include "engine/plan/series_parallel.h"
#include "engine/plan/skyline.h"

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
  case OrderKey::kBegin:
    return duration - static_cast<double>(problem.begin[item]) * problem.stepCount;
  }
  return 0;
}

struct Attempt {
  OrderKey key;
  Skyline::Prefer prefer;
};

/// The first reach the bound most often; the others differ most from them.
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

constexpr double kTolerances[] = {0.001, 0.01, 0.03};

/// Where a heuristic must run to its end, since there is no plan yet.
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

/// The lowest placement so far of one problem, and the work that is left.
class Search {
public:
  Search(const Problem &problem, WorkMeter &meter) : problem_(problem), meter_(meter) {}

  bool atBound() const { return best_ && best_->height <= problem_.lowerBound; }
  bool done() { return best_ && (atBound() || meter_.exhausted()); }
  Placement take() { return std::move(*best_); }

  void constrained() {
    if (!done())
      keep(placeConstrained(problem_, meter_));
  }

  void skyline(size_t attempts) {
    std::optional<Skyline> skyline;
    std::vector<uint32_t> ranks;
    OrderKey ranksKey = OrderKey::kBegin;
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
      run([&](uint64_t notAbove, WorkMeter &meter) {
        return skyline->place(ranks, attempt.prefer, notAbove, meter);
      });
    }
  }

  void boxes(double tolerance) {
    if (done())
      return;
    meter_.spend(uint64_t{problem_.count()} * kVisitsPerJoin);
    const SeriesParallel joined(problem_, tolerance);
    const Problem &reduced = joined.reduced();
    const bool useful = uint64_t{reduced.count()} * 10 <= uint64_t{problem_.count()} * 9;
    if (!useful || (best_ && reduced.lowerBound >= best_->height))
      return;
    Search inner(reduced, meter_);
    // The joins stand for most of the choice, so that a small rest is worth all attempts; of a
    // large one the attempts on the items themselves will do better.
    inner.skyline(uint64_t{reduced.count()} * 4 <= problem_.count() ? std::size(kAttempts) : 1);
    const Placement placement = inner.take();
    if (!best_ || placement.height < best_->height)
      best_ = joined.expand(placement);
    settled_ = settled_ || uint64_t{reduced.count()} * kSettledFactor <= problem_.count();
  }

  /// Whether the joins left so little that other attempts on the items are not worth their time.
  bool settled() const { return settled_; }

private:
  static constexpr uint64_t kVisitsPerJoin = 10;
  static constexpr uint64_t kSettledFactor = 64;

  void keep(Placement placement) {
    if (!best_ || placement.height < best_->height)
      best_ = std::move(placement);
  }

  template <typename Place> void run(Place place) {
    if (!best_) {
      WorkMeter unlimited(kNoLimit);
      best_ = place(kNoLimit, unlimited);
      meter_.spend(unlimited.spent());
      return;
    }
    std::optional<Placement> placement = place(best_->height, meter_);
    if (placement)
      best_ = std::move(placement);
  }

  const Problem &problem_;
  WorkMeter &meter_;
  std::optional<Placement> best_;
  bool settled_ = false;
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
  const bool anyFixed = std::any_of(problem.fixedOffset.begin(), problem.fixedOffset.end(),
                                    [](uint64_t offset) { return offset != kFreeOffset; });
  if (anyFixed || !problem.segments.empty())
    search.constrained();
  if (anyFixed)
    return search.take();
  const bool joins = problem.regionSize == 0; // a box might not fit between two borders
  if (joins)
    search.boxes(0);
  if (search.settled())
    return search.take();
  search.skyline(std::size(kAttempts));
  if (joins)
    for (const double tolerance : kTolerances)
      search.boxes(tolerance);
  return search.take();
}

} // namespace gantry::plan
