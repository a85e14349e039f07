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

#include <array>
#include <atomic>
#include <bit>

namespace gantry::heap {

struct HeapImpl;
struct Pool;

inline constexpr uint32_t kMagazineGranules = 256; // sizes up to 64 KiB
/// The bin from which a magazine serves a size; kMagazineGranules or more: none does, as for 0.
inline uint64_t magazineBinOf(uint64_t sizeBytes) { return (sizeBytes - 1) >> kGranuleLog2; }
inline int64_t bytesOfMagazineBin(uint64_t bin) {
  return static_cast<int64_t>((bin + 1) << kGranuleLog2);
}
inline constexpr uint32_t kSparesPerThread = 64;
inline constexpr uint32_t kLeavingBatch = 8;
inline constexpr uint32_t kLeaving = 2 * kLeavingBatch;

/// Changes since the last publication; written by the thread, read by statistics.
struct ThreadCounters {
  std::atomic<int64_t> highBytes;  // of live bytes the most since then
  std::atomic<int64_t> belowBytes; // how many less they are now
  std::atomic<int64_t> liveBuffers;
  std::atomic<int64_t> cachedBytes; // in magazines and leaving them; not a change but the sum

  static void set(std::atomic<int64_t> &value, int64_t to) {
    value.store(to, std::memory_order_relaxed);
  }
  int64_t live() const {
    return highBytes.load(std::memory_order_relaxed) - belowBytes.load(std::memory_order_relaxed);
  }
  /// One buffer more, one less.
  void add(int64_t bytes) {
    int64_t below = belowBytes.load(std::memory_order_relaxed) - bytes;
    if (below < 0) {
      set(highBytes, highBytes.load(std::memory_order_relaxed) - below);
      below = 0;
    }
    set(belowBytes, below);
    set(liveBuffers, liveBuffers.load(std::memory_order_relaxed) + 1);
  }
  void remove(int64_t bytes) {
    set(belowBytes, belowBytes.load(std::memory_order_relaxed) + bytes);
    set(liveBuffers, liveBuffers.load(std::memory_order_relaxed) - 1);
  }
  int64_t cached() const { return cachedBytes.load(std::memory_order_relaxed); }
  void cache(int64_t bytes) { set(cachedBytes, cached() + bytes); }
};

/// A released range on its way from a full magazine back to its pool.
struct Leaving {
  uint32_t slot; // kNone: its block's own, which nobody needs to get back
  uint32_t block;
  Pool *pool; // nullptr: nothing
  int64_t bytes;
};

struct alignas(64) ThreadCache {
  struct alignas(64) KindCache {
    ThreadCounters counters;
    int64_t limitBytes; // of cachedBytes
    uint64_t plainInfo; // SlotInfo of a plain buffer, but for its size
    Pool *small;        // from which small buffers come
    /// By bin: those in which there may be something, and a word that stays 0.
    std::array<uint64_t, kMagazineGranules / 64 + 1> filled;
    /// By size in granules, less one: the first of a list of slots, each with its range.
    std::array<uint32_t, kMagazineGranules> bins;

    /// The first of the bins from that one on in which there may be something; kMagazineGranules:
    /// none.
    uint32_t nextFilled(uint32_t bin) const {
      for (; bin < kMagazineGranules; bin = (bin / 64 + 1) * 64)
        if (const uint64_t bits = filled[bin / 64] >> bin % 64; bits != 0)
          return bin + static_cast<uint32_t>(std::countr_zero(bits));
      return kMagazineGranules;
    }
    void noteEmpty(uint64_t bin) { filled[bin / 64] &= ~(uint64_t{1} << bin % 64); }
    /// Takes the first slot of a bin.
    void pop(uint64_t bin, const Slot &first) {
      bins[bin] = first.next();
      counters.cache(-bytesOfMagazineBin(bin));
    }
    /// Whoever puts a slot there counts its bytes.
    void push(uint64_t bin, Slot &slot, uint32_t index) {
      filled[bin / 64] |= uint64_t{1} << bin % 64;
      slot.setNext(bins[bin]);
      bins[bin] = index;
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
  std::array<Leaving, kLeaving> leaving; // two batches in turn
  uint32_t leavingAt;
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
