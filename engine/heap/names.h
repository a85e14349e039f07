// The names that buffers carry, as small numbers.
//
// The same text always gives the same NameId. A lookup first tries a hint: a table indexed by the
// address of the caller's text holds the id that this address had last, and one comparison of the
// texts confirms it. So a program that passes a literal pays for no hash and no lock. Otherwise a
// hash table with open addressing finds the text under the lock.
//
// Ownership: texts are copied and stay until the heap ends. How many bytes a name holds is counted
// by the arenas. Threads: any. Errors: id 0 ("no name") for an empty text, a text of more than 4096
// bytes, without host memory, and beyond 65,535 names.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/base/lock.h"
#include "engine/heap/types.h"

#include <cstring>
#include <string_view>

namespace gantry::heap {

class Names {
public:
  static constexpr uint32_t kMaxNames = 65536;
  static constexpr size_t kMaxLength = 4096;

  explicit Names(const HostAllocator &host);
  ~Names();

  NameId intern(std::string_view text);
  /// The same for a text that ends with a zero byte; nullptr gives id 0. Fast where the same text
  /// comes from the same address again.
  NameId intern(const char *text);
  /// Only the hint: id 0 if it does not lead to the text.
  NameId recall(const char *text) const {
    const uint32_t id = hints_[hintOf(text)].load(std::memory_order_acquire);
    return {id != 0 && std::strcmp(entries_[id].text, text) == 0 ? id : 0};
  }

  /// Ids below it exist. Id 0 is "no name".
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// The text of an id below count(), and its number in engine/trace.
  const char *text(uint32_t id) const { return id == 0 ? "" : entries_[id].text; }
  uint32_t traceName(uint32_t id) const { return id == 0 ? 0 : entries_[id].traceName; }

private:
  struct Entry {
    char *text;
    uint32_t length;
    uint32_t traceName;
  };
  bool reserveTable();
  static size_t hintOf(const char *text) {
    const auto address = reinterpret_cast<uintptr_t>(text);
    return (address ^ address >> 8) % kHints;
  }

  static constexpr uint32_t kHints = 256;
  HostAllocator host_;
  Lock lock_;
  SegmentedArray<Entry> entries_;
  HostArray<uint32_t> table_; // ids; kNone: empty
  std::atomic<uint32_t> count_{1};
  std::atomic<uint32_t> hints_[kHints]{}; // ids
};

} // namespace gantry::heap
