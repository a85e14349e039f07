// Tables of measured tiles: the tile that was fastest for a kernel on a device. `gantry tune`
// writes them.
//
// A table is JSON (docs/tuning.md has the format):
//
//   {"gantry_tuning": 1,
//    "devices": [{"profile": "vulkan:lavapipe", "device": "llvmpipe …", "kernels": {
//      "0123456789abcdef": {"tile": "texel points=…", "ns": 98200, "predicted_ns": 120400}}}]}
//
// A kernel is named by its key (kernel_key.h), a tile by its kind and its exact text
// (tiling/tile_text.h). Unknown fields are ignored. A table cannot make a wrong kernel:
// emit-kernels checks that the kernel can have the tile.
//
// Thread safety: a table is a value; builtIn() may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <map>
#include <string>
#include <string_view>

namespace gantry::codegen {

struct MeasuredTile {
  std::string tile;       // "texel points=1x16x2 steps=8x1x1 lanes=8"
  std::string device;     // The device of the measurement.
  double ns = 0;          // Time of the kernel in nanoseconds; 0 if the table does not say.
  double predictedNs = 0; // The same with the tile that was predicted to be fastest.
};

class TuningTable {
public:
  TuningTable() = default;

  /// Reads the tiles of one profile from the text of a table. Where several devices of the profile
  /// have the same kernel, the first one counts. `name` is the file's name for messages. Fails with
  /// kInvalidArgument, naming the entry, where the text is not a table, and with kVersionMismatch
  /// for the table of a newer compiler.
  static Result<TuningTable> parse(std::string_view text, const std::string &name,
                                   const std::string &profile);
  /// Reads and parses a file. Fails as parse() does, and with kNotFound or kIo.
  static Result<TuningTable> read(const std::string &path, const std::string &profile);
  /// Returns the table that is built into the compiler; it is empty for most profiles.
  static TuningTable builtIn(const std::string &profile);

  /// Returns the tile of the kernel with this key, or null.
  const MeasuredTile *find(const std::string &key) const;
  size_t size() const { return tiles_.size(); }

private:
  std::map<std::string, MeasuredTile> tiles_;
};

} // namespace gantry::codegen
