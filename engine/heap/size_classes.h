// Size classes: free ranges of up to 64 KiB that an arena (arena.h) keeps, in one list per length.
//
// Class c holds ranges of c + 1 granules of 256 bytes. A range keeps its buffer record
// (buffer_record.h), so an allocation from a size class needs neither the suballocator (tlsf.h) nor
// a free record. A request takes a range of its own class, or else of the next longer class that
// has a range, if its ranges are at most a quarter longer. A bitmap finds the next class that has a
// range. The lists are last in, first out, and are linked through BufferRecord::next. Ownership:
// the suballocator of the range's pool still counts the range as used. Threads: the arena's lock
// guards the object. Sizes are in bytes; records are named by index.
#pragma once

#include "engine/heap/handle_table.h"

#include <algorithm>
#include <array>
#include <bit>

namespace gantry::heap {

class SizeClasses {
public:
  static constexpr uint32_t kCount = 256;
  static constexpr uint64_t kMaxBytes = uint64_t{kCount} << kGranuleLog2;

  SizeClasses() { heads_.fill(kNone); }

  /// The class with the shortest ranges that hold sizeBytes, which is at least 1. The result is
  /// kCount or more if sizeBytes exceeds kMaxBytes.
  static constexpr uint64_t classOf(uint64_t sizeBytes) { return (sizeBytes - 1) >> kGranuleLog2; }
  /// The length of the ranges of a class.
  static constexpr uint64_t bytesOf(uint32_t sizeClass) {
    return (uint64_t{sizeClass} + 1) << kGranuleLog2;
  }

  /// The sum of the lengths of all ranges, and their number.
  uint64_t bytes() const { return bytes_; }
  uint64_t ranges() const { return ranges_; }

  /// Adds the range of a record to the class BufferRecord::sizeClass.
  void push(const HandleTable &handles, uint32_t index) {
    BufferRecord &record = handles.record(index);
    const uint32_t at = record.sizeClass;
    record.next = heads_[at];
    heads_[at] = index;
    filled_[at / 64] |= uint64_t{1} << at % 64;
    bytes_ += bytesOf(at);
    ++ranges_;
  }

  /// Removes a range of the class, or else of the next longer class that has a range, if its ranges
  /// are at most a quarter longer. Returns the index of the range's record; kNone if there is none.
  uint32_t take(const HandleTable &handles, uint32_t sizeClass) {
    if (heads_[sizeClass] == kNone) {
      const uint32_t longest = sizeClass + std::min((sizeClass + 1) / 4, kCount - 1 - sizeClass);
      sizeClass = nextFilled(sizeClass);
      if (sizeClass > longest)
        return kNone;
    }
    return pop(handles, sizeClass);
  }

  /// Removes a range of the class or of the next longer class that has one. Returns the index
  /// of the range's record; kNone if there is none.
  uint32_t takeAny(const HandleTable &handles, uint32_t sizeClass) {
    sizeClass = nextFilled(sizeClass);
    return sizeClass == kCount ? kNone : pop(handles, sizeClass);
  }

  /// The first record in the list of a class, for the validation of the heap; kNone if it is empty.
  uint32_t head(uint32_t sizeClass) const { return heads_[sizeClass]; }

private:
  /// The first class from `from` on that has a range; kCount if there is none.
  uint32_t nextFilled(uint32_t from) const {
    uint64_t bits = filled_[from / 64] >> from % 64 << from % 64;
    for (uint32_t word = from / 64;; bits = filled_[word]) {
      if (bits != 0)
        return word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      if (++word == filled_.size())
        return kCount;
    }
  }
  uint32_t pop(const HandleTable &handles, uint32_t sizeClass) {
    const uint32_t index = heads_[sizeClass];
    heads_[sizeClass] = handles.record(index).next;
    if (heads_[sizeClass] == kNone)
      filled_[sizeClass / 64] &= ~(uint64_t{1} << sizeClass % 64);
    bytes_ -= bytesOf(sizeClass);
    --ranges_;
    return index;
  }

  std::array<uint32_t, kCount> heads_;         // The first record of each class, or kNone.
  std::array<uint64_t, kCount / 64> filled_{}; // One bit per class; 1: the class has a range.
  uint64_t bytes_ = 0;
  uint64_t ranges_ = 0;
};

} // namespace gantry::heap
