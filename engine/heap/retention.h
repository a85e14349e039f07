// How much memory a kind keeps from the driver, and how large its slabs are: arithmetic alone.
//
// Policy. The heap begins tight: a new slab is a small part of what is reserved, and before
// reserved bytes pass growthSlack times the peak of live bytes the heap gives empty slabs back. A
// retake is a slab that the heap takes although it once had as much reserved: it gave memory back
// too early. After kRetakesUntilQuick of them the sizes evidently have no pattern, and the heap
// becomes quick: it keeps what it ever had reserved, and new slabs are larger. trim() makes it
// tight again. So a program with a pattern wastes little, and one without a pattern stops calling
// the driver. The constants were chosen on the traces of benchmarks/heap.
//
// Units: bytes. Threads: the growth lock guards the object.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gantry::heap {

class Retention {
public:
  static constexpr uint64_t kSlabGranule = 64 << 10;
  static constexpr uint32_t kRetakesUntilQuick = 512;

  /// Tells that a slab was taken.
  void noteTaken(uint64_t reservedBytes, uint64_t peakReservedBytes) {
    if (reservedBytes <= peakReservedBytes && retakes_ < kRetakesUntilQuick)
      ++retakes_;
  }
  void forget() { retakes_ = 0; }
  bool isQuick() const { return retakes_ == kRetakesUntilQuick; }

  /// Empty slabs go back before reserved bytes pass this.
  uint64_t targetBytes(uint64_t peakLive, uint64_t peakReserved, double slack) const {
    const auto tight = static_cast<uint64_t>(static_cast<double>(peakLive) * slack);
    return isQuick() ? std::max(tight, peakReserved) : tight;
  }

  /// The size of a new slab for small or for large buffers. The number of slabs stays below the few
  /// thousand that drivers allow.
  uint64_t slabBytes(bool small, uint64_t reserved) const {
    const uint64_t tight =
        small ? std::max<uint64_t>(std::clamp<uint64_t>(reserved / 64, 256 << 10, 1 << 20),
                                   reserved / 2048)
              : std::max<uint64_t>(2 << 20, reserved / 256);
    return roundUp(isQuick() ? std::max(tight, reserved / (small ? 256 : 10)) : tight);
  }

  static uint64_t roundUp(uint64_t bytes) {
    return (bytes + kSlabGranule - 1) & ~(kSlabGranule - 1);
  }

private:
  uint32_t retakes_ = 0;
};

} // namespace gantry::heap
