// Implements SlabTable.
#include "engine/heap/slab_table.h"

#include "engine/heap/buffer_record.h"

#include <algorithm>
#include <cstdio>

namespace gantry::heap {
namespace {

constexpr const char *kSlabNames[] = {"gantry device slab", "gantry upload slab",
                                      "gantry readback slab", "gantry unified slab"};
constexpr const char *kDedicatedNames[] = {"gantry device buffer", "gantry upload buffer",
                                           "gantry readback buffer", "gantry unified buffer"};
constexpr uint32_t kMaxSlabs = (1U << 24) - 1; // The limit of Tlsf's region numbers.
// Tlsf allows at most 2^48 bytes in all slabs of one pool. This limit leaves room for 64 slabs.
constexpr uint64_t kMaxSlabBytes = (uint64_t{1} << 42) - Retention::kSlabGranule;

} // namespace

SlabTable::SlabTable(const HostAllocator &host, std::shared_ptr<device::Device> device,
                     std::span<const uint64_t> limits, std::span<KindTotals, kMemoryKinds> totals,
                     HeapEvents &events)
    : device_(std::move(device)),
      maxBufferBytes_(std::min(
          device_->profile().maxAllocationBytes >> kGranuleLog2 << kGranuleLog2, kMaxSlabBytes)),
      events_(events), totals_(totals), slabs_(host) {
  for (size_t i = 0; i < limits.size(); ++i)
    limits_[i] = limits[i] == 0 ? UINT64_MAX : limits[i];
}

SlabTable::~SlabTable() {
  for (uint32_t i = 0; i < count_; ++i)
    delete slabs_[i].memory;
}

HeapCode SlabTable::codeOf(const Status &status) {
  const Locked locked(messageLock_);
  std::snprintf(message_, sizeof message_, "%s", status.message().c_str());
  return heapCodeOf(status);
}

void SlabTable::copyDriverMessage(std::span<char> text) const {
  const Locked locked(messageLock_);
  std::snprintf(text.data(), text.size(), "%s", message_);
}

// Compares the size with the user's limit and with the driver's budget. Both are those of the
// memory heap that the kind prefers.
HeapCode SlabTable::checkBudget(MemoryKind kind, uint64_t sizeBytes) {
  const device::DeviceInfo &info = device_->info();
  const auto &types = info.memoryKinds.of(kind);
  if (types.count == 0)
    return info.memoryTypes.empty() ? HeapCode::kOk : HeapCode::kUnsupported;
  const uint32_t heap = info.memoryTypes[types.types[0]].heap;
  const uint64_t reserved = reservedBytes(heap);
  if (reserved > limit(heap) || limit(heap) - reserved < sizeBytes)
    return HeapCode::kOverBudget;
  if (!info.memoryBudgets)
    return HeapCode::kOk;
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  const Status status = device_->memoryBudgets({budgets, info.memoryHeaps.size()});
  if (!status.isOk())
    return codeOf(status);
  const device::MemoryBudget &budget = budgets[heap];
  return budget.usedBytes > budget.budgetBytes || budget.budgetBytes - budget.usedBytes < sizeBytes
             ? HeapCode::kOverBudget
             : HeapCode::kOk;
}

// The number for a new slab: the highest unused number below count_, else count_. Tlsf fills slabs
// with low numbers first, so a high number lets the new slab run empty first. kNone if the host has
// no memory or kMaxSlabs slabs exist.
uint32_t SlabTable::unusedNumber() {
  if (unused_ != 0)
    for (uint32_t i = count_; i > 0; --i)
      if (slabs_[i - 1].memory == nullptr)
        return i - 1;
  if (count_ == kMaxSlabs || (count_ >= slabs_.capacity() && !slabs_.grow()))
    return kNone;
  return count_;
}

HeapCode SlabTable::allocate(MemoryKind kind, uint64_t sizeBytes, float priority, bool dedicated,
                             uint32_t *slab) {
  if (const HeapCode code = checkBudget(kind, sizeBytes); code != HeapCode::kOk)
    return code;
  const uint32_t index = unusedNumber();
  if (index == kNone)
    return HeapCode::kHostExhausted;
  const auto k = static_cast<uint32_t>(kind);
  const char *name = dedicated ? kDedicatedNames[k] : kSlabNames[k];
  Result<std::unique_ptr<device::Memory>> made =
      device_->allocate(kind, sizeBytes, {priority, name, dedicated, false});
  if (!made.isOk())
    return codeOf(made.status());
  (index == count_ ? count_ : unused_) += index == count_ ? 1 : -1;
  device::Memory *memory = made->release();
  slabs_[index] = {memory,   memory->address(), memory->mapped(),           sizeBytes,
                   nullptr,  memory->heap(),    static_cast<uint8_t>(kind), 0,
                   dedicated};
  driverAllocations_ += 1;
  reserved_[memory->heap()] += sizeBytes;
  KindTotals &totals = totals_[k];
  const uint64_t reserved = totals.reserved += sizeBytes;
  const uint64_t peak = totals.peakReserved.load();
  retention_[k].noteTaken(reserved, peak);
  totals.peakReserved.store(std::max(peak, reserved));
  if (events_.isObserved())
    events_.slab(HeapEvent::Type::kSlabAllocate, index, slabs_[index]);
  traceBudgets();
  *slab = index;
  return HeapCode::kOk;
}

void SlabTable::free(uint32_t index) {
  Slab &slab = slabs_[index];
  if (events_.isObserved())
    events_.slab(HeapEvent::Type::kSlabFree, index, slab);
  delete slab.memory;
  slab.memory = nullptr;
  ++unused_;
  driverFrees_ += 1;
  reserved_[slab.deviceHeap] -= slab.sizeBytes;
  totals_[slab.kind].reserved -= slab.sizeBytes;
  traceBudgets();
}

void SlabTable::traceBudgets() const {
  const device::DeviceInfo &info = device_->info();
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  if (!trace::isOn() || !device_->memoryBudgets({budgets, info.memoryHeaps.size()}).isOk())
    return;
  for (uint32_t i = 0; i < info.memoryHeaps.size(); ++i) {
    trace::BudgetEvent event = trace::makeEvent<trace::BudgetEvent>(trace::EventType::kBudget);
    event.device = device_->number();
    event.deviceHeap = i;
    event.budgetBytes = budgets[i].budgetBytes;
    event.usedBytes = budgets[i].usedBytes;
    event.limitBytes = limit(i);
    trace::record(event);
  }
}

} // namespace gantry::heap
