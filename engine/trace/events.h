// What a trace says: every event, as it lies in a thread's ring and as a reader hands it out.
//
// An event is plain data of at most 64 bytes, a multiple of 8, that begins with an EventHeader. On
// the wire and on disk events are coded by column (codec.h); these structs are what both ends see.
//
// What happened to memory carries a sequence number of its heap, taken under the heap's own lock:
// 1, 2, 3 … without gaps while nothing is dropped. Sorted by it, no range is taken before it is
// given back. A reader hands all events out in the order of `timeNs`, which is the order of the
// sequence numbers too; other events of different threads may be out of order by as long as their
// thread was interrupted between taking the time and writing the event.
//
// Times are nanoseconds of one host clock, counted from the capture's start, except for the times
// that a device took (GpuTimes): those count on that device's clock, and only a ClockEvent of that
// device relates them to the host's (clock.h does the sum). Ids (heap, session, plan, run, device)
// count from 1 in each process and are never used twice; 0 names none. Texts are ids of the names
// table; 0 is "". Units: bytes and nanoseconds.
//
// To add an event: a type at the end of EventType (numbers are never used twice), its struct here,
// its fields in schema.cpp, its line in README.md. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gantry::trace {

enum class EventType : uint8_t {
  kNone = 0,
  // The process and what it runs on.
  kProcess = 1,
  kThread = 2,
  kDevice = 3,
  kDeviceHeap = 4,
  kClock = 5,
  kDrops = 6,
  // Memory of a heap, in the order of its sequence.
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
  // Programs.
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
  // The host.
  kSpanBegin = 60,
  kSpanEnd = 61,
  kMark = 62,
  kCounter = 63,
};
inline constexpr uint32_t kEventTypes = 64;

/// "allocate"; "unknown" for a number that is no type.
const char *eventTypeName(EventType type);

struct EventHeader {
  uint64_t timeNs = 0; // in a ring: ticks of ticks.h
  EventType type = EventType::kNone;
  uint8_t words = 0;   // size of the event in 8 bytes
  uint16_t heap = 0;   // of memory events
  uint32_t thread = 0; // of the process, from 1; in a ring: not set
};
static_assert(sizeof(EventHeader) == 16);

// ---- the process and what it runs on -----------------------------------------------------------

/// kProcess: the first event of a capture.
struct ProcessEvent {
  EventHeader header;
  uint32_t processId = 0;
  uint32_t name = 0;            // of the executable
  uint32_t commandLine = 0;     // joined by spaces
  uint32_t producer = 0;        // "gantry 0.1.0"
  uint64_t wallClockNs = 0;     // since 1970, at timeNs 0
  uint64_t clockResolution = 0; // ticks per second of the clock behind timeNs
};
static_assert(sizeof(ProcessEvent) == 48);

/// kThread: the thread of the header has this name from now on.
struct ThreadEvent {
  EventHeader header;
  uint32_t systemId = 0;
  uint32_t name = 0;
};
static_assert(sizeof(ThreadEvent) == 24);

/// kDevice: a device and the limits that a viewer draws.
struct DeviceEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t name = 0;
  uint32_t driver = 0;
  uint32_t backend = 0; // "vulkan"
  uint64_t maxAllocationBytes = 0;
  uint32_t sharedBytesLimit = 0; // of one workgroup
  uint32_t maxInvocations = 0;   // of one workgroup
  uint32_t subgroupSize = 0;
  uint32_t memoryHeaps = 0;
  uint8_t kind = 0; // 0 discrete, 1 integrated, 2 virtual, 3 software
  uint8_t unifiedMemory = 0;
  uint8_t reserved[6] = {};
};
static_assert(sizeof(DeviceEvent) == 64);

/// kDeviceHeap: one of the device's memory heaps.
struct DeviceHeapEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t index = 0;
  uint64_t sizeBytes = 0;
  uint32_t deviceLocal = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(DeviceHeapEvent) == 40);

/// kClock: at the moment hostNs of the capture's clock the device's clock stood at deviceNs; the
/// truth lies within errorNs of it.
struct ClockEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t source = 0; // 1: the driver calibrated both clocks, 2: a submission that does nothing
  uint64_t hostNs = 0; // in a ring: of the monotonic clock
  uint64_t deviceNs = 0;
  uint64_t errorNs = 0;
};
static_assert(sizeof(ClockEvent) == 48);

/// kDrops: this many events of the header's thread were lost since its last kDrops, because its
/// ring was full. It stands before the first event that was recorded after the loss, in whichever
/// thread, and has the time of what follows it. `memory` of them were of heaps: what is alive is
/// unknown until the next snapshot; where one began before the loss that it stands behind, this is
/// said again, with no `events`.
struct DropsEvent {
  EventHeader header;
  uint64_t events = 0;
  uint64_t memory = 0;
};
static_assert(sizeof(DropsEvent) == 32);

// ---- memory ------------------------------------------------------------------------------------

/// kHeap, kHeapEnd: header.heap begins, ends. Live blocks and slabs of a heap that ended are gone.
struct HeapEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t name = 0;
};
static_assert(sizeof(HeapEvent) == 24);

/// kSlab, kLiveSlab: memory came from the driver. kSlabEnd: it went back.
struct SlabEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t sizeBytes = 0;
  uint64_t address = 0; // on the device; 0 where it has none
  uint32_t slab = 0;    // of the heap; used again after kSlabEnd
  uint32_t deviceHeap = 0;
  uint8_t kind = 0; // MemoryKind of engine/device/memory.h
  uint8_t dedicated = 0;
  uint8_t reserved[6] = {};
};
static_assert(sizeof(SlabEvent) == 56);

inline constexpr uint32_t kNoSlab = UINT32_MAX;

/// kAllocate: a block came to be. kMove: it lies elsewhere now. kSpill: it went to the host (slab
/// kNoSlab). kRestore: it came back. kLiveBlock: it was there when the snapshot was taken.
struct BlockEvent {
  EventHeader header;
  uint64_t sequence = 0;    // of kLiveBlock: that of the snapshot
  uint64_t block = 0;       // never used twice in a heap
  uint64_t offsetBytes = 0; // in the slab
  uint64_t sizeBytes = 0;   // as requested
  uint32_t slab = 0;
  uint32_t name = 0;
  uint32_t span = 0; // name of the innermost span open on the thread
  uint8_t kind = 0;  // MemoryKind
  uint8_t reserved[3] = {};
};
static_assert(sizeof(BlockEvent) == 64);

/// kRelease: the last reference to a block is gone.
struct ReleaseEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t block = 0;
};
static_assert(sizeof(ReleaseEvent) == 32);

/// kSnapshotBegin, kSnapshotEnd: in between, kLiveSlab and kLiveBlock tell all that is alive in
/// header.heap at `sequence`. What was known of the heap before is void. The heap's events up to
/// `sequence` are in the snapshot, all later ones follow.
struct SnapshotEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t blocks = 0;
  uint64_t sizeBytes = 0; // the sum of the live blocks' sizes
  uint32_t device = 0;
  uint32_t name = 0; // of the heap
};
static_assert(sizeof(SnapshotEvent) == 48);

/// kHeapTotals: the heap's own counters for one memory kind. With `sequence` 0 they were read while
/// others allocated; else they hold exactly at that sequence number.
struct HeapTotalsEvent {
  EventHeader header;
  uint64_t sequence = 0;
  uint64_t liveBytes = 0;
  uint64_t liveBlocks = 0;
  uint64_t reservedBytes = 0;
  uint64_t peakLiveBytes = 0;
  uint32_t kind = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(HeapTotalsEvent) == 64);

/// kBudget: what the driver (or, without a word of it, Gantry) allows for a device's memory heap.
struct BudgetEvent {
  EventHeader header;
  uint32_t device = 0;
  uint32_t deviceHeap = 0;
  uint64_t budgetBytes = 0;
  uint64_t usedBytes = 0;  // of the process, as the driver counts
  uint64_t limitBytes = 0; // the user's; all ones: none
};
static_assert(sizeof(BudgetEvent) == 48);

/// kImport, kImportEnd: memory that another owner allocated is in use here.
struct ImportEvent {
  EventHeader header;
  uint64_t id = 0;
  uint64_t sizeBytes = 0;
  uint32_t device = 0;
  uint32_t name = 0;
};
static_assert(sizeof(ImportEvent) == 40);

// ---- programs ----------------------------------------------------------------------------------

/// kSession, kSessionEnd.
struct SessionEvent {
  EventHeader header; // with the heap
  uint32_t session = 0;
  uint32_t device = 0;
  uint32_t program = 0; // its name
  uint32_t source = 0;  // the model's file
  uint32_t profile = 0;
  uint32_t reserved = 0;
  uint64_t constantBytes = 0;
};
static_assert(sizeof(SessionEvent) == 48);

/// kPlan: where everything of a session lies for one set of shapes. Its entries, commands and
/// accesses follow, then the runs that use it.
struct PlanEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t session = 0;
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;
  uint32_t peakCommand = 0;
  uint32_t commands = 0;
  uint32_t entries = 0;
  uint32_t shapes = 0; // the sizes in words: "batch=4 length=128"
};
static_assert(sizeof(PlanEvent) == 56);

enum class EntryStorage : uint8_t { kInput, kOutput, kConstant, kTransient, kHost };

/// kPlanEntry: one value. A transient has its offset in the arena, a constant in the constants'
/// block, one on the host in the block "away on the host"; others have none (all ones).
struct PlanEntryEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t value = 0;
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0; // commands, inclusive
  uint32_t lastUse = 0;
  uint32_t name = 0; // the model's own
  uint32_t op = 0;   // that produces it
  uint32_t slot = 0; // values with the same slot share bytes
  uint8_t storage = 0;
  uint8_t reserved[3] = {};
};
static_assert(sizeof(PlanEntryEvent) == 64);

/// kCommand: one command of a plan.
struct CommandEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t command = 0;
  uint32_t name = 0;     // the operators fused into it
  uint32_t location = 0; // in the model
  uint32_t kernel = 0;   // its name; 0 for a copy
  uint32_t sharedBytes = 0;
  uint32_t registers = 0; // per invocation; 0 where the driver does not tell
  float flops = 0;        // rounded figures
  float bytesMoved = 0;
  uint16_t workgroupSize[3] = {0, 0, 0};
  uint8_t isCopy = 0;
  uint8_t barrierBefore = 0;
  uint32_t tile = 0; // what the tiler chose, in words
};
static_assert(sizeof(CommandEvent) == 64);

/// kAccess: a command reads or writes a value.
struct AccessEvent {
  EventHeader header;
  uint32_t plan = 0;
  uint32_t command = 0;
  uint32_t value = 0;
  uint32_t write = 0;
};
static_assert(sizeof(AccessEvent) == 32);

/// kArena, kArenaEnd: a session has taken, given back the memory of its transients (name "arena")
/// or another of its own; plans' offsets count from its start.
struct ArenaEvent {
  EventHeader header; // with the heap
  uint64_t block = 0; // of the heap
  uint64_t sizeBytes = 0;
  uint32_t session = 0;
  uint32_t name = 0; // "arena", "constants", "away on the host"
};
static_assert(sizeof(ArenaEvent) == 40);

/// kRun: submitted. kRunEnd: the host knows that it is done; status is 0 or a StatusCode.
struct RunEvent {
  EventHeader header;
  uint32_t run = 0;
  uint32_t session = 0;
  uint32_t plan = 0;
  uint32_t status = 0;
  uint64_t ticket = 0; // of the device
};
static_assert(sizeof(RunEvent) == 40);

/// On the device's own clock; both 0 where nobody asked for times.
struct GpuTimes {
  uint64_t beginNs = 0;
  uint64_t endNs = 0;
};

/// kDispatch: a kernel ran. Sent when its run's times are known.
struct DispatchEvent {
  EventHeader header;
  uint32_t run = 0;
  uint32_t command = 0; // of the run's plan
  uint32_t workgroups[3] = {0, 0, 0};
  uint32_t device = 0;
  GpuTimes gpu;
};
static_assert(sizeof(DispatchEvent) == 56);

/// kCopy: bytes moved from one place of the device's memory to another.
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

/// kDonation: a run takes the block of an input for good; it may lie elsewhere afterwards.
struct DonationEvent {
  EventHeader header; // with the heap
  uint64_t block = 0;
  uint64_t sizeBytes = 0;
  uint32_t run = 0;
  uint32_t value = 0; // of the run's plan
};
static_assert(sizeof(DonationEvent) == 40);

/// kRunBinding: in this run the value lies in this block.
struct RunBindingEvent {
  EventHeader header; // with the heap
  uint64_t block = 0;
  uint64_t offsetBytes = 0;
  uint32_t run = 0;
  uint32_t value = 0;
};
static_assert(sizeof(RunBindingEvent) == 40);

// ---- the host ----------------------------------------------------------------------------------

/// kSpanBegin, kSpanEnd: a stretch of a thread's work; spans of a thread nest. kMark: a moment;
/// value is the caller's. kCounter: the value of a quantity from now on.
struct HostEvent {
  EventHeader header;
  uint32_t name = 0;
  uint32_t category = 0; // a name; 0: the caller's own
  int64_t value = 0;
};
static_assert(sizeof(HostEvent) == 32);

// ---- any of them -------------------------------------------------------------------------------

inline constexpr size_t kMaxEventBytes = 64;

/// An event of any type, as readers hand it out: all bytes behind the event's own are 0.
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

/// The size that events of a type have; 0 for a number that is no type.
size_t eventBytes(EventType type);

/// An event with its header's type and size set: `make<MarkEvent>(EventType::kMark)`.
template <typename T> T makeEvent(EventType type) {
  T event;
  event.header.type = type;
  event.header.words = static_cast<uint8_t>(sizeof(T) / 8);
  return event;
}

} // namespace gantry::trace
