// Implements HeapEvents.
#include "engine/heap/heap_events.h"

#include "engine/heap/buffer_record.h"
#include "engine/heap/slab_table.h"

#include <algorithm>

namespace gantry::heap {
namespace {

using trace::EventType;

EventType traceTypeOf(HeapEvent::Type type) {
  switch (type) {
  case HeapEvent::Type::kMove:
    return EventType::kMove;
  case HeapEvent::Type::kSpill:
    return EventType::kSpill;
  case HeapEvent::Type::kRestore:
    return EventType::kRestore;
  case HeapEvent::Type::kSlabAllocate:
    return EventType::kSlab;
  case HeapEvent::Type::kSlabFree:
    return EventType::kSlabEnd;
  case HeapEvent::Type::kRelease:
    return EventType::kRelease;
  default:
    return EventType::kAllocate;
  }
}

} // namespace

HeapEvents::HeapEvents(const HeapObserver &observer, const Names &names)
    : observer_(observer), names_(names), observed_(observer.event != nullptr) {}

void HeapEvents::listen(bool wanted) {
  const Locked locked(lock_);
  tracing_ = wanted;
  observed_.store(wanted || observer_.event != nullptr);
}

uint64_t HeapEvents::sequenceNow(uint64_t *ticks) {
  const Locked locked(lock_);
  *ticks = order_.next(trace::readTicks());
  return sequence_;
}

void HeapEvents::buffer(HeapEvent::Type type, BufferHandle handle, uint64_t place,
                        uint64_t sizeBytes, uint32_t name, uint8_t kind) {
  const Locked locked(lock_);
  const bool hasNoStorage = place == kNoPlace;
  const HeapEvent event = {type,
                           static_cast<MemoryKind>(kind),
                           hasNoStorage ? kNone : slabOf(place),
                           name,
                           ++sequence_,
                           handle.bits,
                           hasNoStorage ? 0 : offsetOf(place),
                           sizeBytes};
  if (observer_.event != nullptr)
    observer_.event(observer_.user, event);
  if (tracing_)
    recordBuffer(event);
}

void HeapEvents::recordBuffer(const HeapEvent &event) {
  const EventType type = traceTypeOf(event.type);
  if (type == EventType::kRelease) {
    trace::recordAlways<trace::ReleaseEvent>(type, traceId_, true, [&](trace::ReleaseEvent &out) {
      out.header.timeNs = order_.next(out.header.timeNs);
      out.sequence = event.sequence;
      out.block = event.handle;
    });
    return;
  }
  trace::recordAlways<trace::BlockEvent>(type, traceId_, true, [&](trace::BlockEvent &out) {
    const bool hasNoStorage = type == EventType::kSpill || event.slab == kNone;
    out.header.timeNs = order_.next(out.header.timeNs);
    out.sequence = event.sequence;
    out.block = event.handle;
    out.offsetBytes = hasNoStorage ? 0 : event.offsetBytes;
    out.sizeBytes = event.sizeBytes;
    out.slab = hasNoStorage ? trace::kNoSlab : event.slab;
    out.name = names_.traceName(event.name);
    out.span = trace::currentSpan();
    out.kind = static_cast<uint8_t>(event.kind);
    std::fill(std::begin(out.reserved), std::end(out.reserved), uint8_t{0});
  });
}

void HeapEvents::slab(HeapEvent::Type type, uint32_t index, const Slab &slab) {
  const Locked locked(lock_);
  const HeapEvent event = {
      type, static_cast<MemoryKind>(slab.kind), index, 0, ++sequence_, 0, 0, slab.sizeBytes};
  if (observer_.event != nullptr)
    observer_.event(observer_.user, event);
  if (!tracing_)
    return;
  const EventType traceType = traceTypeOf(type);
  trace::recordAlways<trace::SlabEvent>(traceType, traceId_, true, [&](trace::SlabEvent &out) {
    trace::EventHeader header = out.header;
    header.timeNs = order_.next(header.timeNs);
    out = slabEvent(traceType, event.sequence, index, slab);
    out.header = header;
  });
}

trace::SlabEvent HeapEvents::slabEvent(EventType type, uint64_t sequence, uint32_t index,
                                       const Slab &slab) {
  trace::SlabEvent event = trace::makeEvent<trace::SlabEvent>(type);
  event.sequence = sequence;
  event.sizeBytes = slab.sizeBytes;
  event.address = slab.address;
  event.slab = index;
  event.deviceHeap = slab.deviceHeap;
  event.kind = slab.kind;
  event.dedicated = slab.dedicated ? 1 : 0;
  return event;
}

} // namespace gantry::heap
