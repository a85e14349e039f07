// The allocators that heap_bench compares, and replay(), which runs a trace on one of them. Each
// has allocate(slot, bytes), free(slot) and finish(), which frees what is still allocated. A slot
// is an index below Trace::slots that names a live allocation. The classes are template arguments,
// so replay() makes no virtual call.
#pragma once

#include "benchmarks/heap/trace.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <gantry/gantry.h>
#include <mimalloc.h>
#include <span>
#include <string>
#include <vector>

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

/// glibc's malloc() and free(). They are looked up in libc.so itself, because libmimalloc.so
/// replaces these names, and also `__libc_malloc`, in the whole program.
class Glibc {
public:
  explicit Glibc(uint32_t slots) : slots_(slots) {
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    malloc_ = reinterpret_cast<void *(*)(size_t)>(dlsym(library, "malloc"));
    free_ = reinterpret_cast<void (*)(void *)>(dlsym(library, "free"));
    if (malloc_ == nullptr || free_ == nullptr) {
      std::fprintf(stderr, "heap_bench: libc.so.6 has no malloc()\n");
      std::exit(1);
    }
  }
  void allocate(uint32_t slot, uint64_t bytes) { slots_[slot] = malloc_(bytes); }
  void free(uint32_t slot) {
    free_(slots_[slot]);
    slots_[slot] = nullptr;
  }
  void finish() {
    for (void *&memory : slots_) {
      free_(memory);
      memory = nullptr;
    }
  }

private:
  void *(*malloc_)(size_t) = nullptr;
  void (*free_)(void *) = nullptr;
  std::vector<void *> slots_;
};

/// Buffers of a device, through the public C API. The buffer of slot i has the name i modulo the
/// number of names. Exits with 1 if an allocation fails.
class Buffers {
public:
  Buffers(uint32_t slots, gantry_device_t *device, std::span<const std::string> names)
      : device_(device), slots_(slots), names_(slots) {
    for (uint32_t i = 0; i < slots; ++i)
      names_[i] = names[i % names.size()].c_str();
  }
  void allocate(uint32_t slot, uint64_t bytes) {
    if (gantry_buffer_create_kind(device_, GANTRY_MEMORY_DEVICE, bytes, names_[slot],
                                  &slots_[slot]) != GANTRY_STATUS_OK) {
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
  std::vector<gantry_buffer_t *> slots_;
  std::vector<const char *> names_; // By slot.
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
