// Declares the list of drivers of the conformance suite, and the fixture that its tests share.
//
// Each test runs once for each driver. If the machine lacks the driver's device or the device lacks
// a feature, the test is skipped, and the output says why.
#pragma once

#include "engine/device/device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gantry::test {

/// A driver under test, with the functions that the suite needs.
struct Driver {
  const char *name;
  /// Opens the device. Returns kNotFound if the machine has no such device; the driver's tests are
  /// then skipped.
  Result<std::shared_ptr<device::Device>> (*open)();
  /// Opens the device without validation layers.
  Result<std::shared_ptr<device::Device>> (*openUnvalidated)();
  /// Opens a device that is lost at its k-th submission from now on, counted from 1.
  Result<std::shared_ptr<device::Device>> (*openLosing)(uint64_t k);
  /// Whether the driver allocates host memory only with functions that do not throw. False for
  /// drivers with stand-ins (tests/backends/vulkan/stand_ins.h), whose functions may throw.
  bool takesHostMemoryWithoutExceptions;
  /// Returns the misuse that the driver or its validation has found so far; "" if none.
  std::string (*complaints)(device::Device &device);
  /// Returns the code of a kernel of tests/support/kernels.
  std::span<const uint32_t> (*code)(const std::string &kernel, device::BindingMode binding);
};

/// Returns the drivers that the suite tests.
const std::vector<Driver> &drivers();
inline std::string driverName(const testing::TestParamInfo<Driver> &info) {
  return info.param.name;
}

/// Opens a device for each test and checks afterwards that the driver has no complaints.
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
  /// Returns a part of any memory, through a copy to readback memory.
  std::vector<uint8_t> read(device::Memory &memory, uint64_t offset, uint64_t size) {
    auto readback = allocate(device::MemoryKind::kReadback, size);
    auto list = begin();
    EXPECT_TRUE(list->copy({&memory, offset, size}, *readback, 0).isOk());
    finish(*list);
    return {readback->mapped(), readback->mapped() + size};
  }
  /// Creates one of the test kernels. A dim is a dynamic size that a dispatch passes to its kernel.
  /// "add": 3 float buffers, 1 dim; the first two buffers may be texel buffers. "ramp": 1 uint
  /// buffer, 3 dims; no texel buffers. "gather": buffers of float, int, half and float, 1 dim; the
  /// first three are texel buffers, and the first is also a storage buffer.
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
    auto kernels = device_->createKernels({&source, 1}, "");
    EXPECT_TRUE(kernels.isOk()) << kernels.status().message();
    return kernels.isOk() ? std::move(kernels->front()) : nullptr;
  }
  /// Returns the binding modes that the device supports, without texel buffers.
  std::vector<device::BindingMode> bindings() const {
    std::vector<device::BindingMode> modes = {device::BindingMode::kStorageBuffer};
    if (device_->profile().features.bufferDeviceAddress)
      modes.push_back(device::BindingMode::kAddress);
    return modes;
  }

  std::shared_ptr<device::Device> device_;
};

} // namespace gantry::test
