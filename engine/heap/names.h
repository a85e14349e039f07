// Interned names of buffers: each text gets a small number (NameId).
//
// The same text always gives the same NameId. A lookup by `const char *` first tries a hint: a
// table of 256 entries, indexed by a hash of the text's address, holds the id of the text that was
// last interned from an address with this hash. One comparison of the texts confirms the hint. A
// program that passes a literal again therefore needs neither a hash of the text nor the lock.
// Without a valid hint, a hash table with open addressing finds the text under the lock.
//
// Ownership: the object copies the texts and frees them in its destructor. Threads: any. Errors: id
// 0 ("no name") if the text is empty or longer than 4096 bytes, if the host has no memory, or if
// 65,535 names exist.
#pragma once

#include "engine/base/host_memory.h"
#include "engine/base/lock.h"
#include "engine/heap/types.h"

#include <string_view>

namespace gantry::heap {

class Names {
public:
  static constexpr uint32_t kMaxNames = 65536;
  static constexpr size_t kMaxLength = 4096;

  explicit Names(const HostAllocator &host);
  ~Names();

  NameId intern(std::string_view text);
  /// The same for a text that ends with a zero byte; nullptr gives id 0. Tries the hint first.
  NameId intern(const char *text);

  /// The number of ids, including id 0; all ids are below it.
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// text(): the text of an id below count(). traceName(): the text's number in engine/trace.
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
  HostArray<uint32_t> table_; // The hash table: ids, or UINT32_MAX for an empty slot.
  std::atomic<uint32_t> count_{1};
  std::atomic<uint32_t> hints_[kHints]{}; // Ids; 0: no hint.
};

} // namespace gantry::heap
