// Tests failures of the driver: each call fails in turn, and each pair of calls fails. Each failure
// must give an error, except for the calls in kTolerated, and must leak no object.
#include "backends/vulkan/vk.h"
#include "tests/backends/vulkan/driver_shims.h"
#include "tests/support/add_texel.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <sstream>
#include <unistd.h>

namespace gantry::vulkan::test {
namespace {

using device::MemoryKind;

/// Waits until the submission is done or the device is lost, also if a wait fails, because the
/// caller destroys the submission's objects next. Returns the status of the first wait.
Status finish(device::Device &device, uint64_t ticket) {
  const Result<bool> done = device.wait(ticket, UINT64_MAX);
  while (!done.isOk() && !device.isLost() && !device.wait(ticket, UINT64_MAX).isOk()) {
  }
  return done.status();
}

Status dispatchOnce(device::Device &device) {
  constexpr device::TexelRead kReads[] = {{0, device::TexelFormat::kRgba32f, true},
                                          {1, device::TexelFormat::kRgba32f, true}};
  device::KernelSource source; // The kernel reads two texel buffers and writes a storage buffer.
  source.name = "add";
  source.entryPoint = "main";
  source.spirv = kAddTexel;
  source.workgroupSize[0] = 64;
  source.bufferCount = 3;
  source.dimCount = 1;
  source.binding = device::BindingMode::kTexel;
  source.texels = kReads;
  GANTRY_ASSIGN_OR_RETURN(auto kernels, device.createKernels({&source, 1}, ""));
  device::AllocateOptions options;
  options.name = "fault test";
  options.dedicated = true;
  GANTRY_ASSIGN_OR_RETURN(auto upload, device.allocate(MemoryKind::kUpload, 4096));
  GANTRY_ASSIGN_OR_RETURN(auto local, device.allocate(MemoryKind::kDevice, 4096, options));
  GANTRY_ASSIGN_OR_RETURN(auto readback, device.allocate(MemoryKind::kReadback, 4096));
  GANTRY_ASSIGN_OR_RETURN(auto list, device.createCommandList());
  GANTRY_RETURN_IF_ERROR(list->begin({1, 1, 2, 2}));
  GANTRY_RETURN_IF_ERROR(list->timestamp());
  GANTRY_RETURN_IF_ERROR(list->copy({upload.get(), 0, 4096}, *local, 0));
  GANTRY_RETURN_IF_ERROR(list->barrier());
  const device::BufferRange buffers[] = {
      {local.get(), 0, 256}, {local.get(), 256, 256}, {local.get(), 512, 256}};
  const uint64_t dims[] = {64};
  device::Dispatch dispatch;
  dispatch.kernel = kernels.front().get();
  dispatch.buffers = buffers;
  dispatch.dims = dims;
  GANTRY_RETURN_IF_ERROR(list->dispatch(dispatch));
  GANTRY_RETURN_IF_ERROR(list->barrier());
  GANTRY_RETURN_IF_ERROR(list->copy({local.get(), 0, 4096}, *readback, 0));
  GANTRY_RETURN_IF_ERROR(list->timestamp());
  GANTRY_RETURN_IF_ERROR(list->end());
  GANTRY_ASSIGN_OR_RETURN(const uint64_t ticket, device.submit(*list));
  GANTRY_RETURN_IF_ERROR(finish(device, ticket));
  GANTRY_RETURN_IF_ERROR(device.completed().status());
  GANTRY_RETURN_IF_ERROR(list->timestampsNs().status());
  return {};
}

Status share(device::Device &device) {
  if (!device.info().external.opaqueFds)
    return {};
  device::AllocateOptions options;
  options.exportable = true;
  GANTRY_ASSIGN_OR_RETURN(auto memory, device.allocate(MemoryKind::kUnified, 4096, options));
  device::ImportSource source;
  source.type = device::ImportSource::Type::kOpaqueFd;
  source.sizeBytes = 4096;
  GANTRY_ASSIGN_OR_RETURN(source.fd, device.exportMemory(*memory));
  auto imported = device.importMemory(source);
  if (!imported.isOk())
    close(source.fd);
  return imported.status();
}

/// The interval (begin, end] of the numbers of the calls that release a range of addresses
/// (Device::reserve()). The release waits until the queue has done the range's sparse bindings
/// (vkQueueBindSparse) and retries failed waits, so a failed wait in this interval is
/// tolerated. The interval is empty if the scenario ended before the release.
struct Release {
  uint64_t begin = UINT64_MAX, end = 0;
} release;

struct ReleaseEnds {
  ~ReleaseEnds() { release.end = shims().calls; }
};

Status grow(device::Device &device) {
  if (!device.info().virtualMemory.supported)
    return {};
  const ReleaseEnds after;
  const uint64_t step = device.info().virtualMemory.granularityBytes;
  GANTRY_ASSIGN_OR_RETURN(auto range, device.reserve(MemoryKind::kDevice, 8 * step));
  GANTRY_RETURN_IF_ERROR(device.commit(*range, 0, 2 * step));
  GANTRY_RETURN_IF_ERROR(device.commit(*range, 2 * step, 3 * step));
  GANTRY_ASSIGN_OR_RETURN(auto list, device.createCommandList());
  GANTRY_RETURN_IF_ERROR(list->begin({}));
  GANTRY_RETURN_IF_ERROR(list->fill({range.get(), 0, 5 * step}, 1));
  GANTRY_RETURN_IF_ERROR(list->end());
  GANTRY_ASSIGN_OR_RETURN(const uint64_t ticket, device.submit(*list));
  GANTRY_RETURN_IF_ERROR(finish(device, ticket));
  const Status status = device.decommit(*range, step, 2 * step); // Covers parts of two commits.
  release.begin = shims().calls;
  return status;
}

/// Creates a device, allocates, copies, dispatches, shares, grows a range, and releases everything.
Status scenario() {
  GANTRY_ASSIGN_OR_RETURN(auto device, openDevice("", shimHooks()));
  GANTRY_RETURN_IF_ERROR(dispatchOnce(*device));
  GANTRY_RETURN_IF_ERROR(share(*device));
  GANTRY_RETURN_IF_ERROR(grow(*device));
  std::vector<device::MemoryBudget> budgets(device->info().memoryHeaps.size());
  return device->memoryBudgets(budgets);
}

/// Calls whose failure is not an error: the backend only loses an optional feature (a layer, an
/// extension, an object's name or the pipeline cache), or continues without the wait.
const std::set<std::string> kTolerated = {"vkCreatePipelineCache",
                                          "vkSetDebugUtilsObjectNameEXT",
                                          "vkEnumerateInstanceExtensionProperties",
                                          "vkDeviceWaitIdle",
                                          "vkGetPipelineCacheData",
                                          "vkEnumerateInstanceLayerProperties",
                                          "vkEnumerateDeviceExtensionProperties"};

/// Returns whether the failure of each of these calls is tolerated. names: names of the failed
/// calls; numbers: their numbers.
bool allTolerated(const std::string &names, std::array<uint64_t, 2> numbers) {
  std::istringstream stream(names);
  std::string name;
  for (size_t i = 0; stream >> name; ++i) {
    const bool again =
        name == "vkWaitSemaphores" && numbers.at(i) > release.begin && numbers.at(i) <= release.end;
    if (!kTolerated.count(name) && !again)
      return false;
  }
  return true;
}

struct Case {
  const char *name;
  VkResult failure;
  bool standIns;
};

class VulkanFaults : public testing::TestWithParam<Case> {
protected:
  void SetUp() override { setenv("GANTRY_VALIDATION", "0", 1); }

  /// Runs the scenario with the calls of these numbers failing. Returns the number of calls.
  uint64_t run(uint64_t first, uint64_t second) {
    resetShims();
    release = {};
    shims().standIns = GetParam().standIns;
    shims().failure = GetParam().failure;
    shims().failAt = first;
    shims().failAgainAt = second;
    const Status status = scenario();
    const std::string what = "calls " + std::to_string(first) + " and " + std::to_string(second) +
                             " failed: " + shims().failed;
    EXPECT_EQ(liveObjects(), "") << what;
    EXPECT_EQ(shims().misuse, 0u) << what << shims().lastMisuse;
    if (first == 0)
      EXPECT_TRUE(status.isOk()) << status.message();
    else if (!allTolerated(shims().failed, {first, second})) {
      EXPECT_FALSE(status.isOk()) << what;
      EXPECT_FALSE(status.message().empty()) << what;
    }
    return shims().calls;
  }
};

// A validation layer reports an extension that it does not know as an error.
TEST(VulkanStandIns, MatricesAreNotUsedUnderALayerThatIsOlderThanTheirExtension) {
  setenv("GANTRY_VALIDATION", "1", 1);
  for (const uint32_t patch : {254u, 255u}) {
    resetShims();
    shims().standIns = true;
    shims().layerVersion = VK_MAKE_API_VERSION(0, 1, 3, patch);
    Result<std::shared_ptr<device::Device>> device = openDevice("", shimHooks());
    ASSERT_TRUE(device.isOk()) << device.status().message();
    EXPECT_EQ((*device)->profile().matrixShapes.empty(), patch < 255) << patch;
    EXPECT_EQ(shims().misuse, 0u) << shims().lastMisuse;
  }
  resetShims();
}

TEST(VulkanStandIns, MatrixShapesAreReadAndEnabled) {
  setenv("GANTRY_VALIDATION", "0", 1);
  for (const bool standIns : {false, true}) {
    resetShims();
    shims().standIns = standIns;
    Result<std::shared_ptr<device::Device>> device = openDevice("", shimHooks());
    ASSERT_TRUE(device.isOk()) << device.status().message();
    std::vector<MatrixShape> listed;
    if (standIns)
      listed.push_back({16, 16, 16, MatrixElement::kF16, MatrixElement::kF32});
    EXPECT_EQ((*device)->profile().matrixShapes, listed);
    EXPECT_EQ(shims().misuse, 0u) << shims().lastMisuse;
  }
  resetShims();
}

TEST(VulkanDeviceCreation, AFailureNamesItsLikelyCauseAndRemedy) {
  setenv("GANTRY_VALIDATION", "0", 1);
  const std::pair<VkResult, const char *> cases[] = {
      {VK_ERROR_UNKNOWN, "ulimit -u"},
      {VK_ERROR_INITIALIZATION_FAILED, "VK_INSTANCE_LAYERS"},
      {VK_ERROR_OUT_OF_HOST_MEMORY, "ulimit -v"},
      {VK_ERROR_OUT_OF_DEVICE_MEMORY, "other programs"},
      {VK_ERROR_DEVICE_LOST, "dmesg"},
      {VK_ERROR_FEATURE_NOT_PRESENT, "update"}};
  for (const auto &[failure, remedy] : cases) {
    bool reached = false;
    for (uint64_t call = 1; !reached && call < 40; ++call) {
      resetShims();
      shims().failure = failure;
      shims().failAt = call;
      const Result<std::shared_ptr<device::Device>> device = openDevice("", shimHooks());
      reached = shims().failed == "vkCreateDevice ";
      if (!reached)
        continue;
      ASSERT_FALSE(device.isOk());
      const std::string &message = device.status().message();
      EXPECT_NE(message.find("vkCreateDevice on '"), std::string::npos) << message;
      EXPECT_NE(message.find(resultName(failure)), std::string::npos) << message;
      EXPECT_NE(message.find(remedy), std::string::npos) << message;
    }
    EXPECT_TRUE(reached) << resultName(failure);
  }
  resetShims();
}

TEST_P(VulkanFaults, EachCallInTurnAndInPairs) {
  const uint64_t calls = run(0, 0);
  ASSERT_GT(calls, GetParam().standIns ? 60u : 45u);
  uint64_t pairs = 0;
  for (uint64_t first = 1; first <= calls; ++first) {
    const uint64_t reached = run(first, 0);
    EXPECT_FALSE(shims().failed.empty()) << "call " << first << " was not reached";
    // A failure usually ends the scenario after few further calls. Each of these calls is the
    // second failure of one pair.
    for (uint64_t second = first + 1; second <= reached; ++second, ++pairs)
      run(first, second);
    if (HasFailure())
      break;
  }
  std::printf("injected %llu single failures and %llu pairs of failures\n",
              static_cast<unsigned long long>(calls), static_cast<unsigned long long>(pairs));
}

INSTANTIATE_TEST_SUITE_P(
    All, VulkanFaults,
    testing::Values(Case{"hostMemory", VK_ERROR_OUT_OF_HOST_MEMORY, false},
                    Case{"deviceMemoryWithStandIns", VK_ERROR_OUT_OF_DEVICE_MEMORY, true},
                    Case{"deviceLostWithStandIns", VK_ERROR_DEVICE_LOST, true}),
    [](const testing::TestParamInfo<Case> &info) { return std::string(info.param.name); });

} // namespace
} // namespace gantry::vulkan::test
