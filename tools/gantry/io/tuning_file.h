// The table of measured tiles that `gantry tune` extends. docs/tuning.md has the format; the
// compiler reads the file and checks it.
//
// Entries of other devices, profiles and kernels, and unknown fields, are kept. Each kernel is on
// one line, so that two versions of a file can be compared line by line.
//
// Threads: values.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace gantry::tool {

struct MeasuredTile {
  std::string key, tile;
  std::string what; // Names of the kernel's operators, for readers of the file.
  double ns = 0, predictedNs = 0;
};

class TuningFile {
public:
  /// Reads a table; an absent file gives an empty one. Throws ToolError(kBadInput) if the file is
  /// not a table.
  static TuningFile open(const std::filesystem::path &path);

  /// Replaces the kernel's entry for this device and moves the device to the front: if several
  /// devices of a profile have a kernel, the compiler takes the first.
  void put(const std::string &profile, const std::string &device, const MeasuredTile &tile);
  std::string text() const;

private:
  using Json = nlohmann::ordered_json;
  Json json_ = Json::object({{"gantry_tuning", 1}, {"devices", Json::array()}});
};

} // namespace gantry::tool
