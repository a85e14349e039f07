// What a thread keeps of a heap: magazines of freed ranges by exact size, spare slots, and its
// share of the counters. Only its thread touches it, so the hot path takes no lock and shares no
// cache line; statistics read the counters from outside.
//
// A cache belongs to its heap. When a thread ends, its caches are emptied and left for the next
// thread that comes. A heap that dies takes its caches along; a thread that still points to one
// finds out by the heap's identity, which is never used twice.
#pragma once

#include "engine/heap/bias.h"
#include "engine/heap/slots.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

namespace gantry::heap {

struct HeapImpl;
struct Pool;

inline constexpr uint32_t kSparesPerThread = 64;
inline constexpr uint32_t kLeavingBatch = 4;
inline constexpr uint32_t kLeaving = 2 * kLeavingBatch;

/// How many ranges a thread has at hand, and their bytes, in one word: granules << 24 | ranges.
class Cached {
public:
  static constexpr int64_t ofBin(uint64_t bin) {
    return static_cast<int64_t>((bin << kCountBits) + ((uint64_t{1} << kCountBits) + 1));
  }
  /// The most that has no more than so many bytes.
  static constexpr int64_t upTo(uint64_t bytes) {
    const auto granules =
        static_cast<int64_t>(std::min(bytes, SlotInfo::kMostBytes) >> kGranuleLog2);
    return (granules << kCountBits) + ((int64_t{1} << kCountBits) - 1);
  }
  static constexpr int64_t bytes(int64_t word) { return word >> kCountBits << kGranuleLog2; }
  static constexpr int64_t ranges(int64_t word) { return word & ((int64_t{1} << kCountBits) - 1); }

private:
  static constexpr uint32_t kCountBits = kIndexBits; // no heap has more ranges than slots
};

/// Changes since the last publication; written by the thread, read by statistics.
struct ThreadCounters {
  std::atomic<int64_t> highBytes;  // of live bytes the most since then
  std::atomic<int64_t> belowBytes; // how many less they are now
  std::atomic<int64_t> ranges;     // taken from pools, less those given back
  std::atomic<int64_t> cached;     // in magazines: Cached; the sum, no change

  static int64_t get(const std::atomic<int64_t> &value) {
    return value.load(std::memory_order_relaxed);
  }
  static void set(std::atomic<int64_t> &value, int64_t to) {
    value.store(to, std::memory_order_relaxed);
  }
  int64_t live() const { return get(highBytes) - get(belowBytes); }
  /// One buffer more, one less.
  void add(int64_t bytes) {
    int64_t below = get(belowBytes) - bytes;
    if (below < 0) {
      set(highBytes, get(highBytes) - below);
      below = 0;
    }
    set(belowBytes, below);
  }
  void remove(int64_t bytes) { set(belowBytes, get(belowBytes) + bytes); }
  /// Ranges that the thread has from its pools: one more, some less.
  void take() { set(ranges, get(ranges) + 1); }
  void giveBack(int64_t count) { set(ranges, get(ranges) - count); }
  /// A range of a magazine's bin comes (1) or goes to be a buffer's (-1).
  void cache(uint64_t bin, int64_t count) { set(cached, get(cached) + count * Cached::ofBin(bin)); }
  /// Some go back to their pools: a sum of Cached::ofBin.
  void uncache(int64_t sum, int64_t count) {
    set(cached, get(cached) - sum);
    giveBack(count);
  }
};

struct alignas(64) ThreadCache {
  struct alignas(64) KindCache {
    ThreadCounters counters;
    int64_t limit;      // of counters.cached
    uint64_t plainInfo; // SlotInfo::plain
    int64_t ebbBytes;   // of counters.live(): below it the heap is at an ebb
    /// By bin: those in which there may be something, and a word that stays 0.
    std::array<uint64_t, kMagazineBins / 64 + 1> filled;
    /// By size in granules, less one: the first of a list of free slots, each with its range, as
    /// the handle that its next buffer has. 0: none.
    std::array<BufferHandle, kMagazineBins> bins;
    /// Released ranges on their way back to their pool, which are at no bin: two batches in turn,
    /// of blocks with slots of their own. kNone: none.
    std::array<uint32_t, kLeaving> leaving;
    uint32_t leavingAt;
    Pool *leavingPool;

    /// The first of the bins from that one on in which there may be something; kMagazineBins:
    /// none.
    uint32_t nextFilled(uint32_t bin) const {
      for (; bin < kMagazineBins; bin = (bin / 64 + 1) * 64)
        if (const uint64_t bits = filled[bin / 64] >> bin % 64; bits != 0)
          return bin + static_cast<uint32_t>(std::countr_zero(bits));
      return kMagazineBins;
    }
    void noteEmpty(uint64_t bin) { filled[bin / 64] &= ~(uint64_t{1} << bin % 64); }
    /// Takes the first slot of a bin.
    void pop(uint64_t bin, const Slot &first) {
      bins[bin] = first.next();
      counters.cache(bin, -1);
    }
    /// Whoever puts a slot there counts its bytes.
    void push(uint64_t bin, Slot &slot, BufferHandle handle) {
      filled[bin / 64] |= uint64_t{1} << bin % 64;
      slot.setNext(bins[bin]);
      bins[bin] = handle;
    }
    /// Of the 64 bins from that one on, which filled ones there are: a bit each.
    uint64_t filledFrom(uint64_t bin) const {
      return filled[bin / 64] >> bin % 64 | filled[bin / 64 + 1] << 1 << (63 - bin % 64);
    }
  };
  Bias bias;        // of the buffers that it owns
  uint8_t number;   // under which it owns buffers; 0: none
  uint32_t ownBits; // state of a buffer that it owns and that has one reference, but for the
                    // generation
  uint64_t flushed; // up to this number of HeapImpl::attention
  std::array<uint32_t, kSparesPerThread> spares; // slots
  uint32_t spareCount;
  uint32_t index; // in the heap, from 0
  bool owned;
  ThreadCache *next;
  std::array<KindCache, kMemoryKinds> kinds;
};

/// The calling thread's cache of the heap; attaches one when there is none. nullptr where the host
/// has no memory.
ThreadCache *attachThreadCache(HeapImpl &heap);

/// Heaps announce themselves, so that ending threads know which are still there.
void registerHeap(HeapImpl &heap);
void unregisterHeap(HeapImpl &heap);

} // namespace gantry::heap
