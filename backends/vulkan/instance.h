// A VkInstance with its functions, its validation layers and snapshots of its devices.
//
// One instance per opened device: instances are cheap, and so each device has a message counter of
// its own. GANTRY_VALIDATION=1 switches the Khronos validation layer on, =sync adds synchronization
// validation; messages of severity warning and error are printed to stderr and counted.
//
// Threads: create() may be called from several threads; an Instance is immutable.
#pragma once

#include "backends/vulkan/device_plan.h"

#include <atomic>
#include <memory>
#include <vector>

namespace gantry::vulkan {

/// Every function of an instance that this folder calls; those of a device are in its
/// VolkDeviceTable.
struct InstanceFunctions {
  PFN_vkEnumerateInstanceExtensionProperties vkEnumerateInstanceExtensionProperties = nullptr;
  PFN_vkEnumerateInstanceLayerProperties vkEnumerateInstanceLayerProperties = nullptr;
  PFN_vkCreateInstance vkCreateInstance = nullptr;
  PFN_vkDestroyInstance vkDestroyInstance = nullptr;
  PFN_vkEnumeratePhysicalDevices vkEnumeratePhysicalDevices = nullptr;
  PFN_vkGetPhysicalDeviceProperties vkGetPhysicalDeviceProperties = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceProperties2 = nullptr;
  PFN_vkGetPhysicalDeviceFeatures2 vkGetPhysicalDeviceFeatures2 = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceMemoryProperties = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties2 vkGetPhysicalDeviceMemoryProperties2 = nullptr;
  PFN_vkGetPhysicalDeviceExternalBufferProperties vkGetPhysicalDeviceExternalBufferProperties =
      nullptr;
  PFN_vkGetPhysicalDeviceFormatProperties vkGetPhysicalDeviceFormatProperties = nullptr;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties vkGetPhysicalDeviceQueueFamilyProperties = nullptr;
  PFN_vkEnumerateDeviceExtensionProperties vkEnumerateDeviceExtensionProperties = nullptr;
  PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT
      vkGetPhysicalDeviceCalibrateableTimeDomainsEXT = nullptr; // may stay so
  PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR
      vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = nullptr; // may stay so
  PFN_vkCreateDevice vkCreateDevice = nullptr;
  PFN_vkCreateDebugUtilsMessengerEXT vkCreateDebugUtilsMessengerEXT = nullptr;
  PFN_vkDestroyDebugUtilsMessengerEXT vkDestroyDebugUtilsMessengerEXT = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT vkSetDebugUtilsObjectNameEXT = nullptr; // may stay so
};

/// Lets a test replace functions of the driver, entry by entry, before they are used. instance is
/// called twice: when the functions that need no instance are there, and when all are.
struct DriverHooks {
  void (*instance)(InstanceFunctions &functions) = nullptr;
  void (*device)(VolkDeviceTable &table) = nullptr;
};

enum class Validation { kOff, kOn, kSynchronization };

/// From the text of GANTRY_VALIDATION: "", "0", "1" or "sync"; anything else is kInvalidArgument.
Result<Validation> parseValidation(const std::string &text);

class Instance {
public:
  /// kNotFound without a Vulkan loader or device, kUnsupported when the wanted layer is absent;
  /// both name the package that brings it.
  static Result<std::unique_ptr<Instance>> create(Validation validation,
                                                  const DriverHooks &hooks = {});
  ~Instance();
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;

  const InstanceFunctions &functions() const { return functions_; }
  const DriverHooks &hooks() const { return hooks_; }
  /// Physical devices and what they are, in the preferred order; plans' info.index is their
  /// position.
  const std::vector<VkPhysicalDevice> &physicalDevices() const { return physicalDevices_; }
  const std::vector<DevicePlan> &plans() const { return plans_; }
  const std::vector<DeviceSnapshot> &snapshots() const { return snapshots_; }
  uint64_t messages() const { return messages_.load(std::memory_order_relaxed); }

private:
  Instance() = default;
  bool hasExtension(const char *name) const;
  bool hasLayer(const char *name) const;
  Status open(Validation validation);
  Status readDevices();
  DeviceSnapshot snapshot(VkPhysicalDevice physical) const;
  static VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                  VkDebugUtilsMessageTypeFlagsEXT,
                                                  const VkDebugUtilsMessengerCallbackDataEXT *,
                                                  void *user);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  InstanceFunctions functions_;
  DriverHooks hooks_;
  std::vector<VkPhysicalDevice> physicalDevices_;
  std::vector<DeviceSnapshot> snapshots_;
  std::vector<DevicePlan> plans_;
  std::atomic<uint64_t> messages_ = 0;
};

} // namespace gantry::vulkan
