// Measured tiles: which one was fastest, by kernel and device. `gantry tune` writes them.
//
// A table is JSON (docs/tuning.md has the format):
//
//   {"gantry_tuning": 1,
//    "devices": [{"profile": "vulkan:lavapipe", "device": "llvmpipe …", "kernels": {
//      "0123456789abcdef": {"tile": "texel points=…", "ns": 98200, "predicted_ns": 120400}}}]}
//
// A kernel is named by its key (kernel_key.h), a tile by its kind and its exact text
// (tiling/tile_text.h). Unknown fields are ignored. A table says nothing about what is right:
// whoever takes a tile checks that the kernel can have it.
//
// Threads: values; builtIn may be called from any thread.
#pragma once

#include "engine/base/status.h"

#include <map>
#include <string>
#include <string_view>

namespace gantry::codegen {

struct MeasuredTile {
  std::string tile;       // "texel points=1x16x2 steps=8x1x1 lanes=8"
  std::string device;     // that it was measured on
  double ns = 0;          // that the kernel took; 0: not told
  double predictedNs = 0; // with the tile that was predicted to be fastest
};

class TuningTable {
public:
  TuningTable() = default;

  /// The tiles of one profile: of several devices, the first that has a kernel counts. `name` is
  /// the file's, for messages. kInvalidArgument, with the entry, for what is no such table;
  /// kVersionMismatch for one of a newer compiler.
  static Result<TuningTable> parse(std::string_view text, const std::string &name,
                                   const std::string &profile);
  /// Of a file; kNotFound, kIo as reading one.
  static Result<TuningTable> read(const std::string &path, const std::string &profile);
  /// What comes with the compiler; empty for most profiles.
  static TuningTable builtIn(const std::string &profile);

  /// Null where there is none.
  const MeasuredTile *find(const std::string &key) const;
  size_t size() const { return tiles_.size(); }

private:
  std::map<std::string, MeasuredTile> tiles_;
};

} // namespace gantry::codegen
