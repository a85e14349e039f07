#include "profiler_gui/model/growing_list.h"

#include <cstdlib>
#include <sys/mman.h>

namespace gantry::profiler::detail {
namespace {

constexpr size_t kLargeBytes = 1 << 20;

void *map(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void *moved(void *old, size_t oldBytes, size_t bytes) {
  if (oldBytes >= kLargeBytes && bytes >= kLargeBytes) {
    void *memory = mremap(old, oldBytes, bytes, MREMAP_MAYMOVE);
    return memory == MAP_FAILED ? nullptr : memory;
  }
  if (oldBytes < kLargeBytes && bytes < kLargeBytes)
    return std::realloc(old, bytes);
  void *memory = bytes >= kLargeBytes ? map(bytes) : std::malloc(bytes);
  if (memory != nullptr && oldBytes > 0)
    std::memcpy(memory, old, std::min(oldBytes, bytes));
  if (memory != nullptr)
    resizeMemory(old, oldBytes, 0);
  return memory;
}

} // namespace

void *resizeMemory(void *old, size_t oldBytes, size_t bytes) {
  if (bytes > 0) {
    void *memory = moved(old, oldBytes, bytes);
    if (memory == nullptr)
      std::abort();
    return memory;
  }
  if (oldBytes >= kLargeBytes)
    munmap(old, oldBytes);
  else
    std::free(old);
  return nullptr;
}

} // namespace gantry::profiler::detail
