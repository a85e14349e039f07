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
  if (const heap::HeapCode code = heap->allocate(request, &handle); code != heap::HeapCode::kOk)
    return heap->explain(code, request);
  std::shared_ptr<Storage> storage(new Storage(heap, handle));
  if (const heap::HeapCode code = heap->resolve(handle, &storage->place_);
      code != heap::HeapCode::kOk)
    return heap->explain(code, request);
  return storage;
}

} // namespace gantry::program
