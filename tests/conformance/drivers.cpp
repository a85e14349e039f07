// Defines the drivers under test: the fake device, Vulkan, and Vulkan with stand-ins for features
// that a software device lacks (tests/backends/vulkan/driver_shims.h).
#include "tests/conformance/drivers.h"
#include "backends/vulkan/vulkan.h"
#include "tests/backends/vulkan/driver_shims.h"
#include "tests/support/add_address.h"
#include "tests/support/add_storage.h"
#include "tests/support/add_texel.h"
#include "tests/support/fake_device.h"
#include "tests/support/gather_texel.h"
#include "tests/support/ramp_address.h"
#include "tests/support/ramp_storage.h"

#include <cmath>

namespace gantry::test {

namespace {

std::span<const uint32_t> spirv(const std::string &kernel, device::BindingMode binding) {
  const bool address = binding == device::BindingMode::kAddress;
  if (kernel == "gather")
    return kGatherTexel;
  if (kernel == "add" && binding == device::BindingMode::kTexel)
    return kAddTexel;
  if (kernel == "add")
    return address ? std::span<const uint32_t>(kAddAddress) : kAddStorage;
  return address ? std::span<const uint32_t>(kRampAddress) : kRampStorage;
}

// ---- the fake driver ---------------------------------------------------------------------------

// Host versions of the GLSL kernels. They compute the elements [first, reached) of the dispatched
// workgroups.
uint64_t first(const HostKernelCall &call) { return uint64_t{64} * call.firstWorkgroup[0]; }

uint64_t reached(const HostKernelCall &call) {
  return std::min<uint64_t>(call.dims[0], first(call) + uint64_t{64} * call.workgroups[0]);
}

float loadFloat(std::span<const uint8_t> bytes, uint64_t index) {
  float value;
  std::memcpy(&value, bytes.data() + 4 * index, 4);
  return value;
}

void addOnHost(const HostKernelCall &call) {
  for (uint64_t i = first(call); i < reached(call); ++i) {
    const float sum = loadFloat(call.buffers[0], i) + loadFloat(call.buffers[1], i);
    std::memcpy(call.buffers[2].data() + 4 * i, &sum, 4);
  }
}

void rampOnHost(const HostKernelCall &call) {
  for (uint64_t i = first(call); i < reached(call); ++i) {
    const auto value = static_cast<uint32_t>(call.dims[1] + i * call.dims[2]);
    std::memcpy(call.buffers[0].data() + 4 * i, &value, 4);
  }
}

/// Converts an f16 value that is normal or zero.
float loadHalf(std::span<const uint8_t> bytes, uint64_t index) {
  uint16_t bits;
  std::memcpy(&bits, bytes.data() + 2 * index, 2);
  const int exponent = bits >> 10 & 31;
  const float magnitude =
      exponent == 0 ? 0.0f : std::ldexp(static_cast<float>(1024 + (bits & 1023)), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

void gatherOnHost(const HostKernelCall &call) {
  for (uint64_t i = first(call); i < reached(call); ++i) {
    int32_t number;
    std::memcpy(&number, call.buffers[1].data() + 4 * i, 4);
    const float sum = loadFloat(call.buffers[0], static_cast<uint64_t>(number)) +
                      loadFloat(call.buffers[0], i) + loadHalf(call.buffers[2], i) +
                      static_cast<float>(call.buffers[3][i]);
    std::memcpy(call.buffers[4].data() + 4 * i, &sum, 4);
  }
}

Result<std::shared_ptr<device::Device>> openFakeLosing(uint64_t k) {
  FakeConfig config;
  config.kernels = {{"add", addOnHost}, {"gather", gatherOnHost}, {"ramp", rampOnHost}};
  std::shared_ptr<FakeDevice> device = FakeDevice::create(std::move(config));
  device->loseAtSubmission(k);
  return std::shared_ptr<device::Device>(std::move(device));
}

Result<std::shared_ptr<device::Device>> openFake() { return openFakeLosing(0); }

std::string complaintsOfFake(device::Device &device) {
  auto &fake = static_cast<FakeDevice &>(device);
  return fake.violations() > 0 ? fake.lastViolation() : "";
}

// ---- Vulkan ------------------------------------------------------------------------------------

Result<std::shared_ptr<device::Device>> openVulkanAs(bool standIns, uint64_t k,
                                                     const char *validation = "sync") {
  setenv("GANTRY_VALIDATION", validation, 1);
  vulkan::test::resetShims();
  vulkan::test::shims().standIns = standIns;
  auto device = vulkan::openDevice("", vulkan::test::shimHooks());
  if (k > 0)
    vulkan::test::shims().loseAtSubmission = vulkan::test::shims().submissions + k;
  return device;
}

Result<std::shared_ptr<device::Device>> openVulkan() { return openVulkanAs(false, 0); }
Result<std::shared_ptr<device::Device>> openVulkanLosing(uint64_t k) {
  return openVulkanAs(false, k);
}
Result<std::shared_ptr<device::Device>> openVulkanUnvalidated() {
  setenv("GANTRY_VALIDATION", "0", 1);
  return vulkan::openDevice(""); // The shims (driver_shims.h) are not installed.
}
Result<std::shared_ptr<device::Device>> openStandInsUnvalidated() {
  return openVulkanAs(true, 0, "0");
}
Result<std::shared_ptr<device::Device>> openStandIns() { return openVulkanAs(true, 0); }
Result<std::shared_ptr<device::Device>> openStandInsLosing(uint64_t k) {
  return openVulkanAs(true, k);
}

std::string complaintsOfVulkan(device::Device &device) {
  if (const uint64_t messages = device.validationMessages())
    return std::to_string(messages) + " messages of the validation layers";
  return vulkan::test::shims().misuse > 0 ? vulkan::test::shims().lastMisuse : "";
}

} // namespace

const std::vector<Driver> &drivers() {
  static const std::vector<Driver> kDrivers = {
      {"Fake", openFake, openFake, openFakeLosing, true, complaintsOfFake, spirv},
      {"Vulkan", openVulkan, openVulkanUnvalidated, openVulkanLosing, true, complaintsOfVulkan,
       spirv},
      {"VulkanWithStandIns", openStandIns, openStandInsUnvalidated, openStandInsLosing, false,
       complaintsOfVulkan, spirv},
  };
  return kDrivers;
}

} // namespace gantry::test
