// Tests alignment helpers, Status and Result, logging and device profiles.
#include "engine/base/align.h"
#include "engine/base/device_profile.h"
#include "engine/base/log.h"
#include "engine/base/status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>

namespace gantry {
namespace {

TEST(Status, CarriesCodeAndMessage) {
  const Status status = statusf(StatusCode::kNotFound, "%s is %d", "seven", 7);
  EXPECT_FALSE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "seven is 7");
  EXPECT_TRUE(Status::ok().isOk());
}

TEST(Status, DoesNotTruncateLongMessages) {
  const std::string text(5000, 'x');
  EXPECT_EQ(statusf(StatusCode::kIo, "%s!", text.c_str()).message(), text + "!");
}

TEST(Status, EachCodeHasItsOwnName) {
  std::set<std::string> names;
  for (int code = 0; code <= 10; ++code)
    names.insert(statusCodeName(static_cast<StatusCode>(code)));
  EXPECT_EQ(names.size(), 11u);
  EXPECT_EQ(std::string(statusCodeName(StatusCode::kInvalidArgument)), "invalid argument");
}

Result<std::unique_ptr<int>> half(int number) {
  if (number % 2 != 0)
    return statusf(StatusCode::kInvalidArgument, "%d is odd", number);
  return std::make_unique<int>(number / 2);
}

Status quarter(int number, int &result) {
  GANTRY_ASSIGN_OR_RETURN(const auto once, half(number));
  GANTRY_ASSIGN_OR_RETURN(const auto twice, half(*once));
  result = *twice;
  return Status::ok();
}

TEST(Result, AssignOrReturnPassesValuesAndErrorsOn) {
  int result = 0;
  EXPECT_TRUE(quarter(12, result).isOk());
  EXPECT_EQ(result, 3);
  EXPECT_EQ(quarter(6, result).message(), "3 is odd");
  EXPECT_EQ(result, 3);
}

TEST(Align, RoundsUpAndReportsOverflow) {
  EXPECT_EQ(checkedRoundUp(0, 256), 0u);
  EXPECT_EQ(checkedRoundUp(1, 256), 256u);
  EXPECT_EQ(checkedRoundUp(256, 256), 256u);
  EXPECT_EQ(checkedRoundUp(UINT64_MAX, 1), UINT64_MAX);
  EXPECT_EQ(checkedRoundUp(UINT64_MAX - 254, 256), std::nullopt);
  EXPECT_EQ(checkedRoundUp(UINT64_MAX - 255, 256), UINT64_MAX - 255);
  EXPECT_EQ(checkedAdd(UINT64_MAX, 0), UINT64_MAX);
  EXPECT_EQ(checkedAdd(UINT64_MAX, 1), std::nullopt);
  EXPECT_TRUE(isPowerOfTwo(1));
  EXPECT_TRUE(isPowerOfTwo(uint64_t{1} << 63));
  EXPECT_FALSE(isPowerOfTwo(0));
  EXPECT_FALSE(isPowerOfTwo(96));
}

TEST(DeviceProfile, NamedProfilesAreConsistent) {
  ASSERT_FALSE(profileNames().empty());
  for (const std::string &name : profileNames()) {
    const Result<DeviceProfile> profile = namedProfile(name);
    ASSERT_TRUE(profile.isOk()) << name;
    EXPECT_EQ(profile->name, name);
    EXPECT_EQ(profile->backend, name.substr(0, name.find(':')));
    EXPECT_LE(profile->preferredWorkgroupSize, profile->maxWorkgroupInvocations);
    EXPECT_GE(profile->maxSharedMemoryBytes, 16384u);
    EXPECT_GE(profile->maxPushConstantBytes, 128u);
    EXPECT_GT(profile->registerTileElements, 0u);
    EXPECT_GE(profile->minSubgroupSize, 1u);
    EXPECT_LE(profile->minSubgroupSize, profile->subgroupSize);
    EXPECT_LE(profile->subgroupSize, profile->maxSubgroupSize);
    for (const MatrixShape &shape : profile->matrixShapes)
      EXPECT_TRUE(isPowerOfTwo(shape.m) && isPowerOfTwo(shape.n) && isPowerOfTwo(shape.k)) << name;
    if (profile->matrixSubgroupSize) {
      EXPECT_GE(profile->matrixSubgroupSize, profile->minSubgroupSize);
      EXPECT_LE(profile->matrixSubgroupSize, profile->maxSubgroupSize);
    }
    EXPECT_LE(profile->maxStorageBufferRange, profile->maxAllocationBytes);
    EXPECT_TRUE(!profile->preferAddressBinding || profile->features.bufferDeviceAddress);
  }
}

TEST(DeviceProfile, MatrixShapesHaveCapabilityNames) {
  EXPECT_EQ(capabilityOf({16, 8, 32, MatrixElement::kI8, MatrixElement::kI32}),
            "cooperativeMatrix 16x8x32 i8 i32");
  const Result<DeviceProfile> ada = namedProfile("vulkan:nvidia-ada");
  ASSERT_TRUE(ada.isOk());
  EXPECT_EQ(capabilityOf(ada->matrixShapes.front()), "cooperativeMatrix 16x16x16 f16 f32");
}

TEST(DeviceProfile, GenericHasLowerLimitsThanLavapipe) {
  const Result<DeviceProfile> generic = namedProfile("vulkan:generic");
  const Result<DeviceProfile> lavapipe = namedProfile("vulkan:lavapipe");
  ASSERT_TRUE(generic.isOk() && lavapipe.isOk());
  EXPECT_EQ(generic->maxSharedMemoryBytes, 16384u);
  EXPECT_EQ(generic->maxWorkgroupInvocations, 128u);
  EXPECT_EQ(lavapipe->maxSharedMemoryBytes, 32768u);
  EXPECT_LE(generic->maxStorageBuffersPerStage, lavapipe->maxStorageBuffersPerStage);
}

TEST(DeviceProfile, AnUnknownNameIsRefusedWithAListOfTheNames) {
  const Result<DeviceProfile> profile = namedProfile("vulkan:toaster");
  ASSERT_FALSE(profile.isOk());
  EXPECT_EQ(profile.status().code(), StatusCode::kNotFound);
  EXPECT_NE(profile.status().message().find("vulkan:toaster"), std::string::npos);
  EXPECT_NE(profile.status().message().find("vulkan:generic"), std::string::npos);
}

// The log level is read once per process, so each case runs in a process of its own.
using LogDeathTest = testing::Test;

void logAndExit(const char *environment) {
  if (environment == nullptr)
    unsetenv("GANTRY_LOG");
  else
    setenv("GANTRY_LOG", environment, 1);
  logf(LogLevel::kWarn, "one\ntwo");
  logf(LogLevel::kDebug, "deep %d", 3);
  std::exit(0);
}

TEST(LogDeathTest, LevelsAreFiltered) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(logAndExit(nullptr), testing::ExitedWithCode(0), "^gantry: warn: one two\n$");
  EXPECT_EXIT(logAndExit("error"), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(logAndExit("debug"), testing::ExitedWithCode(0), "gantry: debug: deep 3\n$");
  EXPECT_EXIT(logAndExit("loud"), testing::ExitedWithCode(0), "GANTRY_LOG is \"loud\"");
}

TEST(DeviceProfile, ADeviceGetsTheProfileMadeForIt) {
  DeviceProfile device = namedProfile("vulkan:lavapipe").take();
  device.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
  EXPECT_EQ(profileNameFor(device), "vulkan:lavapipe");
  device = namedProfile("vulkan:nvidia-ampere").take();
  device.name = "NVIDIA GeForce RTX 3090";
  EXPECT_EQ(profileNameFor(device), "vulkan:nvidia-ampere");
  device.name = "NVIDIA GeForce RTX 4070";
  EXPECT_EQ(profileNameFor(device), "vulkan:nvidia-ada");
  device.name = "AMD Radeon RX 7900 XTX (RADV NAVI31)";
  EXPECT_EQ(profileNameFor(device), "vulkan:generic") << "the AMD profile needs subgroups of 64";
  device.name = "Something else";
  EXPECT_EQ(profileNameFor(device), "vulkan:generic");
}

TEST(DeviceProfile, ADeviceBelowItsProfileGetsTheGenericProfile) {
  const DeviceProfile whole = namedProfile("vulkan:mali-g7xx").take();
  EXPECT_TRUE(meets(whole, whole));
  EXPECT_TRUE(meets(whole, namedProfile("vulkan:generic").take()));
  const std::vector<std::function<void(DeviceProfile &)>> breaks = {
      [](DeviceProfile &p) { p.backend = "cuda"; },
      [](DeviceProfile &p) { --p.maxSharedMemoryBytes; },
      [](DeviceProfile &p) { --p.maxWorkgroupInvocations; },
      [](DeviceProfile &p) { --p.maxWorkgroupSize[2]; },
      [](DeviceProfile &p) { --p.maxWorkgroupCount[0]; },
      [](DeviceProfile &p) { --p.maxPushConstantBytes; },
      [](DeviceProfile &p) { --p.maxStorageBufferRange; },
      [](DeviceProfile &p) { --p.maxAllocationBytes; },
      [](DeviceProfile &p) { --p.maxStorageBuffersPerStage; },
      [](DeviceProfile &p) { --p.maxTexelBufferElements; },
      [](DeviceProfile &p) { p.storageBufferAlignment *= 2; },
      [](DeviceProfile &p) { p.texelBufferAlignment *= 2; },
      [](DeviceProfile &p) { --p.maxTexelBuffersPerStage; },
      [](DeviceProfile &p) { --p.maxResourcesPerStage; },
      [](DeviceProfile &p) { p.subgroupSize = 8; },
      [](DeviceProfile &p) { p.features.shaderFloat16 = false; },
      [](DeviceProfile &p) { p.features.integerDotProduct = false; },
  };
  for (size_t i = 0; i < breaks.size(); ++i) {
    DeviceProfile device = whole;
    device.name = "Mali-G710";
    EXPECT_EQ(profileNameFor(device), whole.name);
    breaks[i](device);
    EXPECT_FALSE(meets(device, whole)) << "break " << i;
    EXPECT_EQ(profileNameFor(device), "vulkan:generic") << "break " << i;
  }
}

TEST(DeviceProfile, ProfilesOfAllVendorsExistAndMeetTheGenericOne) {
  for (const char *name :
       {"vulkan:nvidia-turing", "vulkan:nvidia-ampere", "vulkan:nvidia-ada", "vulkan:nvidia-hopper",
        "vulkan:amd-rdna2", "vulkan:amd-rdna3", "vulkan:amd-cdna3", "vulkan:intel-xe-lp",
        "vulkan:intel-arc", "vulkan:adreno-7xx", "vulkan:mali-g7xx"}) {
    const Result<DeviceProfile> found = namedProfile(name);
    ASSERT_TRUE(found.isOk()) << name;
    EXPECT_TRUE(meets(*found, namedProfile("vulkan:generic").take()))
        << name << " must run artifacts for the generic profile";
    EXPECT_GT(found->computeUnits, 0u) << name;
    EXPECT_TRUE(found->features.shaderFloat16) << name;
    EXPECT_EQ(found->features.subgroupShuffle, found->minSubgroupSize == found->maxSubgroupSize)
        << name;
  }
  EXPECT_TRUE(std::ranges::is_sorted(profileNames()));
}

} // namespace
} // namespace gantry
