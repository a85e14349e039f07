// The user's cache of compiled models: what `run`, `bench` and `inspect` compiled is found again.
//
// An entry is found by its content: the bytes of the model and of its external data files, the
// model's file name (artifacts tell it), the options, and the identity of the compiler, hashed to
// 128 bits (XXH3). Which external data a model has is known only once it was compiled, so that an
// entry is two files:
//
//   KEY.json         the locations of the external data, and the warnings of the compiler;
//                    KEY: the hash of all but the external data
//   KEY-DATA.gantry  the artifact; DATA: the hash of the external data
//
// Both appear under their names only when they are complete; a process that is killed leaves
// nothing. The folder is bounded: what was not used for longest goes first. Every failure means
// "not in the cache": the caller compiles.
//
// Threads and processes: any number may use one folder at once; nothing is locked. A file that
// another process removes stays mapped where it is in use.
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
  /// What the artifact depends on besides the content of files.
  struct Request {
    std::filesystem::path model;
    std::string options;  // all that change the artifact, as text
    std::string compiler; // gantry_compiler_identity()
  };
  struct Hit {
    std::filesystem::path artifact;
    std::vector<std::string> warnings; // Warnings of the compilation.
  };
  /// What a compilation made.
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

  /// The folder `models` in the user's cache folder, made if absent; kIo or kNotFound where there
  /// can be none. maxBytes: the bound of all files together.
  static Result<ModelCache> open(uint64_t maxBytes);

  /// The key of a request; kIo where the model cannot be read.
  static Result<std::string> keyOf(const Request &request);
  /// Nothing where the cache has no such artifact. isDamaged: set to true where an entry had to be
  /// removed because its description could not be read.
  std::optional<Hit> find(const std::string &key, const Request &request, bool *isDamaged) const;
  /// A file in the cache's folder to compile to, for keep().
  Result<UnnamedFile> newArtifact() const { return UnnamedFile::in(folder_); }
  /// Names the artifact, and makes room. Does nothing where a file changed during the compilation.
  Status keep(const std::string &key, const Request &request, const UnnamedFile &artifact,
              const Made &made) const;
  /// Removes an artifact that turned out to be damaged.
  void drop(const Hit &hit) const;

  std::vector<Entry> entries() const;
  /// Removes all; returns how many bytes that were.
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
