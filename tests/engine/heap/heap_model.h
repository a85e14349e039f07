// A simple model of the heap beside the heap: random operations on both, and a judge after each.
//
// The model knows every live range, its contents and, for released ones, the ticket that must pass
// before anybody else may have them. It fails with a message, at the operation that was wrong.
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

  /// One random operation; "" or what was wrong.
  std::string step();
  /// Releases everything, gives all memory back and looks for leaks.
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
    uint64_t ticket = 0; // 0: alive
  };
  using Ranges = std::map<std::pair<const device::Memory *, uint64_t>, Range>;

  std::string allocate();
  std::string release();
  std::string touch();
  std::string misuse();
  std::string maintain();
  std::string claim(const Placement &at, uint64_t orderedAfter);
  std::string checkPattern(const Buffer &buffer);
  void writePattern(const Buffer &buffer, const Placement &at);
  void rebuildRanges();
  void forgetPassed();
  uint64_t below(uint64_t bound) { return random_() % bound; }
  uint64_t submit();
  void letGo();

  std::mt19937_64 random_;
  std::shared_ptr<test::FakeDevice> gpu_;
  HeapPtr heap_;
  std::optional<OrderedReuse> ordered_;
  std::optional<Compaction> compaction_;
  std::optional<Spill> spilling_;
  std::vector<Buffer> live_;
  std::vector<BufferHandle> dead_; // some handles that were released
  Ranges ranges_;
  std::vector<std::unique_ptr<device::CommandList>> lists_;
  uint64_t liveBytes_ = 0;
  bool held_ = false;
  uint64_t lastTicket_ = 0;
  uint64_t moved_ = 0; // copied bytes and freed slabs so far
};

} // namespace gantry::heap
