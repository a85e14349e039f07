// Tiles as text: a description for people, and an exact text that identifies a tile in tables of
// measured tiles (`gantry tune` writes them). A tile is the part of a kernel's result that one
// invocation, subgroup or workgroup computes (tile_shape.h).
//
// An example of an exact text is "points=1x16x2 steps=8x1x1 merged=2 lanes=8 along=2 run=4". The
// words `points`, `steps`, `along`, `row`, `reduced` and `staged` are TileShape::result, reduction,
// laneDim, rowLength, reducesRows and stageSteps; `matrices` is m, n and k of MatrixTile, and
// `subgroups` its `down` and `across`; other words are named like their members. Sizes are per
// dimension; a word whose value is the default is left out.
//
// To use a measured tile, the compiler needs the tile that belongs to a text. It parses the text if
// the tile is of the kind baseline, texel or dots (TileKind) and its kernel does not process whole
// rows (TileShape::rowLength). For other tiles that can be measured, it compares the text with the
// exact texts of the candidates (chooseStagedTiles() in tile_choice.h, measured_tile.cpp).
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_shape.h"
#include "engine/base/status.h"

#include <string>
#include <string_view>

namespace gantry::codegen {

/// Returns a description for `gantry inspect`, such as "2x8 points, reduction unrolled 4".
std::string describeTile(const TileShape &tile);

/// Returns the exact text of a tile. Different candidate tiles of one kernel and kind have
/// different texts, except that the text of an attention tile (attention.h) does not contain
/// TileShape::keyRun.
std::string exactTile(const TileShape &tile);

/// Parses the exact text of a tile of the kind baseline, texel or dots, whose kernel does not
/// process whole rows. Sizes are from 1 to 65536. Fails with kInvalidArgument; the message names
/// the wrong word, or says that `points` or `steps` is missing. Does not check whether a kernel can
/// have the tile; measuredTile in tile_choice.h does.
Result<TileShape> parseTile(std::string_view text);

} // namespace gantry::codegen
