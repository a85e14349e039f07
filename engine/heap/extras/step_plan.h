// Recorded plans: a loop whose steps allocate alike gets them from one planned arena.
//
// A training or inference loop calls begin(), allocates and frees, and calls end(). The first step
// is served by the heap and recorded; what was allocated and freed within it is then placed by
// engine/plan in one arena, close to the lower bound. From the second step on, the k-th operation
// of a step is compared with the k-th of the record: as long as they agree, an allocation is one
// array look-up. At the first that differs (another size, another order) the rest of the step is
// served by the heap, nothing that was given out moves, and the step becomes the new record at its
// end(). What outlives its step belongs to the heap in every step.
//
// What it is not: it does not know when the GPU is done. A step's arena is used again by the next
// step, so the next step's work is ordered after this one's (one queue does that).
//
// Ownership: the object holds the arena. Allocations are (buffer, offset): resolve the buffer by
// the heap, add the offset. Threads: one at a time. Planning at end() takes host memory that must
// not fail; allocate and free do not. Units: bytes.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/heap.h"

namespace gantry::heap {

struct StepAllocation {
  BufferHandle buffer; // the arena's, or one of its own
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
  uint32_t index = 0; // names it to free()
};

struct StepPlanStatistics {
  uint64_t steps = 0;
  uint64_t plans = 0;      // times that a record became a plan
  uint64_t deviations = 0; // steps that differed from the plan
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;
};

class StepPlan {
public:
  StepPlan(Heap &heap, MemoryKind kind, const HostAllocator &host = {});
  ~StepPlan();
  StepPlan(const StepPlan &) = delete;
  StepPlan &operator=(const StepPlan &) = delete;

  /// kBusy inside a step. Allocations of earlier steps that live on stay valid.
  HeapCode begin();
  /// kBusy outside a step; else as Heap::allocate.
  HeapCode allocate(uint64_t sizeBytes, uint64_t alignment, StepAllocation *allocation);
  /// Frees an allocation of this step or of an earlier one. Returns kStaleHandle if it was freed
  /// before.
  HeapCode free(const StepAllocation &allocation);
  /// Plans where there is no plan or the step differed. Without memory for a new arena the old plan
  /// is given up, the heap goes on serving, and the code says why.
  HeapCode end();

  const StepPlanStatistics &statistics() const { return statistics_; }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// One allocation of a step: in the record, the live table, or both.
  struct Entry {
    uint64_t sizeBytes;
    uint64_t alignment;
    uint64_t offset; // in the arena, where it is planned
    uint32_t first;  // operations of the step
    uint32_t last;   // kNone: outlives the step
  };
  struct Live {
    BufferHandle own; // 0: lies in the arena
    uint32_t entry;   // Entry of the current step; kNone: made in an earlier step.
    bool alive;
    uint32_t nextFree;
  };
  HeapCode makePlan();
  uint32_t takeLive();

  Heap &heap_;
  MemoryKind kind_;
  HostArray<Entry> plan_;     // by order of allocation
  HostArray<uint32_t> order_; // Each operation: 2 * entry, plus 1 for a free.
  HostArray<Entry> record_;
  HostArray<uint32_t> recordOrder_;
  HostArray<Live> live_;
  uint32_t freeLive_ = kNone;
  BufferHandle arena_;
  bool inStep_ = false;
  bool following_ = false; // the step agrees with the plan so far
  StepPlanStatistics statistics_;
};

} // namespace gantry::heap
