// The components of a heap, in the order of their construction. A component that threads share
// synchronizes its own state; the struct adds no lock. Heap::create() makes the struct, in memory
// of the host allocator. It is for heap.cpp, heap_snapshot.cpp, engine/heap/extras and tests.
#pragma once

#include "engine/heap/growth.h"
#include "engine/heap/heap.h"
#include "engine/heap/heap_snapshot.h"

namespace gantry::heap {

struct HeapComponents {
  HeapComponents(std::shared_ptr<device::Device> device, const HeapOptions &given, uint32_t tag)
      : options(given), names(given.host), events(given.observer, names),
        handles(given.host, tag), environment{handles, timelines, events, options, totals, {}, {}},
        slabs(given.host, std::move(device), given.limitBytes, totals, events), arenas(environment),
        growth(arenas, slabs, timelines, environment), snapshot(*this), heap(*this) {}

  const HeapOptions options;
  Names names;
  HeapEvents events;
  Timelines timelines;
  HandleTable handles;
  KindTotals totals[kMemoryKinds];
  ArenaEnvironment environment;
  SlabTable slabs;
  ArenaTable arenas;
  Growth growth;
  HeapSnapshot snapshot;
  std::atomic<uint64_t> remaining{0}; // The number of live buffers once environment.closing is set.
  Heap heap;
};

} // namespace gantry::heap
