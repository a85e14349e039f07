// Tests the file format of the pipeline cache: round trip, damaged files, files of other devices
// and drivers.
#include "backends/vulkan/pipeline_cache.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gantry::vulkan {
namespace {

VkPhysicalDeviceProperties properties() {
  VkPhysicalDeviceProperties p{};
  p.vendorID = 0x10005;
  p.deviceID = 7;
  for (size_t i = 0; i < VK_UUID_SIZE; ++i)
    p.pipelineCacheUUID[i] = static_cast<uint8_t>(i);
  return p;
}

/// Returns pipeline cache data as a driver with these properties writes them.
std::vector<uint8_t> driverData(const VkPhysicalDeviceProperties &p) {
  VkPipelineCacheHeaderVersionOne header{};
  header.headerSize = sizeof(header);
  header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
  header.vendorID = p.vendorID;
  header.deviceID = p.deviceID;
  std::memcpy(header.pipelineCacheUUID, p.pipelineCacheUUID, VK_UUID_SIZE);
  std::vector<uint8_t> data(sizeof(header) + 100, 0x5A);
  std::memcpy(data.data(), &header, sizeof(header));
  return data;
}

TEST(PipelineCacheFile, RoundTrips) {
  const std::vector<uint8_t> data = driverData(properties());
  EXPECT_EQ(decodePipelineCache(encodePipelineCache(data), properties()), data);
}

TEST(PipelineCacheFile, EveryFlippedByteIsRefused) {
  const std::vector<uint8_t> file = encodePipelineCache(driverData(properties()));
  for (size_t i = 0; i < file.size(); ++i) {
    if (i >= 12 && i < 16)
      continue; // The reserved field is not checked.
    std::vector<uint8_t> damaged = file;
    damaged[i] ^= 0x10;
    EXPECT_TRUE(decodePipelineCache(damaged, properties()).empty()) << "byte " << i;
  }
}

TEST(PipelineCacheFile, EveryTruncationIsRefused) {
  const std::vector<uint8_t> file = encodePipelineCache(driverData(properties()));
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_TRUE(decodePipelineCache(std::span(file).first(size), properties()).empty()) << size;
}

TEST(PipelineCacheFile, AnotherDeviceOrDriverIsRefused) {
  const std::vector<uint8_t> file = encodePipelineCache(driverData(properties()));
  VkPhysicalDeviceProperties other = properties();
  other.deviceID += 1;
  EXPECT_TRUE(decodePipelineCache(file, other).empty());
  other = properties();
  other.pipelineCacheUUID[15] ^= 1;
  EXPECT_TRUE(decodePipelineCache(file, other).empty());
}

} // namespace
} // namespace gantry::vulkan
