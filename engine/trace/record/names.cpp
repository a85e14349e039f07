// Implements the table of the texts to which events refer.
#include "engine/trace/record/names.h"

#include "engine/base/out_of_memory.h"

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace gantry::trace {
namespace {

struct Table {
  std::mutex mutex;
  std::deque<std::string> texts; // A deque does not move its elements; the map's keys view them.
  std::unordered_map<std::string_view, uint32_t> ids;
};

/// The table is never destroyed, because threads that end late still intern names.
Table &table() {
  static auto *const instance = new Table;
  return *instance;
}

uint32_t copyLocked(uint32_t first, NamesBuilder &builder) {
  const Table &names = table();
  for (; first <= names.texts.size(); ++first)
    builder.add(first, names.texts[first - 1]);
  return first;
}

} // namespace

uint32_t intern(std::string_view text) {
  text = text.substr(0, kMaxNameBytes);
  if (text.empty())
    return 0;
  Table &names = table();
  const std::lock_guard<std::mutex> locked(names.mutex);
  if (const auto found = names.ids.find(text); found != names.ids.end())
    return found->second;
  if (names.texts.size() >= kMaxNameId)
    return 0;
  const HostMemoryScope scope;
  names.texts.emplace_back(text);
  const auto id = static_cast<uint32_t>(names.texts.size());
  names.ids.emplace(names.texts.back(), id);
  // If the host has no memory left, the name lies in the reserve for failed allocations
  // (out_of_memory.h). It must not stay there, because a name is never freed.
  if (!checkHostMemory().isOk()) {
    names.ids.erase(names.texts.back());
    names.texts.pop_back();
    return 0;
  }
  return id;
}

uint32_t copyNames(uint32_t first, NamesBuilder &builder) {
  const std::lock_guard<std::mutex> locked(table().mutex);
  return copyLocked(first == 0 ? 1 : first, builder);
}

bool tryCopyNames(uint32_t *first, NamesBuilder &builder) {
  const std::unique_lock<std::mutex> locked(table().mutex, std::try_to_lock);
  if (!locked.owns_lock())
    return false;
  const Table &names = table();
  *first = *first == 0 ? 1 : *first;
  while (*first <= names.texts.size() && builder.addIfReserved(*first, names.texts[*first - 1]))
    ++*first;
  return true;
}

} // namespace gantry::trace
