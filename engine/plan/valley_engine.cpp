#include "engine/plan/valley_engine.h"

#include <algorithm>

namespace gantry::plan {

namespace {

constexpr uint64_t kFailedStatesBytes = uint64_t{64} << 20;

uint64_t mix(uint64_t x) { // splitmix64, Steele et al. 2014
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double baseWeight(ItemRule rule, double duration, double size) {
  switch (rule) {
  case ItemRule::kArea:
  case ItemRule::kAreaFlush:
    return duration * size;
  case ItemRule::kDuration:
    return duration;
  case ItemRule::kDurationArea:
  case ItemRule::kDurationAreaFlush:
    return duration * duration * size;
  default:
    return size;
  }
}

} // namespace

template <typename Unit>
ValleyEngine<Unit>::ValleyEngine(const Problem &problem, uint64_t unit)
    : table_(problem, unit), pockets_(table_),
      failed_((problem.count() + 63) / 64, kFailedStatesBytes) {
  const size_t count = table_.items.size();
  for (size_t i = 0; i < count; ++i) {
    itemHash_.push_back(mix(i + 1));
    segmented_ = segmented_ || !table_.items[i].isPlain();
  }
  mostDepth_ = 256 + 2 * (count + table_.stepCount);
  keyWords_.resize((count + 63) / 64);
  weight_.resize(count);
  offset_.resize(count);
  placed_.resize(count);
  const size_t steps = table_.stepCount + 1;
  total_.resize(steps);
  sum_.resize(steps);
  least_.resize(steps);
  crossing_.resize(steps);
  valleyEnd_.resize(steps);
  resting_.resize(steps);
  topByEnd_.resize(steps);
  topByBegin_.resize(steps);
  candidates_.resize(steps);
}

template <typename Unit>
SearchResult ValleyEngine<Unit>::run(Unit capacity, const SearchStyle &style, uint64_t nodeLimit,
                                     WorkMeter &meter) {
  capacity_ = capacity;
  begin(style);
  Outcome outcome = enterRoot();
  for (uint64_t nodes = 0;;) {
    if (outcome != Outcome::kOpened) {
      if (stack_.empty())
        return outcome == Outcome::kSolved ? SearchResult::kFound : SearchResult::kInfeasible;
      outcome = childEnded(outcome);
      continue;
    }
    const Node &node = stack_.back();
    if (++nodes > nodeLimit || stack_.size() > mostDepth_ ||
        !meter.spend(node.part.waitingCount + 8 + pockets_.takeWork()))
      return SearchResult::kStopped;
    outcome = tryNext();
  }
}

template <typename Unit> void ValleyEngine<Unit>::begin(const SearchStyle &style) {
  style_ = style;
  stack_.clear();
  floors_.clear();
  loads_.clear();
  waiting_.clear();
  choices_.clear();
  parts_.clear();
  std::fill(placed_.begin(), placed_.end(), 0);
  std::fill(total_.begin(), total_.end(), 0);
  for (uint32_t i = 0; i < table_.items.size(); ++i) {
    const Item<Unit> &item = table_.items[i];
    weight_[i] = baseWeight(style.item, item.end - item.begin, static_cast<double>(item.size));
    if (style.seed != 0) {
      const uint64_t random = mix(style.seed ^ itemHash_[i]) >> 11;
      weight_[i] *= 0.75 + 0.5 * (static_cast<double>(random) * 0x1p-53);
    }
    if (item.isFixed()) {
      offset_[i] = item.fixedOffset;
      continue;
    }
    for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c)
      for (uint32_t t = table_.covers[c].begin; t < table_.covers[c].end; ++t)
        total_[t] += table_.covers[c].size;
  }
}

template <typename Unit> auto ValleyEngine<Unit>::enterRoot() -> Outcome {
  Part part;
  part.end = table_.stepCount;
  floors_.assign(table_.stepCount, 0);
  loads_.assign(table_.stepCount, 0);
  for (uint32_t i = 0; i < table_.items.size(); ++i) {
    const Item<Unit> &item = table_.items[i];
    const Unit low = table_.allowedFrom(item, 0);
    const bool isObstacle = i + table_.obstacleCount >= table_.items.size();
    if (isObstacle && (item.isHidden || low > capacity_ - item.size))
      continue; // its offsets stay forbidden
    if (low > capacity_ - item.size)
      return Outcome::kFailed;
    waiting_.push_back({i, low});
  }
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Waiting &a, const Waiting &b) { return a.low > b.low; });
  part.waitingCount = static_cast<uint32_t>(waiting_.size());
  if (!infer(part, 0, part.end))
    return Outcome::kFailed;
  return openParts(part, {});
}

template <typename Unit> auto ValleyEngine<Unit>::tryNext() -> Outcome {
  Node &node = stack_.back();
  if (node.isSplit)
    return openChoice(parts_[node.first + node.next++], poolSizes());
  return enterChoice(choices_[node.first + node.next++]);
}

/// What the end of a child means for the node on top, which is popped or goes on.
template <typename Unit> auto ValleyEngine<Unit>::childEnded(Outcome outcome) -> Outcome {
  Node &node = stack_.back();
  if (node.isSplit) {
    if (outcome == Outcome::kSolved)
      return node.next < node.count ? Outcome::kOpened : stepOut(outcome);
    // The parts that were solved are undone.
    for (uint32_t k = 0; k < node.part.waitingCount; ++k) {
      const uint32_t item = waiting_[node.part.waiting + k].item;
      if (placed_[item])
        unplace(item);
    }
    return stepOut(outcome);
  }
  if (outcome == Outcome::kSolved)
    return stepOut(outcome);
  const Choice &tried = choices_[node.first + node.next - 1];
  if (tried.item != kGap)
    unplace(tried.item);
  if (node.next < node.count)
    return Outcome::kOpened;
  if (node.count > 1)
    failed_.insert(keyOf(node.part), capacity_);
  return stepOut(outcome);
}

template <typename Unit> auto ValleyEngine<Unit>::stepOut(Outcome outcome) -> Outcome {
  const PoolSizes sizes = stack_.back().sizes;
  stack_.pop_back();
  shrinkTo(sizes);
  return outcome;
}

template <typename Unit> auto ValleyEngine<Unit>::enterChoice(const Choice &chosen) -> Outcome {
  const Choice choice = chosen; // the pool may move
  const PoolSizes sizes = poolSizes();
  const Part parent = stack_.back().part;
  if (choice.item != kGap)
    place(choice.item, choice.offset);
  Part part;
  uint32_t affectedBegin = UINT32_MAX;
  uint32_t affectedEnd = 0;
  bool fits = true;
  append(parent, choice, part, affectedBegin, affectedEnd, fits);
  if (!fits || !infer(part, affectedBegin, affectedEnd)) {
    shrinkTo(sizes);
    return Outcome::kFailed;
  }
  if (choice.item == kGap)
    return openChoice(part, sizes);
  return openParts(part, sizes);
}

template <typename Unit>
void ValleyEngine<Unit>::append(const Part &parent, const Choice &choice, Part &part,
                                uint32_t &affectedBegin, uint32_t &affectedEnd, bool &fits) {
  part = parent;
  part.steps = floors_.size();
  part.waiting = waiting_.size();
  const uint32_t steps = parent.end - parent.begin;
  floors_.resize(part.steps + steps);
  loads_.resize(part.steps + steps);
  std::copy_n(floors_.begin() + parent.steps, steps, floors_.begin() + part.steps);
  std::copy_n(loads_.begin() + parent.steps, steps, loads_.begin() + part.steps);
  waiting_.resize(part.waiting + parent.waitingCount);

  // The covers whose floor rises, and to what.
  Cover<Unit> gap;
  const Cover<Unit> *raised = &gap;
  uint32_t raisedCount = 1;
  if (choice.item == kGap) {
    const uint32_t step = stack_.back().step;
    gap = {step, step + 1, 0};
  } else {
    const Item<Unit> &item = table_.items[choice.item];
    raised = &table_.covers[item.coverBegin];
    raisedCount = item.coverEnd - item.coverBegin;
    part.hash ^= itemHash_[choice.item];
  }
  for (uint32_t c = 0; c < raisedCount; ++c) {
    const Cover<Unit> &cover = raised[c];
    std::fill(floors_.begin() + (part.steps + cover.begin - part.begin),
              floors_.begin() + (part.steps + cover.end - part.begin), choice.offset + cover.size);
    affectedBegin = std::min(affectedBegin, cover.begin);
    affectedEnd = std::max(affectedEnd, cover.end);
  }
  const uint32_t raisedBegin = affectedBegin;
  const uint32_t raisedEnd = affectedEnd;

  const Waiting *from = waiting_.data() + parent.waiting;
  Waiting *const to = waiting_.data() + part.waiting;
  uint32_t kept = 0;
  for (uint32_t k = 0; k < parent.waitingCount; ++k) {
    Waiting waiting = from[k];
    if (waiting.item == choice.item)
      continue;
    const Item<Unit> &item = table_.items[waiting.item];
    if (item.begin < raisedEnd && raisedBegin < item.end && !item.isFixed()) {
      Unit low = waiting.low;
      for (uint32_t own = item.coverBegin; own < item.coverEnd; ++own)
        for (uint32_t c = 0; c < raisedCount; ++c)
          if (table_.covers[own].begin < raised[c].end && raised[c].begin < table_.covers[own].end)
            low = std::max(low, choice.offset + raised[c].size);
      if (low != waiting.low) {
        low = table_.allowedFrom(item, low);
        waiting.low = low;
        affectedBegin = std::min(affectedBegin, item.begin);
        affectedEnd = std::max(affectedEnd, item.end);
        fits = fits && low <= capacity_ - item.size;
      }
    }
    uint32_t at = kept++;
    for (; at > 0 && to[at - 1].low < waiting.low; --at)
      to[at] = to[at - 1];
    to[at] = waiting;
  }
  part.waitingCount = kept;
  // A fixed item reaches beyond its part.
  affectedBegin = std::max(affectedBegin, part.begin);
  affectedEnd = std::min(affectedEnd, part.end);
}

template <typename Unit>
bool ValleyEngine<Unit>::infer(const Part &part, uint32_t begin, uint32_t end) {
  Unit *const floors = floors_.data() + part.steps;
  Unit *const loads = loads_.data() + part.steps;
  const auto width = static_cast<int64_t>(end) - begin;
  if (width <= 0)
    return true;
  std::fill_n(sum_.begin() + begin, width, Unit{0});
  std::fill_n(least_.begin() + begin, width, kWall);
  std::fill_n(loads + (begin - part.begin), width, Unit{0});
  Unit *const sum = sum_.data();
  Unit *const least = least_.data();
  Unit *const load = loads - part.begin;
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    if (item.begin >= end || begin >= item.end)
      continue;
    for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c) {
      const Cover<Unit> &cover = table_.covers[c];
      const uint32_t from = std::max(begin, cover.begin);
      const uint32_t to = std::min(end, cover.end);
      const Unit size = cover.size;
      const Unit low = waiting.low;
      for (uint32_t t = from; t < to; ++t) {
        const Unit now = sum[t] + size;
        sum[t] = now;
        load[t] = std::max(load[t], static_cast<Unit>(now + low));
      }
      if (!item.isFixed())
        for (uint32_t t = from; t < to; ++t)
          least[t] = low;
    }
  }
  Unit highest = 0;
  for (uint32_t t = begin; t < end; ++t) {
    highest = std::max(highest, load[t]);
    floors[t - part.begin] = least[t];
  }
  return highest <= capacity_ && (!pockets_.any() || pocketsFit(part, begin, end));
}

template <typename Unit>
bool ValleyEngine<Unit>::pocketsFit(const Part &part, uint32_t begin, uint32_t end) {
  for (uint32_t t = begin; t < end; ++t)
    candidates_[t].clear();
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    if (item.isFixed() || item.begin >= end || begin >= item.end)
      continue;
    for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c) {
      const Cover<Unit> &cover = table_.covers[c];
      for (uint32_t t = std::max(begin, cover.begin); t < std::min(end, cover.end); ++t)
        candidates_[t].push_back({waiting.item, waiting.low, cover.size});
    }
  }
  for (uint32_t t = begin; t < end; ++t)
    if (!candidates_[t].empty() && pockets_.any(t) &&
        !pockets_.canFill(t, floors_[part.steps + t - part.begin], capacity_, candidates_[t]))
      return false;
  return true;
}

/// Splits where nothing crosses, and opens a choice or a split on top.
template <typename Unit>
auto ValleyEngine<Unit>::openParts(const Part &whole, const PoolSizes &sizes) -> Outcome {
  std::fill_n(crossing_.begin() + whole.begin, whole.end - whole.begin + 1, 0);
  uint32_t free = 0;
  for (uint32_t k = 0; k < whole.waitingCount; ++k) {
    const Item<Unit> &item = table_.items[waiting_[whole.waiting + k].item];
    if (item.isFixed())
      continue;
    ++free;
    ++crossing_[item.begin + 1];
    --crossing_[item.end];
  }
  if (free == 0) {
    shrinkTo(sizes);
    return Outcome::kSolved;
  }
  const size_t first = parts_.size();
  int32_t crossing = 0;
  for (uint32_t t = whole.begin; t < whole.end; ++t) {
    crossing += t == whole.begin ? 0 : crossing_[t];
    if (crossing > 0)
      parts_.back().end = t + 1;
    else if (floors_[whole.steps + t - whole.begin] != kWall || crossing_[t + 1] > 0) {
      Part part;
      part.begin = t;
      part.end = t + 1;
      part.steps = whole.steps + t - whole.begin;
      parts_.push_back(part);
    }
  }
  const auto count = static_cast<uint32_t>(parts_.size() - first);
  if (count == 1 && parts_.back().begin == whole.begin && parts_.back().end == whole.end) {
    Part part = whole;
    parts_.resize(first);
    if (part.hash == 0)
      part.hash = hashOf(part);
    return openChoice(part, sizes);
  }
  for (uint32_t p = 0; p < count; ++p) {
    Part &part = parts_[first + p];
    part.waiting = waiting_.size();
    for (uint32_t k = 0; k < whole.waitingCount; ++k) {
      const Waiting waiting = waiting_[whole.waiting + k];
      const Item<Unit> &item = table_.items[waiting.item];
      if (item.begin < part.end && part.begin < item.end)
        waiting_.push_back(waiting);
    }
    part.waitingCount = static_cast<uint32_t>(waiting_.size() - part.waiting);
    part.hash = hashOf(part);
  }
  if (count == 1) {
    const Part part = parts_.back();
    parts_.resize(first);
    return openChoice(part, sizes);
  }
  std::stable_sort(parts_.begin() + static_cast<ptrdiff_t>(first), parts_.end(),
                   [](const Part &a, const Part &b) { return a.waitingCount < b.waitingCount; });
  Node node;
  node.isSplit = true;
  node.part = whole;
  node.first = first;
  node.count = count;
  node.sizes = sizes;
  stack_.push_back(node);
  return Outcome::kOpened;
}

template <typename Unit>
auto ValleyEngine<Unit>::openChoice(const Part &part, const PoolSizes &sizes) -> Outcome {
  Node node;
  node.part = part;
  node.sizes = sizes;
  node.first = choices_.size();
  if ((failed_.mayContain(part.hash) && failed_.contains(keyOf(part), capacity_)) ||
      !choose(part, node)) {
    shrinkTo(sizes);
    return Outcome::kFailed;
  }
  node.count = static_cast<uint32_t>(choices_.size() - node.first);
  stack_.push_back(node);
  return Outcome::kOpened;
}

template <typename Unit> void ValleyEngine<Unit>::place(uint32_t index, Unit offset) {
  const Item<Unit> &item = table_.items[index];
  offset_[index] = offset;
  placed_[index] = 1;
  for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c)
    for (uint32_t t = table_.covers[c].begin; t < table_.covers[c].end; ++t)
      total_[t] -= table_.covers[c].size;
}

template <typename Unit> void ValleyEngine<Unit>::unplace(uint32_t index) {
  const Item<Unit> &item = table_.items[index];
  placed_[index] = 0;
  for (uint32_t c = item.coverBegin; c < item.coverEnd; ++c)
    for (uint32_t t = table_.covers[c].begin; t < table_.covers[c].end; ++t)
      total_[t] += table_.covers[c].size;
}

template <typename Unit> uint64_t ValleyEngine<Unit>::hashOf(const Part &part) const {
  uint64_t hash = mix((static_cast<uint64_t>(part.begin) << 32) | part.end);
  for (uint32_t k = 0; k < part.waitingCount; ++k)
    hash ^= itemHash_[waiting_[part.waiting + k].item];
  return hash;
}

template <typename Unit>
auto ValleyEngine<Unit>::keyOf(const Part &part) -> typename FailedStates<Unit>::Key {
  std::fill(keyWords_.begin(), keyWords_.end(), 0);
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const uint32_t item = waiting_[part.waiting + k].item;
    keyWords_[item / 64] |= uint64_t{1} << (item % 64);
  }
  return {part.hash, part.begin, part.end, keyWords_.data(), floors_.data() + part.steps};
}

template <typename Unit> auto ValleyEngine<Unit>::poolSizes() const -> PoolSizes {
  return {floors_.size(), waiting_.size(), choices_.size(), parts_.size()};
}

template <typename Unit> void ValleyEngine<Unit>::shrinkTo(const PoolSizes &sizes) {
  floors_.resize(sizes.steps);
  loads_.resize(sizes.steps);
  waiting_.resize(sizes.waiting);
  choices_.resize(sizes.choices);
  parts_.resize(sizes.parts);
}

template class ValleyEngine<int32_t>;
template class ValleyEngine<int64_t>;

} // namespace gantry::plan
