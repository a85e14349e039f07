// Implements EjectionSearch.
#include "engine/plan/search/ejection_search.h"
#include "engine/plan/search/item_table.h"
#include "engine/plan/search/offset_prices.h"
#include "engine/plan/random.h"
#include "engine/plan/search/restarts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace gantry::plan {

namespace {

constexpr uint32_t kMaxItems = 100'000; // Only near-linear heuristics suit larger problems.
constexpr uint64_t kMaxPairs = 2'000'000;
constexpr uint64_t kMaxUnits = uint64_t{1} << 60;
constexpr uint64_t kMaxNarrowUnits = uint64_t{1} << 29; // Sums of two heights must fit 32 bits.
/// The price of an item rises by this percentage of its cost (its first price) at each ejection.
constexpr int64_t kRisePercent = 8;
/// After every n placements, where n is the number of items, each rise decays by this percentage.
constexpr int64_t kDecayPercent = 1;
/// The most expensive of this many waiting items, drawn at random, is placed next.
constexpr int kDraws = 4;
/// The scale of costs: the mean cost is about this number. Prices are integers, so that their sums
/// are the same on every machine and in every order.
constexpr double kMeanCost = 1 << 16;
/// The length of the shortest run, in placements per item of the problem.
constexpr uint64_t kPlacementsPerItem = 8192;

/// The work of one turn: if offsets are dense (OffsetPrices), kNeighboursPerUnit neighbours take
/// one unit; otherwise the price changes must be sorted, and each neighbour takes kUnitsPerSorted
/// units.
constexpr uint64_t kNeighboursPerUnit = 2;
constexpr uint64_t kUnitsPerSorted = 4;
/// Work to find a pair of neighbours, which are items that are alive together.
constexpr uint64_t kUnitsPerPair = 4;

/// An item that is alive together with another item. If the neighbour lies at
/// offset p, it is in the way of the other item at offsets strictly between p - under and p + over.
template <typename Unit> struct Neighbour {
  uint32_t item;
  Unit under; // The size of the other item.
  Unit over;  // The size of the neighbour.
};

/// Returns the number of pairs of items that are alive together.
uint64_t pairsOf(const Problem &problem) {
  std::vector<uint32_t> begins = problem.begin;
  std::vector<uint32_t> ends = problem.end;
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  uint64_t pairs = 0; // Each item forms a pair with every item that is alive when it begins.
  size_t ended = 0;
  for (size_t begun = 0; begun < begins.size(); ++begun) {
    for (; ended < ends.size() && ends[ended] <= begins[begun]; ++ended) {
    }
    pairs += begun - ended;
  }
  return pairs;
}

/// The search for one integer type of sizes and offsets.
template <typename Unit> struct Ejector {
  explicit Ejector(const Problem &problem) : table(problem, unitOf(problem)), random(1) {
    const size_t count = table.items.size();
    offset.resize(count);
    cost.resize(count);
    price.resize(count);
    placedPrice.resize(count);
    neighbours.resize(count);
    findCosts();
    findNeighbours();
  }

  /// Returns, for each step, the sum of the weights of all steps before it. The load of a step is
  /// the sum of its live sizes. The weight of a step is (its load / the largest load)^8, because
  /// items of full steps have the fewest places to go.
  std::vector<double> weightsBefore() const {
    std::vector<int64_t> load(table.stepCount + 1);
    for (const Item<Unit> &item : table.items) {
      load[item.begin] += item.size;
      load[item.end] -= item.size;
    }
    std::partial_sum(load.begin(), load.end(), load.begin());
    const auto peak = static_cast<double>(*std::max_element(load.begin(), load.end()));
    std::vector<double> before(load.size());
    for (size_t step = 1; step < before.size(); ++step) {
      const double share = static_cast<double>(load[step - 1]) / peak;
      const double fourth = share * share * share * share; // std::pow differs between machines.
      before[step] = before[step - 1] + fourth * fourth;
    }
    return before;
  }

  void findCosts() {
    const std::vector<double> before = weightsBefore();
    double sum = 0;
    std::vector<double> root(cost.size());
    for (size_t i = 0; i < root.size(); ++i) {
      const Item<Unit> &item = table.items[i];
      root[i] = std::sqrt(static_cast<double>(item.size) * (before[item.end] - before[item.begin]));
      sum += root[i];
    }
    for (size_t i = 0; i < root.size(); ++i) {
      const double share = root[i] / sum * static_cast<double>(cost.size());
      cost[i] = static_cast<int64_t>((share + 0.05) * kMeanCost);
    }
  }

  void findNeighbours() {
    std::vector<uint32_t> order(table.items.size()); // The items by begin.
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return table.items[a].begin < table.items[b].begin;
    });
    for (size_t k = 0; k < order.size(); ++k) {
      const uint32_t a = order[k];
      for (size_t m = k + 1; m < order.size() && table.items[order[m]].begin < table.items[a].end;
           ++m) {
        const uint32_t b = order[m];
        neighbours[a].push_back({b, table.items[a].size, table.items[b].size});
        neighbours[b].push_back({a, table.items[b].size, table.items[a].size});
      }
    }
  }

  bool fit(uint64_t units, WorkMeter &meter, std::vector<uint64_t> &offsets) {
    if (capacity != static_cast<Unit>(units)) {
      capacity = static_cast<Unit>(units);
      runs = 0;
      restart();
    }
    if (!search(meter))
      return false;
    offsets.resize(offset.size());
    for (size_t i = 0; i < offsets.size(); ++i)
      offsets[i] = static_cast<uint64_t>(offset[i]) * table.unitBytes;
    capacity = -1;
    return true;
  }

  void restart() {
    waiting.clear();
    std::fill(placedPrice.begin(), placedPrice.end(), 0);
    for (uint32_t i = 0; i < table.items.size(); ++i)
      waiting.push_back(i);
    price = cost;
    placements = 0;
    left = lubyLength(++runs) * kPlacementsPerItem * table.items.size();
  }

  void decayPrices() {
    for (size_t i = 0; i < price.size(); ++i) {
      price[i] -= (price[i] - cost[i]) * kDecayPercent / 100;
      placedPrice[i] = placedPrice[i] > 0 ? price[i] : 0;
    }
  }

  bool search(WorkMeter &meter) {
    const bool isDense = OffsetPrices::isDense(capacity);
    while (!waiting.empty()) {
      if (left-- == 0)
        restart();
      if (++placements % table.items.size() == 0)
        decayPrices();
      const uint32_t at = drawExpensive();
      const uint32_t item = waiting[at];
      const uint64_t met = neighbours[item].size();
      if (!meter.spend((isDense ? met / kNeighboursPerUnit : met * kUnitsPerSorted) + 8))
        return false;
      const std::optional<Place> place = cheapestPlace(item);
      if (!place)
        return false;
      waiting[at] = waiting.back();
      waiting.pop_back();
      put(item, place->offset, place->price);
    }
    return true;
  }

  uint32_t drawExpensive() {
    uint32_t best = random.below(waiting.size());
    for (int drawn = 1; drawn < kDraws; ++drawn)
      if (const uint32_t at = random.below(waiting.size());
          price[waiting[at]] > price[waiting[best]])
        best = at;
    return best;
  }

  struct Place {
    Unit offset = 0;
    int64_t price = 0; // The sum of the prices of the items in the way.
  };

  /// Returns nothing if the item is larger than the capacity.
  std::optional<Place> cheapestPlace(uint32_t index) {
    const Item<Unit> &item = table.items[index];
    if (item.size > capacity)
      return std::nullopt;
    prices.begin(capacity - item.size);
    for (const Neighbour<Unit> &neighbour : neighbours[index])
      if (const int64_t price = placedPrice[neighbour.item]; price > 0)
        prices.add(offset[neighbour.item] - neighbour.under,
                   offset[neighbour.item] + neighbour.over, price);
    std::optional<Place> best;
    int64_t minPrice = std::numeric_limits<int64_t>::max();
    Unit minGap = 0;
    uint64_t ties = 0;
    prices.forEachRun([&](int64_t begin, int64_t end, int64_t price) {
      const auto first = static_cast<Unit>(begin);
      const auto last = static_cast<Unit>(end);
      if (price > minPrice || (price == minPrice && ties > 0 && last - first > minGap))
        return;
      const auto consider = [&](Unit place) {
        if (price < minPrice || last - first < minGap)
          ties = 0;
        minPrice = price;
        minGap = last - first;
        if (random.below(++ties) == 0)
          best = Place{place, price};
      };
      const Unit lowest = alignedFrom(item, first);
      if (lowest > last)
        return;
      consider(lowest);
      const Unit highest = last / item.alignment * item.alignment;
      if (highest > lowest)
        consider(highest);
    });
    return best;
  }

  /// Places an item and ejects the items in its way; toEject is the sum of their prices.
  void put(uint32_t index, Unit place, int64_t toEject) {
    offset[index] = place;
    placedPrice[index] = price[index];
    for (const Neighbour<Unit> &neighbour : neighbours[index]) {
      if (toEject == 0)
        return;
      const Unit there = offset[neighbour.item];
      const int64_t itsPrice = placedPrice[neighbour.item];
      // Most neighbours are not in the way: one predictable branch is faster than three.
      if ((there - neighbour.under < place) & (place < there + neighbour.over) & (itsPrice > 0)) {
        toEject -= itsPrice;
        placedPrice[neighbour.item] = 0;
        price[neighbour.item] += cost[neighbour.item] * kRisePercent / 100;
        waiting.push_back(neighbour.item);
      }
    }
  }

  ItemTable<Unit> table;
  Random random;
  Unit capacity = -1;
  uint64_t runs = 0;
  uint64_t placements = 0; // In this run.
  uint64_t left = 0;       // Placements left before the search restarts.
  std::vector<std::vector<Neighbour<Unit>>> neighbours;
  std::vector<int64_t> cost;        // The price of an item without rises.
  std::vector<int64_t> price;       // The price with rises.
  std::vector<int64_t> placedPrice; // The price while the item is placed, 0 while it waits.
  std::vector<Unit> offset;
  std::vector<uint32_t> waiting;
  OffsetPrices prices;
};

} // namespace

struct EjectionSearch::State {
  uint64_t maxUnits = 0; // All items fit within this capacity; larger capacities are reduced to it.
  std::optional<Ejector<int32_t>> narrow;
  std::optional<Ejector<int64_t>> wide;
};

bool EjectionSearch::canSearch(const Problem &problem) {
  return problem.count() <= kMaxItems && stackedHeight(problem) / unitOf(problem) < kMaxUnits &&
         pairsOf(problem) <= kMaxPairs;
}

uint64_t EjectionSearch::workToBegin(const Problem &problem) {
  return kUnitsPerPair * pairsOf(problem);
}

EjectionSearch::EjectionSearch(const Problem &problem) : state_(std::make_unique<State>()) {
  state_->maxUnits = stackedHeight(problem) / unitOf(problem) + 1;
  if (state_->maxUnits < kMaxNarrowUnits)
    state_->narrow.emplace(problem);
  else
    state_->wide.emplace(problem);
}

EjectionSearch::~EjectionSearch() = default;

bool EjectionSearch::fit(uint64_t capacityBytes, WorkMeter &meter, std::vector<uint64_t> &offsets) {
  const auto search = [&](auto &ejector) {
    const uint64_t unit = ejector.table.unitBytes;
    return ejector.fit(std::min(capacityBytes / unit, state_->maxUnits), meter, offsets);
  };
  return state_->narrow ? search(*state_->narrow) : search(*state_->wide);
}

} // namespace gantry::plan
