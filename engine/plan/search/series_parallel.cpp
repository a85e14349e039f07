// Implements SeriesParallel and joinToFew().
#include "engine/plan/search/series_parallel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace gantry::plan {

namespace {

constexpr uint32_t kNoBox = PlanBox::kNone;

/// The partner for a parallel join is searched among at most this many boxes that begin, and this
/// many that end, together with a box.
constexpr uint32_t kListDepth = 32;

/// At most this many boxes that end at a moment are compared with at most this many that begin
/// there.
constexpr uint32_t kMaxCompared = 16;

/// A box of at most this many parts may be taken apart; all divisions of its parts into two groups
/// are tried.
constexpr uint32_t kMaxGathered = 8;

constexpr double kTolerances[] = {0, 0.001, 0.01};
// If joining leaves at most 1 / kTinyDivisor of the items, no larger tolerance is tried.
constexpr uint64_t kTinyDivisor = 64;
// If exact joining leaves more than 1 / kFewDivisor of the items, boxes are not worth their work.
constexpr uint64_t kFewDivisor = 2;

/// Joins the items of one problem. A node is an item or a box (PlanBox); it is living until it
/// becomes part of another node or is taken apart.
class Builder {
public:
  Builder(const Problem &problem, double tolerance, const std::vector<uint32_t> &items,
          std::vector<PlanBox> &nodes)
      : problem_(problem), tolerance_(tolerance), items_(items), nodes_(nodes),
        beginners_(problem.stepCount + 1, kNoBox), enders_(problem.stepCount + 1, kNoBox) {}

  void run() {
    const uint32_t count = problem_.count();
    // A node per item, at most one join per item, and some nodes for boxes that are taken apart.
    reserve(size_t{count} * 2 + count / 8);
    for (const uint32_t item : items_)
      addNode({problem_.begin[item], problem_.end[item], problem_.size[item], kNoBox, kNoBox},
              problem_.alignmentOf(item));
    for (uint32_t node = 0; node < count; ++node) {
      alive_[node] = 1;
      settle(node);
    }
    recording_ = true; // Every moment is visited below, so changes were not recorded until now.
    for (uint32_t moment = 0; moment <= problem_.stepCount; ++moment) {
      moments_.push_back(moment);
      joinWhereUnique();
    }

    splitsLeft_ = 64 + count / 4;
    std::vector<uint32_t> open(problem_.stepCount + size_t{1});
    std::iota(open.begin(), open.end(), 0u);
    while (pass(open, &Builder::joinWhereAllMatch) || pass(open, &Builder::joinEqualPair) ||
           pass(open, &Builder::splitOffOnePart) || pass(open, &Builder::splitOffParts)) {
    }
  }

  std::vector<uint32_t> roots() const {
    std::vector<uint32_t> roots;
    for (uint32_t node = 0; node < nodes_.size(); ++node)
      if (alive_[node])
        roots.push_back(node);
    return roots;
  }

  uint64_t alignmentOf(uint32_t node) const {
    return alignmentBits_.empty() ? 1 : uint64_t{1} << alignmentBits_[node];
  }

private:
  using Moment = std::array<uint32_t, kMaxCompared>;

  void reserve(size_t nodes) {
    nodes_.reserve(nodes);
    alive_.reserve(nodes);
    nextBeginner_.reserve(nodes);
    nextEnder_.reserve(nodes);
    if (!problem_.alignment.empty())
      alignmentBits_.reserve(nodes);
  }

  uint32_t addNode(const PlanBox &box, uint64_t alignment) {
    if (nodes_.size() == nodes_.capacity()) // Growing by doubling would double the peak memory.
      reserve(nodes_.size() + nodes_.size() / 8 + 64);
    nodes_.push_back(box);
    alive_.push_back(0);
    nextBeginner_.push_back(kNoBox);
    nextEnder_.push_back(kNoBox);
    if (!problem_.alignment.empty())
      alignmentBits_.push_back(static_cast<uint8_t>(std::countr_zero(alignment)));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  // ---- lists of the nodes that begin and that end at each moment --------------------------------

  /// Visits up to `depth` living nodes of a list until accept() returns true. Unlinks dead nodes.
  template <typename Visit>
  void visit(std::vector<uint32_t> &heads, std::vector<uint32_t> &next, uint32_t moment,
             uint32_t depth, Visit accept) {
    uint32_t *link = &heads[moment];
    while (*link != kNoBox && depth > 0) {
      const uint32_t node = *link;
      if (!alive_[node]) {
        *link = next[node];
        continue;
      }
      if (accept(node))
        return;
      --depth;
      link = &next[node];
    }
  }
  template <typename Visit> void visitBeginners(uint32_t moment, uint32_t depth, Visit accept) {
    visit(beginners_, nextBeginner_, moment, depth, accept);
  }
  template <typename Visit> void visitEnders(uint32_t moment, uint32_t depth, Visit accept) {
    visit(enders_, nextEnder_, moment, depth, accept);
  }

  /// Lists the boxes that end and the boxes that begin at a moment, up to kMaxCompared of each.
  void collect(uint32_t moment, Moment &enders, uint32_t &enderCount, Moment &beginners,
               uint32_t &beginnerCount) {
    enderCount = beginnerCount = 0;
    visitEnders(moment, kMaxCompared, [&](uint32_t node) {
      enders[enderCount++] = node;
      return false;
    });
    visitBeginners(moment, kMaxCompared, [&](uint32_t node) {
      beginners[beginnerCount++] = node;
      return false;
    });
  }

  // ---- joins ----------------------------------------------------------------------------------

  bool fits(uint64_t a, uint64_t b) const {
    const uint64_t larger = std::max(a, b);
    const uint64_t difference = larger - std::min(a, b);
    return difference == 0 ||
           static_cast<double>(difference) <= tolerance_ * static_cast<double>(larger);
  }

  uint32_t partnerOf(uint32_t node) {
    const PlanBox &box = nodes_[node];
    uint32_t partner = kNoBox;
    const auto accept = [&](uint32_t other) {
      if (other == node || nodes_[other].begin != box.begin || nodes_[other].end != box.end ||
          alignmentOf(other) != alignmentOf(node))
        return false;
      partner = other;
      return true;
    };
    visitBeginners(box.begin, kListDepth, accept);
    if (partner == kNoBox)
      visitEnders(box.end, kListDepth, accept);
    return partner;
  }

  /// Joins a living box with the listed boxes of the same lifetime and alignment, and puts the
  /// result into the lists.
  void settle(uint32_t node) {
    for (uint32_t partner = partnerOf(node); partner != kNoBox; partner = partnerOf(node)) {
      alive_[partner] = alive_[node] = 0;
      const PlanBox &box = nodes_[node];
      node = addNode({box.begin, box.end, box.size + nodes_[partner].size, partner, node},
                     alignmentOf(node));
      alive_[node] = 1;
    }
    insert(node);
  }

  void insert(uint32_t node) {
    const PlanBox &box = nodes_[node];
    nextBeginner_[node] = beginners_[box.begin];
    beginners_[box.begin] = node;
    nextEnder_[node] = enders_[box.end];
    enders_[box.end] = node;
    if (!recording_)
      return;
    moments_.push_back(box.begin);
    moments_.push_back(box.end);
  }

  /// Joins two boxes in series; the first ends where the second begins. Returns false if their
  /// sizes differ too much, or if the result's size would not be a multiple of its alignment.
  bool joinSeries(uint32_t first, uint32_t second) {
    const uint64_t size = std::max(nodes_[first].size, nodes_[second].size);
    const uint64_t alignment = std::max(alignmentOf(first), alignmentOf(second));
    if (!fits(nodes_[first].size, nodes_[second].size) || size % alignment != 0)
      return false;
    alive_[first] = alive_[second] = 0;
    const uint32_t node =
        addNode({nodes_[first].begin, nodes_[second].end, size, first, second}, alignment);
    alive_[node] = 1;
    settle(node);
    return true;
  }

  /// Makes a series join at each changed moment at which exactly one box ends and one begins.
  void joinWhereUnique() {
    while (!moments_.empty()) {
      const uint32_t moment = moments_.back();
      moments_.pop_back();
      uint32_t ender = kNoBox;
      uint32_t beginner = kNoBox;
      uint32_t count = 0;
      visitEnders(moment, 2, [&](uint32_t node) {
        ender = node;
        ++count;
        return false;
      });
      if (count != 1)
        continue;
      visitBeginners(moment, 2, [&](uint32_t node) {
        beginner = node;
        ++count;
        return false;
      });
      if (count == 2)
        joinSeries(ender, beginner);
    }
  }

  // ---- moments at which there is a choice -----------------------------------------------------

  /// Tries one kind of join at all open moments. A moment is open while some box ends there and
  /// some box begins there; other moments are removed from the list. Returns whether a join was
  /// made.
  bool pass(std::vector<uint32_t> &open, bool (Builder::*step)(uint32_t)) {
    bool any = false;
    size_t kept = 0;
    for (const uint32_t moment : open) {
      while ((this->*step)(moment)) {
        any = true;
        joinWhereUnique();
      }
      bool ends = false;
      bool begins = false;
      visitEnders(moment, 1, [&](uint32_t) { return ends = true; });
      visitBeginners(moment, 1, [&](uint32_t) { return begins = true; });
      if (ends && begins)
        open[kept++] = moment;
    }
    open.resize(kept);
    return any;
  }

  /// Joins all boxes of a moment if as many boxes end as begin and their sizes match in pairs.
  bool joinWhereAllMatch(uint32_t moment) {
    Moment enders;
    Moment beginners;
    uint32_t enderCount = 0;
    uint32_t beginnerCount = 0;
    collect(moment, enders, enderCount, beginners, beginnerCount);
    if (enderCount == 0 || enderCount != beginnerCount || enderCount == kMaxCompared)
      return false;
    const auto bySize = [&](uint32_t a, uint32_t b) {
      return nodes_[a].size != nodes_[b].size ? nodes_[a].size < nodes_[b].size : a < b;
    };
    std::sort(enders.begin(), enders.begin() + enderCount, bySize);
    std::sort(beginners.begin(), beginners.begin() + enderCount, bySize);
    for (uint32_t i = 0; i < enderCount; ++i)
      if (!fits(nodes_[enders[i]].size, nodes_[beginners[i]].size))
        return false;
    bool any = false;
    for (uint32_t i = 0; i < enderCount; ++i)
      any |= joinSeries(enders[i], beginners[i]);
    return any;
  }

  bool joinEqualPair(uint32_t moment) {
    Moment enders;
    Moment beginners;
    uint32_t enderCount = 0;
    uint32_t beginnerCount = 0;
    collect(moment, enders, enderCount, beginners, beginnerCount);
    for (uint32_t i = 0; i < enderCount; ++i)
      for (uint32_t k = 0; k < beginnerCount; ++k)
        if (joinSeries(enders[i], beginners[k]))
          return true;
    return false;
  }

  /// Lists the parts of a box that lie above each other and returns their number, or 0 if there are
  /// more than kMaxGathered.
  uint32_t partsOf(uint32_t node, std::array<uint32_t, kMaxGathered> &parts) const {
    std::array<uint32_t, kMaxGathered> stack;
    uint32_t stacked = 0;
    uint32_t count = 0;
    for (stack[stacked++] = node; stacked > 0;) {
      const PlanBox &box = nodes_[stack[--stacked]];
      const bool alias = box.first != kNoBox && box.second == kNoBox;
      const bool parallel =
          box.second != kNoBox && nodes_[box.first].begin == nodes_[box.second].begin;
      if (!alias && !parallel) {
        if (count == kMaxGathered)
          return 0;
        parts[count++] = stack[stacked];
        continue;
      }
      if (stacked + 2 > kMaxGathered)
        return 0;
      const uint32_t first = box.first;
      const uint32_t second = box.second;
      stack[stacked++] = first;
      if (parallel)
        stack[stacked++] = second;
    }
    return count;
  }

  /// Makes a living box of the parts whose bits are set.
  uint32_t gather(const std::array<uint32_t, kMaxGathered> &parts, uint32_t count, uint32_t bits) {
    uint32_t node = kNoBox;
    for (uint32_t i = 0; i < count; ++i) {
      if ((bits >> i & 1) == 0)
        continue;
      // Each part is wrapped in a new node, because the lists may still contain its old number.
      PlanBox box = nodes_[parts[i]];
      box.first = parts[i];
      box.second = kNoBox;
      const uint64_t alignment = alignmentOf(parts[i]);
      if (node != kNoBox) {
        box.size += nodes_[node].size;
        box.second = node;
      }
      node = addNode(box, alignment);
    }
    alive_[node] = 1;
    return node;
  }

  /// Divides the parts of `node` into two groups, one of which has the size of `other` (fits()),
  /// and joins that group with `other`. If `single` is set, one of the groups must be a single
  /// part. If `nodeEnds` is set, `node` ends where `other` begins; otherwise `other` ends where
  /// `node` begins. Returns whether a join was made.
  bool split(uint32_t node, uint32_t other, bool single, bool nodeEnds) {
    std::array<uint32_t, kMaxGathered> parts;
    const uint32_t count = partsOf(node, parts);
    if (count < 2 || splitsLeft_ == 0)
      return false;
    const uint32_t all = (uint32_t{1} << count) - 1;
    for (uint32_t bits = 1; bits < all; ++bits) {
      if (single && !std::has_single_bit(bits) && !std::has_single_bit(all ^ bits))
        continue;
      uint64_t size = 0;
      for (uint32_t i = 0; i < count; ++i)
        if (bits >> i & 1)
          size += nodes_[parts[i]].size;
      if (!fits(size, nodes_[other].size) || alignmentOf(node) != alignmentOf(other))
        continue;
      --splitsLeft_;
      alive_[node] = 0;
      insert(gather(parts, count, all ^ bits));
      const uint32_t fitting = gather(parts, count, bits);
      if (nodeEnds ? joinSeries(fitting, other) : joinSeries(other, fitting))
        return true;
      settle(fitting);
      return false;
    }
    return false;
  }

  bool splitAt(uint32_t moment, bool single) {
    Moment enders;
    Moment beginners;
    uint32_t enderCount = 0;
    uint32_t beginnerCount = 0;
    collect(moment, enders, enderCount, beginners, beginnerCount);
    for (uint32_t i = 0; i < enderCount; ++i)
      for (uint32_t k = 0; k < beginnerCount; ++k) {
        const bool enderLarger = nodes_[enders[i]].size > nodes_[beginners[k]].size;
        if (enderLarger ? split(enders[i], beginners[k], single, true)
                        : split(beginners[k], enders[i], single, false))
          return true;
      }
    return false;
  }
  bool splitOffOnePart(uint32_t moment) { return splitAt(moment, true); }
  bool splitOffParts(uint32_t moment) { return splitAt(moment, false); }

  const Problem &problem_;
  const double tolerance_;
  const std::vector<uint32_t> &items_;
  std::vector<PlanBox> &nodes_;
  std::vector<uint8_t> alive_;
  std::vector<uint8_t> alignmentBits_; // log2 of the alignment; empty where all are 1.
  std::vector<uint32_t> beginners_;    // Per moment, the head of the list of nodes that begin.
  std::vector<uint32_t> enders_;       // Per moment, the head of the list of nodes that end.
  std::vector<uint32_t> nextBeginner_;
  std::vector<uint32_t> nextEnder_;
  std::vector<uint32_t> moments_; // Moments whose lists have changed since the last visit.
  bool recording_ = false;        // Whether changes are added to moments_.
  uint32_t splitsLeft_ = 0;       // Limits how often boxes are taken apart, so that run() ends.
};

/// Returns the items sorted by begin, so that items that are close in time are close in memory.
std::vector<uint32_t> byBegin(const Problem &problem) {
  std::vector<uint32_t> place(problem.stepCount + 1, 0);
  for (const uint32_t begin : problem.begin)
    ++place[begin];
  uint32_t sum = 0;
  for (uint32_t &entry : place) {
    const uint32_t here = entry;
    entry = sum;
    sum += here;
  }
  std::vector<uint32_t> items(problem.count());
  for (uint32_t item = 0; item < problem.count(); ++item)
    items[place[problem.begin[item]]++] = item;
  return items;
}

} // namespace

SeriesParallel::SeriesParallel(const Problem &problem, double tolerance)
    : items_(byBegin(problem)) {
  Builder builder(problem, tolerance, items_, nodes_);
  builder.run();
  roots_ = builder.roots();
  for (const uint32_t root : roots_) {
    reduced_.begin.push_back(nodes_[root].begin);
    reduced_.end.push_back(nodes_[root].end);
    reduced_.size.push_back(nodes_[root].size);
    if (!problem.alignment.empty())
      reduced_.alignment.push_back(builder.alignmentOf(root));
  }
  compressTime(reduced_, reduced_.begin, reduced_.end);
  findLowerBound(reduced_);
}

Placement SeriesParallel::expand(const Placement &boxes) const {
  constexpr uint64_t kNoOffset = UINT64_MAX;
  std::vector<uint64_t> offset(nodes_.size(), kNoOffset);
  for (size_t i = 0; i < roots_.size(); ++i)
    offset[roots_[i]] = boxes.offset[i];
  for (size_t node = nodes_.size(); node-- > items_.size();) {
    const PlanBox &box = nodes_[node];
    if (offset[node] == kNoOffset) // The box was taken apart.
      continue;
    offset[box.first] = offset[node];
    if (box.second == kNoBox)
      continue;
    const bool parallel = nodes_[box.first].begin == nodes_[box.second].begin;
    offset[box.second] = offset[node] + (parallel ? nodes_[box.first].size : 0);
  }
  Placement placement{std::vector<uint64_t>(items_.size()), boxes.height};
  for (size_t leaf = 0; leaf < items_.size(); ++leaf)
    placement.offset[items_[leaf]] = offset[leaf];
  return placement;
}

std::optional<SeriesParallel> joinToFew(const Problem &problem) {
  if (!hasWholeSizes(problem)) // The parts of a box must lie on each other without gaps.
    return std::nullopt;
  const uint64_t count = problem.count();
  for (const double tolerance : kTolerances) {
    SeriesParallel joined(problem, tolerance);
    if (uint64_t{joined.reduced().count()} * kTinyDivisor <= count)
      return joined;
    if (tolerance == 0 && uint64_t{joined.reduced().count()} * kFewDivisor > count)
      return std::nullopt;
  }
  // Joining again takes less memory than keeping the result of the first tolerance.
  return SeriesParallel(problem, 0);
}

} // namespace gantry::plan
