// Tests memory kinds, mapping, allocation options, limits and budgets.
#include "tests/conformance/drivers.h"

namespace gantry::test {
namespace {

using device::MemoryBudget;
using device::MemoryKind;

constexpr MemoryKind kKinds[] = {MemoryKind::kDevice, MemoryKind::kUpload, MemoryKind::kReadback,
                                 MemoryKind::kUnified};

using MemoryConformance = Conformance;

TEST_P(MemoryConformance, EveryKindHasItsProperties) {
  for (MemoryKind kind : kKinds) {
    auto memory = allocate(kind, 1000);
    ASSERT_TRUE(memory) << device::memoryKindName(kind);
    EXPECT_EQ(memory->kind(), kind);
    EXPECT_EQ(memory->sizeBytes(), 1000u);
    EXPECT_EQ(memory->committedBytes(), 1000u);
    EXPECT_FALSE(memory->isRange());
    EXPECT_EQ(memory->mapped() == nullptr, kind == MemoryKind::kDevice);
    ASSERT_LT(memory->memoryType(), device_->info().memoryTypes.size());
    const device::MemoryTypeInfo &type = device_->info().memoryTypes[memory->memoryType()];
    EXPECT_EQ(memory->heap(), type.heap);
    EXPECT_TRUE(type.usable);
    if (kind != MemoryKind::kDevice) {
      EXPECT_TRUE(type.hostVisible && type.hostCoherent);
    }
    if (device_->profile().features.bufferDeviceAddress) {
      EXPECT_NE(memory->address(), 0u);
    }
  }
}

TEST_P(MemoryConformance, TheHostWritesAndReadsMappedMemory) {
  for (MemoryKind kind : {MemoryKind::kUpload, MemoryKind::kReadback, MemoryKind::kUnified}) {
    auto memory = allocate(kind, 70001);
    for (uint32_t i = 0; i < 70001; ++i)
      memory->mapped()[i] = static_cast<uint8_t>(i * 31);
    EXPECT_EQ(memory->mapped()[70000], static_cast<uint8_t>(70000u * 31));
    const std::vector<uint8_t> seen = read(*memory, 60001, 10000);
    EXPECT_EQ(std::memcmp(seen.data(), memory->mapped() + 60001, 10000), 0);
  }
}

TEST_P(MemoryConformance, OptionsAreAccepted) {
  device::AllocateOptions options;
  options.name = "conformance";
  options.dedicated = true;
  for (float priority : {0.0f, 0.5f, 1.0f}) {
    options.priority = priority;
    EXPECT_TRUE(device_->allocate(MemoryKind::kDevice, 4096, options).isOk());
  }
  for (float priority : {-0.1f, 1.1f, std::numeric_limits<float>::quiet_NaN()}) {
    options.priority = priority;
    EXPECT_EQ(device_->allocate(MemoryKind::kDevice, 4096, options).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST_P(MemoryConformance, SizesHaveLimits) {
  EXPECT_EQ(device_->allocate(MemoryKind::kDevice, 0).status().code(),
            StatusCode::kInvalidArgument);
  const auto tooLarge =
      device_->allocate(MemoryKind::kDevice, device_->profile().maxAllocationBytes + 1);
  EXPECT_EQ(tooLarge.status().code(), StatusCode::kOutOfMemory);
  EXPECT_NE(tooLarge.status().message().find("above the limit"), std::string::npos);
  EXPECT_FALSE(device_->allocate(MemoryKind::kDevice, UINT64_MAX).isOk());
}

TEST_P(MemoryConformance, EachHeapHasABudget) {
  const size_t heaps = device_->info().memoryHeaps.size();
  ASSERT_GT(heaps, 0u);
  std::vector<MemoryBudget> budgets(heaps);
  ASSERT_TRUE(device_->memoryBudgets(budgets).isOk());
  for (size_t i = 0; i < heaps; ++i) {
    EXPECT_GT(budgets[i].budgetBytes, 0u);
    EXPECT_LE(budgets[i].budgetBytes, device_->info().memoryHeaps[i].sizeBytes);
  }
  budgets.resize(heaps + 1);
  EXPECT_EQ(device_->memoryBudgets(budgets).code(), StatusCode::kInvalidArgument);
}

TEST_P(MemoryConformance, WithoutDriverBudgetsTheDeviceEstimatesThem) {
  if (device_->info().memoryBudgets)
    GTEST_SKIP() << GetParam().name << " reports its budgets";
  std::vector<MemoryBudget> budgets(device_->info().memoryHeaps.size());
  ASSERT_TRUE(device_->memoryBudgets(budgets).isOk());
  for (size_t i = 0; i < budgets.size(); ++i) {
    const uint64_t size = device_->info().memoryHeaps[i].sizeBytes;
    EXPECT_NEAR(static_cast<double>(budgets[i].budgetBytes), 0.8 * static_cast<double>(size), 1.0);
    EXPECT_EQ(budgets[i].usedBytes, 0u);
  }
  auto memory = allocate(MemoryKind::kDevice, 1 << 20);
  const uint32_t heap = memory->heap();
  ASSERT_TRUE(device_->memoryBudgets(budgets).isOk());
  EXPECT_GE(budgets[heap].usedBytes, uint64_t{1} << 20);
  EXPECT_LT(budgets[heap].usedBytes, uint64_t{1} << 21);
  memory.reset();
  ASSERT_TRUE(device_->memoryBudgets(budgets).isOk());
  EXPECT_EQ(budgets[heap].usedBytes, 0u);
}

TEST_P(MemoryConformance, MemoryKeepsTheDeviceAlive) {
  auto memory = allocate(MemoryKind::kUnified, 256);
  ASSERT_EQ(GetParam().complaints(*device_), "");
  const std::weak_ptr<device::Device> watched = device_;
  device_.reset();
  EXPECT_FALSE(watched.expired());
  memory->mapped()[0] = 1;
  memory.reset();
  EXPECT_TRUE(watched.expired());
}

INSTANTIATE_TEST_SUITE_P(All, MemoryConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
