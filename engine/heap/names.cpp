// Implements Names.
#include "engine/heap/names.h"

#include "engine/trace/record/source.h"

#include <algorithm>
#include <cstring>

namespace gantry::heap {
namespace {

constexpr uint32_t kEmpty = UINT32_MAX;

uint32_t hashOf(std::string_view text) { // FNV-1a
  uint32_t hash = 2166136261U;
  for (const char c : text)
    hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
  return hash;
}

} // namespace

Names::Names(const HostAllocator &host) : host_(host), entries_(host), table_(host) {}

Names::~Names() {
  for (uint32_t i = 1; i < count_; ++i)
    host_.free(host_.user, entries_[i].text, entries_[i].length + 1);
}

NameId Names::intern(const char *text) {
  if (text == nullptr)
    return {};
  std::atomic<uint32_t> &hint = hints_[hintOf(text)];
  if (const uint32_t id = hint.load(std::memory_order_acquire);
      id != 0 && std::strcmp(entries_[id].text, text) == 0)
    return {id};
  const NameId found = intern(std::string_view(text));
  hint.store(found.index, std::memory_order_release);
  return found;
}

// Makes room for one more name in a table that stays at most half full. Returns false, with nothing
// changed, if the host has no memory.
bool Names::reserveTable() {
  if (table_.size() >= 2 * (count_ + 1))
    return true;
  const uint32_t larger = std::max<uint32_t>(64, 2 * table_.size());
  if (!table_.resize(larger))
    return false;
  std::fill(table_.begin(), table_.end(), kEmpty);
  for (uint32_t i = 1; i < count_; ++i) {
    uint32_t at = hashOf({entries_[i].text, entries_[i].length}) & (larger - 1);
    while (table_[at] != kEmpty)
      at = (at + 1) & (larger - 1);
    table_[at] = i;
  }
  return true;
}

NameId Names::intern(std::string_view text) {
  if (text.empty() || text.size() > kMaxLength)
    return {};
  const Locked locked(lock_);
  if (!reserveTable())
    return {};
  const uint32_t mask = table_.size() - 1;
  uint32_t at = hashOf(text) & mask;
  for (; table_[at] != kEmpty; at = (at + 1) & mask) {
    const Entry &entry = entries_[table_[at]];
    if (std::string_view(entry.text, entry.length) == text)
      return {table_[at]};
  }
  const uint32_t id = count_.load(std::memory_order_relaxed);
  if (id == kMaxNames || (id >= entries_.capacity() && !entries_.grow()))
    return {};
  auto *copy = static_cast<char *>(host_.allocate(host_.user, text.size() + 1));
  if (copy == nullptr)
    return {};
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  entries_[id] = {copy, static_cast<uint32_t>(text.size()), trace::intern(text)};
  table_[at] = id;
  count_.store(id + 1, std::memory_order_release);
  return {id};
}

} // namespace gantry::heap
