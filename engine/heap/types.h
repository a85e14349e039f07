// The heap's vocabulary: codes, handles, requests, options, statistics and events, as plain data.
//
// Codes are enumerators because most of them are ordinary refusals (exhausted, over budget). None
// needs host memory to be reported; Heap::explain() makes a Status with numbers from one.
// Units: bytes. Threads: all types are values.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/base/status.h"
#include "engine/device/command_list.h"
#include "engine/device/memory.h"

#include <cstdint>
#include <span>

namespace gantry::heap {

using device::MemoryKind;
inline constexpr uint32_t kMemoryKinds = 4;

enum class HeapCode : uint8_t {
  kOk = 0,
  kInvalidArgument, // a size of 0, an alignment that is no power of two, an unknown timeline
  kForeignHandle,   // the handle is of another heap, or was never issued
  kStaleHandle,     // the buffer was released: a double release, or a use after the release
  kExhausted,       // the device has no memory left, after the whole pressure ladder
  kOverBudget,      // the device's budget or the user's limit is reached, after the whole ladder
  kHostExhausted,   // the host has no memory for the bookkeeping
  kTooLarge,        // larger than one driver allocation of this device may be
  kDeviceLost,
  kUnsupported, // valid, but this device cannot do it
  kBusy,        // the buffer is pinned, spilled or in flight; a later call may succeed
  kDriver,      // the driver failed in another way; see Heap::lastDriverMessage()
};

/// Lower-case words for a code: "stale handle".
const char *heapCodeName(HeapCode code);

/// The code for a driver's status. Ordinary refusals keep their code; all others are kDriver.
HeapCode heapCodeOf(const Status &status);

/// Identifies a buffer; a value that may be copied, kept and compared. 0 is no buffer. It holds the
/// generation of the buffer's record, so a released buffer is told from the record's next one.
struct BufferHandle {
  uint64_t bits = 0;
  bool operator==(const BufferHandle &) const = default;
  explicit operator bool() const { return bits != 0; }
};

/// A name that buffers share ("weights", "layer3/activations"), from Heap::intern(). 0: no name.
struct NameId {
  uint32_t index = 0;
};

/// Work up to and including `value` of a timeline. Timeline 0 is the device's own: its values are
/// the tickets of Device::submit. The other timelines are the caller's (Heap::addTimeline).
struct TimelinePoint {
  uint32_t timeline = 0;
  uint64_t value = 0;
};
inline constexpr uint32_t kMaxTimelines = 4;

struct BufferRequest {
  uint64_t sizeBytes = 0;
  uint64_t alignment = 256; // a power of two up to 2^30; every buffer is aligned to 256
  MemoryKind kind = MemoryKind::kDevice;
  NameId name;
  bool movable : 1 = false;   // the buffer may be moved while it is not pinned
  bool spillable : 1 = false; // its contents may go to the host while it is not pinned
  bool dedicated : 1 = false; // the buffer gets a driver allocation of its own
  float priority = 0.5f;      // The driver's priority of a dedicated buffer, 0 to 1.
};

/// The place of a buffer. The place of a movable or spillable buffer is valid while it is pinned.
struct Placement {
  device::Memory *memory = nullptr;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;    // as requested
  uint64_t address = 0;      // 0 on devices without buffer addresses
  uint8_t *mapped = nullptr; // nullptr for kDevice

  device::BufferRange range() const { return {memory, offsetBytes, sizeBytes}; }
};

/// An event of a buffer or a slab. It is sent while its range belongs to nobody else, so
/// by sequence number no range is taken before it is given back.
struct HeapEvent {
  enum class Type : uint8_t {
    kAllocate,
    kRelease,
    kMove,
    kSlabAllocate, // also told, after kSlabFree, when a dedicated slab becomes a shared one
    kSlabFree,
    kSpill,
    kRestore
  };
  Type type = Type::kAllocate;
  MemoryKind kind = MemoryKind::kDevice;
  uint32_t slab = 0;
  uint32_t name = 0;
  uint64_t sequence = 0; // 1, 2, 3 ... without gaps
  uint64_t handle = 0;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
};

struct HeapObserver {
  /// Called on the thread that caused the event, under locks of the heap: it must not call the
  /// heap.
  void (*event)(void *user, const HeapEvent &event) = nullptr;
  void *user = nullptr;
};

struct HeapOptions {
  HostAllocator host;
  HeapObserver observer;
  /// Empty slabs are kept for reuse. Once more than retainHighBytes of them are empty, they go back
  /// to the driver until retainLowBytes are left.
  uint64_t retainHighBytes = UINT64_MAX;
  uint64_t retainLowBytes = 0;
  /// Before the heap takes a slab that makes reserved bytes pass this factor times the peak of live
  /// bytes, it gives empty slabs back (retention.h). 1 to 16.
  double growthSlack = 1.05;
  /// Each thread keeps free ranges of up to 64 KiB in its size classes, for each memory kind. Their
  /// sum is at most this, or the thread's share of what is reserved if that is more. 0: none are
  /// kept.
  uint64_t sizeClassBytes = 256 << 10;
  /// The user's limit for each of the device's heaps; 0 sets no limit.
  uint64_t limitBytes[device::kMaxMemoryHeaps] = {};
};

struct KindStatistics {
  uint64_t liveBytes = 0; // Requested bytes of buffers that are not released.
  uint64_t liveBuffers = 0;
  /// Exact with one thread. Each further thread may add an error of 16 MiB above the true peak or 1
  /// MiB below it.
  uint64_t peakLiveBytes = 0;
  uint64_t reservedBytes = 0; // Bytes of slabs, including dedicated ones.
  uint64_t peakReservedBytes = 0;
  uint64_t usedBytes = 0;    // Used bytes of slabs: live (rounded), pending and cached.
  uint64_t pendingBytes = 0; // released, but work may still use them
  uint64_t largestFreeBytes = 0;
  uint32_t slabs = 0;
  uint32_t emptySlabs = 0;
  double fragmentation = 0; // 1 - largest free range / all free bytes; 0 if nothing is free
};

struct HeapStatistics {
  KindStatistics kinds[kMemoryKinds];
  uint64_t driverAllocations = 0; // since the heap was made
  uint64_t driverFrees = 0;
  uint64_t hostWaits = 0;    // allocations that had to wait for the device
  uint64_t movedBytes = 0;   // by compaction, so far
  uint64_t spilledBytes = 0; // now on the host
};

/// With several threads that use the name, peakBytes is the sum of their peaks, an upper limit.
struct NameStatistics {
  const char *name = "";
  uint64_t liveBytes = 0;
  uint64_t peakBytes = 0;
  uint64_t liveBuffers = 0;
};

} // namespace gantry::heap
