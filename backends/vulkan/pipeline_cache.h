// A Vulkan pipeline cache that is kept in a file between processes.
//
// File format: a header of 32 bytes (magic, version, size, checksum), then the driver's data, whose
// own header identifies the device and the driver. Drivers trust this data. Therefore the data is
// passed to the driver only if the checksum is right and that header names this device and driver.
// Otherwise, and if there is no file, the cache is empty at first. save() replaces the file
// atomically. If the file cannot be written, a message is logged, and no error is returned.
//
// Thread safety: several threads may call handle(), and use the returned cache, at the same time.
// The other functions are called by one thread at a time.
#pragma once

#include "backends/vulkan/vulkan_device.h"

namespace gantry::vulkan {

class PipelineCache {
public:
  /// Loads the file. `path` has the meaning of cachePath in device::Device::createKernels().
  PipelineCache(VulkanDevice &device, const std::optional<std::string> &path);
  ~PipelineCache();
  PipelineCache(const PipelineCache &) = delete;
  PipelineCache &operator=(const PipelineCache &) = delete;

  /// Returns the cache to compile with, or null if the driver could not create one.
  VkPipelineCache handle() const { return cache_; }
  /// Writes the file if pipelines were added.
  void save();

private:
  VulkanDevice &device_;
  std::string path_;            // "": the cache has no file.
  bool isDefault_;              // Whether path_ is in the user's cache folder.
  std::vector<uint8_t> loaded_; // The driver's data as it was loaded.
  VkPipelineCache cache_ = VK_NULL_HANDLE;
};

/// Returns the driver's data from the contents of a cache file. Returns no bytes if the file is
/// damaged or for another device or driver, or if the host has no memory.
std::vector<uint8_t> decodePipelineCache(std::span<const uint8_t> file,
                                         const VkPhysicalDeviceProperties &properties);
/// Returns the contents of a cache file with the driver's data. Returns no bytes if the host has no
/// memory.
std::vector<uint8_t> encodePipelineCache(std::span<const uint8_t> data);

} // namespace gantry::vulkan
