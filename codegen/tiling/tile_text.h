// Tiles as text: a description for people, and an exact text by which a tile can be asked for
// again.
//
// An exact text is "points=1x16x2 steps=8x1x1 merged=2 lanes=8 along=2 run=4". Sizes are per
// dimension; a word whose value is the default is left out. The exact text of a staged tile is only
// compared, never parsed, because such a tile is always one of the ladder (tile_choice.h).
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_shape.h"
#include "engine/base/status.h"

#include <string>
#include <string_view>

namespace gantry::codegen {

/// "2x8 points, reduction unrolled 4": what inspect shows.
std::string describeTile(const TileShape &tile);

/// Two tiles are equal if and only if their exact texts are.
std::string exactTile(const TileShape &tile);

/// Parses the exact text of a tile in registers. Sizes are from 1 to 65536. Any other text is
/// kInvalidArgument, with the word that is wrong. Does not check whether a kernel can have the tile
/// (measuredTile in tile_choice.h).
Result<TileShape> parseTile(std::string_view text);

} // namespace gantry::codegen
