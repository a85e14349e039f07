#include "engine/plan/domain_search.h"
#include "engine/plan/item_table.h"
#include "engine/plan/offset_domains.h"
#include "engine/plan/random.h"
#include "engine/plan/restarts.h"

#include <algorithm>
#include <cmath>

namespace gantry::plan {

namespace {

constexpr uint64_t kMostUnits = 8192;              // of a capacity
constexpr uint64_t kMostWords = uint64_t{1} << 16; // of all rows together

/// An item and offsets for it, the last included.
struct Choice {
  uint32_t item = 0;
  uint32_t low = 0;
  uint32_t high = 0;
};

/// Of one slice.
struct Style {
  bool likeLast = false;   // an item goes where it went before
  bool largeFirst = false; // items alone are chosen, by possibilities for their areas
};

double areaOf(const OffsetDomains::Item &item) {
  return static_cast<double>(item.size) * (item.stepEnd - item.stepBegin);
}

} // namespace

struct DomainSearch::State {
  State(const Problem &given, uint64_t capacity)
      : problem(given), unit(unitOf(given)),
        domains(given, unit, static_cast<uint32_t>(capacity / unit)), random(1),
        itemWeight(domains.items().size(), 1), stepWeight(domains.steps().size(), 1),
        noise(domains.items().size(), 1), lastOffset(domains.items().size(), OffsetDomains::kNone),
        open(domains.words()), covered(domains.words()) {}

  SearchResult run(WorkMeter &meter) {
    if (domains.isRefuted() || (runs == 0 && !domains.propagate(meter)))
      return SearchResult::kInfeasible;
    SearchResult result = SearchResult::kStopped;
    while (result == SearchResult::kStopped && !meter.exhausted()) {
      style.likeLast = runs / 2 % 2 != 0;
      style.largeFirst = runs / 4 % 2 != 0;
      for (double &entry : noise)
        entry = runs == 0 ? 1 : 0.5 + random.unit();
      const uint64_t nodes = lubyLength(++runs) * (domains.items().size() + 8);
      result = slice(nodes, meter);
    }
    return result;
  }

  /// On kFound the levels are left as they are.
  SearchResult slice(uint64_t nodes, WorkMeter &meter) {
    path.clear();
    Choice choice;
    while (nodes-- > 0 && !meter.exhausted() && !domains.isTrailFull()) {
      if (!choose(choice, meter))
        return SearchResult::kFound;
      if (choice.low == choice.high)
        lastOffset[choice.item] = choice.low;
      path.push_back(choice);
      domains.mark();
      domains.keep(choice.item, choice.low, choice.high);
      while (!domains.propagate(meter)) {
        blame();
        if (path.empty())
          return SearchResult::kInfeasible;
        domains.undo();
        const Choice tried = path.back();
        path.pop_back();
        domains.take(tried.item, tried.low, tried.high);
      }
    }
    while (domains.levels() > 0)
      domains.undo();
    return SearchResult::kStopped;
  }

  void blame() {
    if (domains.culpritItem() != OffsetDomains::kNone) {
      itemWeight[domains.culpritItem()] += 1;
      return;
    }
    const OffsetDomains::Step &step = domains.steps()[domains.culpritStep()];
    stepWeight[domains.culpritStep()] += 1;
    for (uint32_t m = step.first; m < step.last; ++m)
      itemWeight[domains.memberAt(m)] += 1.0 / (step.last - step.first);
  }

  /// The item, or the place, with the fewest possibilities for its weight; false where all are
  /// placed.
  bool choose(Choice &choice, WorkMeter &meter) {
    meter.spend(domains.items().size() + domains.steps().size());
    double best = 0;
    bool found = false;
    for (uint32_t i = 0; i < domains.items().size(); ++i) {
      const OffsetDomains::Item &item = domains.items()[i];
      if (item.isPlaced())
        continue;
      const double measure = style.largeFirst ? areaOf(item) : 1;
      const double score = item.count / (itemWeight[i] * measure);
      if (!found || score < best) {
        found = true;
        best = score;
        choice.item = i;
      }
    }
    if (!found)
      return false;
    choice.low = domains.items()[choice.item].low;
    const uint32_t last = lastOffset[choice.item];
    if (style.likeLast && last != OffsetDomains::kNone && testBit(domains.row(choice.item), last))
      choice.low = last;
    choice.high = choice.low;
    if (style.largeFirst)
      return true;
    for (uint32_t t = 0; t < domains.steps().size(); ++t) {
      // Whether it is tight was found out on this level or on one that is undone.
      if (!domains.steps()[t].isTight || !findOpen(t))
        continue;
      meter.spend(2 * static_cast<uint64_t>(domains.steps()[t].last - domains.steps()[t].first));
      chooseInStep(t, best, choice);
    }
    return true;
  }

  /// What is neither placed nor lost of a step; false where it is not tight.
  bool findOpen(uint32_t t) {
    const OffsetDomains::Step &step = domains.steps()[t];
    const uint64_t *const room = domains.roomOf(t);
    std::fill(covered.begin(), covered.end(), 0);
    std::copy_n(room, domains.words(), open.begin());
    for (uint32_t m = step.first; m < step.last; ++m) {
      const OffsetDomains::Item &item = domains.items()[domains.memberAt(m)];
      if (item.isPlaced())
        clearRange(open.data(), item.low, item.low + item.size);
      const uint64_t *const cover = domains.coverOf(domains.memberAt(m));
      for (uint32_t w = 0; w < domains.words(); ++w)
        covered[w] |= cover[w];
    }
    uint32_t lost = 0;
    for (uint32_t w = 0; w < domains.words(); ++w) {
      lost += static_cast<uint32_t>(std::popcount(room[w] & ~covered[w]));
      open[w] &= covered[w];
    }
    return lost == step.slack;
  }

  /// In a tight step: what touches a border of a run of free addresses, or lies in such a run.
  void chooseInStep(uint32_t t, double &best, Choice &choice) {
    const size_t words = domains.words();
    for (size_t begin = nextBit(open.data(), words, 0); begin < domains.capacity();) {
      const size_t end = nextGap(open.data(), words, begin);
      chooseForRun(t, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), best, choice);
      chooseAtBorder(t, static_cast<uint32_t>(begin), true, best, choice);
      chooseAtBorder(t, static_cast<uint32_t>(end), false, best, choice);
      begin = nextBit(open.data(), words, end);
    }
  }

  /// Possibilities: how many sets of items fill the run, were their sums distributed normally.
  void chooseForRun(uint32_t t, uint32_t begin, uint32_t end, double &best, Choice &choice) {
    const OffsetDomains::Step &step = domains.steps()[t];
    double room = end - begin;
    double sum = 0;
    double squares = 0;
    int count = 0;
    double heaviest = 0;
    Choice first;
    for (uint32_t m = step.first; m < step.last; ++m) {
      const uint32_t index = domains.memberAt(m);
      const OffsetDomains::Item &item = domains.items()[index];
      if (item.isPlaced() || item.low >= end || item.high < begin || item.size > end - begin)
        continue;
      if (item.low >= begin && item.high < end) {
        room -= item.size;
        continue;
      }
      const uint32_t highest = end - item.size;
      if (nextBit(domains.row(index), domains.words(), begin) > highest)
        continue;
      ++count;
      sum += item.size;
      squares += static_cast<double>(item.size) * item.size;
      if (const double weight = areaOf(item) * noise[index]; weight > heaviest) {
        heaviest = weight;
        first = {index, begin, highest};
      }
    }
    if (count == 0)
      return;
    constexpr double kTwoPi = 6.283185307179586;
    const double variance = squares / 4;
    const double away = room - sum / 2;
    const double fills =
        std::exp2(count) * std::exp(-away * away / (2 * variance)) / std::sqrt(kTwoPi * variance);
    const double score = std::max(fills, 2.0) / stepWeight[t];
    if (score < best) {
      best = score;
      choice = first;
    }
  }

  /// Possibilities: the items that can begin at a floor, or end at a ceiling.
  void chooseAtBorder(uint32_t t, uint32_t border, bool isFloor, double &best, Choice &choice) {
    const OffsetDomains::Step &step = domains.steps()[t];
    uint32_t count = 0;
    double heaviest = 0;
    Choice first;
    for (uint32_t m = step.first; m < step.last; ++m) {
      const uint32_t index = domains.memberAt(m);
      const OffsetDomains::Item &item = domains.items()[index];
      if (item.isPlaced() || (!isFloor && border < item.size))
        continue;
      const uint32_t offset = isFloor ? border : border - item.size;
      if (!testBit(domains.row(index), offset))
        continue;
      ++count;
      if (const double weight = areaOf(item) * noise[index]; weight > heaviest) {
        heaviest = weight;
        first = {index, offset, offset};
      }
    }
    const double score = count / stepWeight[t];
    if (count > 0 && score < best) {
      best = score;
      choice = first;
    }
  }

  void write(std::vector<uint64_t> &offsets) {
    offsets.assign(problem.count(), 0);
    for (uint32_t i = 0; i < problem.count(); ++i)
      if (problem.isFixed(i))
        offsets[i] = problem.fixedOffset[i];
    for (const OffsetDomains::Item &item : domains.items())
      offsets[item.id] = item.low * unit;
    while (domains.levels() > 0)
      domains.undo();
  }

  const Problem &problem;
  uint64_t unit;
  OffsetDomains domains;
  Random random;
  Style style;
  uint64_t runs = 0;
  std::vector<double> itemWeight; // grows with each failure
  std::vector<double> stepWeight;
  std::vector<double> noise;
  std::vector<uint32_t> lastOffset;
  std::vector<Choice> path; // one per level
  std::vector<uint64_t> open;
  std::vector<uint64_t> covered;
};

bool DomainSearch::canSearch(const Problem &problem, uint64_t capacity) {
  const uint64_t units = capacity / unitOf(problem);
  return problem.regionSize == 0 && problem.segments.empty() && units <= kMostUnits &&
         problem.count() <= kMostWords / (units / 64 + 1);
}

DomainSearch::DomainSearch(const Problem &problem, uint64_t capacity)
    : state_(std::make_unique<State>(problem, capacity)) {}

DomainSearch::~DomainSearch() = default;

SearchResult DomainSearch::run(WorkMeter &meter, std::vector<uint64_t> &offsets) {
  const SearchResult result = state_->run(meter);
  if (result == SearchResult::kFound)
    state_->write(offsets);
  return result;
}

} // namespace gantry::plan
