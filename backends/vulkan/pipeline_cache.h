// Compiled pipelines kept in a file between processes.
//
// File: a 32-byte header (magic, version, size, checksum) and the driver's own data, whose header
// names the device and driver that it is for. Drivers trust that data, so nothing reaches them that
// does not carry our checksum and their own identity. A damaged, foreign or absent file means an
// empty cache; it is replaced when new pipelines were compiled, and written so that readers see the
// old file or the new one. A file that cannot be written is worth a log line, not an error.
//
// Threads: handle() may be used by several threads at once; the rest by one.
#pragma once

#include "backends/vulkan/vulkan_device.h"

namespace gantry::vulkan {

class PipelineCache {
public:
  /// path: as in device::Device::createKernels.
  PipelineCache(VulkanDevice &device, const std::optional<std::string> &path);
  ~PipelineCache();
  PipelineCache(const PipelineCache &) = delete;
  PipelineCache &operator=(const PipelineCache &) = delete;

  VkPipelineCache handle() const { return cache_; }
  void save();

private:
  VulkanDevice &device_;
  std::string path_; // "": none
  bool isDefault_;   // path_ is in the user's cache folder
  std::vector<uint8_t> loaded_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
};

/// The driver's data of a cache file, if the file is whole and for this device; else nothing.
std::vector<uint8_t> decodePipelineCache(std::span<const uint8_t> file,
                                         const VkPhysicalDeviceProperties &properties);
std::vector<uint8_t> encodePipelineCache(std::span<const uint8_t> data);

} // namespace gantry::vulkan
