// Tests ranges of virtual memory (Device::reserve()), which grow by commits and shrink by
// decommits.
#include "tests/conformance/drivers.h"

#include <algorithm>

namespace gantry::test {
namespace {

using device::MemoryKind;

class RangeConformance : public Conformance {
protected:
  void SetUp() override {
    Conformance::SetUp();
    if (!device_)
      return;
    if (!device_->info().virtualMemory.supported) {
      EXPECT_EQ(device_->reserve(MemoryKind::kDevice, 1 << 20).status().code(),
                StatusCode::kUnsupported);
      GTEST_SKIP() << GetParam().name << " has no virtual memory";
    }
    step_ = device_->info().virtualMemory.granularityBytes;
  }
  void fill(device::Memory &memory, uint64_t offset, uint64_t size, uint32_t word) {
    auto list = begin();
    ASSERT_TRUE(list->fill({&memory, offset, size}, word).isOk());
    finish(*list);
  }
  bool holds(device::Memory &memory, uint64_t offset, uint64_t size, uint8_t byte) {
    const std::vector<uint8_t> bytes = read(memory, offset, size);
    return std::all_of(bytes.begin(), bytes.end(), [&](uint8_t b) { return b == byte; });
  }
  uint64_t step_ = 0;
};

TEST_P(RangeConformance, GrowsWithoutMoving) {
  auto range = device_->reserve(MemoryKind::kDevice, 64 * step_ - 1).take();
  EXPECT_TRUE(range->isRange());
  EXPECT_EQ(range->sizeBytes(), 64 * step_) << "rounded up to the granularity";
  EXPECT_EQ(range->committedBytes(), 0u);
  EXPECT_EQ(range->mapped(), nullptr);
  const uint64_t address = range->address();
  ASSERT_TRUE(device_->commit(*range, 0, 2 * step_).isOk());
  fill(*range, 0, 2 * step_, 0x01010101);
  ASSERT_TRUE(device_->commit(*range, 2 * step_, step_).isOk());
  fill(*range, 2 * step_, step_, 0x02020202);
  EXPECT_EQ(range->committedBytes(), 3 * step_);
  EXPECT_EQ(range->address(), address);
  EXPECT_TRUE(holds(*range, 0, 2 * step_, 1)) << "the second commit changed the contents";
  EXPECT_TRUE(holds(*range, 2 * step_, step_, 2));
}

TEST_P(RangeConformance, ShrinksByParts) {
  auto range = device_->reserve(MemoryKind::kDevice, 16 * step_).take();
  ASSERT_TRUE(device_->commit(*range, 0, 4 * step_).isOk());
  ASSERT_TRUE(device_->commit(*range, 4 * step_, 4 * step_).isOk());
  fill(*range, 0, 8 * step_, 0x05050505);
  ASSERT_TRUE(device_->decommit(*range, 3 * step_, 2 * step_).isOk()) << "parts of two commits";
  EXPECT_EQ(range->committedBytes(), 6 * step_);
  EXPECT_TRUE(holds(*range, 0, 3 * step_, 5));
  EXPECT_TRUE(holds(*range, 5 * step_, 3 * step_, 5));
  ASSERT_TRUE(device_->commit(*range, 3 * step_, 2 * step_).isOk())
      << "a part may be committed again";
  fill(*range, 3 * step_, 2 * step_, 0x06060606);
  EXPECT_TRUE(holds(*range, 3 * step_, 2 * step_, 6));
  ASSERT_TRUE(device_->decommit(*range, 0, 8 * step_).isOk());
  EXPECT_EQ(range->committedBytes(), 0u);
}

TEST_P(RangeConformance, StorageIsCountedAndFreed) {
  std::vector<device::MemoryBudget> budgets(device_->info().memoryHeaps.size());
  auto range = device_->reserve(MemoryKind::kDevice, 16 * step_).take();
  auto used = [&] {
    EXPECT_TRUE(device_->memoryBudgets(budgets).isOk());
    return budgets[range->heap()].usedBytes;
  };
  const uint64_t before = used();
  ASSERT_TRUE(device_->commit(*range, 0, 4 * step_).isOk());
  EXPECT_GE(used(), before + 4 * step_);
  ASSERT_TRUE(device_->decommit(*range, 0, 2 * step_).isOk());
  EXPECT_GE(used(), before + 4 * step_) << "the storage of a commit is freed as a whole only";
  ASSERT_TRUE(device_->decommit(*range, 2 * step_, 2 * step_).isOk());
  EXPECT_LE(used(), before);
}

TEST_P(RangeConformance, BadArgumentsAreRefused) {
  EXPECT_EQ(device_->reserve(MemoryKind::kUpload, step_).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(device_->reserve(MemoryKind::kDevice, 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(device_->reserve(MemoryKind::kDevice, UINT64_MAX).status().code(),
            StatusCode::kInvalidArgument);
  auto range = device_->reserve(MemoryKind::kDevice, 8 * step_).take();
  const auto kInvalid = StatusCode::kInvalidArgument;
  EXPECT_EQ(device_->commit(*range, 1, step_).code(), kInvalid);
  EXPECT_EQ(device_->commit(*range, 0, step_ + 1).code(), kInvalid);
  EXPECT_EQ(device_->commit(*range, 0, 0).code(), kInvalid);
  EXPECT_EQ(device_->commit(*range, 8 * step_, step_).code(), kInvalid);
  EXPECT_EQ(device_->commit(*range, 4 * step_, 5 * step_).code(), kInvalid);
  EXPECT_EQ(device_->decommit(*range, 0, step_).code(), kInvalid) << "nothing is committed";
  ASSERT_TRUE(device_->commit(*range, step_, 2 * step_).isOk());
  EXPECT_EQ(device_->commit(*range, 0, 2 * step_).code(), kInvalid)
      << "the second half is committed";
  EXPECT_EQ(device_->decommit(*range, 0, 2 * step_).code(), kInvalid)
      << "the first half is not committed";
  auto plain = allocate(MemoryKind::kDevice, 4 * step_);
  EXPECT_EQ(device_->commit(*plain, 0, step_).code(), kInvalid);
  EXPECT_EQ(device_->decommit(*plain, 0, step_).code(), kInvalid);
  EXPECT_EQ(range->committedBytes(), 2 * step_) << "a refused call changes nothing";
}

TEST_P(RangeConformance, MayBeDestroyedWithItsStorage) {
  auto range = device_->reserve(MemoryKind::kDevice, 8 * step_).take();
  ASSERT_TRUE(device_->commit(*range, 0, 2 * step_).isOk());
  ASSERT_TRUE(device_->commit(*range, 6 * step_, 2 * step_).isOk());
  range.reset();
  auto next = device_->reserve(MemoryKind::kDevice, 8 * step_).take();
  EXPECT_EQ(next->committedBytes(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, RangeConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
