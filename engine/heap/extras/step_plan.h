// StepPlan: allocations for a loop whose steps allocate in the same pattern (training, inference).
// It records the first step, chooses an offset for each allocation of the step, and serves the
// later steps from one buffer, which is called the arena in this file.
//
// Each step of the loop calls begin(), then allocate() and free(), then end(). The heap serves the
// first step. At the step's end, engine/plan places in one arena all allocations that were also
// freed in the step. The arena's size is close to the lower bound, the largest sum of bytes that
// were allocated at one moment. A call of allocate() or free() is an operation. In later steps the
// k-th operation is compared with the k-th operation of the planned step, the step from which the
// plan was made. While they agree, an allocation costs one array look-up. At the first difference
// (another size, alignment or order) the heap serves the rest of the step, and end() makes a new
// plan from this step. Allocations that were already made do not move. An allocation that was not
// freed in the planned step is served by the heap in every step.
//
// The object does not know when the GPU is done. The next step reuses the arena, so the work of a
// step must run after the work of the step before it, as it does on one queue.
//
// Ownership: the object owns the arena and frees what is still allocated when it is destroyed. An
// allocation is a buffer and an offset: resolve the buffer with the heap and add the offset.
// Threads: one at a time. Errors: HeapCode. The planner in end() uses std::vector; a lack of host
// memory there is reported as engine/base/out_of_memory.h describes, not by a HeapCode.
// Units: bytes.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/heap/heap.h"

namespace gantry::heap {

struct StepAllocation {
  BufferHandle buffer; // The arena, or a buffer for this allocation alone.
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
  uint32_t index = 0; // Identifies the allocation to free().
};

struct StepPlanStatistics {
  uint64_t steps = 0;      // Number of end() calls.
  uint64_t plans = 0;      // Number of plans that were made.
  uint64_t deviations = 0; // Number of steps that differed from the plan.
  uint64_t arenaBytes = 0; // The size of the arena that was made last.
  /// The largest sum of bytes that are allocated at one moment, among the allocations that the last
  /// plan places; the size of the arena cannot be less.
  uint64_t lowerBoundBytes = 0;
};

class StepPlan {
public:
  StepPlan(Heap &heap, MemoryKind kind, const HostAllocator &host = {});
  ~StepPlan();
  StepPlan(const StepPlan &) = delete;
  StepPlan &operator=(const StepPlan &) = delete;

  /// Begins a step. Returns kBusy inside a step. While an allocation of an earlier step is alive in
  /// the arena, the heap serves the step, which counts as one that differs from the plan.
  HeapCode begin();
  /// Allocates within a step. Returns kBusy outside a step; else fails as Heap::allocate() does.
  HeapCode allocate(uint64_t sizeBytes, uint64_t alignment, StepAllocation *allocation);
  /// Frees an allocation of this step or of an earlier one, inside or outside of a step. It must
  /// not be called twice for an allocation: allocate() reuses StepAllocation::index, so a second
  /// call frees a later allocation if both lie in the arena and have the same index. Otherwise it
  /// returns kStaleHandle.
  HeapCode free(const StepAllocation &allocation);
  /// Ends the step. If there is no plan or the step differed from it, the old arena is released and
  /// a plan is made from this step. If that fails, the code says why, there is no plan, and the
  /// heap serves the next step. While an allocation in the arena is alive, no new plan is made.
  HeapCode end();

  const StepPlanStatistics &statistics() const { return statistics_; }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// One allocation of a recorded step.
  struct Entry {
    uint64_t sizeBytes;
    uint64_t alignment;
    uint64_t offset; // Offset in the arena. Valid only in plan_, and only if `last` is not kNone.
    uint32_t first;  // Number of the operation that allocates it, from 0 in the step.
    uint32_t last;   // Number of the operation that frees it; kNone: not freed in the step.
  };
  /// An allocation that may be alive; StepAllocation::index is its index in live_.
  struct Live {
    BufferHandle own; // 0: lies in the arena
    uint32_t entry;   // Index in record_; kNone: not allocated in the current step.
    bool alive;
    uint32_t nextFree; // Next unused element of live_.
  };
  HeapCode makePlan();
  uint32_t takeLive();

  Heap &heap_;
  MemoryKind kind_;
  HostArray<Entry> plan_;           // The planned step's allocations, in order.
  HostArray<uint32_t> order_;       // Its operations: 2 * i allocates plan_[i], 2 * i + 1 frees it.
  HostArray<Entry> record_;         // The current step's allocations, in order.
  HostArray<uint32_t> recordOrder_; // Its operations, as in order_, with indices in record_.
  HostArray<Live> live_;
  uint32_t freeLive_ = kNone;
  BufferHandle arena_;
  bool inStep_ = false;
  bool following_ = false; // The current step agrees with the plan so far.
  StepPlanStatistics statistics_;
};

} // namespace gantry::heap
