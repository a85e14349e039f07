// operator new and operator delete of libgantry.so. They use malloc; if malloc fails, they serve
// the request from a reserve, memory that was set aside. engine/base/out_of_memory.h describes how
// the engine then reports the failure.
//
// The linker exports only the symbols that gantry.map lists. The functions here are not among them,
// so the application and other libraries keep their own. The engine is built without exceptions, so
// operator new cannot throw: if the reserve is used up, the process ends. The reserve does not run
// out if the rules of out_of_memory.h are kept: each operation ends at its next check for a failed
// allocation, and between two checks it allocates no more than the program's structure requires.
// Loading an artifact makes the reserve large enough for that (engine/artifact/reader.cpp), and an
// operation is refused while less than half of the reserve is free (capi::Call). Arrays whose size
// depends on tensors or files use tryResize(), which does not use the reserve.
//
// The first region of the reserve is static storage, whose pages take no memory until they are
// used.
#include "engine/base/memory_reserve.h"
#include "engine/base/out_of_memory.h"
#include "engine/capi/call.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace gantry::capi {

constinit MemoryReserve reserve;

namespace {

constexpr size_t kFirstBytes = size_t{16} << 20;
constexpr size_t kMinGrowthBytes = size_t{16} << 20; // Keeps the number of regions small.
alignas(MemoryReserve::kAlignment) constinit char firstRegion[kFirstBytes];

bool addRegions(size_t bytes) {
  static std::mutex growing;
  const std::lock_guard<std::mutex> locked(growing);
  if (reserve.sizeBytes() == 0)
    reserve.addRegion(firstRegion, sizeof(firstRegion));
  const size_t present = reserve.sizeBytes();
  if (bytes <= present)
    return true;
  // The reserve at least doubles, so that the number of regions that a MemoryReserve can have is
  // enough for every size.
  const size_t more = std::max({bytes - present + 4096, present, kMinGrowthBytes}) & ~size_t{4095};
  void *memory = mmap(nullptr, more, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  if (reserve.addRegion(memory, more))
    return true;
  munmap(memory, more);
  return false;
}

// Adds the first region when the library is loaded.
[[maybe_unused]] const bool kHasFirstRegion = [] {
  growHostReserve = addRegions;
  return addRegions(0);
}();

void *fromReserve(size_t bytes) {
  noteFailedAllocation(bytes);
  if (void *memory = reserve.allocate(bytes))
    return memory;
  // This point is reached only if a rule of out_of_memory.h was violated. The caller cannot handle
  // a failure.
  std::fprintf(stderr,
               "gantry: error: the host has no memory for %zu bytes, and the reserve is used up\n",
               bytes);
  std::abort();
}

void *take(size_t bytes) {
  void *memory = std::malloc(bytes == 0 ? 1 : bytes);
  return memory != nullptr ? memory : fromReserve(bytes);
}

void *takeAligned(size_t bytes, std::align_val_t alignment) {
  void *memory = nullptr;
  if (posix_memalign(&memory, std::max(static_cast<size_t>(alignment), sizeof(void *)),
                     bytes == 0 ? 1 : bytes) == 0)
    return memory;
  static_assert(MemoryReserve::kAlignment >= 64, "the engine needs alignments of up to 64 bytes");
  return fromReserve(bytes);
}

void give(void *memory) {
  if (memory != nullptr && !reserve.deallocate(memory))
    std::free(memory);
}

} // namespace

} // namespace gantry::capi

using namespace gantry::capi;

void *operator new(size_t bytes) { return take(bytes); }
void *operator new[](size_t bytes) { return take(bytes); }
void *operator new(size_t bytes, std::align_val_t alignment) {
  return takeAligned(bytes, alignment);
}
void *operator new[](size_t bytes, std::align_val_t alignment) {
  return takeAligned(bytes, alignment);
}
// The callers of the non-throwing forms handle failure, so these forms do not use the reserve.
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void *operator new[](size_t bytes, const std::nothrow_t &) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void *operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  void *memory = nullptr;
  const int error = posix_memalign(
      &memory, std::max(static_cast<size_t>(alignment), sizeof(void *)), bytes == 0 ? 1 : bytes);
  return error == 0 ? memory : nullptr;
}
void *operator new[](size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t &nothrow) noexcept {
  return operator new(bytes, alignment, nothrow);
}

void operator delete(void *memory) noexcept { give(memory); }
void operator delete[](void *memory) noexcept { give(memory); }
void operator delete(void *memory, size_t) noexcept { give(memory); }
void operator delete[](void *memory, size_t) noexcept { give(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { give(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { give(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { give(memory); }
void operator delete[](void *memory, size_t, std::align_val_t) noexcept { give(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { give(memory); }
void operator delete[](void *memory, const std::nothrow_t &) noexcept { give(memory); }
void operator delete(void *memory, std::align_val_t, const std::nothrow_t &) noexcept {
  give(memory);
}
void operator delete[](void *memory, std::align_val_t, const std::nothrow_t &) noexcept {
  give(memory);
}
