// Interned names of buffers: each text gets a small number (NameId).
//
// The same text always gives the same NameId. A hash table with chains finds it. A lookup takes no
// lock, because entries are only added: an entry is complete before its bucket refers to it, and
// never changes afterwards. Only the first use of a text takes the lock.
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
  /// Interns a text that ends with a zero byte; nullptr gives id 0.
  NameId intern(const char *text) { return text ? intern(std::string_view(text)) : NameId{}; }

  /// The number of ids, including id 0; all ids are below it.
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  /// text(): the text of an id below count(). traceName(): the text's number in engine/trace.
  const char *text(uint32_t id) const { return id == 0 ? "" : entries_[id].text; }
  uint32_t traceName(uint32_t id) const { return id == 0 ? 0 : entries_[id].traceName; }

private:
  struct Entry {
    char *text;
    uint32_t length;
    uint32_t hash;
    uint32_t next; // The next id of the same bucket; 0: none.
    uint32_t traceName;
  };
  uint32_t find(std::string_view text, uint32_t hash) const;

  static constexpr uint32_t kBuckets = 4096;
  HostAllocator host_;
  Lock lock_; // Held while a name is added.
  SegmentedArray<Entry> entries_;
  std::atomic<uint32_t> buckets_[kBuckets]{}; // The latest id of each bucket; 0: none.
  std::atomic<uint32_t> count_{1};
};

} // namespace gantry::heap
