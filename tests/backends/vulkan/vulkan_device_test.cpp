// Tests the Vulkan backend on the first usable device, under synchronization validation. Each test
// fails on any validation message that it does not expect.
#include "backends/vulkan/vulkan.h"
#include "backends/vulkan/vulkan_device.h"
#include "engine/base/pin_modules.h"
#include "tests/support/add_address.h"
#include "tests/support/add_storage.h"
#include "tests/support/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace gantry::vulkan {
namespace {

using device::BindingMode;
using device::BufferRange;
using device::MemoryKind;

class VulkanDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("GANTRY_VALIDATION", "sync", 1);
    auto opened = openDevice("");
    ASSERT_TRUE(opened.isOk()) << opened.status().message();
    device_ = opened.take();
  }
  void TearDown() override {
    if (device_ && !messagesExpected_) {
      EXPECT_EQ(device_->validationMessages(), 0u);
    }
  }
  std::unique_ptr<device::Memory> allocate(MemoryKind kind, uint64_t size) {
    auto memory = device_->allocate(kind, size);
    EXPECT_TRUE(memory.isOk()) << memory.status().message();
    return memory.take();
  }
  std::unique_ptr<device::CommandList> begin(const device::CommandListCapacity &capacity) {
    auto list = device_->createCommandList().take();
    EXPECT_TRUE(list->begin(capacity).isOk());
    return list;
  }
  void finish(device::CommandList &list) {
    ASSERT_TRUE(list.end().isOk());
    const uint64_t ticket = device_->submit(list).take();
    ASSERT_TRUE(device_->wait(ticket, UINT64_MAX).take());
  }
  static device::KernelSource addSource(BindingMode binding) {
    device::KernelSource source;
    source.name = "add";
    source.entryPoint = "main";
    source.spirv = binding == BindingMode::kAddress ? std::span<const uint32_t>(kAddAddress)
                                                    : std::span<const uint32_t>(kAddStorage);
    source.workgroupSize[0] = 64;
    source.bufferCount = 3;
    source.dimCount = 1;
    source.binding = binding;
    return source;
  }

  std::shared_ptr<device::Device> device_;
  bool messagesExpected_ = false;
};

TEST_F(VulkanDeviceTest, TheOpenedDeviceIsListed) {
  auto devices = listDevices();
  ASSERT_TRUE(devices.isOk());
  ASSERT_LT(device_->info().index, devices->size());
  EXPECT_EQ((*devices)[device_->info().index].name, device_->info().name);
}

// Some drivers cannot be loaded often in one process (engine/base/pin_modules.h).
TEST_F(VulkanDeviceTest, DriversAndLayersStayLoaded) {
  const LoadedModules open;
  device_.reset();
  EXPECT_EQ(LoadedModules().names(), open.names());
  EXPECT_TRUE(std::ranges::any_of(open.names(), [](const std::string &name) {
    return name.find("VkLayer_khronos_validation") != std::string::npos;
  }));
}

TEST_F(VulkanDeviceTest, RefusesAnUnknownDeviceAndAnUnknownValidationMode) {
  auto opened = openDevice("no such device");
  ASSERT_FALSE(opened.isOk());
  EXPECT_EQ(opened.status().code(), StatusCode::kNotFound);
  setenv("GANTRY_VALIDATION", "maybe", 1);
  EXPECT_EQ(openDevice("").status().code(), StatusCode::kInvalidArgument);
}

TEST_F(VulkanDeviceTest, FillsAndCopies) {
  auto upload = allocate(MemoryKind::kUpload, 1000), local = allocate(MemoryKind::kDevice, 1000),
       readback = allocate(MemoryKind::kReadback, 1000);
  EXPECT_EQ(local->mapped(), nullptr);
  for (int i = 0; i < 1000; ++i)
    upload->mapped()[i] = static_cast<uint8_t>(i * 7);
  auto list = begin({});
  ASSERT_TRUE(list->fill({local.get(), 0, 1000}, 0xA1B2C3D4).isOk());
  ASSERT_TRUE(list->barrier().isOk());
  ASSERT_TRUE(list->copy({upload.get(), 1, 97}, *local, 501).isOk());
  ASSERT_TRUE(list->barrier().isOk());
  ASSERT_TRUE(list->copy({local.get(), 0, 1000}, *readback, 0).isOk());
  finish(*list);
  const uint8_t pattern[] = {0xD4, 0xC3, 0xB2, 0xA1};
  for (int i = 0; i < 1000; ++i) {
    const bool copied = i >= 501 && i < 598;
    ASSERT_EQ(readback->mapped()[i], copied ? upload->mapped()[i - 500] : pattern[i % 4]) << i;
  }
}

TEST_F(VulkanDeviceTest, RunsAKernelRepeatedlyWithBothBindings) {
  constexpr uint32_t kCount = 1000;
  for (BindingMode binding : {BindingMode::kStorageBuffer, BindingMode::kAddress}) {
    if (binding == BindingMode::kAddress && !device_->profile().features.bufferDeviceAddress)
      continue;
    const device::KernelSource sources[] = {addSource(binding)};
    auto kernels = device_->createKernels(sources, "");
    ASSERT_TRUE(kernels.isOk()) << kernels.status().message();
    auto memory = allocate(MemoryKind::kUnified, 3 * 4096);
    auto *values = reinterpret_cast<float *>(memory->mapped());
    const BufferRange buffers[] = {{memory.get(), 0, 4 * kCount},
                                   {memory.get(), 4096, 4 * kCount},
                                   {memory.get(), 8192, 4 * kCount}};
    const uint64_t dims[] = {kCount};
    device::Dispatch dispatch;
    dispatch.kernel = kernels->front().get();
    dispatch.buffers = buffers;
    dispatch.dims = dims;
    dispatch.workgroups[0] = (kCount + 63) / 64;
    auto list = begin({1, 3, 2});
    ASSERT_TRUE(list->timestamp().isOk());
    ASSERT_TRUE(list->dispatch(dispatch).isOk());
    ASSERT_TRUE(list->timestamp().isOk());
    ASSERT_TRUE(list->end().isOk());
    for (int run = 0; run < 3; ++run) {
      for (uint32_t i = 0; i < kCount; ++i) {
        values[i] = static_cast<float>(i);
        values[1024 + i] = static_cast<float>(run);
        values[2048 + i] = -1;
      }
      const uint64_t ticket = device_->submit(*list).take();
      ASSERT_TRUE(device_->wait(ticket, UINT64_MAX).take());
      for (uint32_t i = 0; i < kCount; ++i)
        ASSERT_EQ(values[2048 + i], static_cast<float>(i) + static_cast<float>(run));
      auto times = list->timestampsNs();
      ASSERT_TRUE(times.isOk());
      ASSERT_EQ(times->size(), 2u);
      EXPECT_EQ((*times)[0], 0u);
      EXPECT_GT((*times)[1], 0u);
    }
  }
}

TEST_F(VulkanDeviceTest, WaitsWithATimeout) {
  auto memory = allocate(MemoryKind::kDevice, 64 << 20);
  auto list = begin({});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(list->fill({memory.get(), 0, memory->sizeBytes()}, 1).isOk());
    ASSERT_TRUE(list->barrier().isOk());
  }
  ASSERT_TRUE(list->end().isOk());
  const uint64_t ticket = device_->submit(*list).take();
  EXPECT_FALSE(device_->wait(ticket, 0).take()) << "writing 1.3 GB should take some time";
  EXPECT_TRUE(device_->wait(ticket, UINT64_MAX).take());
  EXPECT_TRUE(device_->wait(ticket, 0).take());
}

TEST_F(VulkanDeviceTest, KeepsACacheAndReplacesADamagedOne) {
  test::ScratchFolder scratch;
  const std::string path = scratch.path("kernels.cache");
  const device::KernelSource sources[] = {addSource(BindingMode::kStorageBuffer)};
  ASSERT_TRUE(device_->createKernels(sources, path).isOk());
  const std::vector<uint8_t> written = test::readBytes(path);
  ASSERT_GT(written.size(), 32u);
  ASSERT_TRUE(device_->createKernels(sources, path).isOk());
  test::writeBytes(path, std::vector<uint8_t>(500, 0x77));
  ASSERT_TRUE(device_->createKernels(sources, path).isOk());
  const std::vector<uint8_t> rewritten = test::readBytes(path);
  EXPECT_EQ(std::vector<uint8_t>(rewritten.begin(), rewritten.begin() + 8),
            std::vector<uint8_t>(written.begin(), written.begin() + 8));
  EXPECT_TRUE(device_->createKernels(sources, scratch.path("no/such/folder/x.cache")).isOk())
      << "a cache file that cannot be written is not an error";
}

TEST_F(VulkanDeviceTest, CountsValidationMessages) {
  messagesExpected_ = true;
  const device::KernelSource sources[] = {addSource(BindingMode::kStorageBuffer)};
  auto kernels = device_->createKernels(sources, "");
  auto memory = allocate(MemoryKind::kDevice, 4096);
  const BufferRange buffers[] = {
      {memory.get(), 0, 256}, {memory.get(), 256, 256}, {memory.get(), 512, 256}};
  const uint64_t dims[] = {64};
  device::Dispatch dispatch;
  dispatch.kernel = kernels->front().get();
  dispatch.buffers = buffers;
  dispatch.dims = dims;
  auto list = begin({2, 6, 0});
  ASSERT_TRUE(list->dispatch(dispatch).isOk());
  const uint64_t before = device_->validationMessages();
  testing::internal::CaptureStderr();
  const BufferRange next[] = {buffers[2], buffers[0], buffers[1]};
  dispatch.buffers = next; // Reads the first dispatch's result without a barrier.
  ASSERT_TRUE(list->dispatch(dispatch).isOk());
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_GT(device_->validationMessages(), before);
  EXPECT_NE(printed.find("SYNC-HAZARD-READ-AFTER-WRITE"), std::string::npos) << printed;
}

TEST_F(VulkanDeviceTest, ObjectsKeepTheDeviceAlive) {
  auto memory = allocate(MemoryKind::kUnified, 256);
  const std::weak_ptr<device::Device> watched = device_;
  device_.reset();
  EXPECT_FALSE(watched.expired());
  memory->mapped()[0] = 1;
  memory.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(VulkanDeviceTest, RefusesMoreThanTheLargestAllocation) {
  auto memory = device_->allocate(MemoryKind::kDevice, device_->profile().maxAllocationBytes + 1);
  ASSERT_FALSE(memory.isOk());
  EXPECT_EQ(memory.status().code(), StatusCode::kOutOfMemory);
}

/// Makes each creation of a pipeline wait until two threads create one, or for ten seconds.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  bool met = false; // Whether two creations ran at the same time.
  PFN_vkCreateComputePipelines original = nullptr;
};
Meeting meeting;

VKAPI_ATTR VkResult VKAPI_CALL createWhenMet(VkDevice device, VkPipelineCache cache, uint32_t count,
                                             const VkComputePipelineCreateInfo *infos,
                                             const VkAllocationCallbacks *callbacks,
                                             VkPipeline *pipelines) {
  {
    std::unique_lock lock(meeting.mutex);
    meeting.met |= ++meeting.arrived == 2;
    meeting.changed.notify_all();
    meeting.changed.wait_for(lock, std::chrono::seconds(10), [] { return meeting.met; });
    --meeting.arrived;
  }
  return meeting.original(device, cache, count, infos, callbacks, pipelines);
}

TEST(VulkanPipelinesTest, AreCreatedInParallel) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "the machine has one core";
  DriverHooks hooks;
  hooks.device = [](VolkDeviceTable &table) {
    meeting.original = table.vkCreateComputePipelines;
    table.vkCreateComputePipelines = &createWhenMet;
  };
  auto device = openDevice("", hooks);
  ASSERT_TRUE(device.isOk()) << device.status().message();
  device::KernelSource source;
  source.name = "add";
  source.entryPoint = "main";
  source.spirv = kAddStorage;
  source.workgroupSize[0] = 64;
  source.bufferCount = 3;
  source.dimCount = 1;
  source.binding = BindingMode::kStorageBuffer;
  const device::KernelSource sources[] = {source, source};
  const auto kernels = (*device)->createKernels(sources, "");
  ASSERT_TRUE(kernels.isOk()) << kernels.status().message();
  EXPECT_TRUE(meeting.met);
}

} // namespace
} // namespace gantry::vulkan
