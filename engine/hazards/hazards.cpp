// placeBarriers(): places a barrier before each command that conflicts with the bytes read and
// written since the last barrier, which it keeps as sets.
#include "engine/hazards/hazards.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

namespace gantry::hazards {

namespace {

/// A set of bytes, kept as ranges that neither overlap nor touch.
class ByteSet {
public:
  bool intersects(uint64_t begin, uint64_t end) const {
    const auto above = ranges_.lower_bound(begin);
    if (above != ranges_.end() && above->first < end)
      return true;
    return above != ranges_.begin() && std::prev(above)->second > begin;
  }

  void add(uint64_t begin, uint64_t end) {
    auto range = ranges_.lower_bound(begin);
    if (range != ranges_.begin() && std::prev(range)->second >= begin)
      --range;
    while (range != ranges_.end() && range->first <= end) {
      begin = std::min(begin, range->first);
      end = std::max(end, range->second);
      range = ranges_.erase(range);
    }
    ranges_.emplace(begin, end);
  }

private:
  std::map<uint64_t, uint64_t> ranges_; // Key: begin of a range; value: its end, exclusive.
};

/// The bytes of one space that commands have accessed since the last barrier.
struct Touched {
  ByteSet read;
  ByteSet written;
};

uint64_t endOf(const Access &access) {
  return access.sizeBytes > UINT64_MAX - access.offset ? UINT64_MAX
                                                       : access.offset + access.sizeBytes;
}

} // namespace

void placeBarriers(std::vector<Command> &commands) {
  std::unordered_map<uint32_t, Touched> spaces;
  for (Command &command : commands) {
    command.barrierBefore = false;
    for (const Access &access : command.accesses) {
      const auto space = spaces.find(access.space);
      if (access.sizeBytes == 0 || space == spaces.end())
        continue;
      const uint64_t end = endOf(access);
      if (space->second.written.intersects(access.offset, end) ||
          (access.write && space->second.read.intersects(access.offset, end)))
        command.barrierBefore = true;
    }
    if (command.barrierBefore)
      spaces.clear();
    for (const Access &access : command.accesses) {
      if (access.sizeBytes == 0)
        continue;
      Touched &touched = spaces[access.space];
      (access.write ? touched.written : touched.read).add(access.offset, endOf(access));
    }
  }
}

} // namespace gantry::hazards
