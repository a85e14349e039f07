// Tests the features of the fake driver that real drivers lack: injected faults, delays, counts.
// tests/conformance tests that the fake driver otherwise behaves like a real one.
#include "tests/support/fake_device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace gantry::test {
namespace {

using device::MemoryKind;

class FakeDeviceTest : public testing::Test {
protected:
  std::unique_ptr<device::CommandList> fillList(device::Memory &memory, uint32_t word) {
    auto list = device_->createCommandList().take();
    EXPECT_TRUE(list->begin({}).isOk());
    EXPECT_TRUE(list->fill({&memory, 0, memory.sizeBytes()}, word).isOk());
    EXPECT_TRUE(list->end().isOk());
    return list;
  }
  std::shared_ptr<FakeDevice> device_ = FakeDevice::create();
};

TEST_F(FakeDeviceTest, FailsTheKthAllocation) {
  device_->failAllocation(2);
  auto first = device_->allocate(MemoryKind::kDevice, 100);
  ASSERT_TRUE(first.isOk());
  auto second = device_->allocate(MemoryKind::kDevice, 100);
  ASSERT_FALSE(second.isOk());
  EXPECT_EQ(second.status().code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(device_->allocate(MemoryKind::kDevice, 100).isOk());
  EXPECT_EQ(device_->counts().liveMemories, 1u);
  EXPECT_EQ(device_->counts().liveBytes, 100u);
}

TEST_F(FakeDeviceTest, FailsTheKthCallAndASecondOneAfterIt) {
  device_->failCall(1, StatusCode::kInternal, 2);
  EXPECT_EQ(device_->completed().status().code(), StatusCode::kInternal);
  EXPECT_TRUE(device_->completed().isOk());
  EXPECT_EQ(device_->createCommandList().status().code(), StatusCode::kInternal);
  EXPECT_TRUE(device_->completed().isOk());
}

TEST_F(FakeDeviceTest, HeapsAreFinite) {
  FakeConfig config;
  config.heaps = {{1000, true}};
  config.types = {{0, true, true, true, true}};
  auto small = FakeDevice::create(config);
  auto large = small->allocate(MemoryKind::kDevice, 900);
  ASSERT_TRUE(large.isOk());
  EXPECT_EQ(small->allocate(MemoryKind::kDevice, 101).status().code(), StatusCode::kOutOfMemory);
  small->setForeignUse(0, 50);
  EXPECT_FALSE(small->allocate(MemoryKind::kDevice, 51).isOk());
  EXPECT_TRUE(small->allocate(MemoryKind::kDevice, 50).isOk());
  device::MemoryBudget budget;
  small->setBudget(0, 800);
  ASSERT_TRUE(small->memoryBudgets({&budget, 1}).isOk());
  EXPECT_EQ(budget.budgetBytes, 800u);
  EXPECT_EQ(budget.usedBytes, 950u);
}

TEST_F(FakeDeviceTest, AnUploadAllocationFallsBackToTheNextHeap) {
  FakeConfig config;
  config.heaps[1].sizeBytes = 1 << 20;
  auto device = FakeDevice::create(config);
  auto upload = device->allocate(MemoryKind::kUpload, 1 << 20).take();
  EXPECT_EQ(upload->heap(), 1u);
  auto next = device->allocate(MemoryKind::kUpload, 4096).take();
  EXPECT_EQ(next->heap(), 2u) << "heap 2 is the host-visible window of device memory";
}

TEST_F(FakeDeviceTest, HoldsSubmissionsUntilReleased) {
  auto memory = device_->allocate(MemoryKind::kUnified, 64).take();
  memory->mapped()[0] = 1;
  auto a = fillList(*memory, 0x02020202), b = fillList(*memory, 0x03030303);
  device_->hold();
  EXPECT_EQ(*device_->submit(*a), 1u);
  EXPECT_EQ(*device_->submit(*b), 2u);
  EXPECT_EQ(*device_->completed(), 0u);
  EXPECT_EQ(memory->mapped()[0], 1);
  EXPECT_FALSE(*device_->wait(1, 1000));
  device_->release(1);
  EXPECT_EQ(*device_->completed(), 1u);
  EXPECT_EQ(memory->mapped()[0], 2);
  std::thread other([&] { device_->release(); });
  EXPECT_TRUE(*device_->wait(2, UINT64_MAX));
  other.join();
  EXPECT_EQ(memory->mapped()[0], 3);
  EXPECT_EQ(device_->violations(), 0u);
}

TEST_F(FakeDeviceTest, CountsMemoryThatIsFreedTooEarlyAsAViolation) {
  auto memory = device_->allocate(MemoryKind::kDevice, 64).take();
  auto list = fillList(*memory, 1);
  device_->hold();
  ASSERT_TRUE(device_->submit(*list).isOk());
  memory.reset();
  EXPECT_EQ(device_->violations(), 1u);
  EXPECT_STREQ(device_->lastViolation(), "memory was freed while a pending submission uses it");
  device_->lose();
}

TEST_F(FakeDeviceTest, CountsTheUseOfUncommittedBytesAsAViolation) {
  auto range = device_->reserve(MemoryKind::kDevice, 1 << 20).take();
  ASSERT_TRUE(device_->commit(*range, 65536, 65536).isOk());
  auto list = fillList(*range, 1);
  ASSERT_TRUE(device_->submit(*list).isOk());
  EXPECT_EQ(device_->violations(), 1u);
}

TEST_F(FakeDeviceTest, LargeAllocationsUseNoHostMemoryUntilWritten) {
  std::vector<std::unique_ptr<device::Memory>> slabs;
  for (int i = 0; i < 2; ++i)
    slabs.push_back(device_->allocate(MemoryKind::kDevice, uint64_t{4} << 30).take());
  FakeDevice::bytesOf(*slabs[1])[(uint64_t{4} << 30) - 1] = 1;
  EXPECT_EQ(device_->counts().liveBytes, uint64_t{8} << 30);
  EXPECT_EQ((*device_->allocate(MemoryKind::kDevice, 1 << 20))->heap(), 2u)
      << "heap 0 is full with 8 GiB, so the window (heap 2) holds further device memory";
}

} // namespace
} // namespace gantry::test
