// The choices of a node: which step is decided next, and what may happen there.
#include "engine/plan/valley_engine.h"

#include <algorithm>
#include <tuple>

namespace gantry::plan {

namespace {

/// What makes a step the better one to decide: the smaller, the earlier.
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
  Unit lowest = kWall;
  if (segmented_)
    for (uint32_t t = part.begin; t < part.end; ++t)
      lowest = std::min(lowest, floor[t]);
  for (uint32_t begin = part.begin; begin < part.end;) {
    uint32_t end = begin + 1;
    while (end < part.end && floor[end] == floor[begin])
      ++end;
    const bool open = floor[begin] != kWall;
    const bool left = begin == part.begin || floor[begin - 1] > floor[begin];
    const bool right = end == part.end || floor[end] > floor[begin];
    // What has gaps in its life may rest in several valleys at once, which works only where none of
    // them is lower than another.
    const bool taken = open && left && right && (!segmented_ || floor[begin] == lowest);
    std::fill(valleyEnd_.begin() + begin, valleyEnd_.begin() + end, taken ? end : 0);
    begin = end;
  }
}

/// Whether the item lies wholly in valleys, all of one level.
template <typename Unit>
bool ValleyEngine<Unit>::rests(const Part &part, uint32_t index, Unit &level) const {
  const Item<Unit> &item = table_.items[index];
  if (item.isFixed())
    return false;
  level = floors_[part.steps + table_.covers[item.coverBegin].begin - part.begin];
  for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c) {
    const Cover<Unit> &cover = table_.covers[c];
    if (valleyEnd_[cover.begin] < cover.end ||
        floors_[part.steps + cover.begin - part.begin] != level)
      return false;
  }
  return true;
}

/// Counts what can rest at each step, and prepares gapAbove.
template <typename Unit> void ValleyEngine<Unit>::countChoices(const Part &part) {
  const size_t steps = part.end - part.begin + 1;
  std::fill_n(resting_.begin() + part.begin, steps, 0);
  std::fill_n(topByEnd_.begin() + part.begin, steps, kWall);
  std::fill_n(topByBegin_.begin() + part.begin, steps, kWall);
  if (!table_.simple)
    std::fill_n(least_.begin() + part.begin, steps, kWall);
  lowestTop_ = kWall;
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting &waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    if (item.isFixed())
      continue;
    Unit level = 0;
    const bool resting = rests(part, waiting.item, level);
    const Unit top = waiting.low + item.minSize;
    lowestTop_ = std::min(lowestTop_, top);
    if (resting) {
      topByEnd_[item.end] = std::min(topByEnd_[item.end], top);
      topByBegin_[item.begin] = std::min(topByBegin_[item.begin], top);
      if (!isBlockedByTwin(waiting.item))
        for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c) {
          ++resting_[table_.covers[c].begin];
          --resting_[table_.covers[c].end];
        }
    }
    if (table_.simple)
      continue;
    // The next place of this one by itself. One that does not rest lies above some floor.
    const Unit next = resting && waiting.low <= level ? table_.forbiddenEndAbove(item, level, kWall)
                                                      : waiting.low;
    for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c)
      for (uint32_t t = table_.covers[c].begin; t < table_.covers[c].end; ++t)
        if (next > floors_[part.steps + t - part.begin])
          least_[t] = std::min(least_[t], next);
  }
}

/// The lowest offset above the floor at which anything can rest in a step.
template <typename Unit>
Unit ValleyEngine<Unit>::gapAbove(const Part &part, uint32_t step, uint32_t valleyBegin,
                                  uint32_t valleyEnd) const {
  const Unit *const floor = floors_.data() + part.steps - part.begin;
  Unit gap = kWall;
  if (valleyBegin > part.begin)
    gap = std::min(gap, floor[valleyBegin - 1]);
  if (valleyEnd < part.end)
    gap = std::min(gap, floor[valleyEnd]);
  if (table_.simple)
    return gap;
  gap = std::min(gap, least_[step]);
  if (segmented_)
    gap = std::min(gap, lowestTop_);
  if (table_.regionSize > 0)
    gap = std::min(gap, (floor[step] / table_.regionSize + 1) * table_.regionSize);
  return gap;
}

template <typename Unit>
double ValleyEngine<Unit>::weightIn(const Part &part, uint32_t index, Unit offset,
                                    uint32_t valleyBegin, uint32_t valleyEnd) const {
  double weight = weight_[index];
  const Item<Unit> &item = table_.items[index];
  const Unit *const floor = floors_.data() + part.steps - part.begin;
  // A floor that is a multiple of a large alignment is scarce: it is for those that need it. What
  // would leave a gap beneath comes last.
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
  choiceWeight_.resize(table_.items.size());
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting &waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    if (step < item.begin || step >= item.end)
      continue;
    bool covers = item.isPlain();
    for (uint32_t c = item.coverBegin; c < item.coverEnd && !covers; ++c)
      covers = table_.covers[c].begin <= step && step < table_.covers[c].end;
    Unit level = 0;
    if (!covers || !rests(part, waiting.item, level) || isBlockedByTwin(waiting.item))
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

template <typename Unit> bool ValleyEngine<Unit>::choose(const Part &part, Node &node) {
  findValleys(part);
  if (table_.simple && valleyEnd_[part.begin] == part.end)
    for (uint32_t k = 0; k < part.waitingCount; ++k) {
      const Waiting &waiting = waiting_[part.waiting + k];
      const Item<Unit> &item = table_.items[waiting.item];
      if (item.begin == part.begin && item.end == part.end) {
        // It spans a level part: exchanging it with what lies below it changes nothing else.
        choices_.push_back({waiting.item, waiting.low});
        return true;
      }
    }
  countChoices(part);

  const Unit *const floor = floors_.data() + part.steps - part.begin;
  const Unit *const load = loads_.data() + part.steps - part.begin;
  Rank best;
  bool found = false;
  uint32_t bestStep = 0;
  uint32_t bestBegin = 0;
  uint32_t bestEnd = 0;
  Unit bestGap = kWall;
  for (uint32_t begin = part.begin; begin < part.end; ++begin) {
    const uint32_t end = valleyEnd_[begin];
    if (end == 0)
      continue;
    // The lowest top of what rests in this valley wholly after the step; then wholly before it.
    Unit after = kWall;
    for (uint32_t t = end; t-- > begin;) {
      sum_[t] = after;
      after = std::min(after, topByBegin_[t]);
    }
    Unit before = kWall;
    int32_t count = 0;
    for (uint32_t t = begin; t < end; ++t) {
      count += resting_[t];
      if (t > begin)
        before = std::min(before, topByEnd_[t]);
      Unit gap = std::min({gapAbove(part, t, begin, end), before, sum_[t]});
      if (gap != kWall && gap > capacity_ - total_[t] - pockets_.takenAbove(t, gap, capacity_))
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
      if (!found || rank < best) {
        found = true;
        best = rank;
        bestStep = t;
        bestBegin = begin;
        bestEnd = end;
        bestGap = gap;
      }
    }
    begin = end - 1;
  }
  if (!found)
    return false;
  listChoices(part, node, bestStep, bestBegin, bestEnd, bestGap);
  return true;
}

template class ValleyEngine<int32_t>;
template class ValleyEngine<int64_t>;

} // namespace gantry::plan
