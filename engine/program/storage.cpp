// Allocates buffers from the heap and shares existing ones.
#include "engine/program/storage.h"

#include "engine/base/align.h"
#include "engine/heap/extras/report.h"

namespace gantry::program {
namespace {

/// Sizes are rounded up to a multiple of this many bytes, the unit in which the heap allocates. The
/// descriptor of a buffer's last value can then cover whole words of 4 bytes (bindable() in
/// recording.cpp).
constexpr uint64_t kSizeMultiple = 256;

} // namespace

Result<Storage> Storage::allocate(const std::shared_ptr<heap::Heap> &heap, device::MemoryKind kind,
                                  uint64_t sizeBytes, std::string_view name) {
  heap::BufferRequest request;
  request.sizeBytes = roundUp(sizeBytes, kSizeMultiple);
  request.kind = kind;
  request.name = heap->intern(name);
  heap::BufferHandle handle;
  if (const heap::HeapCode code = heap->allocate(request, &handle); code != heap::HeapCode::kOk) {
    const Status why = heap::explain(*heap, code, request);
    return Status(why.code(), "no memory for '" + std::string(name) + "': " + why.message());
  }
  heap::Buffer buffer(*heap, handle);
  heap::Placement place;
  if (const heap::HeapCode code = heap->resolve(handle, &place); code != heap::HeapCode::kOk)
    return heap::explain(*heap, code, request);
  return Storage(std::move(buffer), place);
}

Storage Storage::share(heap::Heap &heap, heap::BufferHandle handle) {
  if (heap.retain(handle) != heap::HeapCode::kOk)
    return {};
  heap::Buffer buffer(heap, handle);
  heap::Placement place;
  if (heap.resolve(handle, &place) != heap::HeapCode::kOk)
    return {};
  place.sizeBytes = roundUp(place.sizeBytes, kSizeMultiple);
  return Storage(std::move(buffer), place);
}

void Storage::freeAfter(uint64_t ticket) const { (void)heap()->freeAfter(handle(), {0, ticket}); }

} // namespace gantry::program
