// The table of measured tiles that `gantry tune` extends. A tile is the part of a kernel's result
// that one invocation or workgroup computes. The table has, for each device and kernel, a tile that
// was faster than the one that the compiler would choose. docs/tuning.md describes the format. The
// compiler reads the file and checks it in full; this class checks only what it needs.
//
// Entries of other devices, profiles and kernels, and unknown fields, are kept. Each kernel is on
// one line, so that two versions of a file can be compared line by line.
//
// Threads: a TuningFile is a plain value.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace gantry::tool {

struct MeasuredTile {
  std::string key, tile;  // gantry_dispatch_info_t: kernel_key, exact_tile.
  std::string what;       // Names of the kernel's operators, for readers of the file.
  double ns = 0;          // Time of one dispatch (kernel launch) with the tile.
  double predictedNs = 0; // Measured time with the tile that the cost model predicts as fastest.
};

class TuningFile {
public:
  /// Reads a table; an absent file gives an empty one. Throws ToolError(kBadInput) if the file is
  /// not a table.
  static TuningFile open(const std::filesystem::path &path);

  /// Adds or replaces the kernel's entry for this device and its device profile, which describes
  /// the limits and features of a kind of device. Moves the device to the front of the file: if
  /// several devices of a profile have an entry for a kernel, the compiler uses the first one.
  void put(const std::string &profile, const std::string &device, const MeasuredTile &tile);
  /// Returns the file's content.
  std::string text() const;

private:
  using Json = nlohmann::ordered_json;
  Json json_ = Json::object({{"gantry_tuning", 1}, {"devices", Json::array()}});
};

} // namespace gantry::tool
