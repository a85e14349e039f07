#include "engine/heap/trace.h"

#include "engine/heap/impl.h"

#include <algorithm>

namespace gantry::heap {
namespace {

using trace::EventType;

constexpr uint32_t kWalkSlots = 512; // under the lock at a time

trace::BlockEvent blockEvent(EventType type, uint64_t sequence, uint64_t handle, uint64_t place,
                             uint64_t sizeBytes, uint32_t name, uint8_t kind) {
  trace::BlockEvent event = trace::makeEvent<trace::BlockEvent>(type);
  const bool away = place == kSpilledPlace;
  event.sequence = sequence;
  event.block = handle;
  event.offsetBytes = away ? 0 : offsetOf(place);
  event.sizeBytes = sizeBytes;
  event.slab = away ? trace::kNoSlab : slabOf(place);
  event.name = name;
  event.kind = kind;
  return event;
}

EventType blockType(HeapEvent::Type type) {
  switch (type) {
  case HeapEvent::Type::kMove:
    return EventType::kMove;
  case HeapEvent::Type::kSpill:
    return EventType::kSpill;
  case HeapEvent::Type::kRestore:
    return EventType::kRestore;
  default:
    return EventType::kAllocate;
  }
}

trace::SlabEvent slabEvent(EventType type, uint64_t sequence, uint32_t index, const Slab &slab) {
  trace::SlabEvent event = trace::makeEvent<trace::SlabEvent>(type);
  event.sequence = sequence;
  event.sizeBytes = slab.sizeBytes;
  event.address = slab.address.load(std::memory_order_relaxed);
  event.slab = index;
  event.deviceHeap = slab.deviceHeap;
  event.kind = slab.kind;
  event.dedicated = slab.state.load() == SlabState::kPool ? 0 : 1;
  return event;
}

} // namespace

uint32_t HeapTrace::traceName(uint32_t name) const {
  const NameEntry *entry = name == 0 ? nullptr : heap_.names.find(name);
  return entry == nullptr ? 0 : entry->traceName.load(std::memory_order_relaxed);
}

void HeapTrace::tellDevice(trace::Describer *describer) const {
  const auto tell = [&](const auto &event) {
    if (describer != nullptr)
      describer->add(event);
    else
      trace::record(event);
  };
  const device::DeviceInfo &info = heap_.gpu->info();
  trace::DeviceEvent event = trace::makeEvent<trace::DeviceEvent>(EventType::kDevice);
  event.device = heap_.gpu->number();
  event.name = trace::intern(info.name);
  event.driver = trace::intern(info.driver);
  event.backend = trace::intern(info.backend);
  event.maxAllocationBytes = info.profile.maxAllocationBytes;
  event.sharedBytesLimit = info.profile.maxSharedMemoryBytes;
  event.maxInvocations = info.profile.maxWorkgroupInvocations;
  event.subgroupSize = info.profile.subgroupSize;
  event.memoryHeaps = static_cast<uint32_t>(info.memoryHeaps.size());
  event.kind = static_cast<uint8_t>(info.kind);
  event.unifiedMemory = info.unifiedMemory ? 1 : 0;
  tell(event);
  for (uint32_t i = 0; i < info.memoryHeaps.size(); ++i) {
    trace::DeviceHeapEvent heap = trace::makeEvent<trace::DeviceHeapEvent>(EventType::kDeviceHeap);
    heap.device = event.device;
    heap.index = i;
    heap.sizeBytes = info.memoryHeaps[i].sizeBytes;
    heap.deviceLocal = info.memoryHeaps[i].deviceLocal ? 1 : 0;
    tell(heap);
  }
}

void HeapTrace::begin() {
  id_ = static_cast<uint16_t>(trace::newId(trace::IdKind::kHeap));
  name_ = trace::intern(heap_.gpu->info().name);
  source_.order = 1;
  source_.user = this;
  source_.describe = describe;
  source_.listen = listen;
  trace::addSource(source_);
  // Who listens already has not been told of this device: a recording that began with the process.
  if (trace::isOn())
    tellDevice(nullptr);
  trace::HeapEvent event = trace::makeEvent<trace::HeapEvent>(EventType::kHeap);
  event.header.heap = id_;
  event.device = heap_.gpu->number();
  event.name = name_;
  trace::record(event);
  recordBudgets();
}

void HeapTrace::end() {
  trace::removeSource(source_);
  trace::HeapEvent event = trace::makeEvent<trace::HeapEvent>(EventType::kHeapEnd);
  event.header.heap = id_;
  event.device = heap_.gpu->number();
  event.name = name_;
  trace::record(event);
}

void HeapTrace::listen(void *user, bool wanted) {
  auto *self = static_cast<HeapTrace *>(user);
  const Locked locked(self->heap_.observerLock);
  self->listening_ = wanted;
  if (wanted || self->heap_.options.observer.event != nullptr)
    self->heap_.attention.fetch_or(1);
  else
    self->heap_.attention.fetch_and(~uint64_t{1});
}

// ---- events ------------------------------------------------------------------------------------

void HeapTrace::record(const HeapEvent &event) {
  if (!listening_)
    return;
  if (event.type == HeapEvent::Type::kRelease) {
    trace::recordAlways<trace::ReleaseEvent>(EventType::kRelease, id_, true,
                                             [&](trace::ReleaseEvent &out) {
                                               out.header.timeNs = order_.next(out.header.timeNs);
                                               out.sequence = event.sequence;
                                               out.block = event.handle;
                                             });
  } else if (event.type == HeapEvent::Type::kSlabAllocate ||
             event.type == HeapEvent::Type::kSlabFree) {
    const EventType type =
        event.type == HeapEvent::Type::kSlabFree ? EventType::kSlabEnd : EventType::kSlab;
    trace::recordAlways<trace::SlabEvent>(type, id_, true, [&](trace::SlabEvent &out) {
      trace::EventHeader header = out.header;
      header.timeNs = order_.next(header.timeNs);
      out = slabEvent(type, event.sequence, event.slab, heap_.slabs[event.slab]);
      out.header = header;
    });
  } else {
    const EventType type = blockType(event.type);
    trace::recordAlways<trace::BlockEvent>(type, id_, true, [&](trace::BlockEvent &out) {
      const bool away = type == EventType::kSpill;
      out.header.timeNs = order_.next(out.header.timeNs);
      out.sequence = event.sequence;
      out.block = event.handle;
      out.offsetBytes = away ? 0 : event.offsetBytes;
      out.sizeBytes = event.sizeBytes;
      out.slab = away ? trace::kNoSlab : event.slab;
      out.name = traceName(event.name);
      out.span = trace::currentSpan();
      out.kind = static_cast<uint8_t>(event.kind);
      std::fill(std::begin(out.reserved), std::end(out.reserved), uint8_t{0});
    });
  }
  if (walking_)
    correct(event);
}

void HeapTrace::recordBudgets() const {
  const device::DeviceInfo &info = heap_.gpu->info();
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  if (!trace::isOn() || !heap_.gpu->memoryBudgets({budgets, info.memoryHeaps.size()}).isOk())
    return;
  for (uint32_t i = 0; i < info.memoryHeaps.size(); ++i) {
    trace::BudgetEvent event = trace::makeEvent<trace::BudgetEvent>(EventType::kBudget);
    event.device = heap_.gpu->number();
    event.deviceHeap = i;
    event.budgetBytes = budgets[i].budgetBytes;
    event.usedBytes = budgets[i].usedBytes;
    event.limitBytes = heap_.limits[i].load(std::memory_order_relaxed);
    trace::record(event);
  }
}

// ---- the snapshot ------------------------------------------------------------------------------

HeapTrace::Note &HeapTrace::noteOf(uint32_t slot) {
  if (slot >= notes_.size()) // a slot that is new since the walk began
    notes_.resize(std::max<size_t>(slot + 1, notes_.size() * 2));
  return notes_[slot];
}

void HeapTrace::correct(const HeapEvent &event) {
  if (event.type == HeapEvent::Type::kSlabAllocate || event.type == HeapEvent::Type::kSlabFree)
    return; // under growth: not now
  Note &note = noteOf(slotOf(BufferHandle{event.handle}));
  note.told = true;
  note.live = event.type != HeapEvent::Type::kRelease;
  note.handle = event.handle;
  note.place = event.slab == kNone ? kSpilledPlace : placeOf(event.slab, event.offsetBytes);
  note.sizeBytes = event.sizeBytes;
  note.name = event.name;
  note.kind = static_cast<uint8_t>(event.kind);
}

/// Under observerLock.
void HeapTrace::walk(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i) {
    const Slot &slot = heap_.slots[i];
    const uint64_t state = slot.state.load(std::memory_order_acquire);
    if (referencesOf(state) == 0)
      continue;
    Note &note = noteOf(i);
    if (note.told)
      continue;
    const SlotInfo info = SlotInfo::of(slot.info.load(std::memory_order_relaxed));
    note.live = true;
    note.handle = handleOf(generationOf(state), heap_.tag, i).bits;
    note.place = heap_.placeOfSlot(i);
    note.sizeBytes = info.sizeBytes;
    note.name = heap_.nameOf(i, info);
    note.kind = info.kind;
  }
}

void HeapTrace::describe(void *user, trace::Describer &describer) {
  auto *self = static_cast<HeapTrace *>(user);
  self->tellDevice(&describer);
  self->describeLive(describer);
  self->recordBudgets();
}

void HeapTrace::describeLive(trace::Describer &describer) {
  trace::SnapshotEvent snapshot = trace::makeEvent<trace::SnapshotEvent>(EventType::kSnapshotBegin);
  snapshot.header.heap = id_;
  snapshot.device = heap_.gpu->number();
  snapshot.name = name_;
  std::vector<Note> notes;
  std::vector<trace::SlabEvent> live;
  uint32_t slabs = 0;
  trace::HeapTotalsEvent totals[kMemoryKinds];
  uint64_t ticks = 0;
  {
    const Locked growing(heap_.growth);
    const uint32_t slots = heap_.slotCountNow();
    {
      const Locked locked(heap_.observerLock);
      notes_.resize(slots);
      walking_ = true;
    }
    for (uint32_t first = 0; first < slots; first += kWalkSlots) {
      const Locked locked(heap_.observerLock);
      walk(first, std::min(first + kWalkSlots, slots));
    }
    const Locked locked(heap_.observerLock);
    walk(slots, heap_.slotCountNow());
    walking_ = false;
    notes.swap(notes_);
    snapshot.sequence = heap_.eventSequence;
    ticks = order_.next(trace::readTicks());
    live.resize(heap_.slabCount);
    for (uint32_t i = 0; i < heap_.slabCount; ++i)
      if (heap_.slabs[i].state.load() != SlabState::kUnused)
        live[slabs++] = slabEvent(EventType::kLiveSlab, snapshot.sequence, i, heap_.slabs[i]);
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
      totals[kind] = trace::makeEvent<trace::HeapTotalsEvent>(EventType::kHeapTotals);
      totals[kind].header.heap = id_;
      totals[kind].sequence = snapshot.sequence;
      totals[kind].kind = kind;
      totals[kind].reservedBytes = heap_.totals[kind].reservedBytes.load();
      totals[kind].peakLiveBytes =
          static_cast<uint64_t>(std::max<int64_t>(0, heap_.totals[kind].peakLiveBytes.load()));
    }
  }
  for (const Note &note : notes)
    if (note.live) {
      snapshot.blocks += 1;
      snapshot.sizeBytes += note.sizeBytes;
      totals[note.kind].liveBlocks += 1;
      totals[note.kind].liveBytes += note.sizeBytes;
    }
  describer.cut(ticks);
  describer.add(snapshot);
  for (uint32_t i = 0; i < slabs; ++i) {
    live[i].header.heap = id_;
    describer.add(live[i]);
  }
  for (const Note &note : notes) {
    if (!note.live)
      continue;
    trace::BlockEvent event =
        blockEvent(EventType::kLiveBlock, snapshot.sequence, note.handle, note.place,
                   note.sizeBytes, traceName(note.name), note.kind);
    event.header.heap = id_;
    describer.add(event);
  }
  snapshot.header.type = EventType::kSnapshotEnd;
  describer.add(snapshot);
  for (const trace::HeapTotalsEvent &event : totals)
    describer.add(event);
}

} // namespace gantry::heap
