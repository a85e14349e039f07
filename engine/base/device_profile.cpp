#include "engine/base/device_profile.h"

namespace gantry {

namespace {

/// What every Vulkan 1.2 device has: the "Required Limits" of the specification, with these
/// exceptions. Eight storage buffers per stage (the specification promises four, devices that can
/// compute report eight and more). 64-bit integers and 8-bit storage, without which models with
/// int64 tokens or booleans cannot be compiled; the variants that use them say so, and the session
/// refuses them by name on a device that lacks them. Addresses are allowed but not preferred: their
/// variants stand beside those with storage buffers.
DeviceProfile vulkanGeneric() {
  DeviceProfile profile;
  profile.name = "vulkan:generic";
  profile.backend = "vulkan";
  profile.maxSharedMemoryBytes = 16 * 1024;
  profile.maxWorkgroupInvocations = 128;
  profile.maxWorkgroupSize = {128, 128, 64};
  profile.maxWorkgroupCount = {65535, 65535, 65535};
  profile.maxPushConstantBytes = 128;
  profile.maxStorageBufferRange = uint64_t{1} << 27;
  profile.maxAllocationBytes = uint64_t{1} << 30;
  profile.maxStorageBuffersPerStage = 8;
  profile.maxTexelBufferElements = 65536;
  profile.texelBufferAlignment = 256;
  profile.maxTexelBuffersPerStage = 16;
  profile.maxResourcesPerStage = 128;
  profile.subgroupSize = 1;
  profile.preferAddressBinding = false;
  profile.preferredWorkgroupSize = 64;
  profile.registerTileElements = 32;
  profile.features.shaderInt64 = true;
  profile.features.storageBuffer8BitAccess = true;
  profile.features.bufferDeviceAddress = true;
  return profile;
}

/// Mesa's software device (limits as version 22.3 reports them). Its time goes into loads and
/// stores, which run lane by lane (fetches of texels do not): large register tiles, texel buffers
/// to read and storage buffers to write, no shared memory where avoidable.
DeviceProfile vulkanLavapipe() {
  DeviceProfile profile;
  profile.name = "vulkan:lavapipe";
  profile.backend = "vulkan";
  profile.maxSharedMemoryBytes = 32 * 1024;
  profile.maxWorkgroupInvocations = 1024;
  profile.maxWorkgroupSize = {1024, 1024, 1024};
  profile.maxWorkgroupCount = {65535, 65535, 65535};
  profile.maxPushConstantBytes = 128;
  profile.maxStorageBufferRange = uint64_t{1} << 27;
  profile.maxAllocationBytes = uint64_t{1} << 31;
  profile.maxStorageBuffersPerStage = 32;
  profile.maxTexelBufferElements = uint64_t{1} << 27;
  profile.texelBufferAlignment = 16;
  profile.maxTexelBuffersPerStage = 128;
  profile.maxResourcesPerStage = 128;
  profile.preferTexelLoads = true;
  profile.subgroupSize = 8;
  profile.preferAddressBinding = false;
  profile.preferredWorkgroupSize = 64;
  profile.registerTileElements = 64;
  profile.features.shaderInt64 = true;
  profile.features.shaderInt8 = true;
  profile.features.shaderInt16 = true;
  profile.features.shaderFloat16 = true;
  profile.features.shaderFloat64 = true;
  profile.features.storageBuffer8BitAccess = true;
  profile.features.storageBuffer16BitAccess = true;
  profile.features.bufferDeviceAddress = true;
  profile.features.subgroupShuffle = true;
  return profile;
}

constexpr DeviceProfile (*kNamedProfiles[])() = {vulkanGeneric, vulkanLavapipe};

} // namespace

Result<DeviceProfile> namedProfile(const std::string &name) {
  std::string names;
  for (const auto make : kNamedProfiles) {
    DeviceProfile profile = make();
    if (profile.name == name)
      return profile;
    names += names.empty() ? profile.name : ", " + profile.name;
  }
  return statusf(StatusCode::kNotFound, "no device profile \"%s\"; there are: %s", name.c_str(),
                 names.c_str());
}

std::string profileNameFor(const DeviceProfile &device) {
  // Mesa's software Vulkan device reports itself as "llvmpipe (LLVM …)".
  bool lavapipe = device.backend == "vulkan" && device.name.find("llvmpipe") != std::string::npos;
  return lavapipe ? "vulkan:lavapipe" : "vulkan:generic";
}

std::vector<std::string> profileNames() {
  std::vector<std::string> names;
  for (const auto make : kNamedProfiles)
    names.push_back(make().name);
  return names;
}

} // namespace gantry
