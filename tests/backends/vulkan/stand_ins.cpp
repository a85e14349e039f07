// Stand-ins for cooperative matrices, memory budgets, sparse buffers and a second queue.
#include "tests/backends/vulkan/stand_ins.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace gantry::vulkan::test {

namespace {

constexpr uint64_t kGranularity = 65536;
constexpr const char *kExtensions[] = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
                                       VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME};
constexpr VkBufferCreateFlags kSparseFlags =
    VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;

/// A simulated sparse buffer.
struct SparseBuffer {
  VkDeviceMemory backing = VK_NULL_HANDLE; // Ordinary memory that holds the whole buffer.
  uint64_t sizeBytes = 0;
  /// The memory that is bound to each part of kGranularity bytes, by the part's offset in bytes.
  std::map<uint64_t, VkDeviceMemory> bound;
};

struct {
  InstanceFunctions instance;
  VolkDeviceTable driver; // The driver's own functions.
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t queueFamilies = 0; // Number of the driver's queue families.
  std::map<VkBuffer, SparseBuffer> buffers;
  std::map<VkDeviceMemory, uint64_t> memories; // Size in bytes of each live allocation.
  std::mutex mutex;
} own;
int sparseQueueTag; // Its address is the handle of the second queue.

void misuse(const char *what) {
  ++shims().misuse;
  shims().lastMisuse = what;
}

/// Returns the structure of this type in a chain, or null.
VkBaseOutStructure *findIn(void *chain, VkStructureType type) {
  auto *found = static_cast<VkBaseOutStructure *>(chain);
  while (found && found->sType != type)
    found = found->pNext;
  return found;
}

/// Unlinks the structure of this type from the chain that starts at `head`, calls `call`, and links
/// the structure again, because the driver does not know the structure. Returns the structure, or
/// null if the chain has none.
template <typename T, typename Call> T *without(void *head, VkStructureType type, Call call) {
  auto *before = static_cast<VkBaseOutStructure *>(head);
  while (before->pNext && before->pNext->sType != type)
    before = before->pNext;
  VkBaseOutStructure *taken = before->pNext;
  if (taken)
    before->pNext = taken->pNext;
  call();
  if (taken)
    before->pNext = taken;
  return reinterpret_cast<T *>(taken);
}

// ---- instance functions ------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL enumerateExtensions(VkPhysicalDevice physical, const char *layer,
                                                   uint32_t *count,
                                                   VkExtensionProperties *properties) {
  const uint32_t capacity = *count;
  const VkResult result =
      own.instance.vkEnumerateDeviceExtensionProperties(physical, layer, count, properties);
  if (result < 0)
    return result;
  for (const char *name : kExtensions) {
    if (properties && *count < capacity)
      std::strcpy(properties[*count].extensionName, name);
    ++*count;
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL getFeatures(VkPhysicalDevice physical,
                                       VkPhysicalDeviceFeatures2 *features) {
  auto *matrices = without<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
      features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
      [&] { own.instance.vkGetPhysicalDeviceFeatures2(physical, features); });
  if (matrices)
    matrices->cooperativeMatrix = VK_TRUE;
  features->features.sparseBinding = VK_TRUE;
  features->features.sparseResidencyBuffer = VK_TRUE;
}

VKAPI_ATTR void VKAPI_CALL getProperties(VkPhysicalDevice physical,
                                         VkPhysicalDeviceProperties *properties) {
  own.instance.vkGetPhysicalDeviceProperties(physical, properties);
  properties->limits.sparseAddressSpaceSize = uint64_t{1} << 40;
}

VKAPI_ATTR void VKAPI_CALL getProperties2(VkPhysicalDevice physical,
                                          VkPhysicalDeviceProperties2 *properties) {
  auto *matrices = without<VkPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR,
      [&] { own.instance.vkGetPhysicalDeviceProperties2(physical, properties); });
  if (matrices)
    matrices->cooperativeMatrixSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
}

VKAPI_ATTR VkResult VKAPI_CALL getMatrices(VkPhysicalDevice, uint32_t *count,
                                           VkCooperativeMatrixPropertiesKHR *properties) {
  if (properties && *count > 0) {
    properties->MSize = properties->NSize = properties->KSize = 16;
    properties->AType = properties->BType = VK_COMPONENT_TYPE_FLOAT16_KHR;
    properties->CType = properties->ResultType = VK_COMPONENT_TYPE_FLOAT32_KHR;
    properties->scope = VK_SCOPE_SUBGROUP_KHR;
  }
  *count = 1;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL getQueueFamilies(VkPhysicalDevice physical, uint32_t *count,
                                            VkQueueFamilyProperties *families) {
  own.instance.vkGetPhysicalDeviceQueueFamilyProperties(physical, count, families);
  own.queueFamilies = *count;
  if (families) {
    for (uint32_t i = 0; i < *count; ++i) // The stand-in's queue is the only one for sparse memory.
      families[i].queueFlags &= ~static_cast<VkQueueFlags>(VK_QUEUE_SPARSE_BINDING_BIT);
    families[*count] = {};
    families[*count].queueFlags = VK_QUEUE_SPARSE_BINDING_BIT;
    families[*count].queueCount = 1;
  }
  ++*count;
}

VKAPI_ATTR void VKAPI_CALL getMemory(VkPhysicalDevice physical,
                                     VkPhysicalDeviceMemoryProperties2 *properties) {
  auto *budget = static_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT *>(properties->pNext);
  properties->pNext = nullptr;
  own.instance.vkGetPhysicalDeviceMemoryProperties2(physical, properties);
  properties->pNext = budget;
  uint64_t used = shims().usedBytes;
  std::lock_guard lock(own.mutex);
  for (const auto &[memory, bytes] : own.memories)
    used += bytes; // Every heap counts all memory.
  for (uint32_t i = 0; budget && i < properties->memoryProperties.memoryHeapCount; ++i) {
    budget->heapBudget[i] = shims().budgetBytes
                                ? shims().budgetBytes
                                : properties->memoryProperties.memoryHeaps[i].size / 2;
    budget->heapUsage[i] = used;
  }
}

/// Creates the device without the simulated features.
VKAPI_ATTR VkResult VKAPI_CALL createDevice(VkPhysicalDevice physical,
                                            const VkDeviceCreateInfo *info,
                                            const VkAllocationCallbacks *callbacks,
                                            VkDevice *device) {
  VkDeviceCreateInfo create = *info;
  auto features = *static_cast<const VkPhysicalDeviceFeatures2 *>(info->pNext);
  if (!features.features.sparseBinding || !features.features.sparseResidencyBuffer)
    misuse("the sparse features are not enabled");
  if (info->queueCreateInfoCount != 2 ||
      info->pQueueCreateInfos[1].queueFamilyIndex != own.queueFamilies)
    misuse("the second queue is not created");
  features.features.sparseBinding = features.features.sparseResidencyBuffer = VK_FALSE;
  const auto *matrices = reinterpret_cast<VkPhysicalDeviceCooperativeMatrixFeaturesKHR *>(
      findIn(features.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR));
  const auto *features12 = reinterpret_cast<VkPhysicalDeviceVulkan12Features *>(
      findIn(features.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES));
  if (matrices && (!matrices->cooperativeMatrix || !features12->vulkanMemoryModel))
    misuse("cooperative matrices or the memory model are not enabled");
  if (matrices && features.pNext != matrices)
    misuse(
        "the features of cooperative matrices are not the first structure of the chain, the only "
        "one that the stand-in can remove");
  else if (matrices)
    features.pNext = matrices->pNext;
  create.pNext = &features;
  create.queueCreateInfoCount = 1;
  std::vector<const char *> extensions;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i)
    if (std::none_of(std::begin(kExtensions), std::end(kExtensions), [&](const char *name) {
          return std::strcmp(info->ppEnabledExtensionNames[i], name) == 0;
        }))
      extensions.push_back(info->ppEnabledExtensionNames[i]);
  const bool enabled = std::any_of(
      info->ppEnabledExtensionNames, info->ppEnabledExtensionNames + info->enabledExtensionCount,
      [](const char *name) {
        return !std::strcmp(name, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
      });
  if (enabled != (matrices != nullptr))
    misuse("cooperative matrices need both the extension and the feature");
  create.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  create.ppEnabledExtensionNames = extensions.data();
  return own.instance.vkCreateDevice(physical, &create, callbacks, device);
}

// ---- device functions --------------------------------------------------------------------------

VKAPI_ATTR void VKAPI_CALL getQueue(VkDevice device, uint32_t family, uint32_t index,
                                    VkQueue *queue) {
  own.device = device;
  if (family == own.queueFamilies) {
    *queue = reinterpret_cast<VkQueue>(&sparseQueueTag);
    return;
  }
  own.driver.vkGetDeviceQueue(device, family, index, queue);
  own.queue = *queue;
}

VKAPI_ATTR VkResult VKAPI_CALL createBuffer(VkDevice device, const VkBufferCreateInfo *info,
                                            const VkAllocationCallbacks *callbacks,
                                            VkBuffer *buffer) {
  VkBufferCreateInfo create = *info;
  create.flags &= ~kSparseFlags;
  VkResult result = own.driver.vkCreateBuffer(device, &create, callbacks, buffer);
  if (result < 0 || !(info->flags & kSparseFlags))
    return result;
  if (info->flags != kSparseFlags)
    misuse("a sparse buffer was created without residency");
  VkMemoryRequirements requirements;
  own.driver.vkGetBufferMemoryRequirements(device, *buffer, &requirements);
  auto flags = zeroed<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = zeroed<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  if (info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)
    allocate.pNext = &flags;
  allocate.allocationSize = requirements.size;
  SparseBuffer sparse;
  sparse.sizeBytes = info->size;
  result = own.driver.vkAllocateMemory(device, &allocate, nullptr, &sparse.backing);
  if (result >= 0)
    result = own.driver.vkBindBufferMemory(device, *buffer, sparse.backing, 0);
  if (result < 0) {
    own.driver.vkDestroyBuffer(device, *buffer, callbacks);
    own.driver.vkFreeMemory(device, sparse.backing, nullptr);
    return result;
  }
  std::lock_guard lock(own.mutex);
  own.buffers[*buffer] = std::move(sparse);
  return result;
}

VKAPI_ATTR void VKAPI_CALL destroyBuffer(VkDevice device, VkBuffer buffer,
                                         const VkAllocationCallbacks *callbacks) {
  own.driver.vkDestroyBuffer(device, buffer, callbacks);
  std::lock_guard lock(own.mutex);
  const auto found = own.buffers.find(buffer);
  if (found == own.buffers.end())
    return;
  own.driver.vkFreeMemory(device, found->second.backing, nullptr);
  own.buffers.erase(found);
}

VKAPI_ATTR VkResult VKAPI_CALL allocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                              const VkAllocationCallbacks *callbacks,
                                              VkDeviceMemory *memory) {
  const VkResult result = own.driver.vkAllocateMemory(device, info, callbacks, memory);
  std::lock_guard lock(own.mutex);
  if (result >= 0)
    own.memories[*memory] = info->allocationSize;
  return result;
}

VKAPI_ATTR void VKAPI_CALL freeMemory(VkDevice device, VkDeviceMemory memory,
                                      const VkAllocationCallbacks *callbacks) {
  {
    std::lock_guard lock(own.mutex);
    own.memories.erase(memory);
    for (const auto &[buffer, sparse] : own.buffers)
      for (const auto &[granule, bound] : sparse.bound)
        if (memory && bound == memory)
          misuse("memory was freed while it is bound");
  }
  own.driver.vkFreeMemory(device, memory, callbacks);
}

void bind(const VkSparseBufferMemoryBindInfo &info) {
  const auto found = own.buffers.find(info.buffer);
  if (found == own.buffers.end())
    return misuse("memory was bound to a buffer that is not sparse");
  for (uint32_t i = 0; i < info.bindCount; ++i) {
    const VkSparseMemoryBind &part = info.pBinds[i];
    if (part.resourceOffset % kGranularity != 0 || part.size % kGranularity != 0 ||
        part.size == 0 || part.resourceOffset + part.size > found->second.sizeBytes)
      return misuse("a binding is misaligned or outside of its buffer");
    if (part.memory && (!own.memories.count(part.memory) ||
                        part.memoryOffset + part.size > own.memories[part.memory]))
      return misuse("bound memory does not exist or is too small");
    for (uint64_t at = part.resourceOffset; at < part.resourceOffset + part.size;
         at += kGranularity)
      if (!part.memory)
        found->second.bound.erase(at);
      else if (!found->second.bound.emplace(at, part.memory).second)
        misuse("a binding overlaps another one");
  }
}

VKAPI_ATTR VkResult VKAPI_CALL bindSparse(VkQueue queue, uint32_t count,
                                          const VkBindSparseInfo *infos, VkFence) {
  std::lock_guard lock(own.mutex);
  if (queue != reinterpret_cast<VkQueue>(&sparseQueueTag))
    misuse("the queue cannot bind sparse memory");
  for (uint32_t i = 0; i < count; ++i) {
    ++shims().bindings;
    for (uint32_t b = 0; b < infos[i].bufferBindCount; ++b)
      bind(infos[i].pBufferBinds[b]);
    auto submit = zeroed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.pNext = infos[i].pNext; // The values of the timeline semaphore.
    submit.signalSemaphoreCount = infos[i].signalSemaphoreCount;
    submit.pSignalSemaphores = infos[i].pSignalSemaphores;
    const VkResult result = own.driver.vkQueueSubmit(own.queue, 1, &submit, VK_NULL_HANDLE);
    if (result < 0)
      return result;
  }
  return VK_SUCCESS;
}

PFN_vkEnumerateInstanceLayerProperties driverLayers = nullptr; // The loader's own function.

/// Describes the layers as new enough for the stand-ins, whose structures they never see, or as the
/// version that the test wants.
VKAPI_ATTR VkResult VKAPI_CALL enumerateLayers(uint32_t *count, VkLayerProperties *layers) {
  const VkResult result = driverLayers(count, layers);
  for (uint32_t i = 0; layers && i < *count; ++i)
    layers[i].specVersion = shims().layerVersion;
  return result;
}

} // namespace

void standInForInstance(InstanceFunctions &functions) {
  if (functions.vkEnumerateInstanceLayerProperties != &enumerateLayers) {
    driverLayers = functions.vkEnumerateInstanceLayerProperties;
    functions.vkEnumerateInstanceLayerProperties = &enumerateLayers;
  }
  if (!functions.vkCreateDevice || functions.vkCreateDevice == &createDevice)
    return;
  own.instance = functions;
  functions.vkEnumerateDeviceExtensionProperties = &enumerateExtensions;
  functions.vkGetPhysicalDeviceFeatures2 = &getFeatures;
  functions.vkGetPhysicalDeviceProperties = &getProperties;
  functions.vkGetPhysicalDeviceProperties2 = &getProperties2;
  functions.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = &getMatrices;
  functions.vkGetPhysicalDeviceQueueFamilyProperties = &getQueueFamilies;
  functions.vkGetPhysicalDeviceMemoryProperties2 = &getMemory;
  functions.vkCreateDevice = &createDevice;
}

void standInForDevice(VolkDeviceTable &table) {
  table.vkGetDeviceQueue = &getQueue;
  table.vkCreateBuffer = &createBuffer;
  table.vkDestroyBuffer = &destroyBuffer;
  table.vkAllocateMemory = &allocateMemory;
  table.vkFreeMemory = &freeMemory;
  table.vkQueueBindSparse = &bindSparse;
}

void resetStandIns() {
  std::lock_guard lock(own.mutex);
  own.buffers.clear();
  own.memories.clear();
  own.queue = VK_NULL_HANDLE;
}

namespace {
VKAPI_ATTR void VKAPI_CALL rememberQueue(VkDevice device, uint32_t family, uint32_t index,
                                         VkQueue *queue) {
  own.driver.vkGetDeviceQueue(device, family, index, queue);
  own.queue = *queue;
}
} // namespace

void rememberDriver(VolkDeviceTable &table) {
  own.driver = table;
  table.vkGetDeviceQueue = &rememberQueue;
}

void finishWork() {
  if (own.queue)
    own.driver.vkQueueWaitIdle(own.queue);
}

} // namespace gantry::vulkan::test
