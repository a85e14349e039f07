// Loads, checks and saves the file of a pipeline cache.
#include "backends/vulkan/pipeline_cache.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/base/out_of_memory.h"

#include <cstring>

namespace gantry::vulkan {

namespace {

constexpr char kMagic[8] = {'G', 'N', 'T', 'R', 'V', 'K', 'P', 'C'};
constexpr uint32_t kVersion = 1;
constexpr uint64_t kMaxBytes = uint64_t{256} << 20; // A larger file is ignored and replaced.

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t sizeBytes;
  uint64_t checksum;
};
static_assert(sizeof(FileHeader) == 32);

/// The 64-bit FNV-1a hash.
uint64_t checksumOf(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

std::string defaultPath(const VkPhysicalDeviceProperties &properties) {
  Result<std::string> folder = userCacheDirectory();
  if (!folder.isOk())
    return "";
  static const char kDigits[] = "0123456789abcdef";
  std::string path = *folder + "/vulkan-";
  for (uint8_t byte : properties.pipelineCacheUUID) {
    path += kDigits[byte >> 4];
    path += kDigits[byte & 15];
  }
  return path + ".cache";
}

} // namespace

std::vector<uint8_t> decodePipelineCache(std::span<const uint8_t> file,
                                         const VkPhysicalDeviceProperties &properties) {
  FileHeader header;
  VkPipelineCacheHeaderVersionOne driver;
  if (file.size() < sizeof(header) + sizeof(driver))
    return {};
  std::memcpy(&header, file.data(), sizeof(header));
  const std::span<const uint8_t> data = file.subspan(sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.version != kVersion ||
      header.sizeBytes != data.size() || header.checksum != checksumOf(data))
    return {};
  std::memcpy(&driver, data.data(), sizeof(driver));
  if (driver.headerVersion != VK_PIPELINE_CACHE_HEADER_VERSION_ONE ||
      driver.vendorID != properties.vendorID || driver.deviceID != properties.deviceID ||
      std::memcmp(driver.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE) != 0)
    return {};
  std::vector<uint8_t> bytes;
  if (tryResize(bytes, data.size(), "the pipeline cache").isOk())
    std::memcpy(bytes.data(), data.data(), data.size());
  return bytes;
}

std::vector<uint8_t> encodePipelineCache(std::span<const uint8_t> data) {
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.sizeBytes = data.size();
  header.checksum = checksumOf(data);
  std::vector<uint8_t> file;
  if (!tryResize(file, sizeof(header) + data.size(), "the pipeline cache").isOk())
    return {};
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), data.data(), data.size());
  return file;
}

PipelineCache::PipelineCache(VulkanDevice &device, const std::optional<std::string> &path)
    : device_(device), path_(path ? *path : defaultPath(device.snapshot().properties)),
      isDefault_(!path) {
  if (!path_.empty()) {
    Result<MappedFile> file = MappedFile::open(path_);
    if (file.isOk() && file->bytes().size() <= kMaxBytes) {
      loaded_ = decodePipelineCache(file->bytes(), device.snapshot().properties);
      if (loaded_.empty())
        logf(LogLevel::kInfo,
             "the pipeline cache %s is damaged or for another device; a new one is started",
             path_.c_str());
    }
  }
  auto create = zeroed<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  create.initialDataSize = loaded_.size();
  create.pInitialData = loaded_.data();
  if (device.table().vkCreatePipelineCache(device.handle(), &create, nullptr, &cache_) < 0)
    cache_ = VK_NULL_HANDLE; // Pipelines can be compiled without a cache.
}

PipelineCache::~PipelineCache() {
  device_.table().vkDestroyPipelineCache(device_.handle(), cache_, nullptr);
}

void PipelineCache::save() {
  if (path_.empty() || !cache_)
    return;
  size_t size = 0;
  if (device_.table().vkGetPipelineCacheData(device_.handle(), cache_, &size, nullptr) < 0)
    return;
  std::vector<uint8_t> data;
  if (const Status memory = tryResize(data, size, "the pipeline cache"); !memory.isOk()) {
    logf(LogLevel::kWarn, "the pipeline cache was not saved: %s", memory.message().c_str());
    return;
  }
  if (device_.table().vkGetPipelineCacheData(device_.handle(), cache_, &size, data.data()) !=
      VK_SUCCESS)
    return;
  data.resize(size);
  if (data == loaded_)
    return;
  Status status;
  if (const std::vector<uint8_t> file = encodePipelineCache(data); !file.empty())
    status = writeFileAtomically(path_, file);
  else
    status = Status(StatusCode::kOutOfMemory, "the host has too little memory");
  // The default file is optional, so a failure to write it is logged only as information. The next
  // process then compiles the pipelines again.
  if (!status.isOk())
    logf(isDefault_ ? LogLevel::kInfo : LogLevel::kWarn, "the pipeline cache was not saved: %s",
         status.message().c_str());
}

} // namespace gantry::vulkan
