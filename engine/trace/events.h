// The trace events: one plain struct for each kind of event. The ring of a thread, the queue of its
// events (record/ring.h), stores these structs, and CaptureReader returns them. On a socket and in
// a file, events are encoded column by column instead (wire/codec.h).
//
// An event is at most 64 bytes long, its size is a multiple of 8 bytes, and it begins with an
// EventHeader.
//
// Order: a memory event carries a sequence number of its heap. The heap assigns the numbers under
// its own lock: 1, 2, 3 … without gaps unless events were dropped. In sequence order a range is
// always released before it is allocated again. A reader returns events in the order in which the
// collector (record/collector.h) merged them. For the memory events of one heap, this is the order
// of `timeNs` and of the sequence numbers. Any other event may come after events with a later
// `timeNs`, if its thread was interrupted between reading the clock and publishing the event.
//
// Times: `timeNs` is in nanoseconds of one host clock, counted from the moment at which recording
// was switched on. Times that a device measured (GpuTimes) are in nanoseconds of that device's
// clock; only a ClockEvent of the device relates the two clocks (record/clock.h does the
// conversion).
//
// Heaps: in this file, a heap is Gantry's memory manager of a device (engine/heap). It allocates
// slabs from the driver and divides them into blocks, the buffers of its callers. The driver's own
// memory heaps are called the memory heaps of the device.
//
// Ids of heaps, sessions, plans, runs, devices and imports count from 1 in each process and are
// never reused; 0 means "none". A text field is an id of the names table (wire/capture.h); 0 is the
// empty text. Sizes and offsets are in bytes.
//
// To add an event type: add the enumerator at the end of its group in EventType (numbers are never
// reused), its struct in this file, and its fields in wire/schema.cpp.
//
// Thread safety: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gantry::trace {

enum class EventType : uint8_t {
  kNone = 0,
  // The process, its threads and its devices.
  kProcess = 1,
  kThread = 2,
  kDevice = 3,
  kDeviceHeap = 4,
  kClock = 5,
  kDrops = 6,
  // The memory of a heap. Most of these events carry the heap's sequence number.
  kHeap = 10,
  kHeapEnd = 11,
  kSlab = 12,
  kSlabEnd = 13,
  kAllocate = 14,
  kRelease = 15,
  kMove = 16,
  kSpill = 17,
  kRestore = 18,
  kSnapshotBegin = 19,
  kLiveSlab = 20,
  kLiveBlock = 21,
  kSnapshotEnd = 22,
  kHeapTotals = 23,
  kBudget = 24,
  kImport = 25,
  kImportEnd = 26,
  // Sessions, memory plans and runs of compiled programs.
  kSession = 40,
  kSessionEnd = 41,
  kPlan = 42,
  kPlanEntry = 43,
  kCommand = 44,
  kAccess = 45,
  kArena = 46,
  kArenaEnd = 47,
  kRun = 48,
  kRunEnd = 49,
  kDispatch = 50,
  kCopy = 51,
  kDonation = 52,
  kRunBinding = 53,
  // Events that the user's code and the engine record on host threads.
  kSpanBegin = 60,
  kSpanEnd = 61,
  kMark = 62,
  kCounter = 63,
};
/// Upper limit for the numbers of event types: the codec stores a type in 6 bits.
inline constexpr uint32_t kEventTypes = 64;

/// Returns the name of an event type, such as "allocate"; "unknown" for a number that is not
/// assigned.
const char *eventTypeName(EventType type);

struct EventHeader {
  uint64_t timeNs = 0; // In a ring: ticks of record/ticks.h.
  EventType type = EventType::kNone;
  uint8_t words = 0;   // Size of the event in words of 8 bytes.
  uint16_t heap = 0;   // Heap id of an event that belongs to a heap; otherwise 0.
  uint32_t thread = 0; // Thread number, from 1; 0 for no thread. Not set in a ring.
};
static_assert(sizeof(EventHeader) == 16);

// ---- the process, its threads and its devices --------------------------------------------------

/// kProcess: describes the process. It is the first event of a capture.
struct ProcessEvent {
  EventHeader header;
  uint32_t processId = 0;
  uint32_t name = 0;            // File name of the executable, without its folder.
  uint32_t commandLine = 0;     // Arguments joined by spaces.
  uint32_t producer = 0;        // Program and version, such as "gantry 0.1.0".
  uint64_t wallClockNs = 0;     // Nanoseconds from 1970-01-01 UTC to timeNs 0.
  uint64_t clockResolution = 0; // Ticks per second of the counter from which timeNs is computed.
};
static_assert(sizeof(ProcessEvent) == 48);

/// kThread: gives the name of the header's thread from this time on.
struct ThreadEvent {
  EventHeader header;
  uint32_t systemId = 0; // Thread id of the operating system.
  uint32_t name = 0;
};
static_assert(sizeof(ThreadEvent) == 24);

/// kDevice: describes a device and the limits that the profiler shows.
struct DeviceEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t name = 0;
  uint32_t driver = 0;
  uint32_t backend = 0; // "vulkan"
  uint64_t maxAllocationBytes = 0;
  uint32_t sharedBytesLimit = 0; // Shared memory limit of one workgroup, in bytes.
  uint32_t maxInvocations = 0;   // Upper limit of invocations in one workgroup.
  uint32_t subgroupSize = 0;     // In invocations.
  uint32_t memoryHeaps = 0;      // Number of kDeviceHeap events that follow.
  uint8_t kind = 0; // 0: discrete GPU, 1: integrated GPU, 2: virtual GPU, 3: software device.
  uint8_t unifiedMemory = 0; // 1 if the host can map the largest device-local heap.
  uint8_t reserved[6] = {};
};
static_assert(sizeof(DeviceEvent) == 64);

/// kDeviceHeap: describes one memory heap of the device, as the driver reports it.
struct DeviceHeapEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t index = 0;
  uint64_t sizeBytes = 0;
  uint32_t deviceLocal = 0; // 0 or 1.
  uint32_t reserved = 0;
};
static_assert(sizeof(DeviceHeapEvent) == 40);

/// kClock: correlates two clocks. When the capture's clock was at hostNs, the device's clock was at
/// deviceNs, with an error of at most errorNs.
struct ClockEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t source = 0; // 1: the driver's calibrated timestamps; 2: an empty submission's timestamp.
  uint64_t hostNs = 0; // In a ring: time of the monotonic clock.
  uint64_t deviceNs = 0;
  uint64_t errorNs = 0;
};
static_assert(sizeof(ClockEvent) == 48);

/// kDrops: counts the events of the header's thread that were lost since the thread's last kDrops
/// because its ring was full. The record comes before the first event that any thread recorded
/// after the loss, and has that event's time. If `memory` is not 0, the set of live blocks is
/// unknown until the next snapshot. If the loss happened while a snapshot was being written, the
/// record is repeated after the snapshot with `events` 0 and `memory` 1, so that a viewer does not
/// take the snapshot for complete. A record with thread 0 counts events that ending threads
/// recorded after they had given up their rings; its `memory` is 0, although memory events may be
/// among them.
struct DropsEvent {
  EventHeader header;
  uint64_t events = 0; // Number of lost events.
  uint64_t memory = 0; // Number of memory events among them.
};
static_assert(sizeof(DropsEvent) == 32);

// ---- memory ------------------------------------------------------------------------------------

/// kHeap, kHeapEnd: the heap header.heap was created or destroyed. All live blocks and slabs of a
/// destroyed heap are gone.
struct HeapEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t name = 0;
};
static_assert(sizeof(HeapEvent) == 24);

/// kSlab: the heap allocated a slab from the driver. kSlabEnd: the heap freed the slab. kLiveSlab:
/// the slab existed when a snapshot was taken.
struct SlabEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t sizeBytes = 0;
  uint64_t address = 0;    // Device address; 0 if the slab has none.
  uint32_t slab = 0;       // Slab number in the heap; reused after kSlabEnd.
  uint32_t deviceHeap = 0; // DeviceHeapEvent::index of the memory heap that the slab lies in.
  uint8_t kind = 0;        // MemoryKind of engine/device/memory_types.h.
  uint8_t dedicated = 0;   // 1 if the slab holds a single block.
  uint8_t reserved[6] = {};
};
static_assert(sizeof(SlabEvent) == 56);

/// The slab number of a block that has no device memory.
inline constexpr uint32_t kNoSlab = UINT32_MAX;

/// kAllocate: a block was allocated. kMove: the block has a new place. kSpill: the block's contents
/// were copied to host memory (slab kNoSlab). kRestore: the contents were copied back. kLiveBlock:
/// the block existed when a snapshot was taken.
struct BlockEvent {
  EventHeader header;
  uint64_t sequence = 0; // For kLiveBlock: the snapshot's sequence number.
  /// The block's handle, never reused in a heap. Low 32 bits: the slot, which identifies the
  /// block's record in the heap's handle table; high 32 bits: the slot's generation.
  uint64_t block = 0;
  uint64_t offsetBytes = 0; // From the start of the slab.
  uint64_t sizeBytes = 0;   // The requested size.
  uint32_t slab = 0;
  uint32_t name = 0;
  uint32_t span = 0; // Name of the innermost span that was open on the thread.
  uint8_t kind = 0;  // MemoryKind of engine/device/memory_types.h.
  uint8_t reserved[3] = {};
};
static_assert(sizeof(BlockEvent) == 64);

/// kRelease: the last reference to a block was released.
struct ReleaseEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t block = 0;
};
static_assert(sizeof(ReleaseEvent) == 32);

/// kSnapshotBegin, kSnapshotEnd: the kLiveSlab and kLiveBlock events between them list everything
/// that is alive in header.heap at `sequence`. A reader must discard its earlier knowledge of the
/// heap. The snapshot includes the effect of all events up to `sequence`; all later events follow
/// the snapshot.
struct SnapshotEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t blocks = 0;
  uint64_t sizeBytes = 0; // Sum of the sizes of all live blocks.
  uint32_t device = 0;
  uint32_t name = 0; // Name of the heap.
};
static_assert(sizeof(SnapshotEvent) == 48);

/// kHeapTotals: the heap's own counters for one memory kind. If `sequence` is 0, the counters were
/// read while other threads allocated; otherwise they are exact at that sequence number.
struct HeapTotalsEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t liveBytes = 0;
  uint64_t liveBlocks = 0;
  uint64_t reservedBytes = 0;
  uint64_t peakLiveBytes = 0;
  uint32_t kind = 0; // MemoryKind of engine/device/memory_types.h.
  uint32_t reserved = 0;
};
static_assert(sizeof(HeapTotalsEvent) == 64);

/// kBudget: the memory budget of one of the device's memory heaps, as the driver reports it, or as
/// Gantry estimates it if the driver does not report one.
struct BudgetEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t deviceHeap = 0;
  uint64_t budgetBytes = 0;
  uint64_t usedBytes = 0;  // Bytes in use by the process; without a report, by the device object.
  uint64_t limitBytes = 0; // The user's limit; UINT64_MAX for none.
};
static_assert(sizeof(BudgetEvent) == 48);

/// kImport, kImportEnd: the process began or stopped using memory that another owner allocated.
struct ImportEvent {
  EventHeader header;
  uint64_t id = 0;
  uint64_t sizeBytes = 0;
  uint32_t device = 0;
  uint32_t name = 0;
};
static_assert(sizeof(ImportEvent) == 40);

// ---- programs ----------------------------------------------------------------------------------

/// kSession, kSessionEnd: a session, which binds a compiled program to a device, was created or
/// destroyed.
struct SessionEvent {
  EventHeader header; // header.heap is set.
  uint32_t session = 0;
  uint32_t device = 0;
  uint32_t program = 0; // Name of the program.
  uint32_t source = 0;  // Path of the model's file.
  uint32_t profile = 0; // Name of the device profile that the program was compiled for.
  uint32_t reserved = 0;
  uint64_t constantBytes = 0;
};
static_assert(sizeof(SessionEvent) == 48);

/// kPlan: the memory plan of a session for one set of shapes. The plan's entries, commands and
/// accesses follow it, then the runs that use it.
struct PlanEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t session = 0;
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0; // No placement of these values has a smaller arena.
  uint32_t peakCommand = 0;     // The command at which the most bytes are live.
  uint32_t commands = 0;
  uint32_t entries = 0;
  uint32_t shapes = 0; // The symbolic sizes as text: "batch=4 length=128".
};
static_assert(sizeof(PlanEvent) == 56);

/// The place of a plan's value. kTransient: the arena, one block for the values that only commands
/// of the same run use. kHost: host memory, to which the compiler moves transients for a while to
/// meet a memory budget.
enum class EntryStorage : uint8_t { kInput, kOutput, kConstant, kTransient, kHost };

/// kPlanEntry: one value of a plan. `offsetBytes` of a transient counts from the start of the
/// arena, of a constant from the start of the constants' block, and of a host value from the start
/// of the block "away on the host". Inputs and outputs have no offset (UINT64_MAX).
struct PlanEntryEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t value = 0;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0; // Index of the first command that uses the value.
  uint32_t lastUse = 0;  // Index of the last command that uses it (inclusive).
  uint32_t name = 0;     // The value's name in the model.
  uint32_t op = 0;       // Name of the operator that produces the value.
  uint32_t slot = 0;     // Values with the same slot lie in the same range of the arena.
  uint8_t storage = 0;   // An EntryStorage.
  uint8_t reserved[3] = {};
};
static_assert(sizeof(PlanEntryEvent) == 64);

/// kCommand: one command of a plan.
struct CommandEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t command = 0;
  uint32_t name = 0;     // Names of the operators that were fused into the command.
  uint32_t location = 0; // Source location in the model.
  uint32_t kernel = 0;   // Name of the kernel; 0 for a copy.
  uint32_t sharedBytes = 0;
  uint32_t registers = 0; // Registers per invocation; 0 if the driver does not report them.
  float flops = 0;        // Arithmetic operations in one run, rounded.
  float bytesMoved = 0;   // Bytes of operands and results in one run, rounded.
  uint16_t workgroupSize[3] = {0, 0, 0};
  uint8_t isCopy = 0;
  uint8_t barrierBefore = 0;
  uint32_t tile = 0; // The parts of the result that invocations and workgroups compute, as text.
};
static_assert(sizeof(CommandEvent) == 64);

/// kAccess: a command reads or writes a value.
struct AccessEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t command = 0;
  uint32_t value = 0;
  uint32_t write = 0; // 0: read, 1: write.
};
static_assert(sizeof(AccessEvent) == 32);

/// kArena, kArenaEnd: a session allocated or released one of its blocks. The name identifies the
/// block: "arena" (the transients), "constants" or "away on the host". Offsets of plan entries
/// count from the start of these blocks.
struct ArenaEvent {
  EventHeader header; // header.heap is set.
  uint64_t block = 0; // Block id in that heap.
  uint64_t sizeBytes = 0;
  uint32_t session = 0;
  uint32_t name = 0; // "arena", "constants" or "away on the host".
};
static_assert(sizeof(ArenaEvent) == 40);

/// kRun: a run was submitted. kRunEnd: the host observed that the run finished; `status` is a
/// StatusCode, 0 for success.
struct RunEvent {
  EventHeader header;
  uint32_t run = 0;
  uint32_t session = 0;
  uint32_t plan = 0;
  uint32_t status = 0;
  uint64_t ticket = 0; // Ticket that Device::submit() returned.
};
static_assert(sizeof(RunEvent) == 40);

/// Begin and end of a command in nanoseconds of the device's clock. Both are 0 if no timestamps
/// were taken.
struct GpuTimes {
  uint64_t beginNs = 0;
  uint64_t endNs = 0;
};

/// kDispatch: a kernel ran. The event is recorded when the timestamps of its run are known.
struct DispatchEvent {
  EventHeader header;
  uint32_t run = 0;
  uint32_t command = 0; // Index in the run's plan.
  uint32_t workgroups[3] = {0, 0, 0};
  uint32_t device = 0;
  GpuTimes gpu;
};
static_assert(sizeof(DispatchEvent) == 56);

/// kCopy: the device copied bytes within its memory.
struct CopyEvent {
  EventHeader header;
  uint32_t run = 0;
  uint32_t command = 0;
  uint32_t device = 0;
  uint32_t reserved = 0;
  uint64_t sizeBytes = 0;
  GpuTimes gpu;
};
static_assert(sizeof(CopyEvent) == 56);

/// kDonation: the caller gave up an input's block to a run. The block's memory becomes free for
/// reuse when the device has finished the runs of the session that use the block.
struct DonationEvent {
  EventHeader header; // header.heap is set.
  uint64_t block = 0;
  uint64_t sizeBytes = 0;
  uint32_t run = 0;
  uint32_t value = 0; // Index in the run's plan.
};
static_assert(sizeof(DonationEvent) == 40);

/// kRunBinding: the block and offset of an input or output value in one run.
struct RunBindingEvent {
  EventHeader header; // header.heap is set.
  uint64_t block = 0;
  uint64_t offsetBytes = 0;
  uint32_t run = 0;
  uint32_t value = 0;
};
static_assert(sizeof(RunBindingEvent) == 40);

// ---- the host ----------------------------------------------------------------------------------

/// kSpanBegin, kSpanEnd: begin and end of a span, a named interval of a thread's work. Spans of a
/// thread nest. kMark: a moment with a number that the caller chose. kCounter: a named quantity has
/// this value from now on.
struct HostEvent {
  EventHeader header;
  uint32_t name = 0;
  uint32_t category = 0; // Id of a name; 0 for the default category.
  int64_t value = 0;
};
static_assert(sizeof(HostEvent) == 32);

// ---- an event of any type ----------------------------------------------------------------------

inline constexpr size_t kMaxEventBytes = 64;

/// An event of any type, as readers return it. The bytes after the event's own size are 0.
union Event {
  Event() : header() { std::memset(static_cast<void *>(this), 0, sizeof(*this)); }
  template <typename T>
  requires(sizeof(T) <= kMaxEventBytes &&
           !std::is_same_v<T, Event>) explicit Event(const T &event) {
    std::memset(static_cast<void *>(this), 0, sizeof(*this));
    std::memcpy(static_cast<void *>(this), &event, sizeof(event));
  }

  EventType type() const { return header.type; }

  EventHeader header;
  ProcessEvent process;
  ThreadEvent thread;
  DeviceEvent device;
  DeviceHeapEvent deviceHeap;
  ClockEvent clock;
  DropsEvent drops;
  HeapEvent heap;
  SlabEvent slab;
  BlockEvent block;
  ReleaseEvent release;
  SnapshotEvent snapshot;
  HeapTotalsEvent heapTotals;
  BudgetEvent budget;
  ImportEvent import;
  SessionEvent session;
  PlanEvent plan;
  PlanEntryEvent planEntry;
  CommandEvent command;
  AccessEvent access;
  ArenaEvent arena;
  RunEvent run;
  DispatchEvent dispatch;
  CopyEvent copy;
  DonationEvent donation;
  RunBindingEvent runBinding;
  HostEvent host;
};
static_assert(sizeof(Event) == kMaxEventBytes);
static_assert(std::is_trivially_copyable_v<Event>);

/// Returns the size in bytes of events of a type; 0 for a number that is not assigned.
size_t eventBytes(EventType type);

/// Returns an event whose header has its type and size set: `makeEvent<RunEvent>(EventType::kRun)`.
template <typename T> T makeEvent(EventType type) {
  T event;
  event.header.type = type;
  event.header.words = static_cast<uint8_t>(sizeof(T) / 8);
  return event;
}

} // namespace gantry::trace
