// Device memory, as a backend gives it to the engine: a Memory is one driver allocation, or a
// reserved range of addresses whose storage is committed in parts. It is not a suballocated buffer;
// engine/heap makes those.
//
// Ownership: the creator owns a Memory, and a Memory keeps its device alive. Threads: a Memory is
// used by one thread at a time. Units: bytes.
#pragma once

#include "engine/device/commit_map.h"
#include "engine/device/memory_types.h"

#include <cstdint>
#include <optional>

namespace gantry::device {

class Device;

/// Options of Device::allocate(); the defaults suit ordinary memory.
struct AllocateOptions {
  // 0 to 1. If device memory runs short, the driver evicts memory of low priority first. The
  // priority has no effect on a device without VK_EXT_memory_priority.
  float priority = 0.5f;
  const char *name = nullptr; // Name in the driver's debugging tools; copied.
  bool dedicated = false;     // Tells the driver that the memory holds one resource.
  bool exportable = false;    // Allows Device::exportMemory().
};

/// Existing memory for Device::importMemory().
struct ImportSource {
  enum class Type {
    kHostPointer, // Host memory of the caller, which must outlive the import.
    kOpaqueFd,    // A descriptor from Device::exportMemory(), in this process or another.
  };
  Type type = Type::kHostPointer;
  void *hostPointer = nullptr; // A multiple of info().external.hostPointerAlignmentBytes.
  int fd = -1;                 // A successful import takes ownership of the descriptor.
  // Host pointer: also a multiple of hostPointerAlignmentBytes. Descriptor: the size of the
  // exported memory.
  uint64_t sizeBytes = 0;
  // Host pointer: kUnified. Descriptor: the kind of the exported memory.
  MemoryKind kind = MemoryKind::kUnified;
  /// Descriptor: Memory::memoryType() of the exported memory; nullopt: the kind's first type.
  std::optional<uint32_t> memoryType;
};

/// The budget of one memory heap of the device, and its use by this process.
struct MemoryBudget {
  // Bytes that can be in use before the driver refuses allocations or pages memory out.
  uint64_t budgetBytes = 0;
  // Bytes in use by this process, or by this device object if the driver reports no figures.
  uint64_t usedBytes = 0;
};

/// One driver allocation, or one reserved range. Kernels can bind a Memory, and copies can read and
/// write it.
class Memory {
public:
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  MemoryKind kind() const { return kind_; }
  uint64_t sizeBytes() const { return sizeBytes_; }   // Requested size; a range's whole size.
  uint64_t address() const { return address_; }       // 0 if the device has no buffer addresses.
  uint8_t *mapped() const { return mapped_; }         // Coherent mapping; nullptr for kDevice.
  uint32_t memoryType() const { return memoryType_; } // Index in DeviceInfo::memoryTypes.
  uint32_t heap() const { return heap_; }             // Index in DeviceInfo::memoryHeaps.
  bool exportable() const { return exportable_; }
  bool isRange() const { return isRange_; } // Made by Device::reserve().
  /// The number of bytes that have storage; sizeBytes() unless this is a range.
  uint64_t committedBytes() const { return isRange_ ? commits_.committedBytes() : sizeBytes_; }
  bool isCommitted(uint64_t offsetBytes, uint64_t sizeBytes) const {
    return !isRange_ || commits_.covers(offsetBytes, sizeBytes);
  }

protected:
  Memory(MemoryKind kind, uint64_t sizeBytes) : kind_(kind), sizeBytes_(sizeBytes) {}
  MemoryKind kind_;
  bool exportable_ = false;
  bool isRange_ = false;
  uint32_t memoryType_ = 0;
  uint32_t heap_ = 0;
  uint64_t sizeBytes_;
  uint64_t address_ = 0;
  uint8_t *mapped_ = nullptr;
  // The committed parts of a range. Device updates it; the backend's destructor clears it.
  CommitMap commits_;

private:
  friend class Device;
  friend class CommandList;
  const Device *owner_ = nullptr;
};

} // namespace gantry::device
