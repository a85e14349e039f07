// Tests of the events and snapshots (lists of all live slabs and buffers) that a heap writes to
// engine/trace: a viewer that attaches at any time and receives them knows all live buffers and
// slabs, and its sums equal the heap's statistics to the byte.
#include "engine/heap/extras/spill.h"
#include "engine/heap/heap_components.h"
#include "engine/trace/record/flight_recorder.h"
#include "engine/trace/record/record.h"
#include "engine/trace/record/rings.h"
#include "tests/engine/trace/memory_sink.h"
#include "tests/support/fake_device.h"
#include "tests/support/scratch.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace gantry::heap {
namespace {

using namespace test;
using trace::Event;
using trace::EventType;

/// The state of one heap as a viewer rebuilds it from events. Checks the order and the sequence
/// numbers of the events.
struct Mirror {
  explicit Mirror(uint16_t heap) : heap(heap) {}

  void take(const Event &event) {
    if (event.header.heap != heap)
      return;
    switch (event.type()) {
    case EventType::kSnapshotBegin:
      blocks.clear();
      slabs.clear();
      lastSequence = event.snapshot.sequence;
      exact = false;
      break;
    case EventType::kSnapshotEnd:
      exact = true;
      EXPECT_EQ(blocks.size(), event.snapshot.blocks);
      break;
    case EventType::kLiveSlab:
      slabs[event.slab.slab] = event.slab;
      break;
    case EventType::kLiveBlock:
      EXPECT_TRUE(blocks.emplace(event.block.block, event.block).second);
      break;
    case EventType::kSlab:
      count(event.slab.sequence);
      EXPECT_TRUE(slabs.emplace(event.slab.slab, event.slab).second || gapsAllowed);
      break;
    case EventType::kSlabEnd: // before the first snapshot the slab may be unknown
      count(event.slab.sequence);
      EXPECT_TRUE(slabs.erase(event.slab.slab) == 1 || !exact || gapsAllowed);
      break;
    case EventType::kAllocate: // each of these four events has the whole block
    case EventType::kMove:
    case EventType::kSpill:
    case EventType::kRestore:
      count(event.block.sequence);
      blocks[event.block.block] = event.block;
      break;
    case EventType::kRelease: // before the first snapshot the block may be unknown
      count(event.release.sequence);
      blocks.erase(event.release.block);
      break;
    case EventType::kHeapTotals:
      totals[event.heapTotals.kind] = event.heapTotals;
      break;
    default:
      break;
    }
  }
  /// After a snapshot, sequence numbers have no gaps.
  void count(uint64_t sequence) {
    if (exact && !gapsAllowed) {
      EXPECT_EQ(sequence, lastSequence + 1);
    }
    lastSequence = sequence;
  }
  uint64_t liveBytes(MemoryKind kind) const {
    uint64_t bytes = 0;
    for (const auto &[id, block] : blocks)
      bytes += block.kind == static_cast<uint8_t>(kind) ? block.sizeBytes : 0;
    return bytes;
  }
  uint64_t reservedBytes(MemoryKind kind) const {
    uint64_t bytes = 0;
    for (const auto &[index, slab] : slabs)
      bytes += slab.kind == static_cast<uint8_t>(kind) ? slab.sizeBytes : 0;
    return bytes;
  }
  /// Checks that no two blocks overlap and that each lies in its slab.
  void checkPlaces() const {
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> byPlace;
    for (const auto &[id, block] : blocks) {
      if (block.slab == trace::kNoSlab)
        continue;
      ASSERT_TRUE(
          byPlace.emplace(std::pair(block.slab, block.offsetBytes), block.sizeBytes).second);
      const auto slab = slabs.find(block.slab);
      ASSERT_NE(slab, slabs.end());
      ASSERT_LE(block.offsetBytes + block.sizeBytes, slab->second.sizeBytes);
    }
    for (auto at = byPlace.begin(); at != byPlace.end(); ++at) {
      const auto next = std::next(at);
      if (next != byPlace.end() && next->first.first == at->first.first) {
        ASSERT_LE(at->first.second + at->second, next->first.second);
      }
    }
  }

  uint16_t heap;
  bool exact = false;       // A snapshot was complete.
  bool gapsAllowed = false; // Events were dropped, so sequence numbers may have gaps.
  uint64_t lastSequence = 0;
  std::map<uint64_t, trace::BlockEvent> blocks;
  std::map<uint32_t, trace::SlabEvent> slabs;
  std::map<uint32_t, trace::HeapTotalsEvent> totals;
};

class HeapTraceTest : public testing::Test {
protected:
  void SetUp() override {
    device_ = FakeDevice::create();
    auto made = Heap::create(device_, {});
    ASSERT_TRUE(made.isOk()) << made.status().message();
    heap_ = made.take();
  }
  void expectSame(const Mirror &mirror) {
    HeapStatistics statistics;
    heap_->statistics(&statistics);
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
      EXPECT_EQ(mirror.liveBytes(static_cast<MemoryKind>(kind)), statistics.kinds[kind].liveBytes);
      EXPECT_EQ(mirror.reservedBytes(static_cast<MemoryKind>(kind)),
                statistics.kinds[kind].reservedBytes);
    }
    mirror.checkPlaces();
  }
  Mirror mirrorOf(MemorySink &sink) {
    Mirror mirror(heap_->traceId());
    for (const Event &event : sink.events())
      mirror.take(event);
    return mirror;
  }
  BufferHandle take(uint64_t sizeBytes, NameId name = {}) {
    BufferRequest request;
    request.sizeBytes = sizeBytes;
    request.name = name;
    BufferHandle handle;
    EXPECT_EQ(heap_->allocate(request, &handle), HeapCode::kOk);
    return handle;
  }

  std::shared_ptr<FakeDevice> device_;
  HeapPtr heap_;
};

TEST_F(HeapTraceTest, AViewerThatAttachesFirstKnowsAllBuffers) {
  MemorySink sink;
  std::vector<BufferHandle> handles;
  for (uint64_t i = 1; i < 200; ++i)
    handles.push_back(take(i * 1000, heap_->intern("layer")));
  for (size_t i = 0; i < handles.size(); i += 2)
    EXPECT_EQ(heap_->release(handles[i]), HeapCode::kOk);
  const Mirror mirror = mirrorOf(sink);
  expectSame(mirror);
  ASSERT_FALSE(mirror.blocks.empty());
  EXPECT_EQ(sink.names()[mirror.blocks.begin()->second.name], "layer");
}

TEST_F(HeapTraceTest, ADedicatedSlabThatAnotherPoolTakesOverIsReportedAsShared) {
  // Make memory kind 0 quick (retention.h), so that the heap moves empty slabs to other pools at
  // once (growth.h, step 2).
  for (uint32_t i = 0; i < Retention::kRetakesUntilQuick; ++i)
    heap_->components().slabs.retention(0).noteTaken(0, 0);
  MemorySink sink;
  std::vector<BufferHandle> handles(200);
  BufferRequest request;
  request.sizeBytes = 300 << 10;
  request.dedicated = true;
  for (BufferHandle &handle : handles)
    ASSERT_EQ(heap_->allocate(request, &handle), HeapCode::kOk);
  for (const BufferHandle handle : handles)
    EXPECT_EQ(heap_->release(handle), HeapCode::kOk);
  for (int i = 0; i < 5000; ++i)
    take(4096);
  const Mirror mirror = mirrorOf(sink);
  expectSame(mirror);
  uint32_t adopted = 0;
  for (const auto &[id, block] : mirror.blocks) {
    const trace::SlabEvent &slab = mirror.slabs.at(block.slab);
    EXPECT_EQ(slab.dedicated, 0);
    adopted += slab.sizeBytes == 320 << 10 ? 1 : 0;
  }
  EXPECT_GT(adopted, 0u) << "no slab was taken over";
}

TEST_F(HeapTraceTest, ALateViewerKnowsTheLiveBuffersAndTheirPlaces) {
  std::vector<BufferHandle> handles;
  for (uint64_t i = 1; i < 1000; ++i)
    handles.push_back(take(i * 100));
  for (size_t i = 0; i < handles.size(); i += 3)
    EXPECT_EQ(heap_->release(handles[i]), HeapCode::kOk);
  MemorySink sink;
  const Mirror atOnce = mirrorOf(sink);
  expectSame(atOnce);
  MemorySink second;
  for (size_t i = 1; i < handles.size(); i += 3)
    EXPECT_EQ(heap_->release(handles[i]), HeapCode::kOk);
  take(5 << 20);
  const Mirror later = mirrorOf(second);
  expectSame(later);
  for (const auto &[kind, totals] : later.totals)
    EXPECT_EQ(totals.liveBytes, atOnce.liveBytes(static_cast<MemoryKind>(kind)));
}

// The blocks are in two heaps and in all kinds of memory.
TEST_F(HeapTraceTest, ALateViewerKnowsAMillionBlocks) {
  auto made = Heap::create(device_, {});
  ASSERT_TRUE(made.isOk()) << made.status().message();
  Heap *heaps[] = {heap_.get(), made->get()};
  constexpr uint32_t kBlocks = 1'000'000;
  for (uint32_t i = 0; i < kBlocks; ++i) {
    BufferRequest request;
    request.sizeBytes = 1 + i * 7919ULL % 700;
    request.kind = static_cast<MemoryKind>(i / 2 % kMemoryKinds);
    BufferHandle handle;
    ASSERT_EQ(heaps[i % 2]->allocate(request, &handle), HeapCode::kOk) << i;
  }
  MemorySink late;
  std::map<std::pair<uint16_t, uint32_t>, std::pair<uint64_t, uint64_t>> sums; // blocks, bytes
  for (const Event &event : ofType(late.events(), EventType::kLiveBlock)) {
    auto &[blocks, bytes] = sums[{event.header.heap, event.block.kind}];
    blocks += 1;
    bytes += event.block.sizeBytes;
  }
  uint64_t known = 0;
  for (Heap *heap : heaps) {
    HeapStatistics statistics;
    heap->statistics(&statistics);
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
      const auto &[blocks, bytes] = sums[{heap->traceId(), kind}];
      EXPECT_EQ(blocks, statistics.kinds[kind].liveBuffers);
      EXPECT_EQ(bytes, statistics.kinds[kind].liveBytes);
      known += blocks;
    }
  }
  EXPECT_EQ(known, kBlocks);
}

TEST_F(HeapTraceTest, SpilledAndRestoredBuffersAreFollowed) {
  Spill spilling(*heap_, Spill::When::kOnRequest);
  BufferRequest request;
  request.sizeBytes = 1 << 20;
  request.spillable = true;
  BufferHandle handle;
  ASSERT_EQ(heap_->allocate(request, &handle), HeapCode::kOk);
  MemorySink sink;
  ASSERT_EQ(spilling.spill(handle), HeapCode::kOk);
  const Mirror away = mirrorOf(sink);
  ASSERT_EQ(away.blocks.size(), 1u);
  EXPECT_EQ(away.blocks.begin()->second.slab, trace::kNoSlab);
  MemorySink late;
  EXPECT_EQ(mirrorOf(late).blocks.begin()->second.slab, trace::kNoSlab);
  MemorySink third;
  ASSERT_EQ(spilling.restore(handle), HeapCode::kOk);
  const Mirror back = mirrorOf(third);
  EXPECT_NE(back.blocks.begin()->second.slab, trace::kNoSlab);
  expectSame(back);
}

TEST_F(HeapTraceTest, AttachingWhileThreadsAllocateIsExact) {
  // Each thread's ring (ring.h, the queue of its events) can hold all of its events, so that none
  // are dropped on a busy machine.
  constexpr int kMaxOperations = 1'000'000;
  trace::detail::setRingBytes(64 << 20);
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 10; ++round) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        std::mt19937_64 random(seed + t + 100 * static_cast<uint64_t>(round));
        std::vector<BufferHandle> mine;
        for (int done = 0; done < kMaxOperations && !stop; ++done) {
          if (mine.size() < 300 && random() % 2 == 0) {
            mine.push_back(take(1 + random() % (random() % 16 == 0 ? 300000 : 5000)));
          } else if (!mine.empty()) {
            const size_t which = random() % mine.size();
            EXPECT_EQ(heap_->release(mine[which]), HeapCode::kOk);
            mine[which] = mine.back();
            mine.pop_back();
          }
          if (random() % 64 == 0)
            std::this_thread::yield();
        }
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    MemorySink sink;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop = true;
    for (std::thread &thread : threads)
      thread.join();
    const std::vector<Event> events = sink.events();
    ASSERT_TRUE(ofType(events, EventType::kDrops).empty());
    Mirror mirror(heap_->traceId());
    for (const Event &event : events)
      mirror.take(event);
    EXPECT_TRUE(mirror.exact);
    expectSame(mirror);
    if (HasFailure())
      break;
  }
  trace::detail::setRingBytes(trace::detail::kDefaultRingBytes);
}

TEST_F(HeapTraceTest, AfterDropsANewSnapshotMakesTheViewerExactAgain) {
  MemorySink sink;
  sink.hangs = true;
  std::vector<BufferHandle> handles;
  for (int i = 0; i < 200000; ++i)
    EXPECT_EQ(heap_->release(take(1000)), HeapCode::kOk);
  for (int i = 0; i < 100; ++i)
    handles.push_back(take(1000));
  sink.hangs = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::vector<Event> events = sink.events();
  uint64_t dropped = 0;
  for (const Event &event : ofType(events, EventType::kDrops))
    dropped += event.drops.memory;
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(ofType(events, EventType::kSnapshotEnd).size(), 2u);
  Mirror mirror(heap_->traceId());
  mirror.gapsAllowed = true;
  for (const Event &event : events)
    mirror.take(event);
  expectSame(mirror);
}

// The collector (engine/trace/record/collector.h) takes a new snapshot after dropped events, but
// pauses between two such snapshots. Its function flush() takes the snapshot without the pause, so
// that no capture ends without it.
TEST_F(HeapTraceTest, AFlushSoonAfterDropsIsExact) {
  MemorySink sink;
  std::vector<BufferHandle> handles;
  for (int burst = 0; burst < 2; ++burst) {
    sink.hangs = true;
    for (int i = 0; i < 200000; ++i)
      EXPECT_EQ(heap_->release(take(1000)), HeapCode::kOk);
    for (int i = 0; i < 100; ++i)
      handles.push_back(take(1000));
    sink.hangs = false;
    trace::Collector::instance().flush();
  }
  Mirror mirror(heap_->traceId());
  mirror.gapsAllowed = true;
  const std::vector<Event> events = sink.events();
  EXPECT_GE(ofType(events, EventType::kDrops).size(), 2u);
  for (const Event &event : events)
    mirror.take(event);
  expectSame(mirror);
}

TEST_F(HeapTraceTest, BudgetChangesAreRecorded) {
  MemorySink sink;
  trace::Collector::instance().flush();
  const uint64_t limit = uint64_t{3} << 30;
  ASSERT_EQ(heap_->setLimit(0, limit), HeapCode::kOk);
  device_->setBudget(0, uint64_t{5} << 30);
  heap_->traceBudgets();
  std::vector<trace::BudgetEvent> told;
  for (const Event &event : ofType(sink.events(), EventType::kBudget))
    if (event.budget.deviceHeap == 0)
      told.push_back(event.budget);
  // The events are those of the sink's attachment, of setLimit() and of traceBudgets().
  ASSERT_GE(told.size(), 3u);
  EXPECT_EQ(told.front().limitBytes, UINT64_MAX);
  EXPECT_EQ(told[told.size() - 2].limitBytes, limit);
  EXPECT_EQ(told.back().limitBytes, limit);
  EXPECT_EQ(told.back().budgetBytes, uint64_t{5} << 30);
}

// More events occur than a flight recorder keeps. The state at the end of its file is still exact.
TEST_F(HeapTraceTest, AFlightRecordersFileEqualsTheHeap) {
  const ScratchFolder scratch;
  trace::FlightOptions options;
  options.maxBytes = trace::kMinFlightBytes;
  auto recorder = trace::FlightRecorder::start(options);
  ASSERT_TRUE(recorder.isOk()) << recorder.status().message();
  std::mt19937_64 random(7);
  std::vector<BufferHandle> live;
  for (uint32_t i = 0; i < 1'500'000; ++i) {
    if (live.size() < 3000 || random() % 2 == 0) {
      live.push_back(take(1 + random() % 5000));
    } else {
      std::swap(live[random() % live.size()], live.back());
      EXPECT_EQ(heap_->release(live.back()), HeapCode::kOk);
      live.pop_back();
    }
    if (i % 20000 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2)); // so that no events are dropped
  }
  ASSERT_TRUE((*recorder)->write(scratch.path("kept.gtrace")).isOk());
  EXPECT_LE(std::filesystem::file_size(scratch.path("kept.gtrace")), options.maxBytes + 100'000);
  const auto reader = trace::CaptureReader::openFile(scratch.path("kept.gtrace"));
  ASSERT_TRUE(reader.isOk()) << reader.status().message();
  Mirror mirror(heap_->traceId());
  uint64_t firstSequence = 0;
  for (bool end = false; !end;) {
    const Result<trace::Batch> batch = (*reader)->read();
    ASSERT_TRUE(batch.isOk()) << batch.status().message();
    for (const Event &event : batch->events) {
      if (event.type() == EventType::kSnapshotBegin && firstSequence == 0)
        firstSequence = event.snapshot.sequence;
      mirror.gapsAllowed = mirror.gapsAllowed || event.type() == EventType::kDrops;
      if (firstSequence != 0) // Events before a snapshot may be incomplete.
        mirror.take(event);
    }
    end = batch->end;
  }
  EXPECT_GT(firstSequence, 1000u) << "the recorder kept the first events";
  expectSame(mirror);
  for (const BufferHandle handle : live)
    EXPECT_EQ(heap_->release(handle), HeapCode::kOk);
}

TEST_F(HeapTraceTest, HeapsAreAnnouncedWithTheirBeginAndEnd) {
  MemorySink sink;
  const uint16_t first = heap_->traceId();
  const auto device = FakeDevice::create(); // not known to the viewer before
  auto made = Heap::create(device, {});
  ASSERT_TRUE(made.isOk());
  const uint16_t second = (*made)->traceId();
  EXPECT_NE(first, second);
  *made = nullptr;
  const std::vector<Event> events = sink.events();
  const std::vector<Event> begins = ofType(events, EventType::kHeap);
  const std::vector<Event> ends = ofType(events, EventType::kHeapEnd);
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(begins[0].header.heap, second);
  EXPECT_EQ(ends[0].header.heap, second);
  const std::vector<Event> devices = ofType(events, EventType::kDevice);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device.device, device_->number());
  EXPECT_EQ(devices[1].device.device, device->number());
  EXPECT_EQ(sink.names()[devices[1].device.name], device->info().name);
  std::set<uint32_t> budgeted;
  for (const Event &event : ofType(events, EventType::kBudget))
    budgeted.insert(event.budget.device);
  EXPECT_TRUE(budgeted.contains(device->number()));
}

} // namespace
} // namespace gantry::heap
