// Tests kernels that read texel buffers: formats, the last texel of a buffer, a buffer that is
// bound both as texels and as a storage buffer, barriers and refusals.
#include "tests/conformance/drivers.h"

namespace gantry::test {
namespace {

using device::BindingMode;
using device::BufferRange;
using device::MemoryKind;
using device::TexelFormat;
using device::TexelRead;

constexpr TexelRead kAddReads[] = {{0, TexelFormat::kRgba32f, true},
                                   {1, TexelFormat::kRgba32f, true}};
constexpr TexelRead kGatherReads[] = {{0, TexelFormat::kRgba32f, false},
                                      {1, TexelFormat::kRgba32i, true},
                                      {2, TexelFormat::kRgba16f, true},
                                      {3, TexelFormat::kRgba8ui, true}};

class TexelConformance : public Conformance {
protected:
  void SetUp() override {
    Conformance::SetUp();
    if (!IsSkipped() && device_ && device_->profile().maxTexelBufferElements == 0)
      GTEST_SKIP() << GetParam().name << " has no texel buffers";
  }
  /// Returns the capacity that a command list needs for a number of dispatches of a kernel.
  static device::CommandListCapacity capacity(const device::Kernel &kernel, uint32_t dispatches) {
    return {dispatches, dispatches * kernel.storageBufferCount(), 0,
            dispatches * static_cast<uint32_t>(kernel.texels().size())};
  }
};

// Some sizes are not multiples of a texel. At the largest size, the second buffer ends at the end
// of its memory.
TEST_P(TexelConformance, ReadsEveryElement) {
  auto add = kernel("add", 3, 1, BindingMode::kTexel, kAddReads);
  ASSERT_TRUE(add);
  EXPECT_EQ(add->storageBufferCount(), 1u);
  auto memory = allocate(MemoryKind::kUnified, 3 * 4096);
  auto *values = reinterpret_cast<float *>(memory->mapped());
  for (uint32_t count : {1u, 4u, 255u, 997u, 1024u}) {
    for (uint32_t i = 0; i < 3 * 1024; ++i)
      values[i] = i < 1024 ? -1.0f : static_cast<float>(i);
    const BufferRange buffers[] = {{memory.get(), 4096, 4 * count},
                                   {memory.get(), 8192, 4 * count},
                                   {memory.get(), 0, 4 * count}};
    const uint64_t dims[] = {count};
    device::Dispatch dispatch;
    dispatch.kernel = add.get();
    dispatch.buffers = buffers;
    dispatch.dims = dims;
    dispatch.workgroups[0] = (count + 63) / 64;
    auto list = begin(capacity(*add, 2));
    ASSERT_TRUE(list->dispatch(dispatch).isOk());
    ASSERT_TRUE(list->barrier().isOk());
    ASSERT_TRUE(list->dispatch(dispatch).isOk()) << "a second dispatch with the same ranges";
    finish(*list);
    for (uint32_t i = 0; i < 1024; ++i)
      ASSERT_EQ(values[i], i < count ? static_cast<float>(3072 + 2 * i) : -1.0f)
          << count << " " << i;
  }
}

TEST_P(TexelConformance, ReadsEveryFormatAndAStorageBuffer) {
  auto gather = kernel("gather", 5, 1, BindingMode::kTexel, kGatherReads);
  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->storageBufferCount(), 2u);
  constexpr uint32_t kCount = 250;
  auto memory = allocate(MemoryKind::kUnified, 4096);
  uint8_t *bytes = memory->mapped();
  std::memset(bytes, 0, 4096);
  auto *values = reinterpret_cast<float *>(bytes);
  auto *numbers = reinterpret_cast<int32_t *>(bytes + 1024);
  auto *halves = reinterpret_cast<uint16_t *>(bytes + 2048);
  for (uint32_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<float>(i * i);
    numbers[i] = static_cast<int32_t>(kCount - 1 - i);
    halves[i] = static_cast<uint16_t>(0x3C00 + (i % 16) * 0x40); // 1 + (i % 16) / 16
    bytes[2560 + i] = static_cast<uint8_t>(i);
  }
  const BufferRange buffers[] = {{memory.get(), 0, 4 * kCount},
                                 {memory.get(), 1024, 4 * kCount},
                                 {memory.get(), 2048, 2 * kCount},
                                 {memory.get(), 2560, kCount},
                                 {memory.get(), 3072, 4 * kCount}};
  const uint64_t dims[] = {kCount};
  device::Dispatch dispatch;
  dispatch.kernel = gather.get();
  dispatch.buffers = buffers;
  dispatch.dims = dims;
  dispatch.workgroups[0] = (kCount + 63) / 64;
  auto list = begin(capacity(*gather, 1));
  ASSERT_TRUE(list->dispatch(dispatch).isOk());
  finish(*list);
  const auto *results = reinterpret_cast<const float *>(bytes + 3072);
  for (uint32_t i = 0; i < kCount; ++i)
    ASSERT_EQ(results[i], values[kCount - 1 - i] + values[i] + 1.0f +
                              static_cast<float>(i % 16) / 16.0f + static_cast<float>(i))
        << i;
}

// Each dispatch reads through a texel buffer the values that the previous dispatch wrote to a
// storage buffer.
TEST_P(TexelConformance, BarriersMakeWritesVisible) {
  auto add = kernel("add", 3, 1, BindingMode::kTexel, kAddReads);
  ASSERT_TRUE(add);
  constexpr uint64_t kCount = 16384, kBytes = 4 * kCount;
  constexpr uint32_t kSteps = 8;
  auto one = allocate(MemoryKind::kDevice, kBytes), a = allocate(MemoryKind::kDevice, kBytes),
       b = allocate(MemoryKind::kDevice, kBytes);
  const uint64_t dims[] = {kCount};
  device::Dispatch dispatch;
  dispatch.kernel = add.get();
  dispatch.dims = dims;
  dispatch.workgroups[0] = kCount / 64;
  auto list = begin(capacity(*add, kSteps));
  ASSERT_TRUE(list->fill({one.get(), 0, kBytes}, 0x3F800000).isOk()); // 1.0f
  ASSERT_TRUE(list->fill({a.get(), 0, kBytes}, 0).isOk());
  for (uint32_t i = 0; i < kSteps; ++i) {
    ASSERT_TRUE(list->barrier().isOk());
    device::Memory *from = i % 2 == 0 ? a.get() : b.get(), *to = i % 2 == 0 ? b.get() : a.get();
    const BufferRange buffers[] = {{from, 0, kBytes}, {one.get(), 0, kBytes}, {to, 0, kBytes}};
    dispatch.buffers = buffers;
    ASSERT_TRUE(list->dispatch(dispatch).isOk());
  }
  finish(*list);
  const std::vector<uint8_t> bytes = read(*a, 0, kBytes);
  for (uint64_t i = 0; i < kCount; ++i) {
    float value;
    std::memcpy(&value, bytes.data() + 4 * i, 4);
    ASSERT_EQ(value, static_cast<float>(kSteps)) << i;
  }
}

// The caller may destroy the memory before the command list, whose buffer views refer to the
// memory.
TEST_P(TexelConformance, ListsOutliveTheirMemory) {
  auto add = kernel("add", 3, 1, BindingMode::kTexel, kAddReads);
  ASSERT_TRUE(add);
  auto memory = allocate(MemoryKind::kDevice, 4096);
  const BufferRange buffers[] = {
      {memory.get(), 0, 256}, {memory.get(), 1024, 256}, {memory.get(), 2048, 256}};
  const uint64_t dims[] = {64};
  device::Dispatch dispatch;
  dispatch.kernel = add.get();
  dispatch.buffers = buffers;
  dispatch.dims = dims;
  auto list = begin(capacity(*add, 1));
  ASSERT_TRUE(list->dispatch(dispatch).isOk());
  finish(*list);
  memory.reset();
  list.reset();
}

TEST_P(TexelConformance, RefusesInvalidTexelBuffers) {
  auto add = kernel("add", 3, 1, BindingMode::kTexel, kAddReads);
  ASSERT_TRUE(add);
  auto memory = allocate(MemoryKind::kDevice, 4096 + 4);
  const uint64_t dims[] = {1};
  std::vector<BufferRange> buffers = {
      {memory.get(), 0, 256}, {memory.get(), 1024, 256}, {memory.get(), 2048, 256}};
  device::Dispatch dispatch;
  dispatch.kernel = add.get();
  dispatch.buffers = buffers;
  dispatch.dims = dims;
  auto list = begin(capacity(*add, 1));
  buffers[1].offsetBytes = device_->profile().texelBufferAlignment / 2;
  EXPECT_EQ(list->dispatch(dispatch).code(), StatusCode::kInvalidArgument) << "misaligned";
  buffers[1] = {memory.get(), 4096, 4};
  EXPECT_EQ(list->dispatch(dispatch).code(), StatusCode::kInvalidArgument)
      << "the last texel exceeds the memory";
  buffers[1] = {memory.get(), 1024, 256};
  ASSERT_TRUE(list->dispatch(dispatch).isOk());
  EXPECT_EQ(list->dispatch(dispatch).code(), StatusCode::kInvalidArgument) << "above the capacity";
  finish(*list);
}

INSTANTIATE_TEST_SUITE_P(All, TexelConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
