// Implements StepPlan.
#include "engine/heap/extras/step_plan.h"

#include "engine/base/align.h"
#include "engine/plan/plan.h"

#include <algorithm>

namespace gantry::heap {

StepPlan::StepPlan(Heap &heap, MemoryKind kind, const HostAllocator &host)
    : heap_(heap), kind_(kind), plan_(host), order_(host), record_(host), recordOrder_(host),
      live_(host) {}

StepPlan::~StepPlan() {
  for (const Live &one : live_)
    if (one.alive && one.own)
      (void)heap_.release(one.own);
  if (arena_)
    (void)heap_.release(arena_);
}

HeapCode StepPlan::begin() {
  if (inStep_)
    return HeapCode::kBusy;
  inStep_ = true;
  // An allocation of an earlier step that is alive in the arena may overlap the place that the plan
  // gives to another allocation. If there is one in the arena, the heap serves this step.
  following_ = arena_ && std::none_of(live_.begin(), live_.end(),
                                      [](const Live &one) { return one.alive && !one.own; });
  record_.clear();
  recordOrder_.clear();
  return HeapCode::kOk;
}

uint32_t StepPlan::takeLive() {
  if (freeLive_ == kNone)
    return live_.pushBack({}) ? live_.size() - 1 : kNone;
  const uint32_t index = freeLive_;
  freeLive_ = live_[index].nextFree;
  return index;
}

HeapCode StepPlan::allocate(uint64_t sizeBytes, uint64_t alignment, StepAllocation *allocation) {
  *allocation = {};
  if (!inStep_)
    return HeapCode::kBusy;
  if (sizeBytes == 0 || !isPowerOfTwo(alignment))
    return HeapCode::kInvalidArgument;
  const uint32_t operation = recordOrder_.size();
  const uint32_t entry = record_.size();
  if (!record_.reserve(entry + 1) || !recordOrder_.reserve(operation + 1))
    return HeapCode::kHostExhausted;
  const uint32_t index = takeLive();
  if (index == kNone)
    return HeapCode::kHostExhausted;
  following_ = following_ && operation < order_.size() && order_[operation] == 2 * entry &&
               plan_[entry].sizeBytes == sizeBytes && plan_[entry].alignment == alignment;
  const bool planned = following_ && plan_[entry].last != kNone;
  BufferHandle own;
  if (!planned) {
    BufferRequest request;
    request.sizeBytes = sizeBytes;
    request.alignment = alignment;
    request.kind = kind_;
    if (const HeapCode code = heap_.allocate(request, &own); code != HeapCode::kOk) {
      live_[index] = {{}, kNone, false, freeLive_};
      freeLive_ = index;
      return code;
    }
  }
  const uint64_t offset = planned ? plan_[entry].offset : 0;
  record_.pushBackReserved({sizeBytes, alignment, offset, operation, kNone});
  recordOrder_.pushBackReserved(2 * entry);
  live_[index] = {own, entry, true, kNone};
  *allocation = {planned ? arena_ : own, offset, sizeBytes, index};
  return HeapCode::kOk;
}

HeapCode StepPlan::free(const StepAllocation &allocation) {
  if (allocation.index >= live_.size() || !live_[allocation.index].alive)
    return HeapCode::kStaleHandle;
  Live &one = live_[allocation.index];
  if ((one.own ? one.own : arena_) != allocation.buffer)
    return HeapCode::kStaleHandle;
  if (inStep_ && one.entry != kNone) {
    const uint32_t operation = recordOrder_.size();
    if (recordOrder_.pushBack(2 * one.entry + 1)) {
      record_[one.entry].last = operation;
      following_ =
          following_ && operation < order_.size() && order_[operation] == 2 * one.entry + 1;
    } else {
      following_ = false; // Not recorded: the allocation counts as one that outlives the step.
    }
  }
  if (one.own)
    (void)heap_.release(one.own);
  one = {{}, kNone, false, freeLive_};
  freeLive_ = allocation.index;
  return HeapCode::kOk;
}

HeapCode StepPlan::end() {
  if (!inStep_)
    return HeapCode::kBusy;
  inStep_ = false;
  ++statistics_.steps;
  following_ = following_ && recordOrder_.size() == order_.size();
  bool arenaInUse = false;
  for (Live &one : live_) {
    arenaInUse = arenaInUse || (one.alive && !one.own);
    one.entry = kNone;
  }
  if (following_)
    return HeapCode::kOk;
  if (arena_)
    ++statistics_.deviations;
  if (arenaInUse)
    return HeapCode::kOk; // an allocation in the arena is alive, so the arena stays
  return makePlan();
}

// Replaces the plan and the arena by those of the recorded step.
HeapCode StepPlan::makePlan() {
  if (arena_)
    (void)heap_.release(arena_);
  arena_ = {};
  plan_.clear();
  order_.clear();
  const auto isPlanned = [](const Entry &entry) { return entry.last != kNone; };
  std::vector<plan::Value> values(
      static_cast<size_t>(std::count_if(record_.begin(), record_.end(), isPlanned)));
  if (values.empty())
    return HeapCode::kOk;
  uint64_t alignment = 256;
  size_t next = 0;
  for (const Entry &entry : record_) {
    if (!isPlanned(entry))
      continue;
    alignment = std::max(alignment, entry.alignment);
    values[next++] = {entry.sizeBytes, std::max<uint64_t>(entry.alignment, 256), entry.first,
                      entry.last};
  }
  plan::PlanRequest request;
  const uint64_t bound = plan::lowerBound(values);
  request.enoughBytes = bound + bound / 128;
  const Result<plan::Plan> planned = plan::planArena(values, request);
  if (!planned.isOk())
    return HeapCode::kInvalidArgument;
  if (!plan_.reserve(record_.size()) || !order_.reserve(recordOrder_.size()))
    return HeapCode::kHostExhausted;
  BufferRequest arena;
  arena.sizeBytes = planned->heightBytes;
  arena.alignment = alignment;
  arena.kind = kind_;
  arena.dedicated = true;
  arena.name = heap_.intern("step arena");
  if (const HeapCode code = heap_.allocate(arena, &arena_); code != HeapCode::kOk)
    return code;
  next = 0;
  for (Entry &entry : record_) {
    if (isPlanned(entry))
      entry.offset = planned->offsets[next++];
    plan_.pushBackReserved(entry);
  }
  for (const uint32_t operation : recordOrder_)
    order_.pushBackReserved(operation);
  ++statistics_.plans;
  statistics_.arenaBytes = planned->heightBytes;
  statistics_.lowerBoundBytes = planned->lowerBoundBytes;
  return HeapCode::kOk;
}

} // namespace gantry::heap
