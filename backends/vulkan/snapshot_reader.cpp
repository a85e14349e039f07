// Queries a physical device. First calls functions of Vulkan 1.0 and of extensions; then, if the
// device has Vulkan 1.2, reads the chains of property and feature structures and the support for
// external memory.
#include "backends/vulkan/snapshot_reader.h"

#include <algorithm>

namespace gantry::vulkan {

namespace {

/// Inserts a structure into the pNext chain directly after `head`.
template <typename Structure, typename Head> void prepend(Structure &structure, Head &head) {
  structure.pNext = head.pNext;
  head.pNext = &structure;
}

class SnapshotReader {
public:
  SnapshotReader(const InstanceFunctions &functions, VkPhysicalDevice physical,
                 std::span<const std::string> hiddenExtensions)
      : functions_(functions), physical_(physical), hiddenExtensions_(hiddenExtensions) {}

  DeviceSnapshot read() {
    readBasics();
    readTexelFormats();
    readTimeDomains();
    readMatrixShapes();
    if (snapshot_.properties.apiVersion < VK_API_VERSION_1_2)
      return std::move(snapshot_); // The structures below need Vulkan 1.2.
    const bool isVersion13 = snapshot_.properties.apiVersion >= VK_API_VERSION_1_3;
    hasSubgroupSizes_ = isVersion13 || has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    hasDotProduct_ = isVersion13 || has(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
    readProperties(isVersion13);
    readFeatures();
    if (has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME))
      snapshot_.opaqueFd = externalMemory(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    if (has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
      snapshot_.hostPointer =
          externalMemory(VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT);
    return std::move(snapshot_);
  }

private:
  bool has(const char *extension) const {
    return std::find(snapshot_.extensions.begin(), snapshot_.extensions.end(), extension) !=
           snapshot_.extensions.end();
  }
  void readBasics();
  void readTexelFormats();
  void readTimeDomains();
  void readMatrixShapes();
  void readProperties(bool isVersion13);
  void readFeatures();
  VkExternalMemoryFeatureFlags externalMemory(VkExternalMemoryHandleTypeFlagBits type) const;

  const InstanceFunctions &functions_;
  const VkPhysicalDevice physical_;
  const std::span<const std::string> hiddenExtensions_;
  DeviceSnapshot snapshot_;
  bool hasMatrices_ = false;
  bool hasSubgroupSizes_ = false;
  bool hasDotProduct_ = false;
};

/// Reads, with functions of Vulkan 1.0, the properties, memory, queue families and extensions.
void SnapshotReader::readBasics() {
  functions_.vkGetPhysicalDeviceProperties(physical_, &snapshot_.properties);
  functions_.vkGetPhysicalDeviceMemoryProperties(physical_, &snapshot_.memory);
  uint32_t count = 0;
  functions_.vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  snapshot_.queueFamilies.resize(count);
  functions_.vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count,
                                                      snapshot_.queueFamilies.data());
  functions_.vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  functions_.vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, extensions.data());
  for (const VkExtensionProperties &extension : extensions)
    if (std::ranges::find(hiddenExtensions_, extension.extensionName) == hiddenExtensions_.end())
      snapshot_.extensions.push_back(extension.extensionName);
}

void SnapshotReader::readTexelFormats() {
  snapshot_.texelFormats = true;
  for (const VkFormat format : kTexelFormats) {
    VkFormatProperties properties;
    functions_.vkGetPhysicalDeviceFormatProperties(physical_, format, &properties);
    if (!(properties.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT))
      snapshot_.texelFormats = false;
  }
}

void SnapshotReader::readTimeDomains() {
  const auto domains = functions_.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT;
  if (domains == nullptr || !has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME))
    return;
  uint32_t count = 0;
  domains(physical_, &count, nullptr);
  snapshot_.timeDomains.resize(count);
  domains(physical_, &count, snapshot_.timeDomains.data());
  snapshot_.timeDomains.resize(count);
}

void SnapshotReader::readMatrixShapes() {
  const auto listMatrices = functions_.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  hasMatrices_ = listMatrices != nullptr && has(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  if (!hasMatrices_)
    return;
  uint32_t count = 0;
  listMatrices(physical_, &count, nullptr);
  snapshot_.matrices.resize(count, zeroed<VkCooperativeMatrixPropertiesKHR>(
                                       VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR));
  listMatrices(physical_, &count, snapshot_.matrices.data());
  snapshot_.matrices.resize(count);
}

/// Reads the property structures in one call of vkGetPhysicalDeviceProperties2.
void SnapshotReader::readProperties(bool isVersion13) {
  DeviceSnapshot &s = snapshot_;
  s.driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  auto host = zeroed<VkPhysicalDeviceExternalMemoryHostPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
  if (has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
    prepend(host, s.driver);
  auto maintenance4 = zeroed<VkPhysicalDeviceMaintenance4Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
  if (isVersion13)
    prepend(maintenance4, s.driver);
  s.subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  if (hasSubgroupSizes_)
    prepend(s.subgroups, s.driver);
  auto dotProduct = zeroed<VkPhysicalDeviceShaderIntegerDotProductProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES);
  if (hasDotProduct_)
    prepend(dotProduct, s.driver);
  auto matrices = zeroed<VkPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
  if (hasMatrices_)
    prepend(matrices, s.driver);
  s.floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  prepend(s.floats, s.driver);
  s.properties11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  s.properties11.pNext = &s.driver;
  auto properties =
      zeroed<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &s.properties11;
  functions_.vkGetPhysicalDeviceProperties2(physical_, &properties);
  s.maxBufferSize = maintenance4.maxBufferSize;
  s.hostPointerAlignment = host.minImportedHostPointerAlignment;
  s.matrixStages = matrices.cooperativeMatrixSupportedStages;
  s.integerDotProductAccelerated = dotProduct.integerDotProduct4x8BitPackedSignedAccelerated;
  s.subgroups.pNext = s.floats.pNext = s.driver.pNext = s.properties11.pNext = nullptr;
}

/// Reads the feature structures in one call of vkGetPhysicalDeviceFeatures2.
void SnapshotReader::readFeatures() {
  DeviceSnapshot &s = snapshot_;
  s.features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  s.features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  s.features11.pNext = &s.features12;
  auto priority = zeroed<VkPhysicalDeviceMemoryPriorityFeaturesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT);
  if (has(VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME))
    prepend(priority, s.features12);
  auto dotProduct = zeroed<VkPhysicalDeviceShaderIntegerDotProductFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
  if (hasDotProduct_)
    prepend(dotProduct, s.features12);
  auto subgroupSizes = zeroed<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  if (hasSubgroupSizes_)
    prepend(subgroupSizes, s.features12);
  auto matrices = zeroed<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  if (hasMatrices_)
    prepend(matrices, s.features12);
  auto features = zeroed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  features.pNext = &s.features11;
  functions_.vkGetPhysicalDeviceFeatures2(physical_, &features);
  s.features = features.features;
  s.memoryPriority = priority.memoryPriority;
  s.subgroupSizeControl = subgroupSizes.subgroupSizeControl;
  s.computeFullSubgroups = subgroupSizes.computeFullSubgroups;
  s.cooperativeMatrix = matrices.cooperativeMatrix;
  s.integerDotProduct = dotProduct.shaderIntegerDotProduct;
  s.features11.pNext = s.features12.pNext = nullptr;
}

/// Returns flags that say whether buffers with the backend's usage flags can be imported and
/// exported through a handle type.
VkExternalMemoryFeatureFlags
SnapshotReader::externalMemory(VkExternalMemoryHandleTypeFlagBits type) const {
  auto buffer = zeroed<VkPhysicalDeviceExternalBufferInfo>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO);
  buffer.usage = bufferUsage(snapshot_.features12.bufferDeviceAddress, snapshot_.texelFormats);
  buffer.handleType = type;
  auto found = zeroed<VkExternalBufferProperties>(VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES);
  functions_.vkGetPhysicalDeviceExternalBufferProperties(physical_, &buffer, &found);
  return found.externalMemoryProperties.externalMemoryFeatures;
}

} // namespace

DeviceSnapshot readSnapshot(const InstanceFunctions &functions, VkPhysicalDevice physical,
                            std::span<const std::string> hiddenExtensions) {
  return SnapshotReader(functions, physical, hiddenExtensions).read();
}

} // namespace gantry::vulkan
