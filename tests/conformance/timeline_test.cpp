// Tests the timeline of submissions: tickets, order, completion, waiting and several threads.
#include "tests/conformance/drivers.h"

#include <atomic>
#include <thread>

namespace gantry::test {
namespace {

using device::MemoryKind;

using TimelineConformance = Conformance;

TEST_P(TimelineConformance, TicketsCountFromOne) {
  EXPECT_EQ(*device_->completed(), 0u);
  EXPECT_TRUE(*device_->wait(0, 0)) << "ticket 0 is always complete";
  auto memory = allocate(MemoryKind::kDevice, 4096);
  for (uint64_t expected = 1; expected <= 5; ++expected) {
    auto list = begin();
    ASSERT_TRUE(list->fill({memory.get(), 0, 4096}, 1).isOk());
    ASSERT_TRUE(list->end().isOk());
    const uint64_t ticket = device_->submit(*list).take();
    EXPECT_EQ(ticket, expected);
    EXPECT_LE(*device_->completed(), ticket);
    ASSERT_TRUE(*device_->wait(ticket, UINT64_MAX));
    EXPECT_EQ(*device_->completed(), ticket);
    EXPECT_TRUE(*device_->wait(ticket, 0));
  }
  EXPECT_EQ(device_->wait(6, 0).status().code(), StatusCode::kInvalidArgument)
      << "ticket 6 was never issued";
}

TEST_P(TimelineConformance, SubmissionsRunInOrder) {
  constexpr uint32_t kLists = 20;
  auto memory = allocate(MemoryKind::kDevice, 1 << 20);
  std::vector<std::unique_ptr<device::CommandList>> lists;
  uint64_t last = 0;
  for (uint32_t i = 1; i <= kLists; ++i) {
    lists.push_back(begin());
    ASSERT_TRUE(lists.back()->fill({memory.get(), 0, 1 << 20}, i * 0x01010101).isOk());
    ASSERT_TRUE(lists.back()->end().isOk());
    last = device_->submit(*lists.back()).take();
  }
  uint64_t seen = 0;
  while (seen < last) {
    const uint64_t now = *device_->completed();
    ASSERT_GE(now, seen) << "completed() must not decrease";
    ASSERT_LE(now, last);
    seen = now;
    std::this_thread::yield();
  }
  ASSERT_TRUE(*device_->wait(last, UINT64_MAX));
  EXPECT_EQ(read(*memory, (1 << 20) - 1, 1)[0], kLists)
      << "the contents must be those of the last list";
}

TEST_P(TimelineConformance, AListMayBeSubmittedAgain) {
  auto memory = allocate(MemoryKind::kUnified, 256);
  auto list = begin();
  ASSERT_TRUE(list->fill({memory.get(), 0, 256}, 0x07070707).isOk());
  ASSERT_TRUE(list->end().isOk());
  for (int i = 0; i < 3; ++i) {
    memory->mapped()[9] = 0;
    ASSERT_TRUE(*device_->wait(device_->submit(*list).take(), UINT64_MAX));
    EXPECT_EQ(memory->mapped()[9], 7);
  }
}

TEST_P(TimelineConformance, AListRefusesCallsInTheWrongState) {
  auto memory = allocate(MemoryKind::kDevice, 256);
  auto list = device_->createCommandList().take();
  const auto kWrongState = StatusCode::kFailedPrecondition;
  EXPECT_EQ(list->fill({memory.get(), 0, 256}, 0).code(), kWrongState);
  EXPECT_EQ(list->end().code(), kWrongState);
  ASSERT_TRUE(list->begin({}).isOk());
  EXPECT_EQ(list->begin({}).code(), kWrongState);
  EXPECT_EQ(device_->submit(*list).status().code(), kWrongState);
  ASSERT_TRUE(list->end().isOk());
  EXPECT_EQ(list->barrier().code(), kWrongState);
  EXPECT_TRUE(*device_->wait(device_->submit(*list).take(), UINT64_MAX));
}

TEST_P(TimelineConformance, SeveralThreadsSubmit) {
  constexpr int kThreads = 4, kEach = 25;
  auto memory = allocate(MemoryKind::kDevice, 4096 * kThreads);
  std::atomic<uint64_t> sum = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        auto list = device_->createCommandList().take();
        const device::BufferRange range{memory.get(), 4096 * static_cast<uint64_t>(t), 4096};
        if (!list->begin({}).isOk() || !list->fill(range, 1).isOk() || !list->end().isOk()) {
          ++failures;
          continue;
        }
        auto ticket = device_->submit(*list);
        if (!ticket.isOk() || !device_->wait(*ticket, UINT64_MAX).isOk())
          ++failures;
        else
          sum += *ticket;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  constexpr uint64_t kAll = kThreads * kEach;
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(sum.load(), kAll * (kAll + 1) / 2) << "each ticket must be issued once";
  EXPECT_EQ(*device_->completed(), kAll);
}

INSTANTIATE_TEST_SUITE_P(All, TimelineConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
