// A Vulkan instance: the VkInstance, its functions, the validation layer, and the snapshots and
// plans of its physical devices (device_plan.h).
//
// Each opened device has an instance of its own, and thereby its own counter of validation
// messages. GANTRY_VALIDATION=1 enables the Khronos validation layer; GANTRY_VALIDATION=sync also
// enables synchronization validation. Warnings and errors of the layer are printed to stderr and
// counted.
//
// Thread safety: any thread may call create(); an Instance does not change afterwards, except for
// the message counter.
#pragma once

#include "backends/vulkan/device_plan.h"
#include "backends/vulkan/instance_functions.h"

#include <atomic>
#include <memory>
#include <vector>

namespace gantry::vulkan {

enum class Validation { kOff, kOn, kSynchronization };

/// Parses the value of GANTRY_VALIDATION: "", "0", "1" or "sync". Returns kInvalidArgument for any
/// other text.
Result<Validation> parseValidation(const std::string &text);

class Instance {
public:
  /// Creates an instance and reads its devices. Errors: kNotFound if there is no Vulkan loader or
  /// no device, kUnsupported if the requested validation layer is not installed. The message names
  /// the missing package. Other errors of Vulkan keep their codes.
  static Result<std::unique_ptr<Instance>> create(Validation validation,
                                                  const DriverHooks &hooks = {});
  ~Instance();
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;

  const InstanceFunctions &functions() const { return functions_; }
  const DriverHooks &hooks() const { return hooks_; }
  /// The physical devices, their plans and snapshots, all in the order of preference.
  /// plans()[i].info.index is i.
  const std::vector<VkPhysicalDevice> &physicalDevices() const { return physicalDevices_; }
  const std::vector<DevicePlan> &plans() const { return plans_; }
  const std::vector<DeviceSnapshot> &snapshots() const { return snapshots_; }
  /// Returns the number of validation messages so far.
  uint64_t messages() const { return messages_.load(std::memory_order_relaxed); }

private:
  Instance() = default;
  bool hasExtension(const char *name) const;
  /// Returns the version of Vulkan that a layer was made for; none if it is not installed.
  std::optional<uint32_t> versionOfLayer(const char *name) const;
  Status open(Validation validation);
  VkDebugUtilsMessengerCreateInfoEXT messengerInfo();
  Status createInstance(Validation validation, bool hasDebugUtils,
                        VkDebugUtilsMessengerCreateInfoEXT messenger);
  void loadFunctions(bool validates, bool hasDebugUtils);
  Status readDevices();
  static VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                  VkDebugUtilsMessageTypeFlagsEXT,
                                                  const VkDebugUtilsMessengerCallbackDataEXT *,
                                                  void *user);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  InstanceFunctions functions_;
  DriverHooks hooks_;
  std::vector<std::string> hiddenExtensions_; // Device extensions that are treated as absent.
  std::vector<VkPhysicalDevice> physicalDevices_;
  std::vector<DeviceSnapshot> snapshots_;
  std::vector<DevicePlan> plans_;
  std::atomic<uint64_t> messages_ = 0;
};

} // namespace gantry::vulkan
