#include "engine/plan/problem_builder.h"
#include "engine/base/align.h"
#include "engine/plan/occupancy.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace gantry::plan {

namespace {

using Printable = unsigned long long;

/// [begin, end) in commands, and the bytes occupied then.
struct Life {
  uint64_t begin;
  uint64_t end;
  uint64_t size;
};

class Groups {
public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t find(uint32_t i) {
    while (parent_[i] != i)
      i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(uint32_t a, uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

private:
  std::vector<uint32_t> parent_;
};

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;

class Builder {
public:
  Builder(const std::vector<Value> &values, const Constraints &constraints)
      : values_(values), constraints_(constraints), alignment_(smallestAlignment(values)) {
    built_.itemOfValue.assign(values.size(), kNoItem);
    for (const Gap &gap : constraints.gaps)
      gaps_[gap.value].push_back(gap);
    for (auto &[value, gaps] : gaps_)
      std::sort(gaps.begin(), gaps.end(),
                [](const Gap &a, const Gap &b) { return a.firstCommand < b.firstCommand; });
    for (const Pin &pin : constraints.pins)
      pins_[pin.value] = &pin;
  }

  Result<BuiltProblem> build(const std::vector<uint32_t> &chosen) {
    chooseRegions();
    reserve();
    GANTRY_RETURN_IF_ERROR(addValues(chosen));
    GANTRY_RETURN_IF_ERROR(addZones());
    compressTime();
    findBound();
    if (!times_.empty())
      built_.peakCommand = times_[built_.problem.peakStep];
    GANTRY_RETURN_IF_ERROR(checkFixed());
    return std::move(built_);
  }

private:
  /// Growing by doubling would be most of the memory of a large request.
  void reserve() {
    const size_t count = values_.size() + constraints_.zones.size();
    built_.problem.size.reserve(count);
    begins_.reserve(count);
    ends_.reserve(count);
  }

  /// Several arenas are stacked; where everything fits one in any order, there is no border.
  void chooseRegions() {
    uint64_t total = 0;
    uint64_t alignment = 1;
    for (const Value &value : values_) {
      total += occupiedBytes(value) + value.alignment - 1;
      alignment = std::max(alignment, value.alignment);
    }
    bool several = false;
    for (const Pin &pin : constraints_.pins)
      several = several || pin.arena > 0;
    for (const Zone &zone : constraints_.zones)
      several = several || zone.arena > 0;
    if (constraints_.mostArenas > 1 && (several || constraints_.arenaCapBytes < total))
      built_.problem.regionSize = constraints_.arenaCapBytes / alignment * alignment;
  }

  uint64_t occupiedBytes(const Value &value) const { return roundUp(value.sizeBytes, alignment_); }

  std::vector<Life> livesOf(uint32_t index) const {
    const Value &value = values_[index];
    const uint64_t size = occupiedBytes(value);
    std::vector<Life> lives;
    uint64_t begin = value.firstUse;
    if (const auto found = gaps_.find(index); found != gaps_.end())
      for (const Gap &gap : found->second) {
        if (gap.firstCommand > begin)
          lives.push_back({begin, gap.firstCommand, size});
        begin = std::max<uint64_t>(begin, uint64_t{gap.lastCommand} + 1);
      }
    lives.push_back({begin, uint64_t{value.lastUse} + 1, size});
    return lives;
  }

  void addItem(uint64_t size, uint64_t alignment, uint64_t fixedOffset, std::vector<Life> lives) {
    Problem &problem = built_.problem;
    problem.size.push_back(size);
    if (alignment != 1 && problem.alignment.empty())
      problem.alignment.assign(problem.size.size() - 1, 1);
    if (alignment != 1 || !problem.alignment.empty())
      problem.alignment.push_back(alignment);
    if (fixedOffset != kFreeOffset && problem.fixedOffset.empty())
      problem.fixedOffset.assign(problem.size.size() - 1, kFreeOffset);
    if (fixedOffset != kFreeOffset || !problem.fixedOffset.empty())
      problem.fixedOffset.push_back(fixedOffset);
    begins_.push_back(lives.front().begin);
    ends_.push_back(lives.back().end);
    if (lives.size() == 1 && lives.front().size == size)
      return;
    lives_.emplace(problem.count() - 1, std::move(lives));
  }

  uint64_t pinOf(uint32_t value) const {
    const auto found = pins_.find(value);
    if (found == pins_.end())
      return kFreeOffset;
    return found->second->arena * built_.problem.regionSize + found->second->offset;
  }

  Status addValues(const std::vector<uint32_t> &chosen) {
    const bool grouped = !constraints_.sharings.empty();
    std::map<uint32_t, std::vector<uint32_t>> members; // of groups of more than one
    if (grouped)
      members = collectGroups(chosen);
    std::vector<bool> inGroup(grouped ? values_.size() : 0);
    for (const auto &[root, group] : members)
      for (const uint32_t value : group)
        inGroup[value] = true;
    for (uint32_t i = 0; i < values_.size(); ++i) {
      if (values_[i].sizeBytes == 0)
        continue;
      if (!grouped || !inGroup[i]) {
        built_.itemOfValue[i] = built_.problem.count();
        addItem(occupiedBytes(values_[i]), values_[i].alignment, pinOf(i), livesOf(i));
        continue;
      }
      if (const auto group = members.find(i); group != members.end())
        GANTRY_RETURN_IF_ERROR(addGroup(group->second));
    }
    return Status::ok();
  }

  /// By their lowest member.
  std::map<uint32_t, std::vector<uint32_t>> collectGroups(const std::vector<uint32_t> &chosen) {
    Groups groups(values_.size());
    const auto join = [&](const Sharing &sharing) {
      if (values_[sharing.first].sizeBytes != 0 && values_[sharing.second].sizeBytes != 0)
        groups.join(sharing.first, sharing.second);
    };
    for (const Sharing &sharing : constraints_.sharings) {
      pairs_.insert(std::minmax(sharing.first, sharing.second));
      // Two that are pinned to one place share it already.
      const uint64_t pin = pinOf(sharing.first);
      if (sharing.required || (pin != kFreeOffset && pin == pinOf(sharing.second)))
        join(sharing);
    }
    for (const uint32_t index : chosen)
      join(constraints_.sharings[index]);
    std::map<uint32_t, std::vector<uint32_t>> members;
    for (uint32_t i = 0; i < values_.size(); ++i)
      members[groups.find(i)].push_back(i);
    std::erase_if(members, [](const auto &group) { return group.second.size() == 1; });
    return members;
  }

  Status addGroup(const std::vector<uint32_t> &members) {
    uint64_t alignment = 1;
    uint64_t fixedOffset = kFreeOffset;
    uint64_t size = 0;
    uint32_t pinned = 0;
    struct Member {
      Life life;
      uint32_t value;
    };
    std::vector<Member> lives;
    for (const uint32_t value : members) {
      built_.itemOfValue[value] = built_.problem.count();
      alignment = std::max(alignment, values_[value].alignment);
      size = std::max(size, occupiedBytes(values_[value]));
      for (const Life &life : livesOf(value))
        lives.push_back({life, value});
      const uint64_t pin = pinOf(value);
      if (pin != kFreeOffset && fixedOffset != kFreeOffset && pin != fixedOffset)
        return statusf(StatusCode::kInvalidArgument,
                       "values %u and %u share storage and are pinned at %llu and %llu", pinned,
                       value, static_cast<Printable>(fixedOffset), static_cast<Printable>(pin));
      if (pin != kFreeOffset) {
        fixedOffset = pin;
        pinned = value;
      }
    }
    if (fixedOffset != kFreeOffset && fixedOffset % alignment != 0)
      return statusf(StatusCode::kInvalidArgument,
                     "value %u is pinned at %llu, but shares storage with one of alignment %llu",
                     pinned, static_cast<Printable>(fixedOffset),
                     static_cast<Printable>(alignment));
    std::sort(lives.begin(), lives.end(),
              [](const Member &a, const Member &b) { return a.life.begin < b.life.begin; });
    // The profile: at each moment the largest of those alive.
    std::vector<Life> profile;
    std::vector<Member> alive;
    const auto emit = [&](uint64_t begin, uint64_t end) {
      uint64_t most = 0;
      for (const Member &member : alive)
        most = std::max(most, member.life.size);
      if (most == 0 || begin == end)
        return;
      if (!profile.empty() && profile.back().end == begin && profile.back().size == most)
        profile.back().end = end;
      else
        profile.push_back({begin, end, most});
    };
    const auto retire = [&](uint64_t from, uint64_t until) {
      while (!alive.empty()) {
        uint64_t end = until;
        for (const Member &member : alive)
          end = std::min(end, member.life.end);
        emit(from, end);
        from = end;
        std::erase_if(alive, [&](const Member &member) { return member.life.end <= end; });
        if (end == until)
          break;
      }
    };
    uint64_t now = lives.front().life.begin;
    for (const Member &member : lives) {
      retire(now, member.life.begin);
      now = member.life.begin;
      for (const Member &other : alive)
        if (!pairs_.contains(std::minmax(other.value, member.value)))
          return statusf(StatusCode::kInvalidArgument,
                         "values %u and %u would share storage through others while both are alive "
                         "at command %llu; name the two as a sharing, or drop one of those",
                         std::min(other.value, member.value), std::max(other.value, member.value),
                         static_cast<Printable>(now));
      alive.push_back(member);
    }
    retire(now, UINT64_MAX);
    addItem(size, alignment, fixedOffset, std::move(profile));
    return Status::ok();
  }

  Status addZones() {
    const uint64_t region = built_.problem.regionSize;
    for (const Zone &zone : constraints_.zones) {
      if (zone.sizeBytes == 0)
        continue;
      // Far above everything that is placed.
      const uint64_t offset = zone.arena * region + std::min(zone.offset, kHighest);
      const uint64_t size = std::min(zone.sizeBytes, kHighest);
      ++built_.problem.obstacleCount;
      addItem(size, 1, offset, {{zone.firstUse, uint64_t{zone.lastUse} + 1, size}});
    }
    return Status::ok();
  }

  void compressTime() {
    Problem &problem = built_.problem;
    std::vector<uint64_t> &times = times_;
    times.reserve(2 * begins_.size());
    times.insert(times.end(), begins_.begin(), begins_.end());
    times.insert(times.end(), ends_.begin(), ends_.end());
    for (const auto &[item, lives] : lives_)
      for (const Life &life : lives) {
        times.push_back(life.begin);
        times.push_back(life.end);
      }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const auto stepOf = [&](uint64_t time) {
      return static_cast<uint32_t>(std::lower_bound(times.begin(), times.end(), time) -
                                   times.begin());
    };
    problem.begin.reserve(begins_.size());
    problem.end.reserve(begins_.size());
    for (size_t i = 0; i < begins_.size(); ++i) {
      problem.begin.push_back(stepOf(begins_[i]));
      problem.end.push_back(stepOf(ends_[i]));
    }
    if (!lives_.empty()) {
      problem.segmentBegin.push_back(0);
      for (uint32_t i = 0; i < problem.count(); ++i) {
        if (const auto found = lives_.find(i); found != lives_.end())
          for (const Life &life : found->second)
            problem.segments.push_back({stepOf(life.begin), stepOf(life.end), life.size});
        problem.segmentBegin.push_back(static_cast<uint32_t>(problem.segments.size()));
      }
    }
    problem.stepCount = times.empty() ? 0 : static_cast<uint32_t>(times.size() - 1);
    if (!times.empty())
      times.pop_back();
  }

  void findBound() {
    Problem &problem = built_.problem;
    // The wrap-around of unsigned differences cancels out: each sum is one of live sizes.
    std::vector<uint64_t> change(problem.stepCount + size_t{1});
    const auto add = [&](uint32_t begin, uint32_t end, uint64_t size) {
      change[begin] += size;
      change[end] -= size;
    };
    for (uint32_t i = 0; i + problem.obstacleCount < problem.count(); ++i)
      if (problem.hasSegments(i))
        for (uint32_t s = problem.segmentBegin[i]; s < problem.segmentBegin[i + 1]; ++s)
          add(problem.segments[s].begin, problem.segments[s].end, problem.segments[s].size);
      else
        add(problem.begin[i], problem.end[i], problem.size[i]);
    uint64_t alive = 0;
    for (uint32_t t = 0; t < problem.stepCount; ++t) {
      alive += change[t];
      if (alive > problem.lowerBound) {
        problem.lowerBound = alive;
        problem.peakStep = t;
      }
    }
  }

  /// Fixed items must not overlap, or nothing can be placed at all.
  Status checkFixed() const {
    const Problem &problem = built_.problem;
    std::vector<uint32_t> fixed;
    for (uint32_t i = 0; i + problem.obstacleCount < problem.count(); ++i)
      if (problem.isFixed(i))
        fixed.push_back(i);
    const auto valueOf = [&](uint32_t item) {
      const auto found = std::find(built_.itemOfValue.begin(), built_.itemOfValue.end(), item);
      return static_cast<uint32_t>(found - built_.itemOfValue.begin());
    };
    const auto segmentsOf = [&](uint32_t item) {
      std::vector<Segment> segments(1,
                                    {problem.begin[item], problem.end[item], problem.size[item]});
      if (problem.hasSegments(item))
        segments.assign(problem.segments.begin() + problem.segmentBegin[item],
                        problem.segments.begin() + problem.segmentBegin[item + 1]);
      return segments;
    };
    const auto overlap = [&](uint32_t a, uint32_t b) {
      for (const Segment &x : segmentsOf(a))
        for (const Segment &y : segmentsOf(b))
          if (x.begin < y.end && y.begin < x.end &&
              problem.fixedOffset[a] < problem.fixedOffset[b] + y.size &&
              problem.fixedOffset[b] < problem.fixedOffset[a] + x.size)
            return true;
      return false;
    };
    const uint64_t region = problem.regionSize;
    std::sort(fixed.begin(), fixed.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(problem.begin[a], a) < std::pair(problem.begin[b], b);
    });
    for (size_t k = 0; k < fixed.size(); ++k) {
      const uint32_t a = fixed[k];
      const uint64_t offset = problem.fixedOffset[a];
      if (region > 0 && offset / region != (offset + problem.size[a] - 1) / region)
        return statusf(StatusCode::kInvalidArgument,
                       "value %u of %llu bytes is pinned at %llu, beyond the end of its arena of "
                       "%llu bytes",
                       valueOf(a), static_cast<Printable>(problem.size[a]),
                       static_cast<Printable>(offset % region), static_cast<Printable>(region));
      for (size_t m = k + 1; m < fixed.size() && problem.begin[fixed[m]] < problem.end[a]; ++m)
        if (overlap(a, fixed[m]))
          return statusf(StatusCode::kInvalidArgument,
                         "values %u and %u are pinned so that they overlap; move one of them",
                         std::min(valueOf(a), valueOf(fixed[m])),
                         std::max(valueOf(a), valueOf(fixed[m])));
      for (uint32_t z = problem.count() - problem.obstacleCount; z < problem.count(); ++z)
        if (overlap(a, z))
          return statusf(StatusCode::kInvalidArgument,
                         "value %u is pinned at %llu, inside a zone that nothing may use",
                         valueOf(a), static_cast<Printable>(offset));
    }
    return Status::ok();
  }

  static constexpr uint64_t kHighest = uint64_t{1} << 61;

  const std::vector<Value> &values_;
  const Constraints &constraints_;
  uint64_t alignment_; // what all sizes are rounded up to
  std::map<uint32_t, std::vector<Gap>> gaps_;
  std::map<uint32_t, const Pin *> pins_;
  Pairs pairs_;
  BuiltProblem built_;
  std::vector<uint64_t> times_;  // the first command of each step
  std::vector<uint64_t> begins_; // per item, in commands
  std::vector<uint64_t> ends_;
  std::map<uint32_t, std::vector<Life>> lives_; // of the items that need segments
};

} // namespace

Result<BuiltProblem> buildProblem(const std::vector<Value> &values, const Constraints &constraints,
                                  const std::vector<uint32_t> &chosen) {
  return Builder(values, constraints).build(chosen);
}

} // namespace gantry::plan
