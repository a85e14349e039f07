// Tests the choice of kernel variants on devices with and without device addresses, texel buffers,
// cooperative matrices and int8 dot products, for small and large tensors.
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
    const uint32_t f = model.input("f", artifact::ElementType::f32, {model.number(64)});
    model.output("g",
                 model.apply(TestKernel::kTwice, {f}, "Twice_0")); // Twice has a texel variant.
    if (onlyBinding())
      model.onlyBinding(*onlyBinding());
    changeModel(model);
    const std::string path = scratch_.path("m.gantry");
    ASSERT_TRUE(model.write(path).isOk());
    program_ = Program::load(path).take();
  }
  virtual std::optional<Binding> onlyBinding() { return std::nullopt; }
  virtual void changeModel(TestModel &) {}

  std::string choose(BindingChoice choice, uint64_t largest = 64) {
    return choose(0, choice, {{64, 0}, {largest, 0}});
  }
  /// Chooses for the kernel Twice, which may read its first buffer as texels and writes the second.
  std::string chooseTwice(BindingChoice choice, BoundBuffer from = {}, BoundBuffer to = {}) {
    return choose(1, choice, {from, to});
  }
  std::string choose(uint32_t kernel, BindingChoice choice, std::vector<BoundBuffer> buffers) {
    auto variant =
        chooseVariant(*program_->metadata().kernels()->Get(kernel), choice, profile_, buffers);
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
  std::optional<Binding> onlyBinding() override { return Binding::storage_buffer; }
};

class OnlyTexelTest : public ChooseVariantTest {
  void changeModel(TestModel &model) override {
    auto &variants = model.program().kernels[1]->variants;
    std::erase_if(variants, [](const auto &v) { return v->binding != Binding::texel; });
  }
};

/// Adds two storage-buffer variants, each with workgroup counts (a grid) of its own: one that every
/// device can run, and one that uses cooperative matrices in subgroups of 16 lanes.
class MatricesTest : public ChooseVariantTest {
  void changeModel(TestModel &model) override {
    auto &kernel = *model.program().kernels[0];
    for (const uint32_t grid : {1, 2}) {
      auto variant = std::make_unique<artifact::KernelVariantT>(*kernel.variants[0]);
      ASSERT_EQ(variant->binding, Binding::storage_buffer);
      variant->grid = grid;
      kernel.variants.push_back(std::move(variant));
    }
    kernel.variants.back()->subgroup_size = 16;
    kernel.variants.back()->capabilities.push_back(capabilityOf(kShape));
    for (auto &command : model.program().commands)
      for (int grid = 0; grid < 2; ++grid)
        command->other_workgroups.insert(command->other_workgroups.end(),
                                         command->workgroups.begin(), command->workgroups.end());
  }

protected:
  static constexpr MatrixShape kShape{16, 16, 16, MatrixElement::kF16, MatrixElement::kF32};
  uint32_t grid() {
    auto variant = chooseVariant(*program_->metadata().kernels()->Get(0),
                                 BindingChoice::kStorageBuffer, profile_, {});
    EXPECT_TRUE(variant.isOk()) << variant.status().message();
    return variant.isOk() ? (*variant)->grid() : ~0u;
  }
};

TEST_F(MatricesTest, NeedADeviceWithTheShapeAndTheSubgroupSize) {
  EXPECT_EQ(grid(), 1u) << "the device has no matrices";
  profile_.matrixShapes = {{16, 16, 16, MatrixElement::kF16, MatrixElement::kF16}};
  profile_.minSubgroupSize = 8;
  profile_.maxSubgroupSize = 32;
  EXPECT_EQ(grid(), 1u) << "the device has another matrix shape";
  profile_.matrixShapes.push_back(kShape);
  EXPECT_EQ(grid(), 2u);
  profile_.maxSubgroupSize = 8;
  EXPECT_EQ(grid(), 1u) << "the device's subgroups are smaller";
  profile_.minSubgroupSize = profile_.maxSubgroupSize = profile_.subgroupSize = 16;
  profile_.features.subgroupShuffle = false;
  EXPECT_EQ(grid(), 1u) << "the subgroup size may vary";
}

/// Adds two alternatives to the storage-buffer variant of grid 0: cheap workgroups of which a
/// dispatch needs many, and costly ones of which it needs few.
class AlternativesTest : public ChooseVariantTest {
protected:
  void changeModel(TestModel &model) override {
    auto &kernel = *model.program().kernels[0];
    for (const uint32_t grid : {1, 2}) {
      auto variant = std::make_unique<artifact::KernelVariantT>(*kernel.variants[0]);
      variant->grid = grid;
      variant->alternatives = 1;
      variant->workgroup_cost = grid == 1 ? 10 : 100;
      kernel.variants.push_back(std::move(variant));
    }
    for (auto &command : model.program().commands)
      for (int grid = 0; grid < 2; ++grid)
        command->other_workgroups.insert(command->other_workgroups.end(),
                                         command->workgroups.begin(), command->workgroups.end());
  }

  uint32_t grid(std::vector<double> workgroups) {
    return chooseVariant(*program_->metadata().kernels()->Get(0), BindingChoice::kStorageBuffer,
                         profile_, {}, workgroups)
        .take()
        ->grid();
  }
};

TEST_F(AlternativesTest, TheCheapestForTheNumberOfWorkgroupsIsTaken) {
  EXPECT_EQ(grid({1, 1, 1}), 1u);
  EXPECT_EQ(grid({1, 16, 1}), 2u);
  EXPECT_EQ(grid({1, 10, 1}), 2u) << "of equal costs the last one counts";
  EXPECT_EQ(grid({}), 2u) << "the sizes are not known yet";
}

/// Adds an alternative that is the cheapest, and that needs a first dim that is a multiple of four.
class MultiplesTest : public AlternativesTest {
  void changeModel(TestModel &model) override {
    AlternativesTest::changeModel(model);
    auto &variants = model.program().kernels[0]->variants;
    auto variant = std::make_unique<artifact::KernelVariantT>(*variants.back());
    variant->workgroup_cost = 1;
    variant->dim_multiples = {4};
    variants.push_back(std::move(variant));
  }

protected:
  uint64_t cost(std::vector<double> workgroups, std::vector<uint64_t> dims) {
    return chooseVariant(*program_->metadata().kernels()->Get(0), BindingChoice::kStorageBuffer,
                         profile_, {}, workgroups, dims)
        .take()
        ->workgroup_cost();
  }
};

TEST_F(MultiplesTest, AreTakenOnlyForKnownDimsThatAreMultiples) {
  EXPECT_EQ(cost({1, 1, 1}, {8, 3}), 1u);
  EXPECT_EQ(cost({1, 1, 1}, {6, 4}), 10u);
  EXPECT_EQ(cost({1, 1, 1}, {}), 10u) << "the dims are not known";
  EXPECT_EQ(cost({}, {}), 100u) << "the sizes are not known yet";
}

/// Adds a variant that uses int8 dot products.
class DotProductsTest : public ChooseVariantTest {
  void changeModel(TestModel &model) override {
    auto &kernel = *model.program().kernels[0];
    auto variant = std::make_unique<artifact::KernelVariantT>(*kernel.variants[0]);
    variant->grid = 1;
    variant->capabilities = {"integerDotProduct"};
    kernel.variants.push_back(std::move(variant));
    for (auto &command : model.program().commands)
      command->other_workgroups = command->workgroups;
  }
};

TEST_F(DotProductsTest, NeedADeviceWithIntegerDotProducts) {
  auto grid = [&] {
    return chooseVariant(*program_->metadata().kernels()->Get(0), BindingChoice::kStorageBuffer,
                         profile_, {})
        .take()
        ->grid();
  };
  EXPECT_EQ(grid(), 0u);
  profile_.features.integerDotProduct = true;
  EXPECT_EQ(grid(), 1u);
}

class OnlyAddressTest : public ChooseVariantTest {
  std::optional<Binding> onlyBinding() override { return Binding::address; }
};

TEST_F(ChooseVariantTest, FollowsTheDevicesPreferenceUnlessTheCallerChooses) {
  EXPECT_EQ(choose(BindingChoice::kAuto), "storage_buffer");
  profile_.preferAddressBinding = true;
  EXPECT_EQ(choose(BindingChoice::kAuto), "address");
  EXPECT_EQ(choose(BindingChoice::kStorageBuffer), "storage_buffer");
  profile_.preferAddressBinding = false;
  EXPECT_EQ(choose(BindingChoice::kAddress), "address");
}

TEST_F(ChooseVariantTest, FallsBackToAddressesAboveTheStorageBufferLimit) {
  const uint64_t limit = profile_.maxStorageBufferRange;
  EXPECT_EQ(choose(BindingChoice::kAuto, limit), "storage_buffer");
  EXPECT_EQ(choose(BindingChoice::kAuto, limit + 1), "address");
  EXPECT_EQ(choose(BindingChoice::kStorageBuffer, limit + 1), "address");
  profile_.features.bufferDeviceAddress = false;
  EXPECT_EQ(choose(BindingChoice::kAuto, limit + 1),
            "kernel 'invert' binds a tensor of 134217729 bytes; the device's storage buffers hold "
            "134217728, its texel buffers 134217728 texels, and the kernel can neither use an "
            "address nor be split into slices");
}

TEST_F(ChooseVariantTest, FallsBackToStorageBuffersWithoutRoomForAddresses) {
  profile_.preferAddressBinding = true;
  profile_.maxPushConstantBytes = 16;
  EXPECT_EQ(choose(BindingChoice::kAuto), "storage_buffer");
  EXPECT_EQ(choose(BindingChoice::kAddress),
            "kernel 'invert': its block of 2 buffers and 1 dims needs 24 bytes of push constants, "
            "but the device has 16; compile it with storage-buffer bindings");
}

TEST_F(ChooseVariantTest, ReadsTexelsIfTheDevicePrefersThemOrTheCallerChoosesThem) {
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto), "texel");
  EXPECT_EQ(chooseTwice(BindingChoice::kStorageBuffer), "storage_buffer");
  EXPECT_EQ(chooseTwice(BindingChoice::kAddress), "address");
  profile_.preferTexelLoads = false;
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto), "storage_buffer");
  EXPECT_EQ(chooseTwice(BindingChoice::kTexel), "texel");
  EXPECT_EQ(choose(BindingChoice::kTexel), "storage_buffer") << "the kernel has no texel variant";
}

TEST_F(ChooseVariantTest, ReadsTexelsOnlyWithinTheLimits) {
  const uint64_t texel = 16 * profile_.maxTexelBufferElements,
                 storage = profile_.maxStorageBufferRange;
  ASSERT_GT(texel, storage);
  profile_.storageBufferAlignment = 8;
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {storage + 1, 0}), "texel")
      << "the limit of storage buffers does not apply to a buffer that is only read as texels";
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {texel, 0}), "texel");
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {texel + 1, 0}), "address");
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {64, 0}, {storage + 1, 0}), "address")
      << "a written buffer is a storage buffer";
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {64, 4096 + 16}), "texel");
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {64, 4096 + 8}), "storage_buffer");
  EXPECT_EQ(chooseTwice(BindingChoice::kTexel, {64, 4096 + 8}), "storage_buffer");
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {64, 4096 + 4}), "address")
      << "a storage buffer begins at a multiple of the alignment";
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {64, 0}, {64, 4096 + 4}), "address");
  profile_.maxTexelBufferElements = 100;
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {1600, 0}), "texel");
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto, {1604, 0}), "storage_buffer");
  profile_.maxTexelBufferElements = 0;
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto), "storage_buffer");
}

TEST_F(OnlyTexelTest, IsChosenEvenIfTheDevicePrefersOtherBindings) {
  profile_.preferTexelLoads = false;
  EXPECT_EQ(chooseTwice(BindingChoice::kAuto), "texel");
  EXPECT_EQ(chooseTwice(BindingChoice::kStorageBuffer),
            "kernel 'twice' has no variant that binds storage buffers");
  EXPECT_EQ(
      chooseTwice(BindingChoice::kTexel, {64, 8}),
      "kernel 'twice' reads a tensor at byte 8 as texels; the device's texel buffers begin at "
      "multiples of 16");
}

TEST(ParseBinding, AcceptsTheNamesOfTheBindings) {
  EXPECT_EQ(parseBinding("auto").take(), BindingChoice::kAuto);
  EXPECT_EQ(parseBinding("storage-buffer").take(), BindingChoice::kStorageBuffer);
  EXPECT_EQ(parseBinding("storage_buffer").take(), BindingChoice::kStorageBuffer);
  EXPECT_EQ(parseBinding("address").take(), BindingChoice::kAddress);
  EXPECT_EQ(parseBinding("texel").take(), BindingChoice::kTexel);
  EXPECT_EQ(parseBinding("texels").status().message(),
            "no binding is named \"texels\"; the names are: auto, storage-buffer, address, texel");
}

TEST_F(ChooseVariantTest, NamesTheMissingCapability) {
  profile_.features.storageBuffer8BitAccess = false;
  EXPECT_EQ(choose(BindingChoice::kAuto),
            "kernel 'invert' needs storageBuffer8BitAccess, which the device lacks");
}

TEST_F(OnlyStorageTest, CannotBeBoundByAddress) {
  EXPECT_EQ(choose(BindingChoice::kAddress),
            "kernel 'invert' has no variant that binds by address");
  profile_.preferAddressBinding = true;
  EXPECT_EQ(choose(BindingChoice::kAuto), "storage_buffer");
}

TEST_F(OnlyAddressTest, CannotBindStorageBuffers) {
  EXPECT_EQ(choose(BindingChoice::kStorageBuffer),
            "kernel 'invert' has no variant that binds storage buffers");
  EXPECT_EQ(choose(BindingChoice::kAuto), "address");
}

} // namespace
} // namespace gantry::program
