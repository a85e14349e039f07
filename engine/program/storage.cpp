#include "engine/program/storage.h"

#include "engine/base/align.h"

namespace gantry::program {

Result<std::shared_ptr<Storage>> Storage::allocate(const std::shared_ptr<heap::Heap> &heap,
                                                   device::MemoryKind kind, uint64_t sizeBytes,
                                                   std::string_view name) {
  heap::BufferRequest request;
  request.sizeBytes = roundUp(sizeBytes, 256);
  request.kind = kind;
  request.name = heap->intern(name);
  heap::BufferHandle handle;
  if (const heap::HeapCode code = heap->allocate(request, &handle); code != heap::HeapCode::kOk) {
    const Status why = heap->explain(code, request);
    return Status(why.code(), "no memory for '" + std::string(name) + "': " + why.message());
  }
  std::shared_ptr<Storage> storage(new Storage(heap, handle));
  if (const heap::HeapCode code = heap->resolve(handle, &storage->place_);
      code != heap::HeapCode::kOk)
    return heap->explain(code, request);
  return storage;
}

Storage::~Storage() {
  const heap::TimelinePoint last{0, lastTicket_.load()};
  buffer_.reset(last.value == 0 ? std::span<const heap::TimelinePoint>{} : std::span(&last, 1));
}

void Storage::freeAfter(uint64_t ticket) {
  uint64_t known = lastTicket_.load();
  while (known < ticket && !lastTicket_.compare_exchange_weak(known, ticket)) {
  }
}

} // namespace gantry::program
