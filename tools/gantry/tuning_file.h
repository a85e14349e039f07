// The file of measured tiles that `gantry tune` adds to (docs/tuning.md has the format; the
// compiler reads it, and judges it).
//
// What a file holds stays: entries of other devices, profiles and kernels, and fields that are not
// known here. One kernel is one line, so that two versions of a file can be compared.
//
// Threads: values.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace gantry::tool {

struct MeasuredTile {
  std::string key, tile, what; // what: the kernel's operators, for people
  double ns = 0, predictedNs = 0;
};

class TuningFile {
public:
  /// An empty one where there is no such file. Throws ToolError(kBadInput) for what is none.
  static TuningFile open(const std::filesystem::path &path);

  /// Replaces what is known of the kernel on this device, which comes first from now on: of several
  /// devices of a profile, the compiler takes the first that has a kernel.
  void put(const std::string &profile, const std::string &device, const MeasuredTile &tile);
  std::string text() const;

private:
  using Json = nlohmann::ordered_json;
  Json json_ = Json::object({{"gantry_tuning", 1}, {"devices", Json::array()}});
};

} // namespace gantry::tool
