// HeapTest: a fixture with a fake device, a heap on it, and the heap's extensions for ordered
// reuse, compaction and spilling (ordered_reuse.h, compaction.h and spill.h of engine/heap/extras).
// After each test the fixture checks the heap's invariants, that all memory was given back, and
// that the device saw no misuse.
#pragma once

#include "engine/heap/extras/compaction.h"
#include "engine/heap/extras/ordered_reuse.h"
#include "engine/heap/extras/report.h"
#include "engine/heap/extras/spill.h"
#include "engine/heap/heap.h"
#include "tests/support/fake_device.h"
#include "tests/support/heap_validation.h"

#include <gtest/gtest.h>

#include <optional>

namespace gantry::heap {

constexpr uint64_t kKiB = 1 << 10;
constexpr uint64_t kMiB = 1 << 20;

class HeapTest : public testing::Test {
protected:
  void make(const HeapOptions &options = {}, test::FakeConfig config = {}) {
    reset();
    gpu = test::FakeDevice::create(std::move(config));
    auto made = Heap::create(gpu, options);
    ASSERT_TRUE(made.isOk()) << made.status().message();
    heap = made.take();
    ordered.emplace(*heap);
    compaction.emplace(*heap);
    spilling.emplace(*heap, allowSpill ? Spill::When::kUnderPressure : Spill::When::kOnRequest);
  }
  void reset() {
    spilling.reset();
    compaction.reset();
    ordered.reset();
    heap.reset();
  }
  /// Returns the configuration of a device whose device-local memory has this size, for tests that
  /// exhaust it.
  static test::FakeConfig smallDevice(uint64_t sizeBytes) {
    test::FakeConfig config;
    config.heaps = {{sizeBytes, true}, {uint64_t{1} << 30, false}};
    config.types = {{0, true, false, false, false}, {1, false, true, true, true}};
    config.memoryBudgets = false;
    return config;
  }
  void SetUp() override { make(); }
  void TearDown() override {
    if (heap) {
      EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
    }
    reset();
    if (gpu) {
      gpu->release();
      lists.clear();
      EXPECT_EQ(gpu->counts().liveBytes, 0U) << "slabs were not given back";
      EXPECT_EQ(gpu->counts().liveLists, 0U);
      EXPECT_EQ(gpu->violations(), 0U) << gpu->lastViolation();
    }
  }

  BufferHandle take(uint64_t sizeBytes, MemoryKind kind = MemoryKind::kDevice) {
    BufferRequest request;
    request.sizeBytes = sizeBytes;
    request.kind = kind;
    return take(request);
  }
  BufferHandle take(const BufferRequest &request) {
    BufferHandle buffer;
    const HeapCode code = heap->allocate(request, &buffer);
    EXPECT_EQ(code, HeapCode::kOk) << explain(*heap, code, request).message();
    return buffer;
  }
  BufferHandle takeAfter(const BufferRequest &request, std::span<const TimelinePoint> after) {
    BufferHandle buffer;
    const HeapCode code = ordered->allocate(request, after, &buffer);
    EXPECT_EQ(code, HeapCode::kOk) << explain(*heap, code, request).message();
    return buffer;
  }
  void drop(BufferHandle buffer, std::span<const TimelinePoint> after = {}) {
    EXPECT_EQ(heap->release(buffer, after), HeapCode::kOk);
  }
  Placement placed(BufferHandle buffer) {
    Placement placement;
    EXPECT_EQ(heap->resolve(buffer, &placement), HeapCode::kOk);
    return placement;
  }
  KindStatistics stats(MemoryKind kind = MemoryKind::kDevice) {
    heap->statistics(&all);
    return all.kinds[static_cast<size_t>(kind)];
  }
  /// Submits an empty list and returns its ticket. The submission is done when the fake device runs
  /// it.
  uint64_t submit() {
    lists.push_back(gpu->createCommandList().take());
    EXPECT_TRUE(lists.back()->begin({}).isOk());
    EXPECT_TRUE(lists.back()->end().isOk());
    return *gpu->submit(*lists.back());
  }
  /// Returns the bytes of a buffer, also if its memory is not mapped.
  uint8_t *bytes(BufferHandle buffer) {
    const Placement at = placed(buffer);
    return test::FakeDevice::bytesOf(*at.memory) + at.offsetBytes;
  }

  std::shared_ptr<test::FakeDevice> gpu;
  HeapPtr heap;
  bool allowSpill = false; // Whether the next make() lets the heap spill under pressure.
  std::optional<OrderedReuse> ordered;
  std::optional<Compaction> compaction;
  std::optional<Spill> spilling;
  HeapStatistics all;
  std::vector<std::unique_ptr<device::CommandList>> lists;
};

} // namespace gantry::heap
