// The backend of libgantry_on_fake, which is libgantry.so for heap_bench: a fake device with 1 TiB
// of memory, in place of the Vulkan backend, so that the benchmark needs no GPU. A driver
// allocation of the fake device is a call of mmap().
#include "backends/vulkan/vulkan.h"
#include "tests/support/fake_device.h"

namespace gantry::vulkan {

Result<std::vector<device::DeviceInfo>> listDevices() { return std::vector<device::DeviceInfo>(); }

Result<std::shared_ptr<device::Device>> openDevice(const std::string &) {
  test::FakeConfig config;
  config.heaps[0].sizeBytes = uint64_t{1} << 40;
  return std::shared_ptr<device::Device>(test::FakeDevice::create(config));
}

} // namespace gantry::vulkan
