// The field tables of all event types.
#include "engine/trace/wire/schema.h"

#include <array>

namespace gantry::trace {
namespace {

#define GANTRY_FIELD(type, member)                                                                 \
  Field {                                                                                          \
    static_cast<uint8_t>(offsetof(type, member)), static_cast<uint8_t>(sizeof(type::member)),      \
        static_cast<uint8_t>(offsetof(type, member)), false                                        \
  }
#define GANTRY_FIELD_AFTER(type, member, before, self)                                             \
  Field {                                                                                          \
    static_cast<uint8_t>(offsetof(type, member)), static_cast<uint8_t>(sizeof(type::member)),      \
        static_cast<uint8_t>(offsetof(type, before)), self                                         \
  }

constexpr Field kHeapOf = GANTRY_FIELD(EventHeader, heap);

constexpr Field kProcessFields[] = {
    GANTRY_FIELD(ProcessEvent, processId),   GANTRY_FIELD(ProcessEvent, name),
    GANTRY_FIELD(ProcessEvent, commandLine), GANTRY_FIELD(ProcessEvent, producer),
    GANTRY_FIELD(ProcessEvent, wallClockNs), GANTRY_FIELD(ProcessEvent, clockResolution)};
constexpr Field kThreadFields[] = {GANTRY_FIELD(ThreadEvent, systemId),
                                   GANTRY_FIELD(ThreadEvent, name)};
constexpr Field kDeviceFields[] = {
    GANTRY_FIELD(DeviceEvent, device),         GANTRY_FIELD(DeviceEvent, name),
    GANTRY_FIELD(DeviceEvent, driver),         GANTRY_FIELD(DeviceEvent, backend),
    GANTRY_FIELD(DeviceEvent, kind),           GANTRY_FIELD(DeviceEvent, unifiedMemory),
    GANTRY_FIELD(DeviceEvent, subgroupSize),   GANTRY_FIELD(DeviceEvent, maxAllocationBytes),
    GANTRY_FIELD(DeviceEvent, maxInvocations), GANTRY_FIELD(DeviceEvent, sharedBytesLimit),
    GANTRY_FIELD(DeviceEvent, memoryHeaps)};
constexpr Field kDeviceHeapFields[] = {
    GANTRY_FIELD(DeviceHeapEvent, device), GANTRY_FIELD(DeviceHeapEvent, index),
    GANTRY_FIELD(DeviceHeapEvent, sizeBytes), GANTRY_FIELD(DeviceHeapEvent, deviceLocal)};
constexpr Field kClockFields[] = {
    GANTRY_FIELD(ClockEvent, device), GANTRY_FIELD(ClockEvent, source),
    GANTRY_FIELD(ClockEvent, hostNs), GANTRY_FIELD(ClockEvent, deviceNs),
    GANTRY_FIELD(ClockEvent, errorNs)};
constexpr Field kDropsFields[] = {GANTRY_FIELD(DropsEvent, events),
                                  GANTRY_FIELD(DropsEvent, memory)};
constexpr Field kHeapFields[] = {kHeapOf, GANTRY_FIELD(HeapEvent, device),
                                 GANTRY_FIELD(HeapEvent, name)};
constexpr Field kSlabFields[] = {kHeapOf,
                                 GANTRY_FIELD(SlabEvent, sequence),
                                 GANTRY_FIELD(SlabEvent, slab),
                                 GANTRY_FIELD(SlabEvent, sizeBytes),
                                 GANTRY_FIELD(SlabEvent, address),
                                 GANTRY_FIELD(SlabEvent, deviceHeap),
                                 GANTRY_FIELD(SlabEvent, kind),
                                 GANTRY_FIELD(SlabEvent, dedicated)};
constexpr Field kSnapshotFields[] = {kHeapOf,
                                     GANTRY_FIELD(SnapshotEvent, sequence),
                                     GANTRY_FIELD(SnapshotEvent, blocks),
                                     GANTRY_FIELD(SnapshotEvent, sizeBytes),
                                     GANTRY_FIELD(SnapshotEvent, device),
                                     GANTRY_FIELD(SnapshotEvent, name)};
constexpr Field kHeapTotalsFields[] = {kHeapOf,
                                       GANTRY_FIELD(HeapTotalsEvent, sequence),
                                       GANTRY_FIELD(HeapTotalsEvent, liveBytes),
                                       GANTRY_FIELD(HeapTotalsEvent, liveBlocks),
                                       GANTRY_FIELD(HeapTotalsEvent, reservedBytes),
                                       GANTRY_FIELD(HeapTotalsEvent, peakLiveBytes),
                                       GANTRY_FIELD(HeapTotalsEvent, kind)};
constexpr Field kBudgetFields[] = {
    GANTRY_FIELD(BudgetEvent, device), GANTRY_FIELD(BudgetEvent, deviceHeap),
    GANTRY_FIELD(BudgetEvent, budgetBytes), GANTRY_FIELD(BudgetEvent, usedBytes),
    GANTRY_FIELD(BudgetEvent, limitBytes)};
constexpr Field kImportFields[] = {
    GANTRY_FIELD(ImportEvent, id), GANTRY_FIELD(ImportEvent, sizeBytes),
    GANTRY_FIELD(ImportEvent, device), GANTRY_FIELD(ImportEvent, name)};
constexpr Field kSessionFields[] = {kHeapOf,
                                    GANTRY_FIELD(SessionEvent, session),
                                    GANTRY_FIELD(SessionEvent, device),
                                    GANTRY_FIELD(SessionEvent, program),
                                    GANTRY_FIELD(SessionEvent, source),
                                    GANTRY_FIELD(SessionEvent, profile),
                                    GANTRY_FIELD(SessionEvent, constantBytes)};
constexpr Field kPlanFields[] = {
    GANTRY_FIELD(PlanEvent, plan),       GANTRY_FIELD(PlanEvent, session),
    GANTRY_FIELD(PlanEvent, arenaBytes), GANTRY_FIELD(PlanEvent, lowerBoundBytes),
    GANTRY_FIELD(PlanEvent, commands),   GANTRY_FIELD(PlanEvent, peakCommand),
    GANTRY_FIELD(PlanEvent, entries),    GANTRY_FIELD(PlanEvent, shapes)};
constexpr Field kPlanEntryFields[] = {
    GANTRY_FIELD(PlanEntryEvent, plan),        GANTRY_FIELD(PlanEntryEvent, value),
    GANTRY_FIELD(PlanEntryEvent, offsetBytes), GANTRY_FIELD(PlanEntryEvent, sizeBytes),
    GANTRY_FIELD(PlanEntryEvent, firstUse),    GANTRY_FIELD(PlanEntryEvent, lastUse),
    GANTRY_FIELD(PlanEntryEvent, name),        GANTRY_FIELD(PlanEntryEvent, op),
    GANTRY_FIELD(PlanEntryEvent, slot),        GANTRY_FIELD(PlanEntryEvent, storage)};
constexpr Field kCommandFields[] = {GANTRY_FIELD(CommandEvent, plan),
                                    GANTRY_FIELD(CommandEvent, command),
                                    GANTRY_FIELD(CommandEvent, name),
                                    GANTRY_FIELD(CommandEvent, location),
                                    GANTRY_FIELD(CommandEvent, kernel),
                                    GANTRY_FIELD(CommandEvent, sharedBytes),
                                    GANTRY_FIELD(CommandEvent, registers),
                                    GANTRY_FIELD(CommandEvent, flops),
                                    GANTRY_FIELD(CommandEvent, bytesMoved),
                                    GANTRY_FIELD(CommandEvent, workgroupSize[0]),
                                    GANTRY_FIELD(CommandEvent, workgroupSize[1]),
                                    GANTRY_FIELD(CommandEvent, workgroupSize[2]),
                                    GANTRY_FIELD(CommandEvent, isCopy),
                                    GANTRY_FIELD(CommandEvent, barrierBefore),
                                    GANTRY_FIELD(CommandEvent, tile)};
constexpr Field kAccessFields[] = {
    GANTRY_FIELD(AccessEvent, plan), GANTRY_FIELD(AccessEvent, command),
    GANTRY_FIELD(AccessEvent, value), GANTRY_FIELD(AccessEvent, write)};
constexpr Field kArenaFields[] = {
    kHeapOf, GANTRY_FIELD(ArenaEvent, block), GANTRY_FIELD(ArenaEvent, sizeBytes),
    GANTRY_FIELD(ArenaEvent, session), GANTRY_FIELD(ArenaEvent, name)};
constexpr Field kRunFields[] = {GANTRY_FIELD(RunEvent, run), GANTRY_FIELD(RunEvent, session),
                                GANTRY_FIELD(RunEvent, plan), GANTRY_FIELD(RunEvent, status),
                                GANTRY_FIELD(RunEvent, ticket)};
// A dispatch usually begins when the previous one ended, so `gpu.beginNs` is predicted from the
// previous `gpu.endNs`.
constexpr Field kDispatchFields[] = {
    GANTRY_FIELD(DispatchEvent, run),
    GANTRY_FIELD(DispatchEvent, command),
    GANTRY_FIELD(DispatchEvent, workgroups[0]),
    GANTRY_FIELD(DispatchEvent, workgroups[1]),
    GANTRY_FIELD(DispatchEvent, workgroups[2]),
    GANTRY_FIELD(DispatchEvent, device),
    GANTRY_FIELD_AFTER(DispatchEvent, gpu.beginNs, gpu.endNs, false),
    GANTRY_FIELD_AFTER(DispatchEvent, gpu.endNs, gpu.beginNs, true)};
constexpr Field kCopyFields[] = {GANTRY_FIELD(CopyEvent, run),
                                 GANTRY_FIELD(CopyEvent, command),
                                 GANTRY_FIELD(CopyEvent, device),
                                 GANTRY_FIELD(CopyEvent, sizeBytes),
                                 GANTRY_FIELD_AFTER(CopyEvent, gpu.beginNs, gpu.endNs, false),
                                 GANTRY_FIELD_AFTER(CopyEvent, gpu.endNs, gpu.beginNs, true)};
constexpr Field kDonationFields[] = {
    kHeapOf, GANTRY_FIELD(DonationEvent, block), GANTRY_FIELD(DonationEvent, sizeBytes),
    GANTRY_FIELD(DonationEvent, run), GANTRY_FIELD(DonationEvent, value)};
constexpr Field kRunBindingFields[] = {
    kHeapOf, GANTRY_FIELD(RunBindingEvent, block), GANTRY_FIELD(RunBindingEvent, offsetBytes),
    GANTRY_FIELD(RunBindingEvent, run), GANTRY_FIELD(RunBindingEvent, value)};
constexpr Field kHostFields[] = {GANTRY_FIELD(HostEvent, name), GANTRY_FIELD(HostEvent, category),
                                 GANTRY_FIELD(HostEvent, value)};

constexpr std::array<EventLayout, 256> makeLayouts() {
  std::array<EventLayout, 256> table{};
  auto set = [&](EventType type, const char *name, size_t bytes, std::span<const Field> fields) {
    table[static_cast<size_t>(type)] = {name, static_cast<uint8_t>(bytes), fields};
  };
  set(EventType::kProcess, "process", sizeof(ProcessEvent), kProcessFields);
  set(EventType::kThread, "thread", sizeof(ThreadEvent), kThreadFields);
  set(EventType::kDevice, "device", sizeof(DeviceEvent), kDeviceFields);
  set(EventType::kDeviceHeap, "device heap", sizeof(DeviceHeapEvent), kDeviceHeapFields);
  set(EventType::kClock, "clock", sizeof(ClockEvent), kClockFields);
  set(EventType::kDrops, "drops", sizeof(DropsEvent), kDropsFields);
  set(EventType::kHeap, "heap", sizeof(HeapEvent), kHeapFields);
  set(EventType::kHeapEnd, "heap end", sizeof(HeapEvent), kHeapFields);
  set(EventType::kSlab, "slab", sizeof(SlabEvent), kSlabFields);
  set(EventType::kSlabEnd, "slab end", sizeof(SlabEvent), kSlabFields);
  // The codec encodes blocks and releases by its own rules (codec.cpp), without fields.
  set(EventType::kAllocate, "allocate", sizeof(BlockEvent), {});
  set(EventType::kRelease, "release", sizeof(ReleaseEvent), {});
  set(EventType::kMove, "move", sizeof(BlockEvent), {});
  set(EventType::kSpill, "spill", sizeof(BlockEvent), {});
  set(EventType::kRestore, "restore", sizeof(BlockEvent), {});
  set(EventType::kSnapshotBegin, "snapshot begin", sizeof(SnapshotEvent), kSnapshotFields);
  set(EventType::kLiveSlab, "live slab", sizeof(SlabEvent), kSlabFields);
  set(EventType::kLiveBlock, "live block", sizeof(BlockEvent), {});
  set(EventType::kSnapshotEnd, "snapshot end", sizeof(SnapshotEvent), kSnapshotFields);
  set(EventType::kHeapTotals, "heap totals", sizeof(HeapTotalsEvent), kHeapTotalsFields);
  set(EventType::kBudget, "budget", sizeof(BudgetEvent), kBudgetFields);
  set(EventType::kImport, "import", sizeof(ImportEvent), kImportFields);
  set(EventType::kImportEnd, "import end", sizeof(ImportEvent), kImportFields);
  set(EventType::kSession, "session", sizeof(SessionEvent), kSessionFields);
  set(EventType::kSessionEnd, "session end", sizeof(SessionEvent), kSessionFields);
  set(EventType::kPlan, "plan", sizeof(PlanEvent), kPlanFields);
  set(EventType::kPlanEntry, "plan entry", sizeof(PlanEntryEvent), kPlanEntryFields);
  set(EventType::kCommand, "command", sizeof(CommandEvent), kCommandFields);
  set(EventType::kAccess, "access", sizeof(AccessEvent), kAccessFields);
  set(EventType::kArena, "arena", sizeof(ArenaEvent), kArenaFields);
  set(EventType::kArenaEnd, "arena end", sizeof(ArenaEvent), kArenaFields);
  set(EventType::kRun, "run", sizeof(RunEvent), kRunFields);
  set(EventType::kRunEnd, "run end", sizeof(RunEvent), kRunFields);
  set(EventType::kDispatch, "dispatch", sizeof(DispatchEvent), kDispatchFields);
  set(EventType::kCopy, "copy", sizeof(CopyEvent), kCopyFields);
  set(EventType::kDonation, "donation", sizeof(DonationEvent), kDonationFields);
  set(EventType::kRunBinding, "run binding", sizeof(RunBindingEvent), kRunBindingFields);
  set(EventType::kSpanBegin, "span begin", sizeof(HostEvent), kHostFields);
  set(EventType::kSpanEnd, "span end", sizeof(HostEvent), kHostFields);
  set(EventType::kMark, "mark", sizeof(HostEvent), kHostFields);
  set(EventType::kCounter, "counter", sizeof(HostEvent), kHostFields);
  return table;
}

constexpr std::array<EventLayout, 256> kLayouts = makeLayouts();

constexpr bool fieldsFit() {
  for (const EventLayout &layout : kLayouts) {
    if (layout.fields.size() > kMaxFields || layout.bytes > kMaxEventBytes || layout.bytes % 8 != 0)
      return false;
    for (const Field &field : layout.fields)
      if (field.offset + field.bytes > layout.bytes)
        return false;
  }
  return true;
}
static_assert(fieldsFit());

} // namespace

const EventLayout &layoutOf(EventType type) { return kLayouts[static_cast<size_t>(type)]; }

const char *eventTypeName(EventType type) {
  const char *name = layoutOf(type).name;
  return name == nullptr ? "unknown" : name;
}

size_t eventBytes(EventType type) { return layoutOf(type).bytes; }

} // namespace gantry::trace
