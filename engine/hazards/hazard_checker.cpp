// checkHazards(): sorts the accesses between two barriers by address and sweeps over them.
#include "engine/hazards/hazards.h"

#include <algorithm>

namespace gantry::hazards {

namespace {

/// The bytes of one access of one command.
struct Range {
  uint32_t space;
  uint64_t first;
  uint64_t last; // Inclusive, so that the end of the address space needs no special case.
  bool write;
  uint32_t command;
};

/// Keeps two of the ranges added so far: the one with the largest last byte, and the one with the
/// largest last byte among the ranges of all other commands. The two suffice to decide whether any
/// command other than a given one has a range that reaches a given byte.
class FurthestTwo {
public:
  void add(const Range *range) {
    if (best_ == nullptr || range->last >= best_->last) {
      if (best_ != nullptr && best_->command != range->command)
        second_ = best_;
      best_ = range;
    } else if (range->command != best_->command &&
               (second_ == nullptr || range->last > second_->last)) {
      second_ = range;
    }
  }
  /// Returns an added range of another command that reaches the first byte of `range`, or null.
  const Range *reaching(const Range &range) const {
    for (const Range *candidate : {best_, second_})
      if (candidate != nullptr && candidate->command != range.command &&
          candidate->last >= range.first)
        return candidate;
    return nullptr;
  }

private:
  const Range *best_ = nullptr;
  const Range *second_ = nullptr;
};

Status conflict(const Range &a, const Range &b) {
  const Range &earlier = a.command < b.command ? a : b;
  const Range &later = a.command < b.command ? b : a;
  return statusf(StatusCode::kInternal,
                 "no barrier between commands %u, which %s, and %u, which %s bytes %llu to %llu of "
                 "space %u",
                 earlier.command, earlier.write ? "writes" : "reads", later.command,
                 later.write ? "writes" : "reads",
                 static_cast<unsigned long long>(std::max(a.first, b.first)),
                 static_cast<unsigned long long>(std::min(a.last, b.last)), a.space);
}

/// Checks that no two commands between the same barriers conflict. `ranges` are their accesses.
Status checkBetweenBarriers(std::vector<Range> &ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    if (a.space != b.space)
      return a.space < b.space;
    return a.first != b.first ? a.first < b.first : a.command < b.command;
  });
  for (size_t begin = 0; begin < ranges.size();) {
    FurthestTwo all;
    FurthestTwo writes;
    size_t i = begin;
    for (; i < ranges.size() && ranges[i].space == ranges[begin].space; ++i) {
      const Range *other = (ranges[i].write ? all : writes).reaching(ranges[i]);
      if (other != nullptr)
        return conflict(*other, ranges[i]);
      all.add(&ranges[i]);
      if (ranges[i].write)
        writes.add(&ranges[i]);
    }
    begin = i;
  }
  return Status::ok();
}

} // namespace

Status checkHazards(const std::vector<Command> &commands) {
  std::vector<Range> ranges; // The accesses since the last barrier.
  for (uint32_t i = 0; i < commands.size(); ++i) {
    if (commands[i].barrierBefore) {
      GANTRY_RETURN_IF_ERROR(checkBetweenBarriers(ranges));
      ranges.clear();
    }
    for (const Access &access : commands[i].accesses) {
      if (access.sizeBytes == 0)
        continue;
      const uint64_t room = UINT64_MAX - access.offset;
      const uint64_t last = access.offset + std::min(access.sizeBytes - 1, room);
      ranges.push_back({access.space, access.offset, last, access.write, i});
    }
  }
  return checkBetweenBarriers(ranges);
}

} // namespace gantry::hazards
