// Implements Names.
#include "engine/heap/names.h"

#include "engine/trace/record/source.h"

#include <bit>
#include <cstring>

namespace gantry::heap {
namespace {

template <typename Word> uint64_t wordAt(const char *bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Multiplies two words to 128 bits and folds the product, as wyhash does (Wang Yi, 2019). The
// constants are the fractional digits of pi.
uint64_t mix(uint64_t a, uint64_t b) {
  const auto product =
      static_cast<unsigned __int128>(a ^ 0x243F6A8885A308D3U) * (b ^ 0x13198A2E03707344U);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Reads the text in blocks of 16 bytes; the last one may overlap the one before.
uint32_t hashOf(std::string_view text) {
  const char *const begin = text.data();
  const char *const end = begin + text.size();
  if (text.size() >= 8) {
    uint64_t hash = text.size();
    for (const char *at = begin; at + 16 < end; at += 16)
      hash = std::rotl(hash, 5) + mix(wordAt<uint64_t>(at), wordAt<uint64_t>(at + 8));
    const char *const last = text.size() < 16 ? begin : end - 16;
    hash += mix(wordAt<uint64_t>(last), wordAt<uint64_t>(end - 8));
    return static_cast<uint32_t>(hash ^ hash >> 32);
  }
  if (text.size() >= 4)
    return static_cast<uint32_t>(mix(wordAt<uint32_t>(begin), wordAt<uint32_t>(end - 4)));
  uint64_t word = 0;
  for (const char c : text)
    word = word << 8 | static_cast<uint8_t>(c);
  return static_cast<uint32_t>(mix(word, text.size()));
}

} // namespace

Names::Names(const HostAllocator &host) : host_(host), entries_(host) {}

Names::~Names() {
  for (uint32_t i = 1; i < count_; ++i)
    host_.free(host_.user, entries_[i].text, entries_[i].length + 1);
}

// Returns the id of the text; 0 if it has none yet.
inline uint32_t Names::find(std::string_view text, uint32_t hash) const {
  uint32_t id = buckets_[hash % kBuckets].load(std::memory_order_acquire);
  for (; id != 0; id = entries_[id].next) {
    const Entry &entry = entries_[id];
    if (entry.hash == hash && std::string_view(entry.text, entry.length) == text)
      break;
  }
  return id;
}

NameId Names::intern(std::string_view text) {
  if (text.empty() || text.size() > kMaxLength)
    return {};
  const uint32_t hash = hashOf(text);
  if (const uint32_t known = find(text, hash); known != 0)
    return {known};
  const Locked locked(lock_);
  if (const uint32_t known = find(text, hash); known != 0)
    return {known};
  const uint32_t id = count_.load(std::memory_order_relaxed);
  if (id == kMaxNames || (id >= entries_.capacity() && !entries_.grow()))
    return {};
  auto *copy = static_cast<char *>(host_.allocate(host_.user, text.size() + 1));
  if (copy == nullptr)
    return {};
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  std::atomic<uint32_t> &bucket = buckets_[hash % kBuckets];
  entries_[id] = {copy, static_cast<uint32_t>(text.size()), hash,
                  bucket.load(std::memory_order_relaxed), trace::intern(text)};
  bucket.store(id, std::memory_order_release);
  count_.store(id + 1, std::memory_order_release);
  return {id};
}

} // namespace gantry::heap
