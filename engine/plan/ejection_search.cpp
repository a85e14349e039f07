#include "engine/plan/ejection_search.h"
#include "engine/plan/item_table.h"
#include "engine/plan/random.h"
#include "engine/plan/restarts.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gantry::plan {

namespace {

using Unit = int64_t;

constexpr uint32_t kMostItems = 100'000; // more are for what is near linear
constexpr uint64_t kMostPairs = 2'000'000;
constexpr uint64_t kMostUnits = uint64_t{1} << 60;
/// By how much the weight of an item grows when it is ejected.
constexpr double kInsult = 0.3;
/// How many items are put, for each item of the problem, in the shortest run.
constexpr uint64_t kPutsPerItem = 64;
/// Sorting two edges of a neighbour and looking at two places beside it.
constexpr uint64_t kUnitsPerNeighbour = 3;

/// Of finding out who meets whom.
constexpr uint64_t kUnitsPerPair = 4;

/// Two free items that meet: the second lies in the first's way at offsets strictly between its
/// own minus `under` and its own plus `over`.
struct Neighbour {
  uint32_t item;
  Unit under;
  Unit over;
};

struct Edge {
  Unit offset;
  double cost;
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

} // namespace

struct EjectionSearch::State {
  explicit State(const Problem &problem) : table(problem, unitOf(problem)), random(1) {
    const size_t count = table.items.size();
    offset.resize(count);
    placed.resize(count);
    weight.resize(count);
    cost.resize(count);
    neighbours.resize(count);
    findCosts();
    findNeighbours();
  }

  void findCosts() {
    double sum = 0;
    for (size_t i = 0; i < table.items.size(); ++i) {
      const Item<Unit> &item = table.items[i];
      cost[i] = std::sqrt(static_cast<double>(item.size) * (item.end - item.begin));
      sum += cost[i];
    }
    for (double &entry : cost)
      entry = entry / sum * static_cast<double>(cost.size()) + 0.05;
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

  void beginAnew() {
    waiting.clear();
    std::fill(placed.begin(), placed.end(), 0);
    std::fill(weight.begin(), weight.end(), 1);
    for (uint32_t i = 0; i < table.items.size(); ++i) {
      if (table.items[i].isFixed())
        offset[i] = table.items[i].fixedOffset;
      else
        waiting.push_back(i);
    }
    left = lubyLength(++runs) * kPutsPerItem * table.items.size();
  }

  bool search(WorkMeter &meter) {
    while (!waiting.empty()) {
      if (left-- == 0)
        beginAnew();
      const uint32_t at = random.below(waiting.size());
      const uint32_t item = waiting[at];
      if (!meter.spend(kUnitsPerNeighbour * neighbours[item].size() + 8))
        return false;
      const std::optional<Unit> place = cheapestPlace(item);
      if (!place)
        return false;
      waiting[at] = waiting.back();
      waiting.pop_back();
      put(item, *place);
    }
    return true;
  }

  void consider(const Item<Unit> &item, Unit place) {
    if (place >= 0 && place <= capacity - item.size && table.allowedFrom(item, place) == place)
      places.push_back(place);
  }
  void considerFrom(const Item<Unit> &item, Unit place) {
    consider(item, table.allowedFrom(item, std::max<Unit>(place, 0)));
  }
  void considerBelow(const Item<Unit> &item, Unit place) {
    if (place >= 0)
      consider(item, place / item.alignment * item.alignment);
  }

  /// Nothing where fixed items leave it none.
  std::optional<Unit> cheapestPlace(uint32_t index) {
    const Item<Unit> &item = table.items[index];
    places.clear();
    unders.clear();
    overs.clear();
    considerFrom(item, 0);
    considerBelow(item, capacity - item.size);
    for (uint32_t k = item.forbiddenBegin; k < item.forbiddenEnd; ++k) {
      considerBelow(item, table.forbidden[k].below);
      considerFrom(item, table.forbidden[k].end);
    }
    for (const Neighbour &neighbour : neighbours[index]) {
      if (!placed[neighbour.item])
        continue;
      const double price = cost[neighbour.item] * weight[neighbour.item];
      const Unit under = offset[neighbour.item] - neighbour.under;
      const Unit over = offset[neighbour.item] + neighbour.over;
      unders.push_back({under, price});
      overs.push_back({over, price});
      considerBelow(item, under);
      considerFrom(item, over);
    }
    // A place costs those that reach above it, without those that begin above it.
    const auto sum = [](std::vector<Edge> &edges) {
      std::sort(edges.begin(), edges.end(),
                [](const Edge &a, const Edge &b) { return a.offset < b.offset; });
      double before = 0;
      for (Edge &edge : edges) {
        before += edge.cost;
        edge.cost = before;
      }
    };
    sum(unders);
    sum(overs);
    const auto upTo = [](const std::vector<Edge> &edges, auto end) {
      return end == edges.begin() ? 0.0 : (end - 1)->cost;
    };
    std::optional<Unit> best;
    double least = 0;
    uint64_t ties = 0;
    for (const Unit place : places) {
      const auto begun =
          std::lower_bound(unders.begin(), unders.end(), place,
                           [](const Edge &edge, Unit limit) { return edge.offset < limit; });
      const auto ended =
          std::upper_bound(overs.begin(), overs.end(), place,
                           [](Unit limit, const Edge &edge) { return limit < edge.offset; });
      const double price = std::max(upTo(unders, begun) - upTo(overs, ended), 0.0);
      // Sums of other orders differ in their last bits.
      if (!best || price < least - kSame) {
        best = place;
        least = price;
        ties = 1;
      } else if (price <= least + kSame && random.below(++ties) == 0) {
        best = place;
      }
    }
    return best;
  }

  void put(uint32_t index, Unit place) {
    offset[index] = place;
    placed[index] = 1;
    for (const Neighbour &neighbour : neighbours[index])
      if (placed[neighbour.item] && offset[neighbour.item] - neighbour.under < place &&
          place < offset[neighbour.item] + neighbour.over) {
        placed[neighbour.item] = 0;
        weight[neighbour.item] += kInsult;
        waiting.push_back(neighbour.item);
      }
  }

  static constexpr double kSame = 1e-6;

  ItemTable<Unit> table;
  Random random;
  Unit capacity = -1;
  uint64_t runs = 0;
  uint64_t left = 0; // items to put before the search begins anew
  std::vector<std::vector<Neighbour>> neighbours;
  std::vector<double> cost;
  std::vector<double> weight;
  std::vector<Unit> offset;
  std::vector<uint8_t> placed;
  std::vector<uint32_t> waiting;

  // Scratch.
  std::vector<Unit> places;
  std::vector<Edge> unders;
  std::vector<Edge> overs;
};

bool EjectionSearch::canSearch(const Problem &problem) {
  if (problem.count() > kMostItems)
    return false;
  uint64_t height = problem.regionSize;
  for (uint32_t i = 0; i < problem.count(); ++i) {
    height += problem.size[i] + problem.alignmentOf(i);
    if (problem.isFixed(i))
      height = std::max(height, problem.fixedOffset[i] + problem.size[i]);
  }
  return height / unitOf(problem) < kMostUnits && pairsOf(problem) <= kMostPairs;
}

uint64_t EjectionSearch::workToBegin(const Problem &problem) {
  return kUnitsPerPair * pairsOf(problem);
}

EjectionSearch::EjectionSearch(const Problem &problem) : state_(std::make_unique<State>(problem)) {}

EjectionSearch::~EjectionSearch() = default;

bool EjectionSearch::fit(uint64_t capacity, WorkMeter &meter, std::vector<uint64_t> &offsets) {
  State &state = *state_;
  const auto units = static_cast<Unit>(std::min(capacity / state.table.unitBytes, kMostUnits));
  if (units != state.capacity) {
    state.capacity = units;
    state.runs = 0;
    state.beginAnew();
  }
  if (!state.search(meter))
    return false;
  offsets.resize(state.offset.size());
  for (size_t i = 0; i < offsets.size(); ++i)
    offsets[i] = static_cast<uint64_t>(state.offset[i]) * state.table.unitBytes;
  state.capacity = -1;
  return true;
}

} // namespace gantry::plan
