// Tests the argument checks of the driver interface, with a device that only counts the calls that
// reach it.
#include "engine/device/device.h"

#include <gtest/gtest.h>

namespace gantry::device {
namespace {

class FakeMemory final : public Memory {
public:
  FakeMemory(MemoryKind kind, uint64_t size) : Memory(kind, size) {}
};

class FakeKernel final : public Kernel {
public:
  explicit FakeKernel(const KernelSource &source) : Kernel(source) {}
};

class FakeList final : public CommandList {
public:
  explicit FakeList(const Device &device) : CommandList(device) {}
  int calls = 0;

private:
  Status count() {
    ++calls;
    return {};
  }
  Status doBegin(const CommandListCapacity &) override { return count(); }
  Status doDispatch(const Dispatch &) override { return count(); }
  Status doCopy(const BufferRange &, Memory &, uint64_t) override { return count(); }
  Status doFill(const BufferRange &, uint32_t) override { return count(); }
  Status doUpdate(const BufferRange &, std::span<const uint8_t>) override { return count(); }
  Status doBarrier() override { return count(); }
  Status doTimestamp(uint32_t) override { return count(); }
  Status doEnd() override { return count(); }
  Result<std::vector<uint64_t>> doTimestampsNs(uint32_t n) override {
    return std::vector<uint64_t>(n, 0);
  }
};

class FakeDevice final : public Device {
public:
  FakeDevice() {
    info_.name = "fake";
    info_.profile.storageBufferAlignment = 64;
    info_.timestamps = true;
    info_.profile.maxAllocationBytes = 1 << 20;
    info_.profile.maxWorkgroupInvocations = 128;
    info_.profile.maxWorkgroupSize = {128, 64, 64};
    info_.profile.maxWorkgroupCount = {100, 100, 100};
    info_.profile.maxPushConstantBytes = 32;
    info_.profile.maxSharedMemoryBytes = 1024;
    info_.profile.maxStorageBufferRange = 4096;
    info_.profile.maxStorageBuffersPerStage = 4;
    info_.profile.features.bufferDeviceAddress = true;
  }
  DeviceInfo &mutableInfo() { return info_; }
  int submissions = 0;

private:
  Result<std::unique_ptr<Memory>> doAllocate(MemoryKind kind, uint64_t size,
                                             const AllocateOptions &) override {
    return std::unique_ptr<Memory>(new FakeMemory(kind, size));
  }
  Result<std::vector<std::unique_ptr<Kernel>>>
  doCreateKernels(std::span<const KernelSource> sources,
                  const std::optional<std::string> &) override {
    std::vector<std::unique_ptr<Kernel>> kernels;
    for (const KernelSource &source : sources)
      kernels.push_back(std::make_unique<FakeKernel>(source));
    return kernels;
  }
  Result<std::unique_ptr<CommandList>> doCreateCommandList() override {
    return std::unique_ptr<CommandList>(new FakeList(*this));
  }
  Result<uint64_t> doSubmit(CommandList &) override { return static_cast<uint64_t>(++submissions); }
  Result<bool> doWait(uint64_t, uint64_t) override { return true; }
  Result<uint64_t> doCompleted() override { return static_cast<uint64_t>(submissions); }
};

constexpr uint32_t kCode[] = {0x07230203};

KernelSource source(BindingMode binding, uint32_t buffers, uint32_t dims) {
  KernelSource s;
  s.name = "k";
  s.entryPoint = "main";
  s.spirv = kCode;
  s.bufferCount = buffers;
  s.dimCount = dims;
  s.binding = binding;
  return s;
}

class DeviceTest : public testing::Test {
protected:
  std::unique_ptr<Kernel> kernel(BindingMode binding, uint32_t buffers, uint32_t dims) {
    const KernelSource s[] = {source(binding, buffers, dims)};
    return std::move(device_->createKernels(s, "").take()[0]);
  }
  std::string refusal(const KernelSource &s) {
    const KernelSource sources[] = {s};
    auto made = device_->createKernels(sources, "");
    return made.isOk() ? "" : made.status().message();
  }
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
};

TEST_F(DeviceTest, AllocationsHaveLimits) {
  EXPECT_EQ(device_->allocate(MemoryKind::kDevice, 0).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(device_->allocate(MemoryKind::kDevice, 1 << 20).isOk());
  const auto tooLarge = device_->allocate(MemoryKind::kUpload, (1 << 20) + 1);
  ASSERT_FALSE(tooLarge.isOk());
  EXPECT_EQ(tooLarge.status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(tooLarge.status().message(), "one allocation of 1048577 bytes of upload memory is "
                                         "above the limit of fake: 1048576 bytes");
}

TEST_F(DeviceTest, KernelsHaveLimits) {
  EXPECT_EQ(refusal(source(BindingMode::kAddress, 3, 1)), "");
  EXPECT_EQ(
      refusal(source(BindingMode::kAddress, 4, 1)),
      "kernel 'k': its block of 4 buffers and 1 dims needs 40 bytes of push constants, but the "
      "device has 32; compile it with storage-buffer bindings");
  EXPECT_EQ(refusal(source(BindingMode::kStorageBuffer, 5, 0)),
            "kernel 'k': binds 5 storage buffers; the device allows 4");
  KernelSource s = source(BindingMode::kStorageBuffer, 1, 0);
  s.workgroupSize[0] = 129;
  EXPECT_EQ(refusal(s),
            "kernel 'k': workgroup size 129 in dimension 0; the device allows 1 to 128");
  s.workgroupSize[0] = 128;
  s.workgroupSize[1] = 2;
  EXPECT_EQ(refusal(s), "kernel 'k': 256 invocations per workgroup; the device allows 128");
  s.workgroupSize[1] = 1;
  s.sharedBytes = 1025;
  EXPECT_EQ(refusal(s), "kernel 'k': 1025 bytes of shared memory; the device has 1024");
  s.sharedBytes = 0;
  s.spirv = {};
  EXPECT_EQ(refusal(s), "kernel 'k' has no code");
  device_->mutableInfo().profile.features.bufferDeviceAddress = false;
  EXPECT_EQ(refusal(source(BindingMode::kAddress, 1, 0)),
            "kernel 'k': binds by address; the device has no bufferDeviceAddress");
}

TEST_F(DeviceTest, TexelBuffersHaveLimits) {
  KernelSource s = source(BindingMode::kTexel, 3, 0);
  EXPECT_EQ(
      refusal(s),
      "kernel 'k': its binding mode reads at least one buffer as texels, but the kernel lists 0");
  TexelRead reads[] = {{0, TexelFormat::kRgba32f, true},
                       {1, TexelFormat::kRgba32i, false},
                       {2, TexelFormat::kRgba16f, true}};
  s.texels = reads;
  EXPECT_EQ(s.storageBufferCount(), 1u);
  EXPECT_EQ(refusal(s), "kernel 'k': reads texel buffers, which the device lacks");
  DeviceProfile &profile = device_->mutableInfo().profile;
  profile.maxTexelBufferElements = 100;
  profile.maxTexelBuffersPerStage = 3;
  profile.maxResourcesPerStage = 4;
  EXPECT_EQ(refusal(s), "");
  profile.maxResourcesPerStage = 3;
  EXPECT_EQ(refusal(s), "kernel 'k': binds 3 texel and 1 storage buffers; the device allows 3 "
                        "texel buffers, and 3 buffers of both kinds together");
  profile.maxResourcesPerStage = 4;
  profile.maxTexelBuffersPerStage = 2;
  EXPECT_EQ(refusal(s), "kernel 'k': binds 3 texel and 1 storage buffers; the device allows 2 "
                        "texel buffers, and 4 buffers of both kinds together");
  profile.maxTexelBuffersPerStage = 3;
  reads[1].buffer = 0;
  EXPECT_EQ(refusal(s),
            "kernel 'k': texel buffer 0 of 3 buffers; each is listed once, in ascending "
            "order");
  reads[1].buffer = 1;
  reads[2].buffer = 3;
  EXPECT_EQ(refusal(s),
            "kernel 'k': texel buffer 3 of 3 buffers; each is listed once, in ascending "
            "order");
  reads[2].buffer = 2;
  s.binding = BindingMode::kStorageBuffer;
  EXPECT_EQ(refusal(s),
            "kernel 'k': its binding mode reads no buffer as texels, but the kernel lists 3");
}

TEST_F(DeviceTest, TexelRangesAreChecked) {
  DeviceProfile &profile = device_->mutableInfo().profile;
  profile.maxTexelBufferElements = 600; // More bytes than a storage-buffer binding allows.
  profile.texelBufferAlignment = 128;
  profile.maxTexelBuffersPerStage = profile.maxResourcesPerStage = 4;
  const TexelRead reads[] = {{0, TexelFormat::kRgba32f, true}, {1, TexelFormat::kRgba16f, false}};
  KernelSource s = source(BindingMode::kTexel, 2, 0);
  s.texels = reads;
  const std::unique_ptr<Kernel> kernel = std::move(device_->createKernels({&s, 1}, "").take()[0]);
  auto memory = device_->allocate(MemoryKind::kDevice, 16388).take();
  auto list = device_->createCommandList().take();
  ASSERT_TRUE(list->begin({2, 2, 0, 3}).isOk());
  std::vector<BufferRange> buffers = {{memory.get(), 0, 9600}, {memory.get(), 10240, 100}};
  Dispatch dispatch;
  dispatch.kernel = kernel.get();
  dispatch.buffers = buffers;
  EXPECT_TRUE(list->dispatch(dispatch).isOk());
  buffers[0].sizeBytes = 9601;
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k': a texel buffer of 601 texels; the device allows 600");
  buffers[0] = {memory.get(), 64, 16};
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k': a buffer is bound at offset 64, which is not a multiple of 128");
  buffers[0] = {memory.get(), 16384, 4};
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k': the last texel of buffer 0, of 4 bytes at 16384, ends beyond its "
            "memory of 16388 bytes");
  buffers[0] = {memory.get(), 0, 16};
  buffers[1].sizeBytes = 4100;
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k': a storage buffer of 4100 bytes; the device allows 4096");
  buffers[1].sizeBytes = 100;
  EXPECT_EQ(list->dispatch(dispatch).message(), "the dispatch exceeds the capacity given to "
                                                "begin(): 2 dispatches, 2 storage buffers and 3 "
                                                "texel buffers in total");
}

TEST_F(DeviceTest, CommandsGoBetweenBeginAndEnd) {
  auto list = device_->createCommandList().take();
  auto memory = device_->allocate(MemoryKind::kDevice, 1024).take();
  EXPECT_EQ(list->fill({memory.get(), 0, 4}, 0).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(device_->submit(*list).status().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(list->begin({}).isOk());
  EXPECT_EQ(list->begin({}).code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(list->end().isOk());
  EXPECT_EQ(list->barrier().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(device_->submit(*list).isOk());
  EXPECT_EQ(static_cast<FakeList &>(*list).calls, 2) << "a refused call reached the backend";
}

TEST_F(DeviceTest, RangesAreInsideTheirMemory) {
  auto list = device_->createCommandList().take();
  ASSERT_TRUE(list->begin({}).isOk());
  auto memory = device_->allocate(MemoryKind::kDevice, 1024).take();
  auto other = device_->allocate(MemoryKind::kDevice, 1024).take();
  EXPECT_FALSE(list->fill({nullptr, 0, 4}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), 0, 0}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), 1024, 4}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), 4, 1024}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), UINT64_MAX - 3, 8}, 0).isOk()) << "no overflow";
  EXPECT_FALSE(list->fill({memory.get(), 2, 4}, 0).isOk());
  EXPECT_FALSE(list->fill({memory.get(), 0, 6}, 0).isOk());
  EXPECT_TRUE(list->fill({memory.get(), 4, 1020}, 0).isOk());
  EXPECT_FALSE(list->copy({memory.get(), 0, 8}, *other, 1020).isOk());
  EXPECT_TRUE(list->copy({memory.get(), 0, 8}, *other, 1016).isOk());
  EXPECT_FALSE(list->copy({memory.get(), 0, 8}, *memory, 4).isOk()) << "overlap";
  EXPECT_FALSE(list->copy({memory.get(), 4, 8}, *memory, 0).isOk()) << "overlap";
  EXPECT_TRUE(list->copy({memory.get(), 0, 8}, *memory, 8).isOk());
}

TEST_F(DeviceTest, DispatchesAreChecked) {
  auto storage = kernel(BindingMode::kStorageBuffer, 2, 1);
  auto memory = device_->allocate(MemoryKind::kDevice, 8192).take();
  auto list = device_->createCommandList().take();
  ASSERT_TRUE(list->begin({2, 4, 1}).isOk());
  std::vector<BufferRange> buffers = {{memory.get(), 0, 64}, {memory.get(), 64, 64}};
  std::vector<uint64_t> dims = {1};
  Dispatch dispatch;
  dispatch.kernel = storage.get();
  dispatch.dims = dims;
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k' with 0 buffers and 1 dims; the kernel takes 2 and 1");
  dispatch.buffers = buffers;
  EXPECT_TRUE(list->dispatch(dispatch).isOk());
  dispatch.workgroups[2] = 101;
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k': 101 workgroups from 0 on in dimension 2; the device allows 100");
  dispatch.workgroups[2] = 1;
  buffers[1].offsetBytes = 16;
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k': a buffer is bound at offset 16, which is not a multiple of 64");
  buffers[1] = {memory.get(), 64, 4100};
  EXPECT_EQ(list->dispatch(dispatch).message(),
            "dispatch of 'k': a storage buffer of 4100 bytes; the device allows 4096");
  buffers[1] = {memory.get(), 64, 64};
  EXPECT_TRUE(list->dispatch(dispatch).isOk());
  EXPECT_FALSE(list->dispatch(dispatch).isOk()) << "above the capacity";
  EXPECT_TRUE(list->timestamp().isOk());
  EXPECT_FALSE(list->timestamp().isOk()) << "above the capacity";
}

TEST_F(DeviceTest, AddressesNeedNoAlignmentAndNoRange) {
  auto byAddress = kernel(BindingMode::kAddress, 1, 0);
  auto memory = device_->allocate(MemoryKind::kDevice, 8192).take();
  auto list = device_->createCommandList().take();
  ASSERT_TRUE(list->begin({1, 0, 0}).isOk());
  const BufferRange buffers[] = {{memory.get(), 4, 8188}};
  Dispatch dispatch;
  dispatch.kernel = byAddress.get();
  dispatch.buffers = buffers;
  EXPECT_TRUE(list->dispatch(dispatch).isOk());
}

} // namespace
} // namespace gantry::device
