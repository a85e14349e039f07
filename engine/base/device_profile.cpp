// Compares device profiles, and finds a named profile by its name or for a device.
#include "engine/base/device_profile.h"

#include "engine/base/named_profiles.h"

#include <algorithm>
#include <cctype>

namespace gantry {

namespace {

std::string lower(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool meets(const DeviceFeatures &device, const DeviceFeatures &wanted) {
  constexpr bool DeviceFeatures::*kAll[] = {
      &DeviceFeatures::shaderInt64,
      &DeviceFeatures::shaderInt8,
      &DeviceFeatures::shaderInt16,
      &DeviceFeatures::shaderFloat16,
      &DeviceFeatures::shaderFloat64,
      &DeviceFeatures::storageBuffer8BitAccess,
      &DeviceFeatures::storageBuffer16BitAccess,
      &DeviceFeatures::bufferDeviceAddress,
      &DeviceFeatures::subgroupShuffle,
      &DeviceFeatures::subgroupArithmetic,
      &DeviceFeatures::subgroupVote,
      &DeviceFeatures::integerDotProduct,
  };
  static_assert(sizeof(DeviceFeatures) == std::size(kAll) * sizeof(bool), "a feature is missing");
  return std::all_of(std::begin(kAll), std::end(kAll),
                     [&](bool DeviceFeatures::*f) { return device.*f || !(wanted.*f); });
}

} // namespace

bool meets(const DeviceProfile &device, const DeviceProfile &profile) {
  for (size_t i = 0; i < 3; ++i)
    if (device.maxWorkgroupSize[i] < profile.maxWorkgroupSize[i] ||
        device.maxWorkgroupCount[i] < profile.maxWorkgroupCount[i])
      return false;
  return device.backend == profile.backend &&
         device.maxSharedMemoryBytes >= profile.maxSharedMemoryBytes &&
         device.maxWorkgroupInvocations >= profile.maxWorkgroupInvocations &&
         device.maxPushConstantBytes >= profile.maxPushConstantBytes &&
         device.maxStorageBufferRange >= profile.maxStorageBufferRange &&
         device.maxAllocationBytes >= profile.maxAllocationBytes &&
         device.maxStorageBuffersPerStage >= profile.maxStorageBuffersPerStage &&
         device.storageBufferAlignment <= profile.storageBufferAlignment &&
         device.maxTexelBufferElements >= profile.maxTexelBufferElements &&
         device.texelBufferAlignment <= profile.texelBufferAlignment &&
         device.maxTexelBuffersPerStage >= profile.maxTexelBuffersPerStage &&
         device.maxResourcesPerStage >= profile.maxResourcesPerStage &&
         (profile.subgroupSize == 1 || device.subgroupSize == profile.subgroupSize) &&
         meets(device.features, profile.features);
}

std::string capabilityOf(const MatrixShape &shape) {
  constexpr const char *kNames[] = {"f16", "f32", "i8", "i32"};
  return "cooperativeMatrix " + std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" +
         std::to_string(shape.k) + " " + kNames[static_cast<size_t>(shape.operand)] + " " +
         kNames[static_cast<size_t>(shape.result)];
}

Result<DeviceProfile> namedProfile(const std::string &name) {
  std::string names;
  for (const NamedProfile &named : namedProfiles()) {
    if (named.profile.name == name)
      return named.profile;
    names += names.empty() ? named.profile.name : ", " + named.profile.name;
  }
  return statusf(StatusCode::kNotFound, "no device profile is named \"%s\"; the names are: %s",
                 name.c_str(), names.c_str());
}

std::string profileNameFor(const DeviceProfile &device) {
  const std::string name = lower(device.name);
  for (const NamedProfile &named : namedProfiles())
    for (const std::string &part : named.deviceNames)
      if (name.find(lower(part)) != std::string::npos && meets(device, named.profile))
        return named.profile.name;
  return "vulkan:generic";
}

std::vector<std::string> profileNames() {
  std::vector<std::string> names;
  for (const NamedProfile &named : namedProfiles())
    names.push_back(named.profile.name);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace gantry
