// Implements GrowingArray.
#include "engine/heap/extras/growing_array.h"

#include "engine/base/align.h"

#include <algorithm>

namespace gantry::heap {
namespace {

constexpr uint64_t kMaxPieceBytes = 64 << 20;

} // namespace

HeapCode GrowingArray::reserve(uint64_t rangeBytes) {
  if (range_ != nullptr || rangeBytes == 0)
    return HeapCode::kInvalidArgument;
  const device::VirtualMemoryInfo &info = device_->info().virtualMemory;
  if (!info.supported)
    return HeapCode::kUnsupported;
  if (rangeBytes > info.maxRangeBytes)
    return HeapCode::kTooLarge;
  Result<std::unique_ptr<device::Memory>> made = device_->reserve(MemoryKind::kDevice, rangeBytes);
  if (!made.isOk())
    return heapCodeOf(made.status());
  range_ = made.take();
  return HeapCode::kOk;
}

HeapCode GrowingArray::grow(uint64_t sizeBytes) {
  if (sizeBytes > rangeBytes())
    return HeapCode::kTooLarge;
  if (sizeBytes <= committed_)
    return HeapCode::kOk;
  const uint64_t granularity = device_->info().virtualMemory.granularityBytes;
  const uint64_t whole = roundUp(rangeBytes(), granularity);
  const uint64_t need = roundUp(sizeBytes, granularity) - committed_;
  const uint64_t wanted =
      std::min(std::max(need, roundUp(std::min(committed_, kMaxPieceBytes), granularity)),
               whole - committed_);
  Status status = device_->commit(*range_, committed_, wanted);
  if (status.isOk()) {
    committed_ += wanted;
    return HeapCode::kOk;
  }
  if (status.code() == StatusCode::kOutOfMemory && need < wanted) {
    status = device_->commit(*range_, committed_, need);
    committed_ += status.isOk() ? need : 0;
  }
  return heapCodeOf(status);
}

HeapCode GrowingArray::shrink(uint64_t sizeBytes) {
  if (range_ == nullptr)
    return sizeBytes == 0 ? HeapCode::kOk : HeapCode::kTooLarge;
  const uint64_t keep = sizeBytes > rangeBytes()
                            ? committed_
                            : roundUp(sizeBytes, device_->info().virtualMemory.granularityBytes);
  if (keep >= committed_)
    return HeapCode::kOk;
  const Status status = device_->decommit(*range_, keep, committed_ - keep);
  if (status.isOk())
    committed_ = keep;
  return heapCodeOf(status);
}

} // namespace gantry::heap
