// Tests a device that is lost at a submission: every later call must report the loss within a
// millisecond, and all objects must be destroyable.
#include "tests/conformance/drivers.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace gantry::test {
namespace {

using device::MemoryKind;
using Clock = std::chrono::steady_clock;

constexpr double kLimitMs = 1.0;

class LostConformance : public testing::TestWithParam<Driver> {
protected:
  /// Checks that the call fails with kDeviceLost, and that the median time of several calls is
  /// below kLimitMs. Single calls may take longer, because the machine runs other processes.
  void expectLost(const char *what, const std::function<Status()> &call) {
    std::vector<double> times;
    for (int i = 0; i < 15; ++i) {
      const Clock::time_point start = Clock::now();
      const Status status = call();
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      ASSERT_EQ(status.code(), StatusCode::kDeviceLost) << what << ": " << status.message();
    }
    std::nth_element(times.begin(), times.begin() + 7, times.end());
    EXPECT_LT(times[7], kLimitMs) << what;
    slowestMs_ = std::max(slowestMs_, times[7]);
  }
  double slowestMs_ = 0;
};

TEST_P(LostConformance, AtEachSubmissionInTurn) {
  constexpr uint64_t kSubmissions = 4;
  for (uint64_t k = 1; k <= kSubmissions; ++k) {
    SCOPED_TRACE(k);
    auto opened = GetParam().openLosing(k);
    if (!opened.isOk() && opened.status().code() == StatusCode::kNotFound)
      GTEST_SKIP() << GetParam().name << ": " << opened.status().message();
    ASSERT_TRUE(opened.isOk()) << opened.status().message();
    std::shared_ptr<device::Device> device = opened.take();
    const uint64_t step = device->info().virtualMemory.granularityBytes;
    auto memory = device->allocate(MemoryKind::kUnified, 4096).take();
    std::unique_ptr<device::Memory> range;
    if (device->info().virtualMemory.supported) {
      range = device->reserve(MemoryKind::kDevice, 4 * step).take();
      ASSERT_TRUE(device->commit(*range, 0, 2 * step).isOk());
    }
    auto idle = device->createCommandList().take();
    auto recording = device->createCommandList().take();
    ASSERT_TRUE(recording->begin({}).isOk());
    auto list = device->createCommandList().take();
    ASSERT_TRUE(list->begin({}).isOk());
    ASSERT_TRUE(list->fill({memory.get(), 0, 4096}, 0x01010101).isOk());
    ASSERT_TRUE(list->end().isOk());
    for (uint64_t i = 1; i < k; ++i) {
      ASSERT_TRUE(*device->wait(device->submit(*list).take(), UINT64_MAX));
      EXPECT_FALSE(device->isLost());
    }
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(device->submit(*list).status().code(), StatusCode::kDeviceLost);
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - start).count(), 0.1)
        << "the submission must not hang";
    EXPECT_TRUE(device->isLost());

    device::MemoryBudget budgets[device::kMaxMemoryHeaps];
    const std::vector<uint8_t> word(4);
    device::KernelSource source;
    expectLost("submit", [&] { return device->submit(*list).status(); });
    expectLost("wait", [&] { return device->wait(1, UINT64_MAX).status(); });
    expectLost("completed", [&] { return device->completed().status(); });
    expectLost("allocate", [&] { return device->allocate(MemoryKind::kDevice, 64).status(); });
    expectLost("budgets", [&] { return device->memoryBudgets(budgets); });
    expectLost("reserve", [&] { return device->reserve(MemoryKind::kDevice, 1).status(); });
    expectLost("commit", [&] { return device->commit(*memory, 0, 1); });
    expectLost("decommit", [&] { return device->decommit(*memory, 0, 1); });
    expectLost("import", [&] { return device->importMemory({}).status(); });
    expectLost("export", [&] { return device->exportMemory(*memory).status(); });
    expectLost("createKernels", [&] { return device->createKernels({&source, 1}, "").status(); });
    expectLost("createCommandList", [&] { return device->createCommandList().status(); });
    expectLost("begin", [&] { return idle->begin({}); });
    expectLost("dispatch", [&] { return recording->dispatch({}); });
    expectLost("copy", [&] { return recording->copy({memory.get(), 0, 4}, *memory, 8); });
    expectLost("fill", [&] { return recording->fill({memory.get(), 0, 4}, 0); });
    expectLost("update", [&] { return recording->update({memory.get(), 0, 4}, word); });
    expectLost("barrier", [&] { return recording->barrier(); });
    expectLost("timestamp", [&] { return recording->timestamp(); });
    expectLost("end", [&] { return recording->end(); });
    expectLost("timestamps", [&] { return list->timestampsNs().status(); });

    const std::string complaints = GetParam().complaints(*device);
    EXPECT_EQ(complaints, "");
    const std::weak_ptr<device::Device> watched = device;
    list.reset();
    recording.reset();
    idle.reset();
    range.reset();
    memory.reset();
    device.reset();
    EXPECT_TRUE(watched.expired()) << "an object still owns the device";
  }
  std::printf("slowest kind of call after the loss: median %.4f ms\n", slowestMs_);
}

INSTANTIATE_TEST_SUITE_P(All, LostConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
