#include "engine/plan/ejection_search.h"
#include "engine/plan/item_table.h"
#include "engine/plan/offset_prices.h"
#include "engine/plan/random.h"
#include "engine/plan/restarts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace gantry::plan {

namespace {

constexpr uint32_t kMostItems = 100'000; // more are for what is near linear
constexpr uint64_t kMostPairs = 2'000'000;
constexpr uint64_t kMostUnits = uint64_t{1} << 60;
constexpr uint64_t kMostNarrow = uint64_t{1} << 29; // sums of two heights must fit, too
/// By how many hundredths of its own cost an item becomes dearer when it is ejected, and how many
/// hundredths of that are forgotten each time as many items were put as there are.
constexpr int64_t kInsult = 8;
constexpr int64_t kForgotten = 1;
/// The dearest of so many that wait, drawn at random, is put next.
constexpr int kDrawn = 4;
/// Of the mean item, at the beginning. Prices are whole: equal on every machine, and in sums of any
/// order.
constexpr double kMeanPrice = 1 << 16;
/// Where something fixed lies.
constexpr int64_t kNever = int64_t{1} << 60;
/// How many items are put, for each item of the problem, in the shortest run.
constexpr uint64_t kPutsPerItem = 8192;

/// Of a neighbour: two are a unit, but where their ends are sorted.
constexpr uint64_t kNeighboursPerUnit = 2;
constexpr uint64_t kUnitsPerSorted = 4;
/// Of finding out who meets whom.
constexpr uint64_t kUnitsPerPair = 4;

/// Two free items that meet: the second lies in the first's way at offsets strictly between its
/// own minus `under` and its own plus `over`.
template <typename Unit> struct Neighbour {
  uint32_t item;
  Unit under;
  Unit over;
};

uint64_t pairsOf(const Problem &problem) {
  std::vector<uint32_t> begins = problem.begin;
  std::vector<uint32_t> ends = problem.end;
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  uint64_t pairs = 0; // each begin meets those alive then
  size_t ended = 0;
  for (size_t begun = 0; begun < begins.size(); ++begun) {
    for (; ended < ends.size() && ends[ended] <= begins[begun]; ++ended) {
    }
    pairs += begun - ended;
  }
  return pairs;
}

/// For one width of numbers.
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

  /// Of all steps before each: a step weighs the eighth power of its load, since items of full
  /// steps have the fewest places to go.
  std::vector<double> weightsBefore() const {
    std::vector<int64_t> load(table.stepCount + 1); // first its changes
    for (const Cover<Unit> &cover : table.covers) {
      load[cover.begin] += cover.size;
      load[cover.end] -= cover.size;
    }
    std::partial_sum(load.begin(), load.end(), load.begin());
    const auto peak = static_cast<double>(*std::max_element(load.begin(), load.end()));
    std::vector<double> before(load.size());
    for (size_t step = 1; step < before.size(); ++step) {
      const double share = static_cast<double>(load[step - 1]) / peak;
      const double fourth = share * share * share * share; // products are the same everywhere
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
      cost[i] = static_cast<int64_t>((share + 0.05) * kMeanPrice);
    }
  }

  void findNeighbours() {
    std::vector<uint32_t> order; // free, by begin
    for (uint32_t i = 0; i < table.items.size(); ++i)
      if (!table.items[i].isFixed())
        order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return table.items[a].begin < table.items[b].begin;
    });
    for (size_t k = 0; k < order.size(); ++k)
      for (size_t m = k + 1;
           m < order.size() && table.items[order[m]].begin < table.items[order[k]].end; ++m) {
        Unit first = 0;
        Unit second = 0;
        if (!meet(order[k], order[m], first, second))
          continue;
        neighbours[order[k]].push_back({order[m], first, second});
        neighbours[order[m]].push_back({order[k], second, first});
      }
  }

  /// The sizes with which two items meet.
  bool meet(uint32_t a, uint32_t b, Unit &sizeA, Unit &sizeB) const {
    for (uint32_t x = table.items[a].coverBegin; x < table.items[a].coverEnd; ++x)
      for (uint32_t y = table.items[b].coverBegin; y < table.items[b].coverEnd; ++y)
        if (table.covers[x].begin < table.covers[y].end &&
            table.covers[y].begin < table.covers[x].end) {
          sizeA = std::max(sizeA, table.covers[x].size);
          sizeB = std::max(sizeB, table.covers[y].size);
        }
    return sizeA > 0;
  }

  bool fit(uint64_t units, WorkMeter &meter, std::vector<uint64_t> &offsets) {
    if (capacity != static_cast<Unit>(units)) {
      capacity = static_cast<Unit>(units);
      runs = 0;
      beginAnew();
    }
    if (!search(meter))
      return false;
    offsets.resize(offset.size());
    for (size_t i = 0; i < offsets.size(); ++i)
      offsets[i] = static_cast<uint64_t>(offset[i]) * table.unitBytes;
    capacity = -1;
    return true;
  }

  void beginAnew() {
    waiting.clear();
    std::fill(placedPrice.begin(), placedPrice.end(), 0);
    for (uint32_t i = 0; i < table.items.size(); ++i) {
      if (table.items[i].isFixed())
        offset[i] = table.items[i].fixedOffset;
      else
        waiting.push_back(i);
    }
    price = cost;
    puts = 0;
    left = lubyLength(++runs) * kPutsPerItem * table.items.size();
  }

  void forgetInsults() {
    for (size_t i = 0; i < price.size(); ++i) {
      price[i] -= (price[i] - cost[i]) * kForgotten / 100;
      placedPrice[i] = placedPrice[i] > 0 ? price[i] : 0;
    }
  }

  bool search(WorkMeter &meter) {
    const bool isDense = OffsetPrices::isDense(capacity);
    while (!waiting.empty()) {
      if (left-- == 0)
        beginAnew();
      if (++puts % table.items.size() == 0)
        forgetInsults();
      const uint32_t at = drawDear();
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

  uint32_t drawDear() {
    uint32_t best = random.below(waiting.size());
    for (int drawn = 1; drawn < kDrawn; ++drawn)
      if (const uint32_t at = random.below(waiting.size());
          price[waiting[at]] > price[waiting[best]])
        best = at;
    return best;
  }

  struct Place {
    Unit offset = 0;
    int64_t price = 0; // of what lies there
  };

  /// Nothing where fixed items leave it none.
  std::optional<Place> cheapestPlace(uint32_t index) {
    const Item<Unit> &item = table.items[index];
    if (item.size > capacity)
      return std::nullopt;
    prices.begin(capacity - item.size);
    for (uint32_t k = item.forbiddenBegin; k < item.forbiddenEnd; ++k)
      prices.add(table.forbidden[k].below, table.forbidden[k].end, kNever);
    for (const Neighbour<Unit> &neighbour : neighbours[index])
      if (const int64_t price = placedPrice[neighbour.item]; price > 0)
        prices.add(offset[neighbour.item] - neighbour.under,
                   offset[neighbour.item] + neighbour.over, price);
    std::optional<Place> best;
    int64_t least = kNever - 1;
    Unit leastRoom = 0;
    uint64_t ties = 0;
    prices.forEachRun([&](int64_t begin, int64_t end, int64_t price) {
      const auto first = static_cast<Unit>(begin);
      const auto last = static_cast<Unit>(end);
      if (price > least || (price == least && ties > 0 && last - first > leastRoom))
        return;
      const auto consider = [&](Unit place) {
        if (price < least || last - first < leastRoom)
          ties = 0;
        least = price;
        leastRoom = last - first;
        if (random.below(++ties) == 0)
          best = Place{place, price};
      };
      const Unit lowest = table.allowedFrom(item, first);
      if (lowest > last)
        return;
      consider(lowest);
      const Unit highest = last / item.alignment * item.alignment;
      if (highest > lowest && table.allowedFrom(item, highest) == highest)
        consider(highest);
    });
    return best;
  }

  /// `toEject` is what those cost that lie there.
  void put(uint32_t index, Unit place, int64_t toEject) {
    offset[index] = place;
    placedPrice[index] = price[index];
    for (const Neighbour<Unit> &neighbour : neighbours[index]) {
      if (toEject == 0)
        return;
      const Unit there = offset[neighbour.item];
      const int64_t itsPrice = placedPrice[neighbour.item];
      // Most do not: one test that is foreseen is faster than three that are not.
      if ((there - neighbour.under < place) & (place < there + neighbour.over) & (itsPrice > 0)) {
        toEject -= itsPrice;
        placedPrice[neighbour.item] = 0;
        price[neighbour.item] += cost[neighbour.item] * kInsult / 100;
        waiting.push_back(neighbour.item);
      }
    }
  }

  ItemTable<Unit> table;
  Random random;
  Unit capacity = -1;
  uint64_t runs = 0;
  uint64_t puts = 0; // in this run
  uint64_t left = 0; // of them, before the search begins anew
  std::vector<std::vector<Neighbour<Unit>>> neighbours;
  std::vector<int64_t> cost;        // without insults
  std::vector<int64_t> price;       // with them
  std::vector<int64_t> placedPrice; // 0 while it waits
  std::vector<Unit> offset;
  std::vector<uint32_t> waiting;
  OffsetPrices prices;
};

} // namespace

struct EjectionSearch::State {
  uint64_t mostUnits = 0; // a capacity above is as good as this one
  std::optional<Ejector<int32_t>> narrow;
  std::optional<Ejector<int64_t>> wide;
};

bool EjectionSearch::canSearch(const Problem &problem) {
  return problem.count() <= kMostItems && stackedHeight(problem) / unitOf(problem) < kMostUnits &&
         pairsOf(problem) <= kMostPairs;
}

uint64_t EjectionSearch::workToBegin(const Problem &problem) {
  return kUnitsPerPair * pairsOf(problem);
}

EjectionSearch::EjectionSearch(const Problem &problem) : state_(std::make_unique<State>()) {
  state_->mostUnits = stackedHeight(problem) / unitOf(problem) + 1;
  if (state_->mostUnits < kMostNarrow)
    state_->narrow.emplace(problem);
  else
    state_->wide.emplace(problem);
}

EjectionSearch::~EjectionSearch() = default;

bool EjectionSearch::fit(uint64_t capacity, WorkMeter &meter, std::vector<uint64_t> &offsets) {
  const auto search = [&](auto &ejector) {
    const uint64_t unit = ejector.table.unitBytes;
    return ejector.fit(std::min(capacity / unit, state_->mostUnits), meter, offsets);
  };
  return state_->narrow ? search(*state_->narrow) : search(*state_->wide);
}

} // namespace gantry::plan
