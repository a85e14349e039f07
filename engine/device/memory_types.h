// The choice of memory types: which of a device's memory types serve each kind of memory, best
// first. The choice is a pure function of plain tables and is the same for every backend.
//
// Algorithm: for each kind, the types that cannot serve it are left out, and the others are ordered
// by the rules below. Types that the rules do not distinguish keep the driver's order, because
// drivers list the better type first. An allocation tries the types in this order, because a driver
// may refuse a type for a buffer.
//
// A "window" is host-visible device-local memory in a heap that is smaller than the largest
// device-local heap, such as the 256 MiB BAR of a discrete GPU. Windows come last for every kind.
// The other rules are:
//
//   device    Requires device-local memory if the device has any, so that host memory never
//             silently replaces device memory. Prefers types that are not host-visible, then the
//             larger heap.
//   upload    Requires host-visible and coherent memory. Prefers types that are not device-local,
//             to spare device memory; then uncached types, because the host writes in order and
//             gains nothing from a cache.
//   readback  Requires host-visible and coherent memory. Prefers cached types, because host reads
//             from uncached memory are about a hundred times slower; then types that are not
//             device-local.
//   unified   Requires host-visible and coherent memory. Prefers cached types, then device-local
//             types.
//
// The choice considers neither free space nor a driver's preferences for one buffer.
// Threads: pure functions. Units: bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gantry::device {

enum class MemoryKind {
  kDevice,   // Fastest for kernels; not mapped.
  kUpload,   // Mapped, for sequential writes by the host.
  kReadback, // Mapped, for reads by the host; cached if the device has such memory.
  kUnified,  // Mapped and bound by kernels; cached for the host if the device has such memory.
};
inline constexpr uint32_t kMemoryKindCount = 4;
/// The kind's name in messages: "device", "upload", "readback" or "unified".
const char *memoryKindName(MemoryKind kind);

struct MemoryHeapInfo {
  uint64_t sizeBytes = 0;
  bool deviceLocal = false;
};

struct MemoryTypeInfo {
  uint32_t heap = 0; // Index of the heap.
  bool deviceLocal = false;
  bool hostVisible = false;
  bool hostCoherent = false;
  bool hostCached = false;
  /// False for types that need a special feature (lazily allocated, protected, AMD's
  /// device-coherent, RDMA). Such types keep their index and are never chosen.
  bool usable = true;
};

inline constexpr uint32_t kMaxMemoryTypes = 32;
inline constexpr uint32_t kMaxMemoryHeaps = 16;

/// Indices of memory types, best first.
struct MemoryTypeList {
  std::array<uint8_t, kMaxMemoryTypes> types{};
  uint32_t count = 0;
  std::span<const uint8_t> span() const { return {types.data(), count}; }
};

/// The list of memory types for each kind.
struct MemoryKindTable {
  std::array<MemoryTypeList, kMemoryKindCount> kinds;
  const MemoryTypeList &of(MemoryKind kind) const { return kinds[static_cast<size_t>(kind)]; }
};

/// Orders the memory types for each kind. Takes at most kMaxMemoryTypes types and kMaxMemoryHeaps
/// heaps. A type whose heap does not exist is not chosen. A kind that no type can serve gets an
/// empty list.
MemoryKindTable chooseMemoryTypes(std::span<const MemoryHeapInfo> heaps,
                                  std::span<const MemoryTypeInfo> types);

} // namespace gantry::device
