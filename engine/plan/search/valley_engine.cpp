// Implements ValleyEngine, except the functions in valley_choice.cpp.
#include "engine/plan/search/valley_engine.h"
#include "engine/plan/random.h"

#include <algorithm>

namespace gantry::plan {

namespace {

constexpr uint64_t kFailedStatesBytes = uint64_t{64} << 20;

uint64_t mix(uint64_t x) { return Random(x).next(); }

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
ValleyEngine<Unit>::ValleyEngine(const Problem &problem, uint64_t unitBytes)
    : table_(problem, unitBytes), failed_((problem.count() + 63) / 64, kFailedStatesBytes) {
  const size_t count = table_.items.size();
  for (size_t i = 0; i < count; ++i)
    itemHash_.push_back(mix(i + 1));
  maxDepth_ = 256 + 2 * (count + table_.stepCount);
  keyWords_.resize((count + 63) / 64);
  weight_.resize(count);
  offset_.resize(count);
  placed_.resize(count);
  const size_t steps = table_.stepCount + 1;
  total_.resize(steps);
  sum_.resize(steps);
  lowest_.resize(steps);
  crossing_.resize(steps);
  valleyEnd_.resize(steps);
  resting_.resize(steps);
  topByEnd_.resize(steps);
  topByBegin_.resize(steps);
  choiceWeight_.resize(count);
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
    if (++nodes > nodeLimit || stack_.size() > maxDepth_ ||
        !meter.spend(node.part.waitingCount + 8))
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
    for (uint32_t t = item.begin; t < item.end; ++t)
      total_[t] += item.size;
  }
}

template <typename Unit> auto ValleyEngine<Unit>::enterRoot() -> Outcome {
  Part part;
  part.end = table_.stepCount;
  floors_.assign(table_.stepCount, 0);
  loads_.assign(table_.stepCount, 0);
  for (uint32_t i = 0; i < table_.items.size(); ++i) {
    const Item<Unit> &item = table_.items[i];
    if (item.size > capacity_)
      return Outcome::kFailed;
    waiting_.push_back({i, 0});
  }
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

/// Continues the top node after its child has ended, or pops it.
template <typename Unit> auto ValleyEngine<Unit>::childEnded(Outcome outcome) -> Outcome {
  Node &node = stack_.back();
  if (node.isSplit) {
    if (outcome == Outcome::kSolved)
      return node.next < node.count ? Outcome::kOpened : stepOut(outcome);
    // A part failed: remove the items of the parts that were solved.
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
  const Choice choice = chosen; // A copy, because choices_ may be reallocated.
  const PoolSizes sizes = poolSizes();
  const Part parent = stack_.back().part;
  if (choice.item != kGap)
    place(choice.item, choice.offset);
  Part part;
  uint32_t affectedBegin = UINT32_MAX;
  uint32_t affectedEnd = 0;
  if (!append(parent, choice, part, affectedBegin, affectedEnd) ||
      !infer(part, affectedBegin, affectedEnd)) {
    shrinkTo(sizes);
    return Outcome::kFailed;
  }
  if (choice.item == kGap)
    return openChoice(part, sizes);
  return openParts(part, sizes);
}

template <typename Unit>
bool ValleyEngine<Unit>::append(const Part &parent, const Choice &choice, Part &part,
                                uint32_t &affectedBegin, uint32_t &affectedEnd) {
  part = parent;
  part.steps = floors_.size();
  part.waiting = waiting_.size();
  const uint32_t steps = parent.end - parent.begin;
  floors_.resize(part.steps + steps);
  loads_.resize(part.steps + steps);
  std::copy_n(floors_.begin() + parent.steps, steps, floors_.begin() + part.steps);
  std::copy_n(loads_.begin() + parent.steps, steps, loads_.begin() + part.steps);
  waiting_.resize(part.waiting + parent.waitingCount);

  uint32_t raisedBegin = stack_.back().step;
  uint32_t raisedEnd = raisedBegin + 1;
  Unit raisedTo = choice.offset;
  if (choice.item != kGap) {
    const Item<Unit> &item = table_.items[choice.item];
    raisedBegin = item.begin;
    raisedEnd = item.end;
    raisedTo += item.size;
    part.hash ^= itemHash_[choice.item];
  }
  std::fill(floors_.begin() + (part.steps + raisedBegin - part.begin),
            floors_.begin() + (part.steps + raisedEnd - part.begin), raisedTo);
  affectedBegin = std::min(affectedBegin, raisedBegin);
  affectedEnd = std::max(affectedEnd, raisedEnd);

  bool fits = true;
  const Waiting *from = waiting_.data() + parent.waiting;
  Waiting *const to = waiting_.data() + part.waiting;
  uint32_t kept = 0;
  for (uint32_t k = 0; k < parent.waitingCount; ++k) {
    Waiting waiting = from[k];
    if (waiting.item == choice.item)
      continue;
    const Item<Unit> &item = table_.items[waiting.item];
    if (item.begin < raisedEnd && raisedBegin < item.end) {
      if (raisedTo > waiting.low) {
        waiting.low = alignedFrom(item, raisedTo);
        affectedBegin = std::min(affectedBegin, item.begin);
        affectedEnd = std::max(affectedEnd, item.end);
        fits = fits && waiting.low <= capacity_ - item.size;
      }
    }
    uint32_t at = kept++;
    for (; at > 0 && to[at - 1].low < waiting.low; --at)
      to[at] = to[at - 1];
    to[at] = waiting;
  }
  part.waitingCount = kept;
  // infer() examines steps of this part only.
  affectedBegin = std::max(affectedBegin, part.begin);
  affectedEnd = std::min(affectedEnd, part.end);
  return fits;
}

template <typename Unit>
bool ValleyEngine<Unit>::infer(const Part &part, uint32_t begin, uint32_t end) {
  Unit *const floors = floors_.data() + part.steps;
  Unit *const loads = loads_.data() + part.steps;
  const auto width = static_cast<int64_t>(end) - begin;
  if (width <= 0)
    return true;
  std::fill_n(sum_.begin() + begin, width, Unit{0});
  std::fill_n(lowest_.begin() + begin, width, kWall);
  std::fill_n(loads + (begin - part.begin), width, Unit{0});
  Unit *const sum = sum_.data();
  Unit *const lowest = lowest_.data();
  Unit *const load = loads - part.begin;
  for (uint32_t k = 0; k < part.waitingCount; ++k) {
    const Waiting waiting = waiting_[part.waiting + k];
    const Item<Unit> &item = table_.items[waiting.item];
    const uint32_t from = std::max(begin, item.begin);
    const uint32_t to = std::min(end, item.end);
    const Unit size = item.size;
    const Unit low = waiting.low;
    for (uint32_t t = from; t < to; ++t) {
      const Unit now = sum[t] + size;
      sum[t] = now;
      load[t] = std::max(load[t], static_cast<Unit>(now + low));
    }
    for (uint32_t t = from; t < to; ++t)
      lowest[t] = low; // Items come by descending low, so the last one is the lowest.
  }
  Unit highest = 0;
  for (uint32_t t = begin; t < end; ++t) {
    highest = std::max(highest, load[t]);
    floors[t - part.begin] = lowest[t];
  }
  return highest <= capacity_;
}

/// Cuts `whole` into parts at each boundary between two steps that no waiting item crosses, and
/// pushes a choice node for a single part or a split node for several parts.
template <typename Unit>
auto ValleyEngine<Unit>::openParts(const Part &whole, const PoolSizes &sizes) -> Outcome {
  std::fill_n(crossing_.begin() + whole.begin, whole.end - whole.begin + 1, 0);
  for (uint32_t k = 0; k < whole.waitingCount; ++k) {
    const Item<Unit> &item = table_.items[waiting_[whole.waiting + k].item];
    ++crossing_[item.begin + 1];
    --crossing_[item.end];
  }
  if (whole.waitingCount == 0) {
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
  for (uint32_t t = item.begin; t < item.end; ++t)
    total_[t] -= item.size;
}

template <typename Unit> void ValleyEngine<Unit>::unplace(uint32_t index) {
  const Item<Unit> &item = table_.items[index];
  placed_[index] = 0;
  for (uint32_t t = item.begin; t < item.end; ++t)
    total_[t] += item.size;
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
