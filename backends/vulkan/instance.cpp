// Creates an instance, with the validation layer if it is requested, and lists the devices.
#include "backends/vulkan/instance.h"

#include "backends/vulkan/snapshot_reader.h"
#include "engine/base/pin_modules.h"

#include <cstdio>
#include <cstring>
#include <mutex>

namespace gantry::vulkan {

namespace {

constexpr const char *kValidationLayer = "VK_LAYER_KHRONOS_validation";
// The version of Vulkan that introduced VK_KHR_cooperative_matrix.
constexpr uint32_t kMatricesVersion = VK_MAKE_API_VERSION(0, 1, 3, 255);

/// Loads the Vulkan loader once per process.
Status loadLoader() {
  static std::once_flag once;
  static VkResult result = VK_SUCCESS;
  std::call_once(once, [] { result = volkInitialize(); });
  if (result != VK_SUCCESS)
    return noDevices("there is no Vulkan loader; install the package libvulkan1");
  return {};
}

/// Loads vkGetDeviceProcAddr, with which volk fills the tables of devices. It is a function of the
/// loader, and the same for all instances.
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

std::optional<uint32_t> Instance::versionOfLayer(const char *name) const {
  uint32_t count = 0;
  functions_.vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  functions_.vkEnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties &layer : layers)
    if (std::strcmp(layer.layerName, name) == 0)
      return layer.specVersion;
  return std::nullopt;
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
  const LoadedModules before;
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
  before.pinNewer(); // Keeps the drivers and layers loaded (pin_modules.h).
  return instance;
}

Status Instance::open(Validation validation) {
  const bool validates = validation != Validation::kOff;
  const std::optional<uint32_t> layer = validates ? versionOfLayer(kValidationLayer) : std::nullopt;
  if (validates && !layer)
    return statusf(StatusCode::kUnsupported,
                   "GANTRY_VALIDATION is set, but the layer %s is not installed; install the "
                   "package vulkan-validationlayers",
                   kValidationLayer);
  // The validation layer reports an extension that is newer than the layer as an error, so the
  // extension is treated as absent.
  if (layer && *layer < kMatricesVersion)
    hiddenExtensions_.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
  const bool hasDebugUtils = validates || hasExtension(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  auto messenger = messengerInfo();
  GANTRY_RETURN_IF_ERROR(createInstance(validation, hasDebugUtils, messenger));
  shareDeviceLoader(instance_);
  loadFunctions(validates, hasDebugUtils);
  if (hooks_.instance)
    hooks_.instance(functions_);
  if (validates)
    GANTRY_VK(
        functions_.vkCreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_),
        "vkCreateDebugUtilsMessengerEXT");
  return {};
}

VkDebugUtilsMessengerCreateInfoEXT Instance::messengerInfo() {
  auto messenger = zeroed<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  // Messages of the general type are not requested. They are remarks of the loader about drivers
  // that are not installed.
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = &Instance::onMessage;
  messenger.pUserData = this;
  return messenger;
}

Status Instance::createInstance(Validation validation, bool hasDebugUtils,
                                VkDebugUtilsMessengerCreateInfoEXT messenger) {
  std::vector<const char *> layers, extensions;
  auto create = zeroed<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  const VkValidationFeatureEnableEXT synchronization =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  auto validationFeatures =
      zeroed<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
  validationFeatures.enabledValidationFeatureCount = 1;
  validationFeatures.pEnabledValidationFeatures = &synchronization;
  if (validation != Validation::kOff) {
    layers.push_back(kValidationLayer);
    create.pNext = &messenger; // Reports messages of vkCreateInstance itself.
    if (validation == Validation::kSynchronization) {
      extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
      messenger.pNext = &validationFeatures;
    }
  }
  if (hasDebugUtils)
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  if (hasExtension(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    create.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }

  auto application = zeroed<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "gantry";
  application.pEngineName = "gantry";
  application.apiVersion = VK_API_VERSION_1_3; // The highest version that the backend uses.
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
  return {};
}

void Instance::loadFunctions(bool validates, bool hasDebugUtils) {
#define GANTRY_LOAD(name)                                                                          \
  functions_.name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(instance_, #name))
  GANTRY_LOAD(vkDestroyInstance);
  GANTRY_LOAD(vkEnumeratePhysicalDevices);
  GANTRY_LOAD(vkGetPhysicalDeviceProperties);
  GANTRY_LOAD(vkGetPhysicalDeviceProperties2);
  GANTRY_LOAD(vkGetPhysicalDeviceFeatures2);
  GANTRY_LOAD(vkGetPhysicalDeviceMemoryProperties);
  GANTRY_LOAD(vkGetPhysicalDeviceMemoryProperties2);
  GANTRY_LOAD(vkGetPhysicalDeviceExternalBufferProperties);
  GANTRY_LOAD(vkGetPhysicalDeviceFormatProperties);
  GANTRY_LOAD(vkGetPhysicalDeviceQueueFamilyProperties);
  GANTRY_LOAD(vkEnumerateDeviceExtensionProperties);
  GANTRY_LOAD(vkGetPhysicalDeviceCalibrateableTimeDomainsEXT);
  GANTRY_LOAD(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR);
  GANTRY_LOAD(vkCreateDevice);
  if (hasDebugUtils)
    GANTRY_LOAD(vkSetDebugUtilsObjectNameEXT);
  if (validates) {
    GANTRY_LOAD(vkCreateDebugUtilsMessengerEXT);
    GANTRY_LOAD(vkDestroyDebugUtilsMessengerEXT);
  }
#undef GANTRY_LOAD
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
  std::vector<DeviceSnapshot> snapshots;
  snapshots.reserve(devices.size());
  for (VkPhysicalDevice physical : devices)
    snapshots.push_back(readSnapshot(functions_, physical, hiddenExtensions_));
  for (size_t i : preferredOrder(snapshots)) {
    physicalDevices_.push_back(devices[i]);
    plans_.push_back(planDevice(snapshots[i]));
    plans_.back().info.index = static_cast<uint32_t>(plans_.size() - 1);
    snapshots_.push_back(std::move(snapshots[i]));
  }
  return {};
}

} // namespace gantry::vulkan
