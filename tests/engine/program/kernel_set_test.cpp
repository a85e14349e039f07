// The choice of variants for devices with and without addresses, large and small storage buffers.
#include "engine/program/kernel_set.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

namespace gantry::program {
namespace {

using artifact::Binding;
using test::TestKernel;
using test::TestModel;

class ChooseVariantTest : public testing::Test {
protected:
  void SetUp() override {
    profile_ = namedProfile("vulkan:lavapipe").take();
    TestModel model;
    const uint32_t x = model.input("x", artifact::ElementType::u8, {model.number(64)});
    model.output("y", model.apply(TestKernel::kInvert, {x}, "Invert_0"));
    if (GetParamOnly())
      model.onlyBinding(*GetParamOnly());
    const std::string path = scratch_.path("m.gantry");
    ASSERT_TRUE(model.write(path).isOk());
    program_ = Program::load(path).take();
  }
  virtual std::optional<Binding> GetParamOnly() { return std::nullopt; }

  std::string choose(BindingChoice choice, uint64_t largest = 64) {
    auto variant =
        chooseVariant(*program_->metadata().kernels()->Get(0), choice, profile_, largest);
    if (!variant.isOk()) {
      EXPECT_EQ(variant.status().code(), StatusCode::kUnsupported);
      return variant.status().message();
    }
    return artifact::EnumNameBinding((*variant)->binding());
  }
  test::ScratchFolder scratch_;
  std::shared_ptr<const Program> program_;
  DeviceProfile profile_;
};

class OnlyStorageTest : public ChooseVariantTest {
  std::optional<Binding> GetParamOnly() override { return Binding::storage_buffer; }
};

class OnlyAddressTest : public ChooseVariantTest {
  std::optional<Binding> GetParamOnly() override { return Binding::address; }
};

TEST_F(ChooseVariantTest, followsTheDeviceUnlessTold) {
  EXPECT_EQ(choose(BindingChoice::kAuto), "storage_buffer");
  profile_.preferAddressBinding = true;
  EXPECT_EQ(choose(BindingChoice::kAuto), "address");
  EXPECT_EQ(choose(BindingChoice::kStorageBuffer), "storage_buffer");
  profile_.preferAddressBinding = false;
  EXPECT_EQ(choose(BindingChoice::kAddress), "address");
}

TEST_F(ChooseVariantTest, fallsToAddressesAboveTheStorageBufferLimit) {
  const uint64_t limit = profile_.maxStorageBufferRange;
  EXPECT_EQ(choose(BindingChoice::kAuto, limit), "storage_buffer");
  EXPECT_EQ(choose(BindingChoice::kAuto, limit + 1), "address");
  EXPECT_EQ(choose(BindingChoice::kStorageBuffer, limit + 1), "address");
  profile_.features.bufferDeviceAddress = false;
  EXPECT_EQ(choose(BindingChoice::kAuto, limit + 1),
            "kernel 'invert' binds a tensor of 134217729 bytes, the device's storage buffers hold "
            "134217728 and it has no addresses to use instead");
}

TEST_F(ChooseVariantTest, fallsToStorageBuffersWithoutRoomForAddresses) {
  profile_.preferAddressBinding = true;
  profile_.maxPushConstantBytes = 16;
  EXPECT_EQ(choose(BindingChoice::kAuto), "storage_buffer");
  EXPECT_EQ(choose(BindingChoice::kAddress),
            "kernel 'invert': its block of 2 buffers and 1 dims needs 24 bytes of push constants, "
            "the device has 16; compile it with storage-buffer bindings");
}

TEST_F(ChooseVariantTest, namesTheMissingCapability) {
  profile_.features.storageBuffer8BitAccess = false;
  EXPECT_EQ(choose(BindingChoice::kAuto),
            "kernel 'invert' needs storageBuffer8BitAccess, which the device lacks");
}

TEST_F(OnlyStorageTest, cannotBeBoundByAddress) {
  EXPECT_EQ(choose(BindingChoice::kAddress),
            "kernel 'invert' has no variant that binds by address");
  profile_.preferAddressBinding = true;
  EXPECT_EQ(choose(BindingChoice::kAuto), "storage_buffer");
}

TEST_F(OnlyAddressTest, cannotBindStorageBuffers) {
  EXPECT_EQ(choose(BindingChoice::kStorageBuffer),
            "kernel 'invert' has no variant that binds storage buffers");
  EXPECT_EQ(choose(BindingChoice::kAuto), "address");
}

} // namespace
} // namespace gantry::program
