// The user's cache of compiled models. `run`, `bench` and `inspect` look into it before they
// compile.
//
// An entry is found by its content: the bytes of the model and of its external data files, the
// model's file name (which the artifact contains), the options, and the identity of the compiler,
// hashed to 128 bits (XXH3). The external data of a model is known only after it was compiled, so
// an entry consists of two files:
//
//   KEY.json         the locations of the external data, and the warnings of the compiler;
//                    KEY is the hash of everything except the external data
//   KEY-DATA.gantry  the artifact; DATA: the hash of the external data
//
// Both files get their names only when they are complete, so a killed process leaves nothing. The
// folder has a maximum size; the least recently used entries are removed first. Every failure
// counts as a cache miss, and the caller compiles.
//
// Threads and processes: any number may use one folder at once, without locks. A file that another
// process removes stays mapped in the processes that use it.
#pragma once

#include "tools/gantry/cache/unnamed_file.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gantry::tool {

class ModelCache {
public:
  /// Everything that the artifact depends on, apart from the content of files.
  struct Request {
    std::filesystem::path model;
    std::string options;  // Options that change the artifact, as text.
    std::string compiler; // gantry_compiler_identity()
  };
  struct Hit {
    std::filesystem::path artifact;
    std::vector<std::string> warnings; // Warnings of the compilation.
  };
  /// The result of a compilation.
  struct Made {
    std::vector<std::string> dataFiles; // relative to the model's folder
    std::vector<std::string> warnings;
    int64_t startNs = 0; // Start of the compilation, in ns since the epoch.
  };
  struct Entry {
    std::string model, options;
    uint64_t sizeBytes = 0;
    int64_t usedSeconds = 0; // Last use, in seconds since the epoch.
  };

  /// Opens the folder `models` in the user's cache folder and creates it if it is absent. Fails
  /// with kIo or kNotFound if it cannot be created. maxBytes limits the sum of all files.
  static Result<ModelCache> open(uint64_t maxBytes);

  /// Returns the key of a request; fails with kIo if the model cannot be read.
  static Result<std::string> keyOf(const Request &request);
  /// Returns nothing if the cache has no such artifact. Sets isDamaged to true if an entry was
  /// removed because its description could not be read.
  std::optional<Hit> find(const std::string &key, const Request &request, bool *isDamaged) const;
  /// Returns a file in the cache's folder that a compilation can write to, for keep().
  Result<UnnamedFile> newArtifact() const { return UnnamedFile::in(folder_); }
  /// Gives the artifact its name and removes old entries. Does nothing if a file of the model
  /// changed during the compilation.
  Status keep(const std::string &key, const Request &request, const UnnamedFile &artifact,
              const Made &made) const;
  /// Removes an artifact that turned out to be damaged.
  void drop(const Hit &hit) const;

  std::vector<Entry> entries() const;
  /// Removes all entries and returns their size in bytes.
  uint64_t clear() const;
  uint64_t sizeBytes() const;
  uint64_t maxBytes() const { return maxBytes_; }
  const std::filesystem::path &folder() const { return folder_; }

private:
  ModelCache(std::filesystem::path folder, uint64_t maxBytes)
      : folder_(std::move(folder)), maxBytes_(maxBytes) {}
  std::filesystem::path artifactOf(const std::string &key, const std::string &dataHash) const;
  void makeRoom(const std::string &keptKey) const;

  std::filesystem::path folder_;
  uint64_t maxBytes_;
};

} // namespace gantry::tool
