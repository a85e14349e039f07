// The heap's vocabulary: codes, handles, requests, options, statistics and events, as plain data.
//
// Codes are enums because most of them are refusals of normal life (exhausted, over budget); none
// needs host memory to be reported. Heap::explain() makes a Status with numbers from one.
// Units: bytes. Threads: values.
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
  kForeignHandle,   // of another heap, or never given out
  kStaleHandle,     // released already: a double free, or a use after it
  kExhausted,       // the device has no memory left, after everything that could be done
  kOverBudget,      // the device's budget or the user's limit is reached, after the same
  kHostExhausted,   // the host has no memory for the bookkeeping
  kTooLarge,        // more than one driver allocation of this device may have
  kDeviceLost,
  kUnsupported, // valid, but this device cannot do it
  kBusy,        // pinned, spilled or in flight: try again when it is not
  kDriver,      // the driver failed in another way; Heap::lastDriverMessage() has its words
};

/// Lower-case words for a code: "stale handle".
const char *heapCodeName(HeapCode code);

/// What a driver's answer means here: its refusals of normal life keep their code, all else is
/// kDriver.
HeapCode heapCodeOf(const Status &status);

/// Names a buffer; a value that may be copied, kept and compared. 0 names none. It holds the slot's
/// generation, so one that was released is told from the slot's next owner.
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
/// the tickets of Device::submit. Others are the caller's (Heap::addTimeline).
struct TimelinePoint {
  uint32_t timeline = 0;
  uint64_t value = 0;
};
inline constexpr uint32_t kMaxTimelines = 4;

struct BufferRequest {
  uint64_t sizeBytes = 0;
  uint64_t alignment = 256; // a power of two; 256 is the least that is given
  MemoryKind kind = MemoryKind::kDevice;
  NameId name;
  bool movable : 1 = false;   // compaction may move it while it is not pinned
  bool spillable : 1 = false; // under pressure its contents may go to the host, while not pinned
  bool dedicated : 1 = false; // a driver allocation of its own
  float priority = 0.5f;      // of a dedicated one, for the driver
  /// Work that will use the buffer starts after these points: storage whose former users are done
  /// by then may be handed out although they are running still.
  std::span<const TimelinePoint> orderedAfter;
};

/// Where a buffer lies now. Of a movable or spillable one it holds until it is unpinned.
struct Placement {
  device::Memory *memory = nullptr;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;    // as requested
  uint64_t address = 0;      // 0 where the device has no addresses
  uint8_t *mapped = nullptr; // nullptr for kDevice

  device::BufferRange range() const { return {memory, offsetBytes, sizeBytes}; }
};

/// What happened to a buffer or a slab, for traces. Sent while the range is nobody else's, so that
/// by sequence number no range is taken before it is given back.
struct HeapEvent {
  enum class Type : uint8_t {
    kAllocate,
    kRelease,
    kMove,
    kSlabAllocate, // and, behind kSlabFree, when a pool takes over a dedicated one that is free
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
  /// Called on the thread that caused the event, under a lock of the heap: it must not call the
  /// heap.
  void (*event)(void *user, const HeapEvent &event) = nullptr;
  void *user = nullptr;
};

struct HeapOptions {
  HostAllocator host;
  HeapObserver observer;
  /// Buffers from this size on that fit into no free range get a slab of their own, unless the heap
  /// is being filled again (retention.h).
  uint64_t dedicatedBytes = 20ULL << 20;
  /// Empty slabs are kept for reuse; beyond `retainHighBytes` of them they go back to the driver
  /// until `retainLowBytes` are left. When the heap grows, empty slabs go back first as far as
  /// reserved bytes would pass `growthSlack` times the peak of live bytes.
  uint64_t retainHighBytes = UINT64_MAX;
  uint64_t retainLowBytes = 0;
  double growthSlack = 1.05;
  /// Per thread and memory kind, freed ranges up to 64 KiB each are kept at hand up to this sum, or
  /// up to a share of what is reserved where that is more. They serve requests of their size, or of
  /// up to a fifth less, and are merged again before the heap grows. 0: none.
  uint64_t magazineBytes = 256 << 10;
  /// The user's limit for each of the device's heaps; unset entries do not limit.
  uint64_t limitBytes[device::kMaxMemoryHeaps] = {};
  /// Whether the rung "spill" may be climbed at all.
  bool allowSpill = false;
};

struct KindStatistics {
  uint64_t liveBytes = 0; // as requested, of buffers that are not released
  uint64_t liveBuffers = 0;
  /// Exact with one thread. With several, whose counters meet seldom, it may lie off the true peak
  /// by what their magazines hold, and for each of them 16 MiB above it or 1 MiB below.
  uint64_t peakLiveBytes = 0;
  uint64_t reservedBytes = 0; // of slabs, dedicated ones included
  uint64_t peakReservedBytes = 0;
  uint64_t usedBytes = 0;    // of slabs, taken: live as rounded, in flight, and in magazines
  uint64_t pendingBytes = 0; // released, but their points have not passed
  uint64_t largestFreeBytes = 0;
  uint32_t slabs = 0;
  uint32_t emptySlabs = 0;
  /// 1 - largest free range / all free bytes; 0 where nothing is free.
  double fragmentation = 0;
};

struct HeapStatistics {
  KindStatistics kinds[kMemoryKinds];
  uint64_t driverAllocations = 0; // since the heap was made
  uint64_t driverFrees = 0;
  uint64_t hostWaits = 0; // times that an allocation had to wait for the device
  uint64_t orderedReuses = 0;
  uint64_t movedBytes = 0;
  uint64_t spilledBytes = 0; // now on the host
};

struct NameStatistics {
  const char *name = "";
  uint64_t liveBytes = 0;
  uint64_t peakBytes = 0;
  uint64_t liveBuffers = 0;
};

struct CompactResult {
  uint64_t movedBytes = 0;
  uint64_t freedBytes = 0; // given back to the driver
  bool more = false;       // another call would do more
};

} // namespace gantry::heap
