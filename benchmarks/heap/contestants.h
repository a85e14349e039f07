// Who replays a trace: each has allocate(slot, size, alignment), free(slot) and finish(), which
// frees what is left. Templates, so that no call of the harness stands between.
#pragma once

#include "benchmarks/heap/trace.h"
#include "engine/heap/heap.h"
#include "engine/heap/tlsf.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mimalloc.h>

// glibc's own allocator, also where another library has taken malloc's name.
extern "C" void *__libc_malloc(size_t size) noexcept;
extern "C" void __libc_free(void *memory) noexcept;

namespace gantry::bench {

/// The harness alone.
class Nothing {
public:
  explicit Nothing(uint32_t slots) : slots_(slots) {}
  void allocate(uint32_t slot, uint64_t bytes, uint32_t) { slots_[slot] = bytes; }
  void free(uint32_t slot) { slots_[slot] = 0; }
  void finish() {}

private:
  std::vector<uint64_t> slots_;
};

class MiMalloc {
public:
  explicit MiMalloc(uint32_t slots) : slots_(slots) {}
  void allocate(uint32_t slot, uint64_t bytes, uint32_t) { slots_[slot] = mi_malloc(bytes); }
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
  void allocate(uint32_t slot, uint64_t bytes, uint32_t) { slots_[slot] = __libc_malloc(bytes); }
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

/// The bare suballocator, over one region that is large enough.
class Bare {
public:
  explicit Bare(uint32_t slots) : tlsf_({}), slots_(slots, heap::Tlsf::kNone) {
    if (!tlsf_.addRegion(0, uint64_t{1} << 36))
      std::abort();
  }
  void allocate(uint32_t slot, uint64_t bytes, uint32_t alignment) {
    slots_[slot] = tlsf_.allocate(bytes, alignment);
  }
  void free(uint32_t slot) {
    tlsf_.free(slots_[slot]);
    slots_[slot] = heap::Tlsf::kNone;
  }
  void finish() {
    for (uint32_t &block : slots_) {
      if (block != heap::Tlsf::kNone)
        tlsf_.free(block);
      block = heap::Tlsf::kNone;
    }
  }

private:
  heap::Tlsf tlsf_;
  std::vector<uint32_t> slots_;
};

/// The heap: reference-counted buffers behind handles.
class Refcounted {
public:
  Refcounted(uint32_t slots, heap::Heap &heap) : heap_(heap), slots_(slots) {}
  void allocate(uint32_t slot, uint64_t bytes, uint32_t alignment) {
    heap::BufferRequest request;
    request.sizeBytes = bytes;
    request.alignment = alignment;
    request.movable = movable;
    if (heap_.allocate(request, &slots_[slot]) != heap::HeapCode::kOk)
      fail(request);
  }
  void free(uint32_t slot) {
    if (heap_.release(slots_[slot]) != heap::HeapCode::kOk)
      fail({});
    slots_[slot] = {};
  }
  void finish() {
    for (heap::BufferHandle &handle : slots_) {
      if (handle)
        (void)heap_.release(handle);
      handle = {};
    }
  }
  bool movable = false;

private:
  [[noreturn]] void fail(const heap::BufferRequest &request) {
    std::fprintf(stderr, "heap_bench: %s\n",
                 heap_.explain(heap::HeapCode::kExhausted, request).message().c_str());
    std::exit(1);
  }
  heap::Heap &heap_;
  std::vector<heap::BufferHandle> slots_;
};

template <typename Contestant> void replay(const Trace &trace, Contestant &contestant) {
  for (const TraceOp &op : trace.ops) {
    if (op.sizeBytes != 0)
      contestant.allocate(op.slot, op.sizeBytes, op.alignment);
    else
      contestant.free(op.slot);
  }
}

} // namespace gantry::bench
