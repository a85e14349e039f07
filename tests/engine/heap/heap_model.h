// HeapModel: a heap on a fake device, and a simple model of it. Each step makes a random call of
// the heap, applies it to the model, and compares the two.
//
// The model knows the range and the contents of each live buffer. For a released range it knows the
// ticket of the last submission that may use the range. Another buffer may get the range only if
// this submission is done, or if the buffer is ordered after the submission (ordered_reuse.h).
// Threads: one. Randomness comes only from the seed.
#pragma once

#include "engine/heap/extras/compaction.h"
#include "engine/heap/extras/ordered_reuse.h"
#include "engine/heap/extras/spill.h"
#include "tests/support/fake_device.h"

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gantry::heap {

class HeapModel {
public:
  explicit HeapModel(uint64_t seed);
  ~HeapModel();

  /// Makes one random operation. Returns "", or a sentence that says what the heap did wrong.
  std::string step();
  /// Releases all buffers, gives all memory back and checks for leaks. Returns as step() does.
  std::string finish();

private:
  struct Buffer {
    BufferHandle handle;
    BufferRequest request;
    uint64_t pattern = 0;
    bool written = false;
    uint32_t references = 1;
    uint32_t pins = 0;
  };
  struct Range {
    uint64_t end = 0;
    uint64_t ticket = 0; // 0: a live buffer has the range. Else it is pending until this ticket.
  };
  using Ranges = std::map<std::pair<const device::Memory *, uint64_t>, Range>;

  std::string allocate();
  std::string release();
  std::string useBuffer();
  std::string misuse();
  std::string maintain();
  std::string claim(const Placement &at, uint64_t orderedAfter);
  std::string checkPattern(const Buffer &buffer);
  void writePattern(const Buffer &buffer, const Placement &at);
  void rebuildRanges();
  void forgetPassed();
  uint64_t below(uint64_t bound) { return random_() % bound; }
  uint64_t submit();
  void runDevice();

  std::mt19937_64 random_;
  std::shared_ptr<test::FakeDevice> gpu_;
  HeapPtr heap_;
  std::optional<OrderedReuse> ordered_;
  std::optional<Compaction> compaction_;
  std::optional<Spill> spilling_;
  std::vector<Buffer> live_;
  std::vector<BufferHandle> dead_; // Up to 1000 handles of released buffers.
  Ranges ranges_;
  std::vector<std::unique_ptr<device::CommandList>> lists_;
  uint64_t liveBytes_ = 0;
  bool held_ = false; // The device keeps submissions pending.
  uint64_t lastTicket_ = 0;
  /// Copied bytes plus freed slabs so far. If the sum has changed, buffers may have moved.
  uint64_t moved_ = 0;
};

} // namespace gantry::heap
