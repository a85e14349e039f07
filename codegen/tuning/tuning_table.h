// Reads tables of measured tiles. A tile is the part of a kernel's result that one invocation,
// subgroup or workgroup computes; a kernel can be generated with different tiles. A table has, for
// a device, the tile that was fastest for each kernel. `gantry tune` writes such tables.
//
// A table is JSON (docs/tuning.md has the format):
//
//   {"gantry_tuning": 1,
//    "devices": [{"profile": "vulkan:lavapipe", "device": "llvmpipe …", "kernels": {
//      "0123456789abcdef": {"tile": "texel points=…", "ns": 98200, "predicted_ns": 120400}}}]}
//
// A profile is the description of a device that kernels are compiled for
// (engine/base/device_profile.h). A kernel is identified by its key (kernel_key.h), a tile by its
// kind and its exact text (tiling/tile_text.h). Times are in nanoseconds. Unknown fields are
// ignored. A table cannot make a wrong kernel: the pass emit-kernels checks that the kernel can
// have the tile.
//
// Thread safety: a table is a value; builtIn() may be called from any thread.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "engine/base/status.h"

#include <map>
#include <string>
#include <string_view>

namespace gantry::codegen {

struct MeasuredTile {
  TileKind kind = TileKind::kBaseline;
  std::string tile;       // The exact text, such as "points=1x16x2 steps=8x1x1 lanes=8".
  std::string device;     // The name of the device on which the tile was measured.
  double ns = 0;          // The kernel's time with this tile in nanoseconds; 0 if unknown.
  double predictedNs = 0; // Like ns, with the tile that is predicted to be the fastest.
};

class TuningTable {
public:
  TuningTable() = default;

  /// Reads the tiles of one profile from the text of a table. If several devices of the profile
  /// have the same kernel, the first one is used. `name` is the file's name for messages. Fails
  /// with kInvalidArgument if the text is not a table (the message names the wrong entry), and with
  /// kVersionMismatch if the table was written by a newer compiler in a newer format.
  static Result<TuningTable> parse(std::string_view text, const std::string &name,
                                   const std::string &profile);
  /// Reads and parses a file. Fails as parse() does, and with kNotFound or kIo.
  static Result<TuningTable> read(const std::string &path, const std::string &profile);
  /// Returns the tiles of one profile from the table that is built into the compiler. The result is
  /// empty for most profiles.
  static TuningTable builtIn(const std::string &profile);

  /// Returns the tile of the kernel with this key, or null.
  const MeasuredTile *find(const std::string &key) const;
  size_t size() const { return tiles_.size(); }

private:
  std::map<std::string, MeasuredTile> tiles_;
};

} // namespace gantry::codegen
