// How much a memory kind keeps from the driver, and how it takes more: arithmetic alone.
//
// Tight and quick pull apart. A slab that is just as large as what is needed, and goes back when
// the heap grows elsewhere, wastes nothing; but a program whose sizes have no pattern then sends
// the same memory back and forth, a driver call each time. So the heap begins tight and watches:
// memory that it takes although it once held as much was given back too early (a "retake"). With
// the share of the way from none to kManyRetakes of them the heap goes from tight to quick: it
// keeps more of what is empty, up to kQuickSlack times the peak of live bytes and in the end all
// that it ever reserved; it takes larger slabs; and it lets a large buffer have a dedicated slab
// that fits less well. And a heap that is nearly empty after it was full ("ebb") will be filled
// again: until live bytes rise above that former peak it is as quick as can be, keeps up to twice
// what it had reserved, gives empty slabs to whichever pool wants one, and has slabs of its own for
// no buffer that does not ask for one. A steady loop thereby ends without driver calls. Heap::trim
// and Heap::compact forget what was learned: who calls them wants it tight.
//
// The bounds were chosen on the recorded traces (benchmarks/heap): peak reserved / peak live and
// driver calls of each. Units: bytes. Threads: one at a time, but for noteLive().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gantry::heap {

class Retention {
public:
  static constexpr uint64_t kSlabGranule = 64 << 10;
  static constexpr uint32_t kManyRetakes = 512;
  static constexpr double kQuickSlack = 1.32;
  static constexpr uint64_t kEbbShare = 8; // of the peak: what is live at an ebb

  /// Reserved bytes are now so many, of at most so many before.
  void noteTaken(uint64_t reservedBytes, uint64_t peakReservedBytes) {
    if (reservedBytes <= peakReservedBytes && retakes_ < kManyRetakes)
      ++retakes_;
  }
  /// With less than that alive, after so much before, a heap is at an ebb.
  static int64_t ebbBytes(int64_t peakLive) { return peakLive / static_cast<int64_t>(kEbbShare); }
  /// It is. Any thread.
  void noteEbb(int64_t peakLive) {
    ebbPeak_.store(static_cast<uint64_t>(peakLive), std::memory_order_relaxed);
  }
  void forget() {
    retakes_ = 0;
    keptSince_ = 0;
    ebbPeak_.store(0, std::memory_order_relaxed);
  }

  /// The heap is to grow, and so much is or was live. To be told before it asks the following.
  void beginGrowth(uint64_t peakLive, uint64_t peakReserved) {
    const uint64_t former = ebbPeak_.load(std::memory_order_relaxed);
    repeats_ = peakLive <= former;
    if (repeats_ && former != keptSince_) {
      keptSince_ = former;
      keptBytes_ = 2 * peakReserved;
    }
  }

  /// Whether the heap is being filled again after an ebb.
  bool repeats() const { return repeats_; }
  /// Empty slabs go back before reserved bytes pass this.
  uint64_t targetBytes(uint64_t peakLive, uint64_t peakReserved, double slack) const {
    const double tight = static_cast<double>(peakLive) * slack;
    const double quick = std::max(static_cast<double>(peakLive) * kQuickSlack,
                                  static_cast<double>(repeats_ ? keptBytes_ : peakReserved));
    return static_cast<uint64_t>(tight + weight() * std::max(0.0, quick - tight));
  }

  /// Of a new slab, by what is reserved already, so that what it may leave unused is a small part
  /// of that, and the number of slabs stays below the few thousand that drivers allow. While the
  /// heap is filled again also by what is live now, since it may stay nearly empty.
  uint64_t slabBytes(bool small, uint64_t reserved, uint64_t live) const {
    const uint64_t usual =
        small ? std::max<uint64_t>(std::clamp<uint64_t>(reserved / 64, 256 << 10, 1 << 20),
                                   reserved / 2048)
              : std::max<uint64_t>(2 << 20, reserved / 256);
    const uint64_t quick =
        repeats_ ? std::min(reserved, 4 * live) / (small ? 16 : 6) : reserved / (small ? 256 : 10);
    return round(usual + static_cast<uint64_t>(
                             weight() * static_cast<double>(quick - std::min(quick, usual))));
  }

  /// How much larger than a buffer the dedicated slab may be that it reuses. While the heap is
  /// filled again little, since a pool can make use of the rest.
  uint64_t spareBytes(uint64_t sizeBytes) const {
    const uint64_t least = sizeBytes / 8, more = sizeBytes - least;
    return least + static_cast<uint64_t>((repeats_ ? 0 : weight()) * static_cast<double>(more));
  }

  static uint64_t round(uint64_t bytes) { return (bytes + kSlabGranule - 1) & ~(kSlabGranule - 1); }

private:
  // Squared: a few retakes are the noise of a heap that finds its size.
  double weight() const {
    const double share = static_cast<double>(retakes_) / kManyRetakes;
    return repeats_ ? 1 : share * share;
  }
  uint32_t retakes_ = 0;
  bool repeats_ = false;
  uint64_t keptBytes_ = 0;           // while it repeats
  uint64_t keptSince_ = 0;           // the ebbPeak_ that they belong to
  std::atomic<uint64_t> ebbPeak_{0}; // of live bytes, before the last ebb
};

} // namespace gantry::heap
