#include "tests/conformance/drivers.h"
#include "backends/vulkan/vulkan.h"
#include "tests/backends/vulkan/driver_shims.h"
#include "tests/support/add_address.h"
#include "tests/support/add_storage.h"
#include "tests/support/fake_device.h"
#include "tests/support/ramp_address.h"
#include "tests/support/ramp_storage.h"

namespace gantry::test {

namespace {

std::span<const uint32_t> spirv(const std::string &kernel, device::BindingMode binding) {
  const bool address = binding == device::BindingMode::kAddress;
  if (kernel == "add")
    return address ? std::span<const uint32_t>(kAddAddress) : kAddStorage;
  return address ? std::span<const uint32_t>(kRampAddress) : kRampStorage;
}

// ---- the fake driver ---------------------------------------------------------------------------

/// What the GLSL kernels do, on the host. Elements beyond what the workgroups reach stay.
uint64_t reached(const HostKernelCall &call) {
  return std::min<uint64_t>(call.dims[0], uint64_t{64} * call.workgroups[0]);
}

void addOnHost(const HostKernelCall &call) {
  for (uint64_t i = 0; i < reached(call); ++i) {
    float a, b;
    std::memcpy(&a, call.buffers[0].data() + 4 * i, 4);
    std::memcpy(&b, call.buffers[1].data() + 4 * i, 4);
    const float sum = a + b;
    std::memcpy(call.buffers[2].data() + 4 * i, &sum, 4);
  }
}

void rampOnHost(const HostKernelCall &call) {
  for (uint64_t i = 0; i < reached(call); ++i) {
    const auto value = static_cast<uint32_t>(call.dims[1] + i * call.dims[2]);
    std::memcpy(call.buffers[0].data() + 4 * i, &value, 4);
  }
}

Result<std::shared_ptr<device::Device>> openFakeLosing(uint64_t k) {
  FakeConfig config;
  config.kernels = {{"add", addOnHost}, {"ramp", rampOnHost}};
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
  return vulkan::openDevice(""); // past all shims
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
  static const std::vector<Driver> list = {
      {"Fake", openFake, openFake, openFakeLosing, true, complaintsOfFake, spirv},
      {"Vulkan", openVulkan, openVulkanUnvalidated, openVulkanLosing, true, complaintsOfVulkan,
       spirv},
      {"VulkanWithStandIns", openStandIns, openStandInsUnvalidated, openStandInsLosing, false,
       complaintsOfVulkan, spirv},
  };
  return list;
}

} // namespace gantry::test
