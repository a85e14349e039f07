// Implements ArenaTable.
#include "engine/heap/arena_table.h"

#include "engine/base/host_memory.h"

namespace gantry::heap {

ArenaTable::~ArenaTable() {
  for (auto &kind : arenas_)
    for (std::atomic<Arena *> &arena : kind)
      hostDelete(environment_.options.host, arena.load());
}

Arena *ArenaTable::make(uint32_t kind, uint32_t number) {
  const Locked locked(lock_);
  std::atomic<Arena *> &entry = arenas_[kind][number];
  if (Arena *made = entry.load(std::memory_order_relaxed); made != nullptr)
    return made;
  // Arena::publish() divides by this count, so it must be right before other threads see the arena.
  environment_.totals[kind].arenas += 1;
  auto *arena = hostNew<Arena>(environment_.options.host, environment_, static_cast<uint8_t>(kind));
  if (arena == nullptr)
    environment_.totals[kind].arenas -= 1;
  entry.store(arena, std::memory_order_release);
  return arena;
}

} // namespace gantry::heap
