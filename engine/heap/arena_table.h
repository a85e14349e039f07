// The arenas of a heap: kArenasPerKind for each memory kind, made when a thread first needs one.
//
// Threads: any. Arenas are made under the table's lock and live as long as the heap.
// Errors: ofThread() returns nullptr if the host has no memory.
#pragma once

#include "engine/heap/arena.h"
#include "engine/base/thread_number.h"

#include <array>

namespace gantry::heap {

class ArenaTable {
public:
  static constexpr uint32_t kArenasPerKind = 16;

  explicit ArenaTable(ArenaEnvironment &environment) : environment_(environment) {}
  ~ArenaTable();

  /// The calling thread's arena of a kind.
  Arena *ofThread(uint32_t kind) {
    const uint32_t number = threadNumber() % kArenasPerKind;
    Arena *arena = arenas_[kind][number].load(std::memory_order_acquire);
    return arena != nullptr ? arena : make(kind, number);
  }

  /// Calls visit(arena) for each arena of the kind, until it returns true. Returns whether it did.
  template <typename Visit> bool any(uint32_t kind, Visit &&visit) const {
    for (const std::atomic<Arena *> &entry : arenas_[kind])
      if (Arena *arena = entry.load(std::memory_order_acquire); arena != nullptr && visit(*arena))
        return true;
    return false;
  }
  /// Calls visit(arena) for each arena of all kinds.
  template <typename Visit> void each(Visit &&visit) const {
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
      any(kind, [&](Arena &arena) {
        visit(arena);
        return false;
      });
  }
  /// No arena is made while it is held.
  Lock &lock() { return lock_; }

private:
  Arena *make(uint32_t kind, uint32_t number);

  ArenaEnvironment &environment_;
  Lock lock_;
  std::array<std::array<std::atomic<Arena *>, kArenasPerKind>, kMemoryKinds> arenas_{};
};

} // namespace gantry::heap
