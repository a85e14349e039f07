// The user's cache of compiled models (artifacts, which are .gantry files). Commands that compile a
// model to run or to inspect it look into the cache first.
//
// An entry is found by the content that it was compiled from: the bytes of the model and of its
// external data files, the model's file name (which the artifact contains), the options, and the
// identity of the compiler, hashed to 128 bits (XXH3). Only the compiler finds out which external
// data files a model has. A search therefore first finds the list of these files, and then the
// artifact by their content; an entry consists of two files:
//
//   KEY.json         the locations of the external data, and the warnings of the compiler;
//                    KEY is the hash of everything except the external data
//   KEY-DATA.gantry  the artifact; DATA is the hash of the external data, or 0 if there is none
//
// Both files get their names only when they are complete, so a killed process leaves no files. The
// folder has a maximum size; the least recently used files are removed first.
//
// Errors: no failure of the cache is fatal; the caller can compile without it. Threads and
// processes: any number may use one folder at once, without locks. A file that another process
// removes stays mapped in the processes that use it.
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
  /// The model and everything else that the artifact depends on.
  struct Request {
    std::filesystem::path model; // Its content and its file name are part of the key.
    std::string options;         // Options that change the artifact, as text.
    std::string compiler;        // gantry_compiler_identity()
  };
  /// An artifact that was found.
  struct Hit {
    std::filesystem::path artifact;
    std::vector<std::string> warnings; // Warnings of the compilation.
  };
  /// The result of a compilation.
  struct Made {
    std::vector<std::string> dataFiles; // External data files, relative to the model's folder.
    std::vector<std::string> warnings;
    int64_t startNs = 0; // Start of the compilation, in ns since the epoch.
  };
  /// A cached artifact, for listings. `model` is a file name; both texts are empty if the entry's
  /// description is missing or damaged.
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
  /// Looks for the artifact of a request, whose key is `key`. Returns nothing if the cache does not
  /// have it. Sets isDamaged to true if an entry was removed because its description (KEY.json)
  /// could not be read.
  std::optional<Hit> find(const std::string &key, const Request &request, bool *isDamaged) const;
  /// Returns a file in the cache's folder that a compilation can write to, for keep().
  Result<UnnamedFile> newArtifact() const { return UnnamedFile::in(folder_); }
  /// Gives the artifact its name, writes its description, and removes the least recently used files
  /// until the folder is within maxBytes(). Does nothing and returns OK if the artifact is larger
  /// than maxBytes(), or if a file of the model may have changed since the compilation began.
  Status keep(const std::string &key, const Request &request, const UnnamedFile &artifact,
              const Made &made) const;
  /// Removes an artifact that turned out to be damaged.
  void drop(const Hit &hit) const;

  /// Returns descriptions of all artifacts, the most recently used first.
  std::vector<Entry> entries() const;
  /// Removes all files and returns their size in bytes.
  uint64_t clear() const;
  /// Returns the size of all files in bytes.
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
