// The retention policy of a memory kind: how many bytes of slabs (driver allocations) the heap may
// keep, and how large a new slab is. The functions only compute; Growth (growth.h) acts.
//
// A kind is either tight or quick. It begins tight: new slabs are small compared to the kind's
// reserved bytes, and its target for reserved bytes is growthSlack times the peak of live bytes.
// Growth frees empty slabs before it exceeds the target. After kRetakesUntilQuick retakes the kind
// becomes quick: its target is at least the peak of reserved bytes, and new slabs are larger. A
// retake is one of two events. Either a slab is allocated that does not raise the peak of reserved
// bytes: an earlier free was premature. Or an empty slab moves to another pool, for other sizes,
// because a new slab would exceed the target (growth.h, step 3b): the sizes of the requests have
// changed. Heap::trim() and other callers of forget() make the kind tight again.
//
// A program that repeats a pattern of sizes therefore wastes little memory, and a program without a
// pattern soon needs no further driver calls. The constants here, in growth.h and in growth.cpp,
// and the pools' limit of 16 MiB in arena.h were chosen by trying values on the traces of
// benchmarks/heap; no other workloads have confirmed them. benchmarks/heap/constants.py measures
// what half and twice of each would do; its table is in benchmarks/heap/constants.md.
//
// Units: bytes. Threads: the growth lock (growth.h) guards the object. Errors: none.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gantry::heap {

class Retention {
public:
  static constexpr uint64_t kSlabGranule = 64 << 10; // Sizes of slabs are rounded up to this.
  static constexpr uint32_t kRetakesUntilQuick = 512;

  /// Counts a retake if reservedBytes, which include a new slab, do not exceed the earlier peak.
  /// noteTaken(0, 0) counts a retake without a new slab.
  void noteTaken(uint64_t reservedBytes, uint64_t peakReservedBytes) {
    if (reservedBytes <= peakReservedBytes && retakes_ < kRetakesUntilQuick)
      ++retakes_;
  }
  /// Makes the kind tight again.
  void forget() { retakes_ = 0; }
  bool isQuick() const { return retakes_ == kRetakesUntilQuick; }

  /// The target for reserved bytes. slack: HeapOptions::growthSlack.
  uint64_t targetBytes(uint64_t peakLive, uint64_t peakReserved, double slack) const {
    const auto tight = static_cast<uint64_t>(static_cast<double>(peakLive) * slack);
    return isQuick() ? std::max(tight, peakReserved) : tight;
  }

  /// The size of a new slab for the small pool or for the large pool.
  ///
  /// A slab of a tight kind is short compared to the reserved bytes, so that the last slab, which
  /// may be nearly empty, wastes little. For small buffers it is 1/64 of the reserved bytes, but at
  /// least 256 KiB and at most 1 MiB; for large buffers it is 2 MiB. Drivers allow only about 4096
  /// allocations (Vulkan's maxMemoryAllocationCount), so slabs are never shorter than 1/2048
  /// (small) or 1/256 (large) of the reserved bytes. A slab of a quick kind is at least 1/10 of the
  /// reserved bytes, so that the kind needs few driver calls.
  uint64_t slabBytes(bool small, uint64_t reserved) const {
    const uint64_t tight =
        small ? std::max<uint64_t>(std::clamp<uint64_t>(reserved / 64, 256 << 10, 1 << 20),
                                   reserved / 2048)
              : std::max<uint64_t>(2 << 20, reserved / 256);
    return roundUp(isQuick() ? std::max(tight, reserved / 10) : tight);
  }

  static uint64_t roundUp(uint64_t bytes) {
    return (bytes + kSlabGranule - 1) & ~(kSlabGranule - 1);
  }

private:
  uint32_t retakes_ = 0;
};

} // namespace gantry::heap
