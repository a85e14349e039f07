// Objects in memory of a HostAllocator, which may refuse.
#pragma once

#include "engine/base/host_memory.h"

#include <new>
#include <utility>

namespace gantry::heap {

/// A T made from the arguments; nullptr if the allocator has no memory. hostDelete() frees it.
template <typename T, typename... Arguments>
T *hostNew(const HostAllocator &host, Arguments &&...arguments) {
  static_assert(alignof(T) <= 16, "a HostAllocator aligns to 16 bytes");
  void *memory = host.allocateZeroed(sizeof(T));
  return memory == nullptr ? nullptr : new (memory) T(std::forward<Arguments>(arguments)...);
}
template <typename T> void hostDelete(const HostAllocator &host, T *object) {
  if (object == nullptr)
    return;
  object->~T();
  host.free(host.user, object, sizeof(T));
}

} // namespace gantry::heap
