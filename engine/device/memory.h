// Device memory as the driver interface sees it: one Memory is one driver allocation, or a range of
// addresses that gets its storage piece by piece.
//
// What it is not: a buffer with a lifetime of its own (engine/heap). Ownership: a Memory keeps its
// device alive. Threads: one at a time. Units: bytes.
#pragma once

#include "engine/device/commit_map.h"
#include "engine/device/memory_types.h"

#include <cstdint>
#include <optional>

namespace gantry::device {

class Device;

/// How Device::allocate is to allocate. The defaults are what most memory wants.
struct AllocateOptions {
  float priority = 0.5f; // 0 to 1: what the driver keeps in device memory when it runs short
                         // (VK_EXT_memory_priority); ignored where the driver has no such thing
  const char *name = nullptr; // for the driver's debugging tools; copied
  bool dedicated = false;     // tells the driver that the memory holds one resource
  bool exportable = false;    // Device::exportMemory may be called on it
};

/// Memory that exists already, for Device::importMemory.
struct ImportSource {
  enum class Type {
    kHostPointer, // host memory of the caller, which outlives the import
    kOpaqueFd,    // what exportMemory gave, in this process or another
  };
  Type type = Type::kHostPointer;
  void *hostPointer = nullptr; // a multiple of info().external.hostPointerAlignmentBytes
  int fd = -1;                 // the import takes it over when it succeeds
  uint64_t sizeBytes = 0;      // host pointer: a multiple of the same; fd: as it was allocated
  MemoryKind kind = MemoryKind::kUnified; // fd: as it was allocated; host pointers: kUnified
  /// fd: Memory::memoryType() of the exporter; nothing: the first type of the kind.
  std::optional<uint32_t> memoryType;
};

/// What a heap of the device still holds for this process.
struct MemoryBudget {
  uint64_t budgetBytes = 0; // how much may be in use before the driver starts to refuse or to page
  uint64_t usedBytes = 0;   // by this process; by this device object where the driver does not say
};

/// One driver allocation, or one reserved range, usable as storage and as source and target of
/// copies.
class Memory {
public:
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  MemoryKind kind() const { return kind_; }
  uint64_t sizeBytes() const { return sizeBytes_; }   // as requested; of a range: all of it
  uint64_t address() const { return address_; }       // 0 where the device has no addresses
  uint8_t *mapped() const { return mapped_; }         // nullptr for kDevice; coherent
  uint32_t memoryType() const { return memoryType_; } // index into DeviceInfo::memoryTypes
  uint32_t heap() const { return heap_; }             // index into DeviceInfo::memoryHeaps
  bool exportable() const { return exportable_; }
  bool isRange() const { return isRange_; } // from Device::reserve
  /// Bytes that have storage: all of them, except in a range.
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
  CommitMap commits_; // of a range; kept by Device, cleared by the backend's destructor

private:
  friend class Device;
  friend class CommandList;
  const Device *owner_ = nullptr;
};

} // namespace gantry::device
