// The functions of ValleyEngine that find the choices of a node: the step to decide next, the items
// that can rest in that step, and the gap (valley_search.h explains these terms).
#include "engine/plan/search/valley_engine.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace gantry::plan {

namespace {

/// The rank of a step. The search decides the step of the smallest rank next.
using Rank = std::tuple<int64_t, int64_t, int64_t>;

Rank rankOf(StepRule rule, int64_t choices, bool gap, int64_t floor, int64_t slack, int64_t width) {
  switch (rule) {
  case StepRule::kFewestTight:
    return {choices, slack, 0};
  case StepRule::kFewestLow:
    return {choices, floor, 0};
  case StepRule::kNoGapLow:
    return {gap, choices, floor};
  case StepRule::kNoGapLowestFirst:
    return {gap, floor, choices};
  default:
    return {gap, choices, -width};
  }
}

bool prefersFlush(ItemRule rule) {
  return rule == ItemRule::kSizeFlush || rule == ItemRule::kAreaFlush ||
         rule == ItemRule::kDurationAreaFlush;
}

} // namespace

template <typename Unit> void ValleyEngine<Unit>::findValleys(const Part &part) {
  const Unit *const floor = floors_.data() + part.steps - part.begin;
  for (uint32_t begin = part.begin; begin < part.end;) {
    uint32_t end = begin + 1;
    while (end < part.end && floor[end] == floor[begin])
      ++end;
    const bool open = floor[begin] != kWall;
    const bool left = begin == part.begin || floor[begin - 1] > floor[begin];
    const bool right = end == part.end || floor[end] > floor[begin];
    std::fill(valleyEnd_.begin() + begin, valleyEnd_.begin() + end,
              open && left && right ? end : 0);
    begin = end;
  }
}

/// Returns whether the item lies wholly in one valley.
template <typename Unit> bool ValleyEngine<Unit>::rests(const Item<Unit> &item) const {
  return valleyEnd_[item.begin] >= item.end;
}

/// Counts, as differences from step to step, the items that can rest at each step; of equal items
/// only the first counts. For choose(), also finds the lowest top of the resting items that begin
/// or end at each step. For gapAbove(), unless the item table is simple (ItemTable::isSimple), also
/// finds the lowest `next` offset (explained below) of each step's items.
template <typename Unit> void ValleyEngine<Unit>::countChoices(const Part &part) {
  const size_t steps = part.end - part.begin + 1;
  std::fill_n(resting_.begin() + part.begin, steps, 0);
  std::fill_n(topByEnd_.begin() + part.begin, steps, kWall);
  std::fill_n(topByBegin_.begin() + part.begin, steps, kWall);
  if (!table_.isSimple)
    std::fill_n(lowest_.begin() + part.begin, steps, kWall);
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting &waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    const bool resting = rests(item);
    if (resting) {
      const Unit top = waiting.low + item.size;
      topByEnd_[item.end] = std::min(topByEnd_[item.end], top);
      topByBegin_[item.begin] = std::min(topByBegin_[item.begin], top);
      if (!isBlockedByTwin(waiting.item)) {
        ++resting_[item.begin];
        --resting_[item.end];
      }
    }
    if (table_.isSimple)
      continue;
    // `next` is the lowest offset above the floor at which the item, pushed down as far as
    // possible, can lie without another waiting item beneath it. If the item can lie on the floor,
    // there is none. Otherwise it is waiting.low. If the item does not rest, waiting.low may equal
    // the floor in some of its steps; the loop skips these.
    const Unit level = floors_[part.steps + item.begin - part.begin];
    const Unit next = resting && waiting.low <= level ? kWall : waiting.low;
    for (uint32_t t = item.begin; t < item.end; ++t)
      if (next > floors_[part.steps + t - part.begin])
        lowest_[t] = std::min(lowest_[t], next);
  }
}

/// Returns the lowest offset above the floor that an item can take in a step without lying on
/// another item of the valley, or kWall if there is none. The offset is the floor of a step next to
/// the valley, or the lowest aligned offset of an item that cannot lie on the floor. choose() also
/// considers the tops of items that rest in the valley.
template <typename Unit>
Unit ValleyEngine<Unit>::gapAbove(const Part &part, uint32_t step, uint32_t valleyBegin,
                                  uint32_t valleyEnd) const {
  const Unit *const floor = floors_.data() + part.steps - part.begin;
  Unit gap = kWall;
  if (valleyBegin > part.begin)
    gap = std::min(gap, floor[valleyBegin - 1]);
  if (valleyEnd < part.end)
    gap = std::min(gap, floor[valleyEnd]);
  return table_.isSimple ? gap : std::min(gap, lowest_[step]);
}

template <typename Unit>
double ValleyEngine<Unit>::weightIn(const Part &part, uint32_t index, Unit offset,
                                    uint32_t valleyBegin, uint32_t valleyEnd) const {
  double weight = weight_[index];
  const Item<Unit> &item = table_.items[index];
  const Unit *const floor = floors_.data() + part.steps - part.begin;
  // Floors that are multiples of a large alignment are scarce, so items that need them come first.
  // Items that would leave a gap beneath them come last.
  if (item.alignment > 1)
    weight *= offset > floor[valleyBegin] ? 0x1p-40 : static_cast<double>(item.alignment);
  if (!prefersFlush(style_.item))
    return weight;
  const Unit left = valleyBegin > part.begin ? floor[valleyBegin - 1] : kWall;
  const Unit right = valleyEnd < part.end ? floor[valleyEnd] : kWall;
  const Unit top = offset + item.size;
  const bool touchesLeft = item.begin == valleyBegin;
  const bool touchesRight = item.end == valleyEnd;
  if ((touchesLeft && top == left) || (touchesRight && top == right))
    weight *= 4;
  if (touchesLeft && touchesRight)
    weight *= 2;
  return weight;
}

template <typename Unit>
void ValleyEngine<Unit>::listChoices(const Part &part, Node &node, uint32_t step,
                                     uint32_t valleyBegin, uint32_t valleyEnd, Unit gapTo) {
  node.step = step;
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting &waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    if (step < item.begin || step >= item.end || !rests(item) || isBlockedByTwin(waiting.item))
      continue;
    choiceWeight_[waiting.item] = weightIn(part, waiting.item, waiting.low, valleyBegin, valleyEnd);
    choices_.push_back({waiting.item, waiting.low});
  }
  std::sort(choices_.begin() + static_cast<ptrdiff_t>(node.first), choices_.end(),
            [&](const Choice &a, const Choice &b) {
              if (choiceWeight_[a.item] != choiceWeight_[b.item])
                return choiceWeight_[a.item] > choiceWeight_[b.item];
              return a.item < b.item;
            });
  if (gapTo != kWall)
    choices_.push_back({kGap, gapTo});
}

/// If all floors of the part are equal, the item table is simple (ItemTable::isSimple), and an item
/// spans the whole part, lists this item as the only choice and returns true. No other choice is
/// needed: in any placement the item can be moved to the floor, and the items below it up by its
/// size.
template <typename Unit> bool ValleyEngine<Unit>::listSpanningItem(const Part &part) {
  if (!table_.isSimple || valleyEnd_[part.begin] != part.end)
    return false;
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting &waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    if (item.begin == part.begin && item.end == part.end) {
      choices_.push_back({waiting.item, waiting.low});
      return true;
    }
  }
  return false;
}

template <typename Unit> bool ValleyEngine<Unit>::choose(const Part &part, Node &node) {
  findValleys(part);
  if (listSpanningItem(part))
    return true;
  countChoices(part);

  const Unit *const floor = floors_.data() + part.steps - part.begin;
  const Unit *const load = loads_.data() + part.steps - part.begin;
  struct Best {
    Rank rank;
    uint32_t step, valleyBegin, valleyEnd;
    Unit gap;
  };
  std::optional<Best> best;
  for (uint32_t begin = part.begin; begin < part.end; ++begin) {
    const uint32_t end = valleyEnd_[begin];
    if (end == 0)
      continue;
    // sum_[t] becomes the lowest top of the items that rest in this valley wholly after step t.
    Unit after = kWall;
    for (uint32_t t = end; t-- > begin;) {
      sum_[t] = after;
      after = std::min(after, topByBegin_[t]);
    }
    Unit before = kWall; // The lowest top of the items that rest in this valley wholly before t.
    int32_t count = 0;
    for (uint32_t t = begin; t < end; ++t) {
      count += resting_[t];
      if (t > begin)
        before = std::min(before, topByEnd_[t]);
      Unit gap = std::min({gapAbove(part, t, begin, end), before, sum_[t]});
      if (gap != kWall && gap > capacity_ - total_[t])
        gap = kWall;
      const int64_t choices = count + (gap != kWall ? 1 : 0);
      if (choices == 0)
        return false;
      if (choices == 1) {
        listChoices(part, node, t, begin, end, gap);
        return true;
      }
      const Rank rank = rankOf(style_.step, choices, gap != kWall, floor[t],
                               static_cast<int64_t>(capacity_) - load[t], end - begin);
      if (!best || rank < best->rank)
        best = Best{rank, t, begin, end, gap};
    }
    begin = end - 1;
  }
  if (!best)
    return false;
  listChoices(part, node, best->step, best->valleyBegin, best->valleyEnd, best->gap);
  return true;
}

template class ValleyEngine<int32_t>;
template class ValleyEngine<int64_t>;

} // namespace gantry::plan
