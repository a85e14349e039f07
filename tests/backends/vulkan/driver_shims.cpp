// Implements the shims of driver_shims.h: the template Shim replaces one member of a function
// table.
#include "tests/backends/vulkan/driver_shims.h"
#include "tests/backends/vulkan/stand_ins.h"

#include <mutex>
#include <tuple>
#include <type_traits>

namespace gantry::vulkan::test {

namespace {

Shims state;
bool deviceLost = false;
bool mayWork = false; // Whether the queue may still work on submissions.
std::recursive_mutex mutex;

/// Returns the object type that a function creates or destroys: "Buffer" for vkCreateBuffer,
/// "Memory" for vkAllocateMemory, "" for other functions. Sets `creates` to whether the function
/// creates the object.
std::string objectOf(const std::string &name, bool &creates) {
  if (name == "vkCreateComputePipelines") {
    creates = true;
    return "Pipeline";
  }
  for (const char *prefix : {"vkCreate", "vkDestroy", "vkAllocateM", "vkFreeM"})
    if (name.rfind(prefix, 0) == 0) {
      const std::string text = prefix;
      creates = text == "vkCreate" || text == "vkAllocateM";
      return text.back() == 'M' ? "Memory" : name.substr(text.size());
    }
  return "";
}

/// Counts the object that a function created or destroyed. handle: whether the destroyed handle is
/// not null.
void count(const char *name, bool handle) {
  bool creates = false;
  const std::string object = objectOf(name, creates);
  std::lock_guard lock(mutex);
  if (!object.empty() && (creates || handle))
    state.live[object] += creates ? 1 : -1;
}

/// Counts the call and returns whether it must fail.
bool fails(const char *name, VkResult *result) {
  std::lock_guard lock(mutex);
  ++state.calls;
  if (state.calls != state.failAt && state.calls != state.failAgainAt)
    return false;
  state.failed += std::string(name) + " ";
  *result = state.failure;
  if (*result == VK_ERROR_DEVICE_LOST) {
    finishWork(); // The backend may destroy objects next; the real driver must be done with them.
    mayWork = false;
  }
  return true;
}

/// Returns whether this function reports VK_ERROR_DEVICE_LOST after the device is lost.
bool isQueueCall(const std::string &name) {
  return name == "vkQueueSubmit" || name == "vkQueueBindSparse" || name == "vkWaitSemaphores" ||
         name == "vkGetSemaphoreCounterValue" || name == "vkDeviceWaitIdle" ||
         name == "vkGetQueryPoolResults";
}

/// Counts submissions, loses the device at the chosen one, and returns whether this call must
/// report the loss.
bool isLost(const char *name) {
  std::lock_guard lock(mutex);
  if (!isQueueCall(name))
    return false;
  if (std::string(name) == "vkQueueSubmit" && ++state.submissions == state.loseAtSubmission) {
    deviceLost = true;
    finishWork();
    mayWork = false;
  }
  return deviceLost;
}

/// Follows whether the queue may have work, and counts the destruction of a device with such a
/// queue as misuse. A failed vkDeviceWaitIdle does not count as a wait.
void followQueue(const std::string &name) {
  std::lock_guard lock(mutex);
  if (name == "vkQueueSubmit" || name == "vkQueueBindSparse")
    mayWork = true;
  else if (name == "vkDeviceWaitIdle")
    mayWork = false;
  else if (name == "vkDestroyDevice" && mayWork) {
    ++state.misuse;
    state.lastMisuse = "the device was destroyed while its queue might still have had work";
  }
}

template <typename Handle> bool isHandle(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return handle != nullptr;
  else
    return false;
}

template <typename Table, typename Function> struct Name {
  Function Table::*member;
  const char *name;
};

/// The shim of one table entry: the original function and its replacement.
template <auto Member> struct Shim;

template <typename Table, typename R, typename... A, R (VKAPI_PTR *Table::*Member)(A...)>
struct Shim<Member> {
  static inline R(VKAPI_PTR *original)(A...) = nullptr;
  static inline const char *name = "";

  static VKAPI_ATTR R VKAPI_CALL call(A... arguments) {
    if constexpr (std::is_same_v<R, VkResult>) {
      VkResult result = VK_SUCCESS;
      if (fails(name, &result))
        return result;
      if (isLost(name))
        return VK_ERROR_DEVICE_LOST;
      result = original(arguments...);
      if (result >= 0) {
        count(name, true);
        followQueue(name);
      }
      return result;
    } else {
      if constexpr (sizeof...(A) >= 2) {
        // The object is the second argument of vkDestroyX(device, x, callbacks), and the first one
        // of vkDestroyDevice(device, callbacks).
        constexpr size_t kHandle = sizeof...(A) == 2 ? 0 : 1;
        count(name, isHandle(std::get<kHandle>(std::tuple(arguments...))));
      }
      followQueue(name);
      return original(arguments...);
    }
  }

  static void install(Table &table, const char *entry) {
    if (!(table.*Member) || table.*Member == &call)
      return;
    name = entry;
    original = table.*Member;
    table.*Member = &call;
  }
};

void hookInstance(InstanceFunctions &functions) {
  if (shims().standIns)
    standInForInstance(functions);
#define GANTRY_SHIM(entry) Shim<&InstanceFunctions::entry>::install(functions, #entry)
  GANTRY_SHIM(vkEnumerateInstanceExtensionProperties);
  GANTRY_SHIM(vkEnumerateInstanceLayerProperties);
  GANTRY_SHIM(vkCreateInstance);
  GANTRY_SHIM(vkDestroyInstance);
  GANTRY_SHIM(vkEnumeratePhysicalDevices);
  GANTRY_SHIM(vkEnumerateDeviceExtensionProperties);
  GANTRY_SHIM(vkCreateDevice);
  GANTRY_SHIM(vkCreateDebugUtilsMessengerEXT);
  GANTRY_SHIM(vkDestroyDebugUtilsMessengerEXT);
  GANTRY_SHIM(vkSetDebugUtilsObjectNameEXT);
#undef GANTRY_SHIM
}

void hookDevice(VolkDeviceTable &table) {
  rememberDriver(table);
  if (shims().standIns)
    standInForDevice(table);
#define GANTRY_SHIM(entry) Shim<&VolkDeviceTable::entry>::install(table, #entry)
  GANTRY_SHIM(vkAllocateCommandBuffers);
  GANTRY_SHIM(vkAllocateDescriptorSets);
  GANTRY_SHIM(vkAllocateMemory);
  GANTRY_SHIM(vkBeginCommandBuffer);
  GANTRY_SHIM(vkBindBufferMemory);
  GANTRY_SHIM(vkCreateBuffer);
  GANTRY_SHIM(vkCreateBufferView);
  GANTRY_SHIM(vkCreateCommandPool);
  GANTRY_SHIM(vkCreateComputePipelines);
  GANTRY_SHIM(vkCreateDescriptorPool);
  GANTRY_SHIM(vkCreateDescriptorSetLayout);
  GANTRY_SHIM(vkCreatePipelineCache);
  GANTRY_SHIM(vkCreatePipelineLayout);
  GANTRY_SHIM(vkCreateQueryPool);
  GANTRY_SHIM(vkCreateSemaphore);
  GANTRY_SHIM(vkCreateShaderModule);
  GANTRY_SHIM(vkDestroyBuffer);
  GANTRY_SHIM(vkDestroyBufferView);
  GANTRY_SHIM(vkDestroyCommandPool);
  GANTRY_SHIM(vkDestroyDescriptorPool);
  GANTRY_SHIM(vkDestroyDescriptorSetLayout);
  GANTRY_SHIM(vkDestroyDevice);
  GANTRY_SHIM(vkDestroyPipeline);
  GANTRY_SHIM(vkDestroyPipelineCache);
  GANTRY_SHIM(vkDestroyPipelineLayout);
  GANTRY_SHIM(vkDestroyQueryPool);
  GANTRY_SHIM(vkDestroySemaphore);
  GANTRY_SHIM(vkDestroyShaderModule);
  GANTRY_SHIM(vkDeviceWaitIdle);
  GANTRY_SHIM(vkEndCommandBuffer);
  GANTRY_SHIM(vkFreeMemory);
  GANTRY_SHIM(vkGetMemoryFdKHR);
  GANTRY_SHIM(vkGetMemoryHostPointerPropertiesEXT);
  GANTRY_SHIM(vkGetPipelineCacheData);
  GANTRY_SHIM(vkGetQueryPoolResults);
  GANTRY_SHIM(vkGetSemaphoreCounterValue);
  GANTRY_SHIM(vkMapMemory);
  GANTRY_SHIM(vkQueueBindSparse);
  GANTRY_SHIM(vkQueueSubmit);
  GANTRY_SHIM(vkWaitSemaphores);
#undef GANTRY_SHIM
}

} // namespace

Shims &shims() { return state; }

void resetShims() {
  std::lock_guard lock(mutex);
  state = {};
  deviceLost = false;
  mayWork = false;
  resetStandIns();
}

std::string liveObjects() {
  std::lock_guard lock(mutex);
  std::string text;
  for (const auto &[object, number] : state.live)
    if (number != 0)
      text += (text.empty() ? "" : ", ") + object + " " + std::to_string(number);
  return text;
}

DriverHooks shimHooks() { return {&hookInstance, &hookDevice}; }

} // namespace gantry::vulkan::test
