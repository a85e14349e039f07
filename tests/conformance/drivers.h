// The drivers that the conformance suite runs on, and what its tests share.
#pragma once

#include "engine/device/device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gantry::test {

struct Driver {
  const char *name;
  /// kNotFound where the machine has no such device: its tests skip.
  Result<std::shared_ptr<device::Device>> (*open)();
  /// The same without layers that judge it.
  Result<std::shared_ptr<device::Device>> (*openUnvalidated)();
  /// The same device, lost at its k-th submission from now on, counted from 1.
  Result<std::shared_ptr<device::Device>> (*openLosing)(uint64_t k);
  /// False where functions that stand in for a driver take host memory as they please.
  bool takesHostMemoryWithoutExceptions;
  /// What the driver itself holds against the calls so far.
  std::string (*complaints)(device::Device &device);
  /// The code of a kernel of tests/support/kernels.
  std::span<const uint32_t> (*code)(const std::string &kernel, device::BindingMode binding);
};

const std::vector<Driver> &drivers();
inline std::string driverName(const testing::TestParamInfo<Driver> &info) {
  return info.param.name;
}

class Conformance : public testing::TestWithParam<Driver> {
protected:
  void SetUp() override {
    auto opened = GetParam().open();
    if (!opened.isOk() && opened.status().code() == StatusCode::kNotFound)
      GTEST_SKIP() << GetParam().name << ": " << opened.status().message();
    ASSERT_TRUE(opened.isOk()) << opened.status().message();
    device_ = opened.take();
  }
  void TearDown() override {
    if (device_) {
      EXPECT_EQ(GetParam().complaints(*device_), "");
    }
  }

  std::unique_ptr<device::Memory> allocate(device::MemoryKind kind, uint64_t size) {
    auto memory = device_->allocate(kind, size);
    EXPECT_TRUE(memory.isOk()) << memory.status().message();
    return memory.isOk() ? memory.take() : nullptr;
  }
  std::unique_ptr<device::CommandList> begin(const device::CommandListCapacity &capacity = {}) {
    auto list = device_->createCommandList().take();
    EXPECT_TRUE(list->begin(capacity).isOk());
    return list;
  }
  void finish(device::CommandList &list) {
    ASSERT_TRUE(list.end().isOk());
    auto ticket = device_->submit(list);
    ASSERT_TRUE(ticket.isOk()) << ticket.status().message();
    auto done = device_->wait(*ticket, UINT64_MAX);
    ASSERT_TRUE(done.isOk()) << done.status().message();
    ASSERT_TRUE(*done);
  }
  /// What a range of device memory holds, read through a copy.
  std::vector<uint8_t> read(device::Memory &memory, uint64_t offset, uint64_t size) {
    auto readback = allocate(device::MemoryKind::kReadback, size);
    auto list = begin();
    EXPECT_TRUE(list->copy({&memory, offset, size}, *readback, 0).isOk());
    finish(*list);
    return {readback->mapped(), readback->mapped() + size};
  }
  /// "add": 3 buffers of float, 1 dim; texel buffers: the first two. "ramp": 1 buffer of uint, 3
  /// dims; no texel buffers. "gather": buffers of float, int, half, float, 1 dim; texel buffers:
  /// the first three, the first one a storage buffer besides.
  std::unique_ptr<device::Kernel> kernel(const std::string &name, uint32_t buffers, uint32_t dims,
                                         device::BindingMode binding,
                                         std::span<const device::TexelRead> texels = {}) {
    device::KernelSource source;
    source.name = name;
    source.entryPoint = "main";
    source.spirv = GetParam().code(name, binding);
    source.workgroupSize[0] = 64;
    source.bufferCount = buffers;
    source.dimCount = dims;
    source.binding = binding;
    source.texels = texels;
    auto made = device_->createKernels({&source, 1}, "");
    EXPECT_TRUE(made.isOk()) << made.status().message();
    return made.isOk() ? std::move(made->front()) : nullptr;
  }
  std::vector<device::BindingMode> bindings() const {
    std::vector<device::BindingMode> modes = {device::BindingMode::kStorageBuffer};
    if (device_->profile().features.bufferDeviceAddress)
      modes.push_back(device::BindingMode::kAddress);
    return modes;
  }

  std::shared_ptr<device::Device> device_;
};

} // namespace gantry::test
