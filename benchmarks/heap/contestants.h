// The allocators that heap_bench compares, and replay(), which runs a trace on one of them. Each
// has allocate(slot, bytes), free(slot) and finish(), which frees what is still allocated. A slot
// is an index below Trace::slots that names a live allocation. The classes are template arguments,
// so replay() makes no virtual call.
#pragma once

#include "benchmarks/heap/trace.h"

#include <cstdio>
#include <cstdlib>
#include <gantry/gantry.h>
#include <mimalloc.h>
#include <vector>

// The entry points of glibc's allocator, which other libraries seldom replace as they do malloc().
// A libmimalloc.so that exports these names too takes their place.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" void *__libc_malloc(size_t size) noexcept;
extern "C" void __libc_free(void *memory) noexcept;
// NOLINTEND(readability-identifier-naming)

namespace gantry::bench {

/// Allocates nothing: measures the cost of the replay itself.
class Nothing {
public:
  explicit Nothing(uint32_t slots) : slots_(slots) {}
  void allocate(uint32_t slot, uint64_t bytes) { slots_[slot] = bytes; }
  void free(uint32_t slot) { slots_[slot] = 0; }
  void finish() {}

private:
  std::vector<uint64_t> slots_;
};

class MiMalloc {
public:
  explicit MiMalloc(uint32_t slots) : slots_(slots) {}
  void allocate(uint32_t slot, uint64_t bytes) { slots_[slot] = mi_malloc(bytes); }
  void free(uint32_t slot) {
    mi_free(slots_[slot]);
    slots_[slot] = nullptr;
  }
  void finish() {
    for (void *&memory : slots_) {
      mi_free(memory);
      memory = nullptr;
    }
  }

private:
  std::vector<void *> slots_;
};

class Glibc {
public:
  explicit Glibc(uint32_t slots) : slots_(slots) {}
  void allocate(uint32_t slot, uint64_t bytes) { slots_[slot] = __libc_malloc(bytes); }
  void free(uint32_t slot) {
    __libc_free(slots_[slot]);
    slots_[slot] = nullptr;
  }
  void finish() {
    for (void *&memory : slots_) {
      __libc_free(memory);
      memory = nullptr;
    }
  }

private:
  std::vector<void *> slots_;
};

/// Buffers of a device, through the public C API; unnamed if `name` is nullptr. Exits with 1 if an
/// allocation fails.
class Buffers {
public:
  Buffers(uint32_t slots, gantry_device_t *device, const char *name = "layer/activations")
      : device_(device), name_(name), slots_(slots) {}
  void allocate(uint32_t slot, uint64_t bytes) {
    if (gantry_buffer_create_kind(device_, GANTRY_MEMORY_DEVICE, bytes, name_, &slots_[slot]) !=
        GANTRY_STATUS_OK) {
      std::fprintf(stderr, "heap_bench: %s\n", gantry_last_error());
      std::exit(1);
    }
  }
  void free(uint32_t slot) {
    gantry_buffer_release(slots_[slot]);
    slots_[slot] = nullptr;
  }
  void finish() {
    for (gantry_buffer_t *&buffer : slots_) {
      if (buffer != nullptr)
        gantry_buffer_release(buffer);
      buffer = nullptr;
    }
  }

private:
  gantry_device_t *device_;
  const char *name_;
  std::vector<gantry_buffer_t *> slots_;
};

template <typename Contestant> void replay(const Trace &trace, Contestant &contestant) {
  for (const TraceOp &op : trace.ops) {
    if (op.sizeBytes != 0)
      contestant.allocate(op.slot, op.sizeBytes);
    else
      contestant.free(op.slot);
  }
}

} // namespace gantry::bench
