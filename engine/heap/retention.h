// How much a memory kind keeps from the driver, and how it takes more: arithmetic alone.
//
// Tight and quick pull apart. A slab that is just as large as what is needed, and goes back when
// the heap grows elsewhere, wastes nothing; but a program whose sizes have no pattern then sends
// the same memory back and forth, a driver call each time. So the heap begins tight and watches:
// memory that it takes although it once held as much was given back too early (a "retake"). With
// the share of the way from none to kManyRetakes of them the heap goes from tight to quick: it
// keeps more of what is empty, up to kQuickSlack times the peak of live bytes and in the end all
// that it ever reserved; it takes larger slabs; and it lets a large buffer have a dedicated slab
// that fits less well. A steady loop thereby ends without driver calls. Heap::trim and
// Heap::compact forget what was learned: who calls them wants it tight.
//
// The bounds were chosen on the recorded traces (benchmarks/heap): peak reserved / peak live and
// driver calls of each. Units: bytes. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gantry::heap {

class Retention {
public:
  static constexpr uint64_t kSlabGranule = 64 << 10;
  static constexpr uint32_t kManyRetakes = 512;
  static constexpr double kQuickSlack = 1.32;

  /// Reserved bytes are now so many, of at most so many before.
  void noteTaken(uint64_t reservedBytes, uint64_t peakReservedBytes) {
    if (reservedBytes <= peakReservedBytes && retakes_ < kManyRetakes)
      ++retakes_;
  }
  void forget() { retakes_ = 0; }

  /// Empty slabs go back before reserved bytes pass this.
  uint64_t targetBytes(uint64_t peakLive, uint64_t peakReserved, double slack) const {
    const double tight = static_cast<double>(peakLive) * slack;
    const double quick =
        std::max(static_cast<double>(peakLive) * kQuickSlack, static_cast<double>(peakReserved));
    return static_cast<uint64_t>(tight + weight() * std::max(0.0, quick - tight));
  }

  /// Of a new slab, by what is reserved already, so that what it may leave unused is a small part
  /// of that, and the number of slabs stays below the few thousand that drivers allow.
  uint64_t slabBytes(bool small, uint64_t reserved) const {
    const uint64_t usual =
        small ? std::max<uint64_t>(std::clamp<uint64_t>(reserved / 64, 256 << 10, 1 << 20),
                                   reserved / 2048)
              : std::max<uint64_t>(2 << 20, reserved / 256);
    const uint64_t quick = reserved / (small ? 256 : 10);
    return round(usual + static_cast<uint64_t>(
                             weight() * static_cast<double>(quick - std::min(quick, usual))));
  }

  /// How much larger than a buffer the dedicated slab may be that it reuses.
  uint64_t spareBytes(uint64_t sizeBytes) const {
    const uint64_t least = sizeBytes / 8, more = sizeBytes - least;
    return least + static_cast<uint64_t>(weight() * static_cast<double>(more));
  }

  static uint64_t round(uint64_t bytes) { return (bytes + kSlabGranule - 1) & ~(kSlabGranule - 1); }

private:
  // Squared: a few retakes are the noise of a heap that finds its size.
  double weight() const {
    const double share = static_cast<double>(retakes_) / kManyRetakes;
    return share * share;
  }
  uint32_t retakes_ = 0;
};

} // namespace gantry::heap
