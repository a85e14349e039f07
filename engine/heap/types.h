// The heap's data types: codes, handles, requests, options, statistics and events. The heap
// (heap.h) suballocates buffers from slabs, its driver allocations. An arena (arena.h) is the part
// of a heap that serves the allocations of one thread or of a few threads.
//
// Functions of the heap return a HeapCode and not a Status, because a full heap is an ordinary
// result, and a code, unlike a message, needs no host memory. explain()
// (engine/heap/extras/report.h) makes a Status with a message from a code.
// Units: bytes. Threads: all types are plain values without synchronization.
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
  kInvalidArgument, // for example a size of 0, or a timeline that does not exist
  kForeignHandle,   // the handle belongs to another heap, or its record does not exist
  kStaleHandle,     // the buffer was released: a double release, or a use after the release
  kExhausted,       // no storage; Heap::allocate() has also tried to free some (growth.h)
  kOverBudget,      // the same, because the device's budget or the user's limit is reached
  kHostExhausted,   // the host has no memory for the bookkeeping
  kTooLarge,        // the size exceeds the device's maximum for one driver allocation
  kDeviceLost,
  kUnsupported, // the request is valid, but the device does not support it
  kBusy,   // the buffer is pinned, spilled, being moved, or in flight; a later call may succeed
  kDriver, // the driver failed in another way; see Heap::lastDriverMessage()
};

/// The code's name in lower-case words, for example "stale handle".
const char *heapCodeName(HeapCode code);

/// The code for the status of a driver call. kOutOfMemory becomes kExhausted; kOk, kDeviceLost,
/// kUnsupported and kInvalidArgument keep their names; all others become kDriver.
HeapCode heapCodeOf(const Status &status);

/// Identifies a buffer. A handle is a value that may be copied, kept and compared; 0 means no
/// buffer. The heap describes each buffer in a record. The handle contains the record's generation,
/// which grows when the last reference to a buffer is released, so the handle of a released buffer
/// differs from the handles of all later buffers in the same record.
struct BufferHandle {
  uint64_t bits = 0;
  bool operator==(const BufferHandle &) const = default;
  explicit operator bool() const { return bits != 0; }
};

/// The number of a name ("weights", "layer3/activations") from Heap::intern(). Any number of
/// buffers may carry the same name. 0: no name.
struct NameId {
  uint32_t index = 0;
};

/// A point on a timeline, a sequence of numbered work. The point has passed when all work up to and
/// including `value` is done. Timeline 0 belongs to the device: its values are the tickets that
/// Device::submit returns. The other timelines belong to the caller (Heap::addTimeline).
struct TimelinePoint {
  uint32_t timeline = 0;
  uint64_t value = 0;
};
inline constexpr uint32_t kMaxTimelines = 4;

struct BufferRequest {
  uint64_t sizeBytes = 0;
  uint64_t alignment = 256; // A power of two up to 2^30; a value below 256 has the effect of 256.
  MemoryKind kind = MemoryKind::kDevice;
  NameId name;
  bool movable : 1 = false;   // The buffer may be moved while it is not pinned.
  bool spillable : 1 = false; // Its contents may be moved to the host while it is not pinned.
  bool dedicated : 1 = false; // The buffer gets a driver allocation of its own.
  /// Only for dedicated buffers: 0 to 1. If device memory runs short, the driver evicts memory of
  /// low priority first (device::AllocateOptions).
  float priority = 0.5f;
};

/// The place of a live buffer. The place of a movable or spillable buffer is valid only while the
/// buffer is pinned.
struct Placement {
  device::Memory *memory = nullptr; // The slab that contains the buffer.
  uint64_t offsetBytes = 0;         // From the start of the slab.
  uint64_t sizeBytes = 0;           // As requested.
  uint64_t address = 0;             // Device address; 0 on devices without buffer addresses.
  uint8_t *mapped = nullptr;        // Host address; nullptr for kDevice.

  device::BufferRange range() const { return {memory, offsetBytes, sizeBytes}; }
};

/// An event of a buffer or a slab. The thread that allocates or frees a range sends the event while
/// no other thread can take the range. So the release of a range has a lower sequence number than
/// the next allocation in the same bytes.
struct HeapEvent {
  enum class Type : uint8_t {
    kAllocate,
    kRelease,
    kMove,
    /// Also sent, after kSlabFree, when the empty slab of a dedicated buffer becomes a slab for
    /// several buffers. The memory stays the same.
    kSlabAllocate,
    kSlabFree,
    kSpill,
    kRestore
  };
  Type type = Type::kAllocate;
  MemoryKind kind = MemoryKind::kDevice;
  uint32_t slab = 0;        // Number of the slab; UINT32_MAX: the buffer has no storage.
  uint32_t name = 0;        // NameId::index; 0 for slabs.
  uint64_t sequence = 0;    // 1, 2, 3 ... without gaps.
  uint64_t handle = 0;      // BufferHandle::bits; 0 for slabs.
  uint64_t offsetBytes = 0; // From the start of the slab.
  uint64_t sizeBytes = 0;   // The buffer's size as requested, or the slab's size.
};

struct HeapObserver {
  /// Called on the thread that caused the event. The thread holds locks of the heap, so the
  /// function must not call the heap.
  void (*event)(void *user, const HeapEvent &event) = nullptr;
  void *user = nullptr;
};

struct HeapOptions {
  HostAllocator host;
  HeapObserver observer;
  /// A factor, 1 to 16. The product of the factor and the peak of a memory kind's live bytes is the
  /// target for the kind's reserved bytes, those of its slabs; it may be raised later
  /// (retention.h). Before the heap exceeds the target, it uses free ranges of other arenas, then
  /// reuses or frees empty slabs (growth.h, step 3).
  double growthSlack = 1.05;
  /// The limit of the bytes that an arena keeps in its size classes, lists of free ranges of equal
  /// length (size_classes.h). If the kind's reserved bytes divided by its number of arenas are
  /// more, this quotient is the limit. 0: no ranges are kept.
  uint64_t sizeClassBytes = 256 << 10;
  /// The user's limit for each memory heap of the device (DeviceInfo::memoryHeaps); 0: no limit.
  uint64_t limitBytes[device::kMaxMemoryHeaps] = {};
};

struct KindStatistics {
  uint64_t liveBytes = 0; // Requested bytes of buffers that are not released.
  uint64_t liveBuffers = 0;
  /// The largest liveBytes so far. It is exact if one thread uses the heap. Each further thread may
  /// make it too large by about 16 MiB, or too small by 1 MiB, or by 1/32 of the thread's live
  /// bytes if that is more (counters.h).
  uint64_t peakLiveBytes = 0;
  uint64_t reservedBytes = 0; // Bytes of slabs, including dedicated ones.
  uint64_t peakReservedBytes = 0;
  uint64_t usedBytes = 0;        // Ranges of live buffers and of size classes, and pendingBytes.
  uint64_t pendingBytes = 0;     // Ranges of released buffers that work may still use.
  uint64_t largestFreeBytes = 0; // The longest free range of a slab.
  uint32_t slabs = 0;
  uint32_t emptySlabs = 0;  // Slabs without a used byte.
  double fragmentation = 0; // 1 - largestFreeBytes / all free bytes; 0 if nothing is free.
};

struct HeapStatistics {
  KindStatistics kinds[kMemoryKinds];
  uint64_t driverAllocations = 0; // Slabs that the driver allocated so far.
  uint64_t driverFrees = 0;
  uint64_t hostWaits = 0; // How often the heap, short of memory, waited for the device.
};

struct NameStatistics {
  const char *name = "";
  uint64_t liveBytes = 0;
  /// The sum of the peaks of all arenas: exact if one thread allocates buffers of this name, else
  /// an upper limit of the true peak.
  uint64_t peakBytes = 0;
  uint64_t liveBuffers = 0;
};

} // namespace gantry::heap
