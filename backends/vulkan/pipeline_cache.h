// A Vulkan pipeline cache that is kept in a file between processes.
//
// File format: a header of 32 bytes (magic, version, size, checksum) and the driver's data, whose
// own header identifies the device and the driver. Drivers trust that data, so the cache passes it
// to the driver only if the checksum and the identity match. A damaged, foreign or absent file
// gives an empty cache. save() replaces the file atomically. A file that cannot be written gives a
// log message, not an error.
//
// Thread safety: several threads may use handle() at once; one thread at a time uses the rest.
#pragma once

#include "backends/vulkan/vulkan_device.h"

namespace gantry::vulkan {

class PipelineCache {
public:
  /// Loads the file. path: as in device::Device::createKernels().
  PipelineCache(VulkanDevice &device, const std::optional<std::string> &path);
  ~PipelineCache();
  PipelineCache(const PipelineCache &) = delete;
  PipelineCache &operator=(const PipelineCache &) = delete;

  /// The cache to compile with; null if the driver could not create one.
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

/// Returns the driver's data of a cache file; empty if the file is damaged or for another device.
std::vector<uint8_t> decodePipelineCache(std::span<const uint8_t> file,
                                         const VkPhysicalDeviceProperties &properties);
/// Returns the contents of a cache file for the driver's data; empty without host memory.
std::vector<uint8_t> encodePipelineCache(std::span<const uint8_t> data);

} // namespace gantry::vulkan
