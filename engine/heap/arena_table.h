// The arenas (arena.h) of a heap, up to kArenasPerKind for each memory kind.
//
// The number of a thread (engine/base/thread_number.h), modulo kArenasPerKind, selects its arena,
// so threads whose numbers are equal modulo kArenasPerKind share an arena. An arena is made when a
// thread first needs it.
// Ownership: the table owns the arenas and destroys them in its destructor. Threads: any; arenas
// are made under the table's lock. Errors: ofThread() returns nullptr if the host has no memory.
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

  /// The calling thread's arena of a memory kind.
  Arena *ofThread(uint32_t kind) {
    const uint32_t number = threadNumber() % kArenasPerKind;
    Arena *arena = arenas_[kind][number].load(std::memory_order_acquire);
    return arena != nullptr ? arena : make(kind, number);
  }

  /// Calls visit(arena) for each arena of the kind until visit() returns true. Returns whether
  /// visit() returned true.
  template <typename Visit> bool any(uint32_t kind, Visit &&visit) const {
    for (const std::atomic<Arena *> &entry : arenas_[kind])
      if (Arena *arena = entry.load(std::memory_order_acquire); arena != nullptr && visit(*arena))
        return true;
    return false;
  }
  /// Calls visit(arena) for each arena of every kind, in the order of the kinds.
  template <typename Visit> void each(Visit &&visit) const {
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind)
      any(kind, [&](Arena &arena) {
        visit(arena);
        return false;
      });
  }
  /// The table's lock. While a thread holds it, no arena is made.
  Lock &lock() { return lock_; }

private:
  Arena *make(uint32_t kind, uint32_t number);

  ArenaEnvironment &environment_;
  Lock lock_;
  std::array<std::array<std::atomic<Arena *>, kArenasPerKind>, kMemoryKinds> arenas_{};
};

} // namespace gantry::heap
