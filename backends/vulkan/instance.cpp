#include "backends/vulkan/instance.h"
#include "engine/base/pin_modules.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace gantry::vulkan {

namespace {

constexpr const char *kValidationLayer = "VK_LAYER_KHRONOS_validation";

/// Puts a structure into the chain behind `head`, as its first.
template <typename Structure, typename Head> void prepend(Structure &structure, Head &head) {
  structure.pNext = head.pNext;
  head.pNext = &structure;
}

/// Finds the loader, once per process.
Status loadLoader() {
  static std::once_flag once;
  static VkResult result = VK_SUCCESS;
  std::call_once(once, [] { result = volkInitialize(); });
  if (result != VK_SUCCESS)
    return noDevices("there is no Vulkan loader: the package libvulkan1 brings it");
  return {};
}

/// vkGetDeviceProcAddr is the loader's own function, the same for all instances; volk needs it to
/// fill device tables.
void shareDeviceLoader(VkInstance instance) {
  static std::once_flag once;
  std::call_once(once, [&] {
    vkGetDeviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        vkGetInstanceProcAddr(instance, "vkGetDeviceProcAddr"));
  });
}

} // namespace

Result<Validation> parseValidation(const std::string &text) {
  if (text.empty() || text == "0")
    return Validation::kOff;
  if (text == "1")
    return Validation::kOn;
  if (text == "sync")
    return Validation::kSynchronization;
  return statusf(StatusCode::kInvalidArgument, "GANTRY_VALIDATION is '%s'; it takes 0, 1 or sync",
                 text.c_str());
}

bool Instance::hasExtension(const char *name) const {
  uint32_t count = 0;
  functions_.vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  functions_.vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data());
  for (const VkExtensionProperties &extension : extensions)
    if (std::strcmp(extension.extensionName, name) == 0)
      return true;
  return false;
}

bool Instance::hasLayer(const char *name) const {
  uint32_t count = 0;
  functions_.vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  functions_.vkEnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties &layer : layers)
    if (std::strcmp(layer.layerName, name) == 0)
      return true;
  return false;
}

VKAPI_ATTR VkBool32 VKAPI_CALL Instance::onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                   VkDebugUtilsMessageTypeFlagsEXT,
                                                   const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                   void *user) {
  static_cast<Instance *>(user)->messages_.fetch_add(1, std::memory_order_relaxed);
  const bool error = severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  std::fprintf(stderr, "validation %s: %s\n", error ? "error" : "warning", data->pMessage);
  return VK_FALSE;
}

Result<std::unique_ptr<Instance>> Instance::create(Validation validation,
                                                   const DriverHooks &hooks) {
  GANTRY_RETURN_IF_ERROR(loadLoader());
  std::unique_ptr<Instance> instance(new Instance);
  instance->hooks_ = hooks;
  InstanceFunctions &functions = instance->functions_;
  functions.vkEnumerateInstanceExtensionProperties = vkEnumerateInstanceExtensionProperties;
  functions.vkEnumerateInstanceLayerProperties = vkEnumerateInstanceLayerProperties;
  functions.vkCreateInstance = vkCreateInstance;
  if (hooks.instance)
    hooks.instance(functions);
  GANTRY_RETURN_IF_ERROR(instance->open(validation));
  GANTRY_RETURN_IF_ERROR(instance->readDevices());
  return instance;
}

Status Instance::open(Validation validation) {
  std::vector<const char *> layers, extensions;
  auto create = zeroed<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);

  auto messenger = zeroed<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  // Not the general ones: the loader's own remarks about drivers that this machine lacks.
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = &Instance::onMessage;
  messenger.pUserData = this;

  const VkValidationFeatureEnableEXT synchronization =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  auto validationFeatures =
      zeroed<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
  validationFeatures.enabledValidationFeatureCount = 1;
  validationFeatures.pEnabledValidationFeatures = &synchronization;

  if (validation != Validation::kOff) {
    if (!hasLayer(kValidationLayer))
      return statusf(StatusCode::kUnsupported,
                     "GANTRY_VALIDATION is set, but the layer %s is absent: the package "
                     "vulkan-validationlayers brings it",
                     kValidationLayer);
    layers.push_back(kValidationLayer);
    create.pNext = &messenger;
    if (validation == Validation::kSynchronization) {
      extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
      messenger.pNext = &validationFeatures;
    }
  }
  const bool names =
      validation != Validation::kOff || hasExtension(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  if (names)
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  if (hasExtension(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    create.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }

  auto application = zeroed<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "gantry";
  application.pEngineName = "gantry";
  application.apiVersion = VK_API_VERSION_1_3; // the highest that is used, where a device has it
  create.pApplicationInfo = &application;
  create.enabledLayerCount = static_cast<uint32_t>(layers.size());
  create.ppEnabledLayerNames = layers.data();
  create.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  create.ppEnabledExtensionNames = extensions.data();
  const VkResult result = functions_.vkCreateInstance(&create, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
    return noDevices("vkCreateInstance returned VK_ERROR_INCOMPATIBLE_DRIVER");
  if (result < 0)
    return callFailed("vkCreateInstance", result);

  shareDeviceLoader(instance_);
#define LOAD(name)                                                                                 \
  functions_.name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(instance_, #name))
  LOAD(vkDestroyInstance);
  LOAD(vkEnumeratePhysicalDevices);
  LOAD(vkGetPhysicalDeviceProperties);
  LOAD(vkGetPhysicalDeviceProperties2);
  LOAD(vkGetPhysicalDeviceFeatures2);
  LOAD(vkGetPhysicalDeviceMemoryProperties);
  LOAD(vkGetPhysicalDeviceMemoryProperties2);
  LOAD(vkGetPhysicalDeviceExternalBufferProperties);
  LOAD(vkGetPhysicalDeviceFormatProperties);
  LOAD(vkGetPhysicalDeviceQueueFamilyProperties);
  LOAD(vkEnumerateDeviceExtensionProperties);
  LOAD(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT);
  LOAD(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR);
  LOAD(vkCreateDevice);
  if (names)
    LOAD(vkSetDebugUtilsObjectNameEXT);
  if (validation != Validation::kOff) {
    LOAD(vkCreateDebugUtilsMessengerEXT);
    LOAD(vkDestroyDebugUtilsMessengerEXT);
  }
  if (hooks_.instance)
    hooks_.instance(functions_);
  if (validation != Validation::kOff) {
    messenger.pNext = nullptr;
    GANTRY_VK(
        functions_.vkCreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_),
        "vkCreateDebugUtilsMessengerEXT");
  }
#undef LOAD
  return {};
}

Instance::~Instance() {
  if (messenger_)
    functions_.vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  if (instance_)
    functions_.vkDestroyInstance(instance_, nullptr);
}

Status Instance::readDevices() {
  uint32_t count = 0;
  GANTRY_VK(functions_.vkEnumeratePhysicalDevices(instance_, &count, nullptr),
            "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> devices(count);
  GANTRY_VK(functions_.vkEnumeratePhysicalDevices(instance_, &count, devices.data()),
            "vkEnumeratePhysicalDevices");
  devices.resize(count);
  if (devices.empty())
    return noDevices("the loader found no physical device");
  pinModules(); // the drivers are loaded now
  std::vector<DeviceSnapshot> snapshots;
  snapshots.reserve(devices.size());
  for (VkPhysicalDevice physical : devices)
    snapshots.push_back(snapshot(physical));
  for (size_t i : preferredOrder(snapshots)) {
    physicalDevices_.push_back(devices[i]);
    plans_.push_back(planDevice(snapshots[i]));
    plans_.back().info.index = static_cast<uint32_t>(plans_.size() - 1);
    snapshots_.push_back(std::move(snapshots[i]));
  }
  return {};
}

DeviceSnapshot Instance::snapshot(VkPhysicalDevice physical) const {
  DeviceSnapshot s;
  functions_.vkGetPhysicalDeviceProperties(physical, &s.properties);
  functions_.vkGetPhysicalDeviceMemoryProperties(physical, &s.memory);
  uint32_t count = 0;
  functions_.vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  s.queueFamilies.resize(count);
  functions_.vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, s.queueFamilies.data());
  functions_.vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  functions_.vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data());
  s.texelFormats = true;
  for (const VkFormat format : kTexelFormats) {
    VkFormatProperties properties;
    functions_.vkGetPhysicalDeviceFormatProperties(physical, format, &properties);
    if (!(properties.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT))
      s.texelFormats = false;
  }
  for (const VkExtensionProperties &extension : extensions)
    s.extensions.push_back(extension.extensionName);

  auto has = [&](const char *name) {
    return std::find(s.extensions.begin(), s.extensions.end(), name) != s.extensions.end();
  };
  if (const auto domains = functions_.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT;
      domains != nullptr && has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME)) {
    count = 0;
    domains(physical, &count, nullptr);
    s.timeDomains.resize(count);
    domains(physical, &count, s.timeDomains.data());
    s.timeDomains.resize(count);
  }
  const auto listMatrices = functions_.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  const bool hasMatrices = listMatrices != nullptr && has(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  if (hasMatrices) {
    count = 0;
    listMatrices(physical, &count, nullptr);
    s.matrices.resize(count, zeroed<VkCooperativeMatrixPropertiesKHR>(
                                 VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR));
    listMatrices(physical, &count, s.matrices.data());
    s.matrices.resize(count);
  }

  const uint32_t version = s.properties.apiVersion;
  if (version < VK_API_VERSION_1_2)
    return s; // the structures below do not exist there
  auto maintenance4 = zeroed<VkPhysicalDeviceMaintenance4Properties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
  s.driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  auto host = zeroed<VkPhysicalDeviceExternalMemoryHostPropertiesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
  if (has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
    prepend(host, s.driver);
  if (version >= VK_API_VERSION_1_3)
    prepend(maintenance4, s.driver);
  s.subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  const bool asksSubgroupSizes =
      version >= VK_API_VERSION_1_3 || has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  if (asksSubgroupSizes)
    prepend(s.subgroups, s.driver);
  auto dotProduct = zeroed<VkPhysicalDeviceShaderIntegerDotProductProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES);
  auto dotProductFeatures = zeroed<VkPhysicalDeviceShaderIntegerDotProductFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
  const bool asksDotProduct =
      version >= VK_API_VERSION_1_3 || has(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  if (asksDotProduct)
    prepend(dotProduct, s.driver);
  auto matrices = zeroed<VkPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
  if (hasMatrices)
    prepend(matrices, s.driver);
  s.properties11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  s.properties11.pNext = &s.driver;
  auto properties =
      zeroed<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &s.properties11;
  functions_.vkGetPhysicalDeviceProperties2(physical, &properties);
  s.maxBufferSize = maintenance4.maxBufferSize;
  s.hostPointerAlignment = host.minImportedHostPointerAlignment;
  s.matrixStages = matrices.cooperativeMatrixSupportedStages;
  s.integerDotProductAccelerated = dotProduct.integerDotProduct4x8BitPackedSignedAccelerated;

  s.features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  s.features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  s.features11.pNext = &s.features12;
  auto priority = zeroed<VkPhysicalDeviceMemoryPriorityFeaturesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT);
  if (has(VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME))
    prepend(priority, s.features12);
  if (asksDotProduct)
    prepend(dotProductFeatures, s.features12);
  auto subgroupSizes = zeroed<VkPhysicalDeviceSubgroupSizeControlFeatures>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
  if (asksSubgroupSizes)
    prepend(subgroupSizes, s.features12);
  auto matrixFeatures = zeroed<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  if (hasMatrices)
    prepend(matrixFeatures, s.features12);
  auto features = zeroed<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  features.pNext = &s.features11;
  functions_.vkGetPhysicalDeviceFeatures2(physical, &features);
  s.features = features.features;
  s.memoryPriority = priority.memoryPriority;
  s.subgroupSizeControl = subgroupSizes.subgroupSizeControl;
  s.computeFullSubgroups = subgroupSizes.computeFullSubgroups;
  s.cooperativeMatrix = matrixFeatures.cooperativeMatrix;
  s.integerDotProduct = dotProductFeatures.shaderIntegerDotProduct;
  s.subgroups.pNext = nullptr;
  s.driver.pNext = s.properties11.pNext = s.features11.pNext = s.features12.pNext = nullptr;

  auto external = [&](VkExternalMemoryHandleTypeFlagBits type) {
    auto buffer = zeroed<VkPhysicalDeviceExternalBufferInfo>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO);
    buffer.usage = bufferUsage(s.features12.bufferDeviceAddress, s.texelFormats);
    buffer.handleType = type;
    auto found = zeroed<VkExternalBufferProperties>(VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES);
    functions_.vkGetPhysicalDeviceExternalBufferProperties(physical, &buffer, &found);
    return found.externalMemoryProperties.externalMemoryFeatures;
  };
  if (has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME))
    s.opaqueFd = external(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
  if (has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME))
    s.hostPointer = external(VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT);
  return s;
}

} // namespace gantry::vulkan
