// Tiles as text: in words, for people, and exactly, so that a tile can be asked for again.
//
// Exactly: "points=1x16x2 steps=8x1x1 merged=2 lanes=8 along=2 run=4". Sizes are per dimension;
// what has its default is left out. The exact text of a tile that stages its operands can be
// compared with another, and is not read: such a tile is one of those that the tiler lists
// (tile_choice.h).
//
// Threads: pure.
#pragma once

#include "codegen/tiling/kernel_evaluator.h"
#include "engine/base/status.h"

#include <string>
#include <string_view>

namespace gantry::codegen {

/// "2x8 points, reduction unrolled 4": what inspect shows.
std::string describeTile(const TileShape &tile);

/// Two tiles are the same where their exact texts are.
std::string exactTile(const TileShape &tile);

/// The reverse, of tiles in registers. Sizes are from 1 to 65536; kInvalidArgument, with the word
/// that is wrong, for any other text. Whether a kernel can have such a tile is not asked here.
Result<TileShape> parseTile(std::string_view text);

} // namespace gantry::codegen
