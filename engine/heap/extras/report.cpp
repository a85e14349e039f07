// Implements the memory report and the explanation of codes.
#include "engine/heap/extras/report.h"

#include "engine/heap/heap_components.h"

#include <cstdarg>
#include <cstdio>

namespace gantry::heap {
namespace {

/// Appends formatted text to a buffer that may be too small. length() counts all characters, also
/// those that did not fit.
class Writer {
public:
  explicit Writer(std::span<char> text) : text_(text) {
    if (!text_.empty())
      text_[0] = 0;
  }
  void print(const char *format, ...) __attribute__((format(printf, 2, 3))) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = length_ < text_.size() ? text_.size() - length_ : 0;
    const int written =
        std::vsnprintf(room == 0 ? nullptr : text_.data() + length_, room, format, arguments);
    va_end(arguments);
    length_ += written > 0 ? static_cast<size_t>(written) : 0;
  }
  size_t length() const { return length_; }

private:
  std::span<char> text_;
  size_t length_ = 0;
};

struct Amount {
  double value;
  const char *unit;
};
Amount amountOf(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  return {value, kUnits[unit]};
}

const char *kindName(uint32_t kind) {
  return device::memoryKindName(static_cast<MemoryKind>(kind));
}

} // namespace

size_t writeReport(const Heap &heap, std::span<char> text) {
  Writer writer(text);
  const SlabTable &slabs = heap.components().slabs;
  HeapStatistics all;
  heap.statistics(&all);
  writer.print("memory of %s\n", heap.device().info().name.c_str());
  for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
    const KindStatistics &one = all.kinds[kind];
    if (one.peakReservedBytes == 0)
      continue;
    const Amount reserved = amountOf(one.reservedBytes);
    const Amount live = amountOf(one.liveBytes);
    const Amount pending = amountOf(one.pendingBytes);
    const Amount largest = amountOf(one.largestFreeBytes);
    const Amount peak = amountOf(one.peakLiveBytes);
    writer.print("  %-8s reserved %.1f %s in %u slabs (%u empty), live %.1f %s in %llu buffers "
                 "(peak %.1f %s), released but in use by the device %.1f %s, largest free %.1f %s, "
                 "fragmentation %.0f %%\n",
                 kindName(kind), reserved.value, reserved.unit, one.slabs, one.emptySlabs,
                 live.value, live.unit, static_cast<unsigned long long>(one.liveBuffers),
                 peak.value, peak.unit, pending.value, pending.unit, largest.value, largest.unit,
                 100 * one.fragmentation);
  }
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  const auto heaps = static_cast<uint32_t>(heap.device().info().memoryHeaps.size());
  const bool known =
      !heap.device().isLost() && heap.device().memoryBudgets({budgets, heaps}).isOk();
  for (uint32_t i = 0; i < heaps && known; ++i) {
    const Amount used = amountOf(budgets[i].usedBytes);
    const Amount budget = amountOf(budgets[i].budgetBytes);
    const Amount mine = amountOf(slabs.reservedBytes(i));
    writer.print(
        "  memory heap %u: %.1f %s of a budget of %.1f %s in use, %.1f %s of that by Gantry", i,
        used.value, used.unit, budget.value, budget.unit, mine.value, mine.unit);
    const uint64_t limit = slabs.limit(i);
    const Amount limited = amountOf(limit);
    if (limit != UINT64_MAX)
      writer.print(", limited to %.1f %s", limited.value, limited.unit);
    writer.print("\n");
  }
  NameStatistics largest[8];
  const size_t count = heap.names(largest);
  for (size_t i = 0; i < count && largest[i].liveBytes != 0; ++i) {
    const Amount live = amountOf(largest[i].liveBytes);
    const Amount peak = amountOf(largest[i].peakBytes);
    writer.print("  %-24s %.1f %s in %llu buffers, peak %.1f %s\n", largest[i].name, live.value,
                 live.unit, static_cast<unsigned long long>(largest[i].liveBuffers), peak.value,
                 peak.unit);
  }
  return writer.length();
}

// ---- explanations ------------------------------------------------------------------------------

Status explain(const Heap &heap, HeapCode code, const BufferRequest &request) {
  const auto kind = static_cast<uint32_t>(request.kind);
  const char *kindText = kind < kMemoryKinds ? kindName(kind) : "unknown";
  const auto size = static_cast<unsigned long long>(request.sizeBytes);
  char driver[256];
  heap.lastDriverMessage(driver);
  HeapStatistics all;
  heap.statistics(&all);
  const KindStatistics &one = all.kinds[kind < kMemoryKinds ? kind : 0];
  const auto reserved = static_cast<unsigned long long>(one.reservedBytes);
  const auto live = static_cast<unsigned long long>(one.liveBytes);
  const auto largest = static_cast<unsigned long long>(one.largestFreeBytes);
  switch (code) {
  case HeapCode::kInvalidArgument:
    return statusf(StatusCode::kInvalidArgument,
                   "invalid request: %llu bytes, alignment %llu, kind %u, priority %g. The size "
                   "must be at least 1, the alignment a power of two up to 2^30, the kind 0 to 3, "
                   "the priority 0 to 1; names and timelines must be those of this heap",
                   size, static_cast<unsigned long long>(request.alignment), kind,
                   static_cast<double>(request.priority));
  case HeapCode::kForeignHandle:
    return Status(StatusCode::kInvalidArgument, "the buffer handle is not of this heap");
  case HeapCode::kStaleHandle:
    return Status(StatusCode::kFailedPrecondition,
                  "the buffer was released before; a handle is released once per reference");
  case HeapCode::kExhausted:
    return statusf(StatusCode::kOutOfMemory,
                   "no %s memory for %llu bytes (%s); %llu bytes reserved, %llu live, largest free "
                   "range %llu. Free or spill buffers, allow compaction, or use a smaller problem; "
                   "the memory report lists the names that hold the most bytes",
                   kindText, size, driver, reserved, live, largest);
  case HeapCode::kOverBudget:
    return statusf(StatusCode::kOutOfMemory,
                   "%llu bytes of %s memory are over the budget; %llu bytes reserved, %llu live, "
                   "largest free range %llu. Raise the limit, free or spill buffers; the memory "
                   "report lists the names that hold the most bytes",
                   size, kindText, reserved, live, largest);
  case HeapCode::kHostExhausted:
    return Status(StatusCode::kOutOfMemory, "no host memory");
  case HeapCode::kTooLarge:
    return statusf(StatusCode::kOutOfMemory,
                   "a buffer of %llu bytes is larger than one allocation of this device may be "
                   "(%llu bytes); split it",
                   size, static_cast<unsigned long long>(heap.components().slabs.maxBufferBytes()));
  case HeapCode::kDeviceLost:
    return statusf(StatusCode::kDeviceLost, "the device is lost: %s", driver);
  case HeapCode::kUnsupported:
    return statusf(StatusCode::kUnsupported, "this device cannot allocate %s memory (%s)", kindText,
                   driver);
  case HeapCode::kBusy:
    return Status(StatusCode::kFailedPrecondition,
                  "the buffer is pinned, spilled or in flight; try again when it is not");
  default:
    return statusf(StatusCode::kInternal, "%s: %s", heapCodeName(code), driver);
  }
}

} // namespace gantry::heap
