// checkStorage(): executes the commands on a map from bytes to the values that wrote them last.
#include "engine/hazards/hazards.h"

#include <algorithm>
#include <map>
#include <optional>

namespace gantry::hazards {

namespace {

using Printable = unsigned long long;
constexpr uint32_t kNobody = UINT32_MAX;

/// A map from the bytes of the arena to values: to the value that wrote a byte last, or, in
/// checkWrite(), to a value that the command reads.
class Owners {
public:
  /// Divides the run (a range of bytes without a gap, box.h) into parts that map to one value each,
  /// or to none (kNobody). Calls `body` with each part and its value until `body` returns false.
  template <typename Body> void forEach(const ByteRange &run, Body body) const {
    uint64_t at = run.offset;
    const uint64_t end = run.offset + run.sizeBytes;
    auto next = ranges_.upper_bound(at);
    if (next != ranges_.begin() && std::prev(next)->second.end > at)
      --next;
    while (at < end) {
      const bool isOwned = next != ranges_.end() && next->first <= at;
      const uint64_t stop = std::min(end, isOwned                 ? next->second.end
                                          : next != ranges_.end() ? next->first
                                                                  : end);
      if (!body(ByteRange{at, stop - at}, isOwned ? next->second.value : kNobody))
        return;
      if (isOwned)
        ++next;
      at = stop;
    }
  }

  void set(const ByteRange &run, uint32_t value) {
    const uint64_t end = run.offset + run.sizeBytes;
    split(run.offset);
    split(end);
    ranges_.erase(ranges_.lower_bound(run.offset), ranges_.lower_bound(end));
    ranges_[run.offset] = {end, value};
  }

private:
  struct Range {
    uint64_t end;
    uint32_t value;
  };
  void split(uint64_t at) {
    auto found = ranges_.lower_bound(at);
    if (found == ranges_.begin())
      return;
    --found;
    if (found->second.end <= at)
      return;
    ranges_[at] = found->second;
    found->second.end = at;
  }
  std::map<uint64_t, Range> ranges_; // By first byte.
};

class StorageChecker {
public:
  explicit StorageChecker(const std::vector<StoredValue> &values) : values_(values) {}

  Status check(const std::vector<StorageCommand> &commands) {
    for (uint32_t v = 0; v < values_.size(); ++v) {
      if (!isValid(values_[v].box))
        return statusf(StatusCode::kInternal, "value %u lies outside of its storage", v);
      if (values_[v].isFilledBefore)
        own(v);
    }
    for (uint32_t c = 0; c < commands.size(); ++c) {
      for (const uint32_t value : commands[c].reads)
        GANTRY_RETURN_IF_ERROR(checkRead(c, value));
      for (const uint32_t value : commands[c].writes) {
        GANTRY_RETURN_IF_ERROR(checkWrite(c, commands[c], value));
        own(value);
      }
    }
    return {};
  }

private:
  /// Calls `body` with the runs of a value in the arena, until it returns false.
  template <typename Body> void forEachRunOf(uint32_t value, Body body) const {
    const StoredValue &stored = values_[value];
    forEachRun(stored.box, [&](const ByteRange &run) {
      return body(ByteRange{stored.offset + run.offset, run.sizeBytes});
    });
  }

  void own(uint32_t value) {
    forEachRunOf(value, [&](const ByteRange &run) {
      owners_.set(run, value);
      return true;
    });
  }

  /// Checks that each byte of a value that a command reads was last written as a byte of this
  /// value, or of another value of the same storage.
  Status checkRead(uint32_t command, uint32_t value) const {
    Status status;
    forEachRunOf(value, [&](const ByteRange &run) {
      owners_.forEach(run, [&](const ByteRange &part, uint32_t owner) {
        if (owner == kNobody)
          status = statusf(StatusCode::kInternal,
                           "command %u reads bytes %llu to %llu of value %u, which no command has "
                           "written",
                           command, static_cast<Printable>(part.offset),
                           static_cast<Printable>(part.offset + part.sizeBytes - 1), value);
        else if (owner != value && values_[owner].storage != values_[value].storage)
          status = statusf(StatusCode::kInternal,
                           "command %u reads bytes %llu to %llu of value %u, which value %u has "
                           "overwritten",
                           command, static_cast<Printable>(part.offset),
                           static_cast<Printable>(part.offset + part.sizeBytes - 1), value, owner);
        return status.isOk();
      });
      return status.isOk();
    });
    return status;
  }

  /// Checks that a command does not write bytes that it reads, unless the result takes the
  /// operand's place as a whole, and that a value does not overwrite another part of its storage.
  Status checkWrite(uint32_t command, const StorageCommand &accesses, uint32_t value) const {
    Owners read;
    for (const uint32_t other : accesses.reads)
      if (accesses.inPlace != other || !takesPlace(value, other, accesses.isPartial))
        forEachRunOf(other, [&](const ByteRange &run) {
          read.set(run, other);
          return true;
        });
    Status status;
    const auto refuse = [&](const ByteRange &part, uint32_t other, const char *why) {
      status = statusf(StatusCode::kInternal,
                       "command %u writes bytes %llu to %llu of value %u over value %u, which %s",
                       command, static_cast<Printable>(part.offset),
                       static_cast<Printable>(part.offset + part.sizeBytes - 1), value, other, why);
      return false;
    };
    forEachRunOf(value, [&](const ByteRange &run) {
      read.forEach(run, [&](const ByteRange &part, uint32_t other) {
        return other == kNobody || refuse(part, other, "it reads");
      });
      if (status.isOk())
        owners_.forEach(run, [&](const ByteRange &part, uint32_t other) {
          return other == kNobody || other == value || !isSibling(value, other) ||
                 refuse(part, other, "is another part of the same storage");
        });
      return status.isOk();
    });
    return status;
  }

  /// Returns whether a result begins where an operand begins and has its size, or may be larger.
  bool takesPlace(uint32_t result, uint32_t operand, bool mayBeLarger) const {
    const ByteRange taken = rangeOf(values_[result].box), place = rangeOf(values_[operand].box);
    return values_[result].offset + taken.offset == values_[operand].offset + place.offset &&
           (taken.sizeBytes == place.sizeBytes ||
            (mayBeLarger && taken.sizeBytes > place.sizeBytes));
  }
  bool isSibling(uint32_t a, uint32_t b) const {
    return values_[a].storage == values_[b].storage && values_[a].storage != a &&
           values_[a].storage != b;
  }

  const std::vector<StoredValue> &values_;
  Owners owners_;
};

} // namespace

Status checkStorage(const std::vector<StoredValue> &values,
                    const std::vector<StorageCommand> &commands) {
  return StorageChecker(values).check(commands);
}

} // namespace gantry::hazards
