// Tests commands: copy, fill, update, dispatch, barriers, timestamps and invalid arguments.
#include "tests/conformance/drivers.h"

namespace gantry::test {
namespace {

using device::BindingMode;
using device::BufferRange;
using device::MemoryKind;

using CommandConformance = Conformance;

TEST_P(CommandConformance, FillsAndCopiesAnyBytes) {
  auto upload = allocate(MemoryKind::kUpload, 1000), local = allocate(MemoryKind::kDevice, 1000);
  for (int i = 0; i < 1000; ++i)
    upload->mapped()[i] = static_cast<uint8_t>(i * 7);
  auto list = begin();
  ASSERT_TRUE(list->fill({local.get(), 0, 1000}, 0xA1B2C3D4).isOk());
  ASSERT_TRUE(list->barrier().isOk());
  ASSERT_TRUE(list->copy({upload.get(), 1, 97}, *local, 501).isOk()) << "a copy needs no alignment";
  ASSERT_TRUE(list->barrier().isOk());
  ASSERT_TRUE(list->copy({local.get(), 500, 100}, *local, 3).isOk())
      << "source and target are one memory";
  finish(*list);
  const std::vector<uint8_t> bytes = read(*local, 0, 1000);
  const uint8_t pattern[] = {0xD4, 0xC3, 0xB2, 0xA1};
  auto expected = [&](int i) {
    return i >= 501 && i < 598 ? upload->mapped()[i - 500] : pattern[i % 4];
  };
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(bytes[static_cast<size_t>(i)], expected(i >= 3 && i < 103 ? i + 497 : i)) << i;
}

TEST_P(CommandConformance, UpdatesCopyTheirBytesWhenTheyAreRecorded) {
  auto local = allocate(MemoryKind::kDevice, 80000);
  std::vector<uint8_t> bytes(device::kMaxUpdateBytes);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * 13);
  const std::vector<uint8_t> kept = bytes;
  auto list = begin();
  ASSERT_TRUE(list->fill({local.get(), 0, 80000}, 0).isOk());
  ASSERT_TRUE(list->barrier().isOk());
  ASSERT_TRUE(list->update({local.get(), 8, bytes.size()}, bytes).isOk());
  ASSERT_TRUE(list->update({local.get(), 70000, 4}, std::span(bytes).subspan(4, 4)).isOk());
  std::fill(bytes.begin(), bytes.end(), 0xFF);
  finish(*list);
  const std::vector<uint8_t> seen = read(*local, 0, 80000);
  EXPECT_TRUE(std::equal(kept.begin(), kept.end(), seen.begin() + 8));
  EXPECT_EQ(seen[7], 0);
  EXPECT_EQ(seen[8 + kept.size()], 0);
  EXPECT_TRUE(std::equal(kept.begin() + 4, kept.begin() + 8, seen.begin() + 70000));
}

TEST_P(CommandConformance, DispatchesInEachBinding) {
  constexpr uint32_t kCount = 1000;
  for (BindingMode binding : bindings()) {
    auto add = kernel("add", 3, 1, binding);
    ASSERT_TRUE(add);
    auto memory = allocate(MemoryKind::kUnified, 3 * 4096);
    auto *values = reinterpret_cast<float *>(memory->mapped());
    for (uint32_t i = 0; i < 3 * 1024; ++i)
      values[i] = i < 1024 ? static_cast<float>(i) : i < 2048 ? 0.5f : -1.0f;
    const BufferRange buffers[] = {{memory.get(), 0, 4 * kCount},
                                   {memory.get(), 4096, 4 * kCount},
                                   {memory.get(), 8192, 4 * kCount}};
    const uint64_t dims[] = {kCount};
    device::Dispatch dispatch;
    dispatch.kernel = add.get();
    dispatch.buffers = buffers;
    dispatch.dims = dims;
    dispatch.workgroups[0] = (kCount + 63) / 64;
    auto list = begin({1, 3, 0});
    ASSERT_TRUE(list->dispatch(dispatch).isOk());
    finish(*list);
    for (uint32_t i = 0; i < kCount; ++i)
      ASSERT_EQ(values[2048 + i], static_cast<float>(i) + 0.5f) << i;
    EXPECT_EQ(values[2048 + kCount], -1.0f) << "the kernel wrote more elements than its dim says";
  }
}

// If a dispatch begins at a later workgroup, the kernel sees the ids from that workgroup on.
TEST_P(CommandConformance, DispatchesMayBeginAtALaterWorkgroup) {
  for (BindingMode binding : bindings()) {
    auto ramp = kernel("ramp", 1, 3, binding);
    ASSERT_TRUE(ramp);
    auto memory = allocate(MemoryKind::kUnified, 4096);
    std::memset(memory->mapped(), 0, 4096);
    const BufferRange buffers[] = {{memory.get(), 0, 4096}};
    const uint64_t dims[] = {1000, 5, 2};
    device::Dispatch dispatch;
    dispatch.kernel = ramp.get();
    dispatch.buffers = buffers;
    dispatch.dims = dims;
    dispatch.firstWorkgroup[0] = 3;
    dispatch.workgroups[0] = 4;
    auto list = begin({1, 1, 0});
    ASSERT_TRUE(list->dispatch(dispatch).isOk());
    finish(*list);
    const auto *values = reinterpret_cast<const uint32_t *>(memory->mapped());
    for (uint32_t i = 0; i < 1024; ++i)
      ASSERT_EQ(values[i], i >= 3 * 64 && i < 7 * 64 ? 5 + 2 * i : 0) << i;
  }
}

TEST_P(CommandConformance, EachDispatchHasItsOwnDims) {
  for (BindingMode binding : bindings()) {
    auto ramp = kernel("ramp", 1, 3, binding);
    ASSERT_TRUE(ramp);
    auto memory = allocate(MemoryKind::kUnified, 8192);
    std::memset(memory->mapped(), 0, 8192);
    auto list = begin({2, 2, 0});
    for (uint32_t half = 0; half < 2; ++half) {
      const BufferRange buffers[] = {{memory.get(), 4096u * half, 4096}};
      const uint64_t dims[] = {100 + half, 1000 * (half + 1), 3 + half};
      device::Dispatch dispatch;
      dispatch.kernel = ramp.get();
      dispatch.buffers = buffers;
      dispatch.dims = dims;
      dispatch.workgroups[0] = 2;
      ASSERT_TRUE(list->dispatch(dispatch).isOk());
    }
    finish(*list);
    const auto *values = reinterpret_cast<const uint32_t *>(memory->mapped());
    for (uint32_t i = 0; i < 1024; ++i) {
      ASSERT_EQ(values[i], i < 100 ? 1000 + 3 * i : 0) << i;
      ASSERT_EQ(values[1024 + i], i < 101 ? 2000 + 4 * i : 0) << i;
    }
  }
}

// Every command of the chain reads the result of the previous one.
TEST_P(CommandConformance, BarriersOrderCommands) {
  auto add = kernel("add", 3, 1, BindingMode::kStorageBuffer);
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
  auto list = begin({kSteps, 3 * kSteps, 0});
  ASSERT_TRUE(list->fill({one.get(), 0, kBytes}, 0x3F800000).isOk()); // 1.0f
  ASSERT_TRUE(list->fill({a.get(), 0, kBytes}, 0).isOk());
  for (uint32_t i = 0; i < kSteps; ++i) {
    ASSERT_TRUE(list->barrier().isOk());
    const BufferRange buffers[] = {
        {a.get(), 0, kBytes}, {one.get(), 0, kBytes}, {b.get(), 0, kBytes}};
    dispatch.buffers = buffers;
    ASSERT_TRUE(list->dispatch(dispatch).isOk());
    ASSERT_TRUE(list->barrier().isOk());
    ASSERT_TRUE(list->copy(buffers[2], *a, 0).isOk());
  }
  finish(*list);
  const std::vector<uint8_t> bytes = read(*a, 0, kBytes);
  for (uint64_t i = 0; i < kCount; ++i) {
    float value;
    std::memcpy(&value, bytes.data() + 4 * i, 4);
    ASSERT_EQ(value, static_cast<float>(kSteps)) << i;
  }
}

TEST_P(CommandConformance, TimestampsIncrease) {
  if (!device_->info().timestamps)
    GTEST_SKIP() << GetParam().name << " has no timestamps";
  auto memory = allocate(MemoryKind::kDevice, 1 << 20);
  auto list = begin({0, 0, 3});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(list->timestamp().isOk());
    ASSERT_TRUE(list->fill({memory.get(), 0, 1 << 20}, 1).isOk());
    ASSERT_TRUE(list->barrier().isOk());
  }
  EXPECT_FALSE(list->timestamp().isOk()) << "above the capacity";
  finish(*list);
  auto times = list->timestampsNs();
  ASSERT_TRUE(times.isOk());
  ASSERT_EQ(times->size(), 3u);
  EXPECT_EQ((*times)[0], 0u);
  EXPECT_LE((*times)[0], (*times)[1]);
  EXPECT_LE((*times)[1], (*times)[2]);
}

// A timestamp that is taken between two readings of the device's and the host's clock must lie
// between the device times of these readings.
TEST_P(CommandConformance, ClocksAreReadTogether) {
  if (!device_->info().calibratedClocks) {
    EXPECT_EQ(device_->readClocks().status().code(), StatusCode::kUnsupported);
    GTEST_SKIP() << GetParam().name << " has no calibrated clocks";
  }
  const auto before = device_->readClocks();
  ASSERT_TRUE(before.isOk()) << before.status().message();
  auto list = begin({0, 0, 1});
  ASSERT_TRUE(list->timestamp().isOk());
  finish(*list);
  const auto after = device_->readClocks();
  ASSERT_TRUE(after.isOk()) << after.status().message();
  const auto times = list->deviceTimesNs();
  ASSERT_TRUE(times.isOk());
  EXPECT_GE((*times)[0] + before->errorNs, before->deviceNs);
  EXPECT_LE((*times)[0], after->deviceNs + after->errorNs);
  // Both clocks must measure the same time, up to 0.1 % and the error bounds of the readings.
  const uint64_t host = after->hostNs - before->hostNs;
  const uint64_t device = after->deviceNs - before->deviceNs;
  const uint64_t apart = host > device ? host - device : device - host;
  EXPECT_LE(apart, host / 1000 + before->errorNs + after->errorNs);
}

TEST_P(CommandConformance, BadArgumentsAreRefused) {
  auto memory = allocate(MemoryKind::kDevice, 1024), other = allocate(MemoryKind::kDevice, 1024);
  auto add = kernel("add", 3, 1, BindingMode::kStorageBuffer);
  ASSERT_TRUE(add);
  auto list = begin({1, 3, 0});
  const std::vector<uint8_t> bytes(70000, 1);
  const std::span<const uint8_t> some(bytes);
  EXPECT_FALSE(list->fill({nullptr, 0, 4}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), 1024, 4}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), 2, 4}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), UINT64_MAX - 3, 8}, 0).isOk());
  EXPECT_FALSE(list->copy({memory.get(), 0, 8}, *other, 1020).isOk());
  EXPECT_FALSE(list->copy({memory.get(), 0, 8}, *memory, 4).isOk()) << "overlap";
  EXPECT_FALSE(list->update({memory.get(), 0, 8}, some.first(4)).isOk());
  EXPECT_FALSE(list->update({memory.get(), 2, 4}, some.first(4)).isOk());
  EXPECT_FALSE(list->update({memory.get(), 0, 6}, some.first(6)).isOk());
  EXPECT_FALSE(list->update({memory.get(), 1024, 4}, some.first(4)).isOk());
  EXPECT_FALSE(list->update({memory.get(), 0, 0}, {}).isOk());
  auto large = allocate(MemoryKind::kDevice, 70000);
  EXPECT_FALSE(list->update({large.get(), 0, 65540}, some.first(65540)).isOk());
  device::Dispatch dispatch;
  EXPECT_FALSE(list->dispatch(dispatch).isOk()) << "no kernel";
  dispatch.kernel = add.get();
  EXPECT_FALSE(list->dispatch(dispatch).isOk()) << "no buffers";
  const BufferRange buffers[] = {
      {memory.get(), 0, 256}, {memory.get(), 256, 256}, {memory.get(), 512, 1024}};
  const uint64_t dims[] = {64};
  dispatch.buffers = buffers;
  dispatch.dims = dims;
  EXPECT_FALSE(list->dispatch(dispatch).isOk()) << "a buffer beyond its memory";
  finish(*list); // The refused commands must have left the list valid.
}

TEST_P(CommandConformance, ObjectsOfAnotherDeviceAreRefused) {
  auto opened = GetParam().open();
  ASSERT_TRUE(opened.isOk());
  const std::shared_ptr<device::Device> stranger = opened.take();
  auto foreign = stranger->allocate(MemoryKind::kDevice, 1024).take();
  auto memory = allocate(MemoryKind::kDevice, 1024);
  auto list = begin();
  EXPECT_EQ(list->fill({foreign.get(), 0, 4}, 0).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(list->copy({memory.get(), 0, 8}, *foreign, 0).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(list->end().isOk());
  EXPECT_EQ(stranger->submit(*list).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(stranger->exportMemory(*memory).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(CommandConformance, KernelsAreChecked) {
  device::KernelSource source;
  source.name = "add";
  source.entryPoint = "main";
  source.bufferCount = 3;
  source.dimCount = 1;
  EXPECT_EQ(device_->createKernels({&source, 1}, "").status().code(), StatusCode::kInvalidArgument)
      << "no code";
  source.spirv = GetParam().code("add", BindingMode::kStorageBuffer);
  source.sharedBytes = device_->profile().maxSharedMemoryBytes + 1;
  EXPECT_EQ(device_->createKernels({&source, 1}, "").status().code(), StatusCode::kUnsupported);
  source.sharedBytes = 0;
  source.workgroupSize[0] = device_->profile().maxWorkgroupSize[0] + 1;
  EXPECT_EQ(device_->createKernels({&source, 1}, "").status().code(), StatusCode::kUnsupported);
}

INSTANTIATE_TEST_SUITE_P(All, CommandConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
