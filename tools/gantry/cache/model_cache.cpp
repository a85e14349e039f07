// Implements model_cache.h.
#include "tools/gantry/cache/model_cache.h"

#include "engine/base/file.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace gantry::tool {

namespace {

constexpr const char *kFormat = "gantry model cache 1"; // A part of every key.
/// Upper limit of the time by which a file's time of change may lag behind the clock. The operating
/// system takes the time of change from its last timer tick.
constexpr int64_t kClockSlackNs = 20'000'000;

/// A 128-bit XXH3 over several pieces. Each piece is preceded by its length.
class Hash {
public:
  Hash() { XXH3_128bits_reset(&state_); }
  Hash &add(std::span<const uint8_t> bytes) {
    const uint64_t size = bytes.size();
    XXH3_128bits_update(&state_, &size, sizeof(size));
    XXH3_128bits_update(&state_, bytes.data(), bytes.size());
    return *this;
  }
  Hash &add(std::string_view text) {
    return add({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  }
  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

private:
  XXH3_state_t state_;
};

/// Returns the hash of the model's external data, "0" if it has none, or nothing if a file is
/// missing.
std::optional<std::string> hashData(const fs::path &model,
                                    const std::vector<std::string> &locations) {
  if (locations.empty())
    return "0";
  Hash hash;
  for (const std::string &location : locations) {
    auto file = MappedFile::open((model.parent_path() / location).string());
    if (!file.isOk())
      return std::nullopt;
    hash.add(location).add(file->bytes());
  }
  return hash.text();
}

/// Returns whether the file was last changed before `ns`, in nanoseconds since the epoch.
bool isOlder(const fs::path &path, int64_t ns) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 &&
         info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec < ns;
}

/// Sets the file's time of modification, which is its time of last use here, to now.
void touch(const fs::path &path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

/// One regular file of the folder.
struct File {
  fs::path path;
  uint64_t sizeBytes;
  int64_t usedNs; // Last use, in ns since the epoch.
};

std::vector<File> filesOf(const fs::path &folder) {
  std::vector<File> files;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error); at != fs::directory_iterator();
       at.increment(error)) {
    struct stat info {};
    if (::lstat(at->path().c_str(), &info) == 0 && S_ISREG(info.st_mode))
      files.push_back({at->path(), static_cast<uint64_t>(info.st_size),
                       info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec});
  }
  return files;
}

/// Returns the parsed description of an entry, or nothing if the description is damaged.
std::optional<Json> readDescription(const fs::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Json json = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("files") || !json.contains("warnings") ||
      !json["files"].is_array() || !json["warnings"].is_array())
    return std::nullopt;
  for (const char *list : {"files", "warnings"})
    for (const Json &entry : json[list])
      if (!entry.is_string())
        return std::nullopt;
  for (const char *text : {"model", "options"})
    if (!json.contains(text) || !json[text].is_string())
      return std::nullopt;
  return json;
}

} // namespace

Result<ModelCache> ModelCache::open(uint64_t maxBytes) {
  GANTRY_ASSIGN_OR_RETURN(const std::string base, userCacheDirectory());
  const fs::path folder = fs::path(base) / "models";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Status(StatusCode::kIo,
                  fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
  return ModelCache(folder, maxBytes);
}

Result<std::string> ModelCache::keyOf(const Request &request) {
  GANTRY_ASSIGN_OR_RETURN(const MappedFile model, MappedFile::open(request.model.string()));
  Hash hash;
  hash.add(kFormat).add(request.compiler).add(request.options);
  hash.add(request.model.filename().string()).add(model.bytes());
  return hash.text();
}

fs::path ModelCache::artifactOf(const std::string &key, const std::string &dataHash) const {
  return folder_ / (key + "-" + dataHash + ".gantry");
}

std::optional<ModelCache::Hit> ModelCache::find(const std::string &key, const Request &request,
                                                bool *isDamaged) const {
  const fs::path path = folder_ / (key + ".json");
  const std::optional<Json> description = readDescription(path);
  std::error_code error;
  if (!description) { // A damaged description is removed so that a new one can take its name.
    *isDamaged = fs::remove(path, error);
    return std::nullopt;
  }
  const auto data =
      hashData(request.model, (*description)["files"].get<std::vector<std::string>>());
  if (!data || !fs::is_regular_file(artifactOf(key, *data), error))
    return std::nullopt;
  touch(path);
  touch(artifactOf(key, *data));
  return Hit{artifactOf(key, *data), (*description)["warnings"].get<std::vector<std::string>>()};
}

Status ModelCache::keep(const std::string &key, const Request &request, const UnnamedFile &artifact,
                        const Made &made) const {
  std::error_code error;
  const uint64_t size = fs::file_size(artifact.path(), error);
  if (error || size > maxBytes_)
    return {};
  bool unchanged = isOlder(request.model, made.startNs - kClockSlackNs);
  for (const std::string &location : made.dataFiles)
    unchanged &= isOlder(request.model.parent_path() / location, made.startNs - kClockSlackNs);
  const auto data = hashData(request.model, made.dataFiles);
  if (!unchanged || !data)
    return {};
  const Json description = {{"model", request.model.filename().string()},
                            {"options", request.options},
                            {"files", made.dataFiles},
                            {"warnings", made.warnings}};
  GANTRY_RETURN_IF_ERROR(artifact.link(artifactOf(key, *data)));
  GANTRY_ASSIGN_OR_RETURN(UnnamedFile file, UnnamedFile::in(folder_));
  GANTRY_RETURN_IF_ERROR(
      file.write(description.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  GANTRY_RETURN_IF_ERROR(file.link(folder_ / (key + ".json")));
  makeRoom(key);
  return {};
}

void ModelCache::drop(const Hit &hit) const {
  std::error_code ignored;
  fs::remove(hit.artifact, ignored);
}

void ModelCache::makeRoom(const std::string &keptKey) const {
  std::vector<File> files = filesOf(folder_);
  uint64_t total = 0;
  for (const File &file : files)
    total += file.sizeBytes;
  std::sort(files.begin(), files.end(),
            [](const File &a, const File &b) { return a.usedNs < b.usedNs; });
  for (const File &file : files) {
    if (total <= maxBytes_)
      return;
    if (file.path.filename().string().starts_with(keptKey))
      continue;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    total -= file.sizeBytes;
  }
}

std::vector<ModelCache::Entry> ModelCache::entries() const {
  std::vector<Entry> result;
  for (const File &file : filesOf(folder_)) {
    if (file.path.extension() != ".gantry")
      continue;
    Entry entry;
    entry.sizeBytes = file.sizeBytes;
    entry.usedSeconds = file.usedNs / 1'000'000'000;
    const std::string name = file.path.filename();
    if (const auto json = readDescription(folder_ / (name.substr(0, name.find('-')) + ".json"))) {
      entry.model = (*json)["model"];
      entry.options = (*json)["options"];
    }
    result.push_back(std::move(entry));
  }
  std::sort(result.begin(), result.end(),
            [](const Entry &a, const Entry &b) { return a.usedSeconds > b.usedSeconds; });
  return result;
}

uint64_t ModelCache::clear() const {
  uint64_t bytes = 0;
  for (const File &file : filesOf(folder_)) {
    std::error_code error;
    if (fs::remove(file.path, error))
      bytes += file.sizeBytes;
  }
  return bytes;
}

uint64_t ModelCache::sizeBytes() const {
  uint64_t bytes = 0;
  for (const File &file : filesOf(folder_))
    bytes += file.sizeBytes;
  return bytes;
}

} // namespace gantry::tool
