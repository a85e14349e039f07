// GrowingArray: an array in device memory that grows without moving. reserve() reserves a range of
// device addresses once, and grow() adds storage to it. Growth copies nothing, and the address
// stays the same.
//
// The device must support virtual memory (DeviceInfo::virtualMemory; sparse binding in Vulkan,
// cuMemMap in CUDA), else reserve() returns kUnsupported. The storage comes from the driver, not
// from the heap's slabs, so Heap::statistics() does not count it; Device::memoryBudgets() does.
//
// Ownership: the object owns the range and keeps the device alive. Threads: one at a time.
// Units: bytes.
#pragma once

#include "engine/device/device.h"
#include "engine/heap/types.h"

#include <memory>

namespace gantry::heap {

class GrowingArray {
public:
  explicit GrowingArray(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}

  /// Reserves addresses for up to rangeBytes, without storage. Returns kTooLarge if rangeBytes
  /// exceeds the device's limit, and kInvalidArgument if it is 0 or an earlier call succeeded.
  HeapCode reserve(uint64_t rangeBytes);
  /// Gives storage to at least the first sizeBytes of the range. To make repeated growth cheap, a
  /// call that adds storage adds at least committedBytes() or 64 MiB, whichever is less. It adds
  /// only what sizeBytes needs if the driver refuses more, and nothing beyond the range. Returns
  /// kTooLarge if sizeBytes exceeds the range, and kExhausted if the driver has no memory or if the
  /// call would add more bytes than one driver allocation may have. On failure nothing has changed.
  HeapCode grow(uint64_t sizeBytes);
  /// Gives the storage beyond sizeBytes (rounded up to VirtualMemoryInfo::granularityBytes) back to
  /// the driver. No submission may use that storage any more. If there is no storage beyond
  /// sizeBytes, does nothing and returns kOk. Before reserve(), returns kTooLarge unless sizeBytes
  /// is 0.
  HeapCode shrink(uint64_t sizeBytes);

  /// Bytes with storage, from the start of the range.
  uint64_t committedBytes() const { return committed_; }
  uint64_t rangeBytes() const { return range_ == nullptr ? 0 : range_->sizeBytes(); }
  uint64_t address() const { return range_ == nullptr ? 0 : range_->address(); }
  device::Memory *memory() const { return range_.get(); }

private:
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<device::Memory> range_;
  uint64_t committed_ = 0;
};

} // namespace gantry::heap
