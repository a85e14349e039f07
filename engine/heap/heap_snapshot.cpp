// Implements HeapSnapshot.
#include "engine/heap/heap_snapshot.h"

#include "engine/heap/heap_components.h"

#include <algorithm>
#include <optional>

namespace gantry::heap {

using trace::EventType;

void HeapSnapshot::recordDevice(trace::Describer *describer) const {
  const auto emit = [&](const auto &event) {
    if (describer != nullptr)
      describer->add(event);
    else
      trace::record(event);
  };
  const device::Device &device = components_.slabs.device();
  const device::DeviceInfo &info = device.info();
  trace::DeviceEvent event = trace::makeEvent<trace::DeviceEvent>(EventType::kDevice);
  event.device = device.number();
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
  emit(event);
  for (uint32_t i = 0; i < info.memoryHeaps.size(); ++i) {
    trace::DeviceHeapEvent heap = trace::makeEvent<trace::DeviceHeapEvent>(EventType::kDeviceHeap);
    heap.device = event.device;
    heap.index = i;
    heap.sizeBytes = info.memoryHeaps[i].sizeBytes;
    heap.deviceLocal = info.memoryHeaps[i].deviceLocal ? 1 : 0;
    emit(heap);
  }
}

void HeapSnapshot::recordHeap(EventType type) const {
  trace::HeapEvent event = trace::makeEvent<trace::HeapEvent>(type);
  event.header.heap = components_.events.traceId();
  event.device = components_.slabs.device().number();
  event.name = name_;
  trace::record(event);
}

void HeapSnapshot::begin() {
  components_.events.setTraceId(static_cast<uint16_t>(trace::newId(trace::IdKind::kHeap)));
  name_ = trace::intern(components_.slabs.device().info().name);
  source_.order = 1;
  source_.user = this;
  source_.describe = describe;
  source_.listen = listen;
  trace::addSource(source_);
  // A viewer that attached before the heap was created does not know the device yet.
  if (trace::isOn())
    recordDevice(nullptr);
  recordHeap(EventType::kHeap);
  components_.slabs.traceBudgets();
}

void HeapSnapshot::end() {
  trace::removeSource(source_);
  recordHeap(EventType::kHeapEnd);
}

void HeapSnapshot::listen(void *user, bool wanted) {
  static_cast<HeapSnapshot *>(user)->components_.events.listen(wanted);
}

void HeapSnapshot::describe(void *user, trace::Describer &describer) {
  auto *self = static_cast<HeapSnapshot *>(user);
  self->recordDevice(&describer);
  self->describeLive(describer);
  self->components_.slabs.traceBudgets();
}

void HeapSnapshot::copyLive(Contents &contents) {
  const Locked growing(components_.growth.lock());
  const Locked making(components_.arenas.lock());
  std::optional<ArenaAccess> held[kMemoryKinds][ArenaTable::kArenasPerKind];
  uint32_t number = 0;
  components_.arenas.each([&](Arena &arena) {
    held[number / ArenaTable::kArenasPerKind][number % ArenaTable::kArenasPerKind].emplace(arena);
    ++number;
  });
  HandleTable &handles = components_.handles;
  for (uint32_t i = 0; i < handles.count(); ++i) {
    const BufferRecord &record = handles.record(i);
    if (record.references == 0)
      continue;
    Arena &arena = handles.arenaOf(i);
    contents.buffers.push_back({handles.handle(i).bits, arena.placeWhileLocked(record),
                                record.sizeBytes, record.name, arena.kind()});
  }
  contents.sequence = components_.events.sequenceNow(&contents.ticks);
  for (uint32_t i = 0; i < components_.slabs.count(); ++i)
    if (components_.slabs[i].memory != nullptr)
      contents.slabs.push_back(
          HeapEvents::slabEvent(EventType::kLiveSlab, contents.sequence, i, components_.slabs[i]));
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
    trace::HeapTotalsEvent totals =
        trace::makeEvent<trace::HeapTotalsEvent>(EventType::kHeapTotals);
    totals.header.heap = components_.events.traceId();
    totals.sequence = contents.sequence;
    totals.kind = kind;
    totals.reservedBytes = components_.totals[kind].reserved.load();
    totals.peakLiveBytes =
        static_cast<uint64_t>(std::max<int64_t>(0, components_.totals[kind].peakLive.load()));
    contents.totals.push_back(totals);
  }
}

void HeapSnapshot::describeLive(trace::Describer &describer) {
  Contents contents;
  contents.buffers.reserve(components_.handles.count());
  copyLive(contents);
  const uint16_t heap = components_.events.traceId();
  trace::SnapshotEvent snapshot = trace::makeEvent<trace::SnapshotEvent>(EventType::kSnapshotBegin);
  snapshot.header.heap = heap;
  snapshot.device = components_.slabs.device().number();
  snapshot.name = name_;
  snapshot.sequence = contents.sequence;
  for (const LiveBuffer &buffer : contents.buffers) {
    snapshot.blocks += 1;
    snapshot.sizeBytes += buffer.sizeBytes;
    contents.totals[buffer.kind].liveBlocks += 1;
    contents.totals[buffer.kind].liveBytes += buffer.sizeBytes;
  }
  describer.cut(contents.ticks);
  describer.add(snapshot);
  for (trace::SlabEvent &slab : contents.slabs) {
    slab.header.heap = heap;
    describer.add(slab);
  }
  for (const LiveBuffer &buffer : contents.buffers) {
    trace::BlockEvent event = trace::makeEvent<trace::BlockEvent>(EventType::kLiveBlock);
    const bool hasNoStorage = buffer.place == kNoPlace;
    event.header.heap = heap;
    event.sequence = contents.sequence;
    event.block = buffer.handle;
    event.offsetBytes = hasNoStorage ? 0 : offsetOf(buffer.place);
    event.sizeBytes = buffer.sizeBytes;
    event.slab = hasNoStorage ? trace::kNoSlab : slabOf(buffer.place);
    event.name = components_.names.traceName(buffer.name);
    event.kind = buffer.kind;
    describer.add(event);
  }
  snapshot.header.type = EventType::kSnapshotEnd;
  describer.add(snapshot);
  for (const trace::HeapTotalsEvent &event : contents.totals)
    describer.add(event);
}

} // namespace gantry::heap
