// Tests of the heap on the Vulkan backend. HeapOverVulkan injects faults: each host allocation and
// each driver call fails, in turn and in pairs, through shims that replace the driver's functions
// (driver_shims.h). ValidatedHeap checks the contents of buffers under the validation layers.
#include "engine/heap/extras/ordered_reuse.h"
#include "tests/backends/vulkan/driver_shims.h"
#include "tests/engine/heap/failing_host.h"
#include "tests/engine/heap/fault_scenario.h"

#include <thread>

namespace gantry::heap {
namespace {

using vulkan::test::resetShims;
using vulkan::test::shims;

constexpr uint64_t kMiB = 1 << 20;
// The limit of each of the device's heaps; low enough that the scenario uses the pressure ladder
// (engine/heap/growth.h).
constexpr uint64_t kLimit = 20 * kMiB;

std::shared_ptr<device::Device> openShimmed() {
  auto opened = vulkan::openDevice("", vulkan::test::shimHooks());
  EXPECT_TRUE(opened.isOk()) << opened.status().message();
  return opened.isOk() ? opened.take() : nullptr;
}

struct Case {
  const char *name;
  VkResult failure;
  bool standIns; // Whether shims give the device budgets and sparse memory, if it lacks them.
};

class HeapOverVulkan : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    setenv("GANTRY_VALIDATION", "0", 1);
    reset();
  }
  void TearDown() override {
    gpu.reset();
    EXPECT_EQ(vulkan::test::liveObjects(), "");
    resetShims();
  }
  bool lossy() const { return GetParam().failure == VK_ERROR_DEVICE_LOST; }

  /// Opens a new device, without faults.
  void reset() {
    gpu.reset();
    resetShims();
    shims().standIns = GetParam().standIns;
    shims().budgetBytes = GetParam().standIns ? kLimit : 0;
    shims().failure = GetParam().failure;
    gpu = openShimmed();
    idle = vulkan::test::liveObjects();
  }

  /// Runs the scenario. The scenario's driver calls number k and `again` fail; 0: none.
  void run(uint64_t k, uint64_t again, const HostAllocator &host = {}) {
    const uint64_t before = shims().calls;
    shims().failed.clear();
    shims().failAt = k == 0 ? 0 : before + k;
    shims().failAgainAt = again == 0 ? 0 : before + again;
    {
      FaultScenario scenario(gpu, host, lossy(), GetParam().standIns ? 0 : kLimit);
      scenario.run();
      refused = scenario.refused;
    }
    shims().failAt = shims().failAgainAt = 0;
    calls = shims().calls - before;
    EXPECT_EQ(shims().misuse, 0U) << shims().lastMisuse;
    if (gpu->isLost())
      reset();
    else
      EXPECT_EQ(vulkan::test::liveObjects(), idle) << "after faults in " << shims().failed;
  }

  std::shared_ptr<device::Device> gpu;
  std::string idle; // The live driver objects while no heap exists.
  uint64_t calls = 0;
  uint64_t refused = 0;
};

TEST_P(HeapOverVulkan, EveryDriverCallFailsInTurnAndInPairs) {
  ASSERT_NE(gpu, nullptr);
  run(0, 0);
  const uint64_t count = calls;
  const uint64_t usual = refused;
  ASSERT_GT(count, 60U);
  uint64_t noticed = 0;
  uint64_t pairs = 0;
  for (uint64_t k = 1; k <= count && !HasFailure(); ++k) {
    SCOPED_TRACE(testing::Message() << "driver call " << k);
    run(k, 0);
    noticed += refused > usual ? 1 : 0;
    // A sample of the pairs: the next calls, which handle the first failure, and some later ones.
    for (const uint64_t distance : {1, 2, 3, 5, 8, 21, 55}) {
      if (k + distance > count || lossy())
        break;
      SCOPED_TRACE(testing::Message() << "and " << k + distance);
      run(k, k + distance);
      ++pairs;
    }
  }
  EXPECT_GT(noticed, count / 8);
  std::printf("injected %llu single failures and %llu pairs of failures of driver calls\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(pairs));
}

TEST_P(HeapOverVulkan, EveryHostAllocationFailsInTurnAndInPairs) {
  ASSERT_NE(gpu, nullptr);
  FailingHost counter;
  run(0, 0, counter.allocator());
  const uint64_t count = counter.calls();
  ASSERT_GT(count, 40U);
  uint64_t pairs = 0;
  for (uint64_t k = 1; k <= count && !HasFailure(); ++k) {
    for (uint64_t second = k; second <= count; second += 11) {
      SCOPED_TRACE(testing::Message() << "host allocations " << k << " and " << second);
      FailingHost host(k, second);
      run(0, 0, host.allocator());
      EXPECT_GT(host.failures(), 0U);
      EXPECT_EQ(host.liveBytes(), 0U);
      pairs += second == k ? 0 : 1;
    }
  }
  std::printf("injected %llu single failures and %llu pairs of failures of host allocations\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(pairs));
}

INSTANTIATE_TEST_SUITE_P(
    All, HeapOverVulkan,
    testing::Values(Case{"deviceMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, false},
                    Case{"hostMemoryWithStandIns", VK_ERROR_OUT_OF_HOST_MEMORY, true},
                    Case{"deviceLost", VK_ERROR_DEVICE_LOST, false}),
    [](const testing::TestParamInfo<Case> &info) { return std::string(info.param.name); });

// ---- under the validation layers ---------------------------------------------------------------

class ValidatedHeap : public testing::Test {
protected:
  void SetUp() override {
    setenv("GANTRY_VALIDATION", "sync", 1);
    auto opened = vulkan::openDevice("", vulkan::DriverHooks{});
    ASSERT_TRUE(opened.isOk()) << opened.status().message();
    gpu = opened.take();
  }
  void TearDown() override {
    heap.reset();
    if (gpu) {
      EXPECT_EQ(gpu->validationMessages(), 0U);
    }
  }
  void make(const HeapOptions &options) {
    auto made = Heap::create(gpu, options);
    ASSERT_TRUE(made.isOk()) << made.status().message();
    heap = made.take();
  }
  BufferHandle take(BufferRequest request) {
    BufferHandle buffer;
    const HeapCode code = heap->allocate(request, &buffer);
    EXPECT_EQ(code, HeapCode::kOk) << explain(*heap, code, request).message();
    return buffer;
  }
  /// Records a command list with record(list), submits it and waits.
  template <typename Record> void run(const Record &record) {
    auto list = gpu->createCommandList().take();
    ASSERT_TRUE(list->begin({}).isOk());
    record(*list);
    ASSERT_TRUE(list->end().isOk());
    const Result<uint64_t> ticket = gpu->submit(*list);
    ASSERT_TRUE(ticket.isOk()) << ticket.status().message();
    ASSERT_TRUE(gpu->wait(*ticket, UINT64_MAX).isOk());
  }
  void fill(BufferHandle buffer, uint32_t value) {
    Placement at;
    ASSERT_EQ(heap->pin(buffer, &at), HeapCode::kOk);
    run([&](device::CommandList &list) { ASSERT_TRUE(list.fill(at.range(), value).isOk()); });
    ASSERT_EQ(heap->unpin(buffer), HeapCode::kOk);
  }
  void expectFilled(BufferHandle buffer, uint32_t value) {
    Placement at;
    ASSERT_EQ(heap->pin(buffer, &at), HeapCode::kOk);
    auto readback = gpu->allocate(MemoryKind::kReadback, at.sizeBytes).take();
    run([&](device::CommandList &list) {
      ASSERT_TRUE(list.copy(at.range(), *readback, 0).isOk());
    });
    ASSERT_EQ(heap->unpin(buffer), HeapCode::kOk);
    for (uint64_t i = 0; i + 4 <= at.sizeBytes; i += 4) {
      uint32_t word = 0;
      std::memcpy(&word, readback->mapped() + i, 4);
      ASSERT_EQ(word, value) << "at byte " << i;
    }
  }

  std::shared_ptr<device::Device> gpu;
  HeapPtr heap;
};

TEST_F(ValidatedHeap, BuffersKeepTheirContentsWhenMovedAndSpilled) {
  make({});
  Compaction compaction(*heap);
  Spill spilling(*heap, Spill::When::kUnderPressure);
  std::vector<std::pair<BufferHandle, uint32_t>> live;
  for (uint32_t i = 0; i < 60; ++i) {
    BufferRequest request;
    request.sizeBytes = 4 * (1000 + 7000 * uint64_t{i % 9});
    request.movable = true;
    request.spillable = i % 3 == 0;
    live.emplace_back(take(request), i * 0x01010101);
    fill(live.back().first, live.back().second);
  }
  for (size_t i = 0; i < live.size(); i += 2) {
    ASSERT_EQ(heap->release(live[i].first), HeapCode::kOk);
    live[i].first = {};
  }
  CompactResult moved;
  uint64_t movedBytes = 0;
  do {
    ASSERT_EQ(compaction.compact(kMiB, &moved), HeapCode::kOk);
    movedBytes += moved.movedBytes;
  } while (moved.more);
  EXPECT_GT(movedBytes, 0U);
  uint64_t spilled = 0;
  for (const auto &[buffer, value] : live)
    spilled += buffer && spilling.spill(buffer) == HeapCode::kOk ? 1 : 0;
  EXPECT_GT(spilled, 5U);
  for (const auto &[buffer, value] : live) {
    if (!buffer)
      continue;
    expectFilled(buffer, value);
    ASSERT_EQ(heap->release(buffer), HeapCode::kOk);
  }
  EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
  heap->trim();
  HeapStatistics all;
  heap->statistics(&all);
  EXPECT_EQ(all.kinds[0].reservedBytes, 0U);
}

TEST_F(ValidatedHeap, MapsHostVisibleKindsAndReusesPendingRanges) {
  make({});
  for (const MemoryKind kind :
       {MemoryKind::kUpload, MemoryKind::kReadback, MemoryKind::kUnified, MemoryKind::kDevice}) {
    BufferRequest request;
    request.kind = kind;
    request.sizeBytes = 100000;
    const BufferHandle buffer = take(request);
    Placement at;
    ASSERT_EQ(heap->resolve(buffer, &at), HeapCode::kOk);
    EXPECT_EQ(at.mapped != nullptr, kind != MemoryKind::kDevice);
    if (at.mapped != nullptr)
      std::memset(at.mapped, 7, at.sizeBytes);
    expectFilled(buffer, at.mapped != nullptr ? 0x07070707U : (fill(buffer, 9), 9U));
    // The buffer is released while work on it may still run. A buffer that is ordered after this
    // work (ordered_reuse.h) may get its range.
    auto list = gpu->createCommandList().take();
    ASSERT_TRUE(list->begin({}).isOk());
    ASSERT_TRUE(list->fill(at.range(), 1).isOk());
    ASSERT_TRUE(list->end().isOk());
    const TimelinePoint point{0, *gpu->submit(*list)};
    ASSERT_EQ(heap->release(buffer, {&point, 1}), HeapCode::kOk);
    BufferHandle next;
    ASSERT_EQ(OrderedReuse(*heap).allocate(request, {&point, 1}, &next), HeapCode::kOk);
    auto second = gpu->createCommandList().take();
    Placement reused;
    ASSERT_EQ(heap->resolve(next, &reused), HeapCode::kOk);
    ASSERT_TRUE(second->begin({}).isOk());
    ASSERT_TRUE(second->barrier().isOk());
    ASSERT_TRUE(second->fill(reused.range(), 2).isOk());
    ASSERT_TRUE(second->end().isOk());
    const Result<uint64_t> ticket = gpu->submit(*second);
    ASSERT_TRUE(gpu->wait(*ticket, UINT64_MAX).isOk());
    expectFilled(next, 2);
    ASSERT_EQ(heap->release(next), HeapCode::kOk);
  }
  EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
}

TEST_F(ValidatedHeap, ServesManyThreads) {
  make({});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t)
    threads.emplace_back([this, t] {
      std::vector<BufferHandle> mine;
      for (uint32_t i = 0; i < 2000; ++i) {
        BufferRequest request;
        request.sizeBytes = 1 + (i * 7919 + t * 104729) % (i % 8 == 0 ? 500000 : 30000);
        BufferHandle buffer;
        ASSERT_EQ(heap->allocate(request, &buffer), HeapCode::kOk);
        mine.push_back(buffer);
        if (mine.size() > 20) {
          std::swap(mine[i % mine.size()], mine.back());
          ASSERT_EQ(heap->release(mine.back()), HeapCode::kOk);
          mine.pop_back();
        }
      }
      for (const BufferHandle buffer : mine)
        ASSERT_EQ(heap->release(buffer), HeapCode::kOk);
    });
  for (std::thread &thread : threads)
    thread.join();
  HeapStatistics all;
  heap->statistics(&all);
  EXPECT_EQ(all.kinds[0].liveBuffers, 0U);
  EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
}

TEST_F(ValidatedHeap, RunsTheFaultScenarioWithoutFaults) {
  FaultScenario(gpu, {}, false, kLimit).run();
}

} // namespace
} // namespace gantry::heap
