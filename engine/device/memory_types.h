// Which of a device's memory types serves which kind of memory: a pure function over plain tables,
// the same for every backend.
//
// Algorithm: types that cannot serve a kind are left out, the rest are ordered by the rules below,
// equals in the driver's order (drivers list the better one first). An allocation tries them in
// this order; a driver may refuse a type for a certain buffer.
//
//   device    device-local, where the device has any such type; not host-visible first; then the
//             larger heap. Another heap is never taken silently in place of device memory.
//   upload    host-visible and coherent; not device-local first (the scarce memory stays free),
//             uncached first (it is written in order, and caches gain nothing)
//   readback  host-visible and coherent; cached first (reading uncached memory is a hundred times
//             slower for the host), then not device-local
//   unified   host-visible and coherent; cached first, then device-local
//
// A window (host-visible device-local memory in a heap smaller than the largest device-local one,
// such as the 256 MiB BAR of a discrete GPU) comes last for every kind.
//
// What it is not: it does not look at free space, and knows nothing of a driver's wishes for one
// buffer. Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gantry::device {

enum class MemoryKind {
  kDevice,   // fastest for kernels; not mapped
  kUpload,   // mapped, for writing by the host
  kReadback, // mapped, for reading by the host (cached where the device has it)
  kUnified,  // mapped, bound by kernels; cached for the host where the device has it
};
inline constexpr uint32_t kMemoryKindCount = 4;
const char *memoryKindName(MemoryKind kind);

struct MemoryHeapInfo {
  uint64_t sizeBytes = 0;
  bool deviceLocal = false;
};

struct MemoryTypeInfo {
  uint32_t heap = 0;
  bool deviceLocal = false;
  bool hostVisible = false;
  bool hostCoherent = false;
  bool hostCached = false;
  /// False for types that need a feature of their own (lazily allocated, protected, device-coherent
  /// of AMD, RDMA): they keep their index and are never chosen.
  bool usable = true;
};

inline constexpr uint32_t kMaxMemoryTypes = 32;
inline constexpr uint32_t kMaxMemoryHeaps = 16;

/// Indices of memory types, the best first.
struct MemoryTypeList {
  std::array<uint8_t, kMaxMemoryTypes> types{};
  uint32_t count = 0;
  std::span<const uint8_t> span() const { return {types.data(), count}; }
};

struct MemoryKindTable {
  std::array<MemoryTypeList, kMemoryKindCount> kinds;
  const MemoryTypeList &of(MemoryKind kind) const { return kinds[static_cast<size_t>(kind)]; }
};

/// At most kMaxMemoryTypes types and kMaxMemoryHeaps heaps; a type whose heap does not exist is not
/// chosen. A kind that the device has no memory for gets an empty list.
MemoryKindTable chooseMemoryTypes(std::span<const MemoryHeapInfo> heaps,
                                  std::span<const MemoryTypeInfo> types);

} // namespace gantry::device
