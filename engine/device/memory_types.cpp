// Ranks memory types for each kind of memory.
#include "engine/device/memory_types.h"

#include <algorithm>

namespace gantry::device {

const char *memoryKindName(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::kDevice:
    return "device";
  case MemoryKind::kUpload:
    return "upload";
  case MemoryKind::kReadback:
    return "readback";
  case MemoryKind::kUnified:
    return "unified";
  }
  return "unknown";
}

namespace {

/// The rank of a type for a kind. Ranks are compared lexicographically; the smallest is the best.
using Rank = std::array<uint64_t, 4>;

Rank rankOf(MemoryKind kind, const MemoryTypeInfo &type, bool window, uint64_t heapBytes) {
  const uint64_t local = type.deviceLocal, cached = type.hostCached;
  switch (kind) {
  case MemoryKind::kDevice:
    return {window, type.hostVisible, 0, UINT64_MAX - heapBytes};
  case MemoryKind::kUpload:
    return {window, local, cached, 0};
  case MemoryKind::kReadback:
    return {window, 1 - cached, local, 0};
  case MemoryKind::kUnified:
    return {window, 1 - cached, 1 - local, 0};
  }
  return {};
}

} // namespace

MemoryKindTable chooseMemoryTypes(std::span<const MemoryHeapInfo> heaps,
                                  std::span<const MemoryTypeInfo> types) {
  uint64_t largestLocal = 0;
  for (const MemoryHeapInfo &heap : heaps)
    if (heap.deviceLocal)
      largestLocal = std::max(largestLocal, heap.sizeBytes);
  bool anyLocal = false;
  for (const MemoryTypeInfo &type : types)
    anyLocal |= type.usable && type.deviceLocal && type.heap < heaps.size();

  MemoryKindTable table;
  const uint32_t count = static_cast<uint32_t>(std::min<size_t>(types.size(), kMaxMemoryTypes));
  for (uint32_t k = 0; k < kMemoryKindCount; ++k) {
    const auto kind = static_cast<MemoryKind>(k);
    MemoryTypeList &list = table.kinds[k];
    std::array<Rank, kMaxMemoryTypes> ranks;
    for (uint32_t i = 0; i < count; ++i) {
      const MemoryTypeInfo &type = types[i];
      const bool serves = kind == MemoryKind::kDevice ? type.deviceLocal || !anyLocal
                                                      : type.hostVisible && type.hostCoherent;
      if (!type.usable || type.heap >= heaps.size() || !serves)
        continue;
      const bool window =
          type.deviceLocal && type.hostVisible && heaps[type.heap].sizeBytes < largestLocal;
      const Rank rank = rankOf(kind, type, window, heaps[type.heap].sizeBytes);
      uint32_t at = list.count++; // Insertion sort: it is stable, and there are at most 32 types.
      for (; at > 0 && rank < ranks[at - 1]; --at) {
        ranks[at] = ranks[at - 1];
        list.types[at] = list.types[at - 1];
      }
      ranks[at] = rank;
      list.types[at] = static_cast<uint8_t>(i);
    }
  }
  return table;
}

} // namespace gantry::device
