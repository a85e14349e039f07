// A buffer that grows without moving: a range of addresses, reserved once, gets its storage piece
// by piece. Growth never copies, and the address stays.
//
// Needs DeviceInfo::virtualMemory (sparse binding, cuMemMap); kUnsupported without it. Storage
// comes from the driver in pieces of at least the granularity, doubling up to 64 MiB, outside of
// the heap's slabs; its bytes are the driver's to report (Device::memoryBudgets).
//
// Ownership: the object holds the range and its device. Threads: one at a time. Units: bytes.
#pragma once

#include "engine/device/device.h"
#include "engine/heap/types.h"

#include <memory>

namespace gantry::heap {

class GrowingArray {
public:
  explicit GrowingArray(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}

  /// Once: the addresses for up to rangeBytes. No storage yet.
  HeapCode reserve(uint64_t rangeBytes);
  /// At least sizeBytes have storage afterwards; what was written stays where it is. kTooLarge
  /// beyond the range; on kExhausted nothing has changed.
  HeapCode grow(uint64_t sizeBytes);
  /// Storage beyond sizeBytes (rounded up to the granularity) goes back to the driver. No
  /// submission uses it any more.
  HeapCode shrink(uint64_t sizeBytes);

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
