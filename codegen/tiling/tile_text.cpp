// Implements tile_text.h.
#include "codegen/tiling/tile_text.h"

#include <charconv>
#include <set>

namespace gantry::codegen {

namespace {

constexpr int64_t kMaxSize = 65536;
constexpr size_t kMaxRank = 16;

using Sizes = llvm::SmallVector<int64_t>;

/// Sizes as "4x8", or "-" for an empty list.
std::string sizesText(llvm::ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "-" : text;
}

/// Parses a text of sizesText(). Returns false for any other text, and for sizes out of range.
bool parseSizes(std::string_view text, Sizes &sizes) {
  sizes.clear();
  if (text == "-")
    return true;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    const auto [next, error] = std::from_chars(at, end, sizes.emplace_back(0));
    if (error != std::errc() || sizes.back() < 1 || sizes.back() > kMaxSize ||
        sizes.size() > kMaxRank)
      return false;
    if (next == end)
      return true;
    if (*next != 'x')
      return false;
    at = next + 1;
  }
}

bool parseNumber(std::string_view text, int64_t min, int64_t &number) {
  const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && next == text.data() + text.size() && number >= min &&
         number <= kMaxSize;
}

} // namespace

std::string describeTile(const TileShape &tile) {
  if (tile.rowLength)
    return "a row of " + std::to_string(tile.rowLength) + " by " + std::to_string(tile.lanes) +
           (tile.lanes > 1 ? " lanes" : " lane") + ", " + std::to_string(tile.heldColumns()) +
           (tile.reducesRows ? " elements" : " points") + " at a time";
  std::string text = tile.result.empty() ? "1" : "";
  if (const MatrixTile &matrix = tile.matrix) {
    auto by = [](int64_t x, int64_t y) { return std::to_string(x) + "x" + std::to_string(y); };
    return by(matrix.down, matrix.across) + " subgroups of " +
           by(tile.result[matrix.rows] / matrix.vectorsPerLane(), tile.result[matrix.columns] / 4) +
           " matrices of " + by(matrix.m, matrix.n) + "x" + std::to_string(matrix.k) + ", " +
           std::to_string(matrix.depth) + (matrix.flat ? " of all" : "") + " steps staged at once";
  }
  if (tile.lanes > 1)
    text = std::to_string(tile.lanes) + " lanes of ";
  if (!tile.threads.empty()) {
    for (size_t d = 0; d < tile.threads.size(); ++d)
      text += (d ? "x" : "") + std::to_string(tile.threads[d]);
    text += " invocations of ";
  }
  for (size_t d = 0; d < tile.result.size(); ++d) {
    if (d)
      text += "x";
    text += std::to_string(tile.result[d]);
  }
  text += text == "1" ? " point" : " points";
  if (tile.lanes > 1)
    text += ", lanes along dimension " + std::to_string(tile.laneDim);
  int64_t unrolled = 1;
  for (int64_t size : tile.reduction)
    unrolled *= size;
  if (unrolled > 1)
    text += ", reduction unrolled " + std::to_string(unrolled);
  if (tile.dots)
    text += ", dot products of four";
  if (tile.keys > 0)
    text += ", " + std::to_string(tile.keys * tile.lanes) + " keys at a time";
  if (!tile.stageSteps.empty()) {
    int64_t steps = 1;
    for (int64_t size : tile.stageSteps)
      steps *= size;
    text += ", " + std::to_string(steps) + " steps staged at once" +
            (tile.buffers > 1 ? ", double-buffered" : "");
  }
  return text;
}

std::string exactTile(const TileShape &tile) {
  std::string text = "points=" + sizesText(tile.result) + " steps=" + sizesText(tile.reduction);
  auto add = [&](const char *name, int64_t value, int64_t otherwise) {
    if (value != otherwise)
      text += std::string(" ") + name + "=" + std::to_string(value);
  };
  if (tile.merged != ~0u)
    add("merged", tile.merged, -1);
  add("lanes", tile.lanes, 1);
  add("along", tile.lanes > 1 ? tile.laneDim : 0, 0);
  add("run", tile.run, 1);
  add("row", tile.rowLength, 0);
  if (tile.reducesRows)
    text += " reduced";
  add("keys", tile.keys, 0);
  if (tile.dots)
    text += " dots";
  if (!tile.threads.empty())
    text += " threads=" + sizesText(tile.threads) + " staged=" + sizesText(tile.stageSteps);
  add("buffers", tile.buffers, 1);
  if (const MatrixTile &matrix = tile.matrix)
    text += " matrices=" + sizesText({matrix.m, matrix.n, matrix.k}) +
            " subgroups=" + sizesText({matrix.down, matrix.across}) +
            " depth=" + std::to_string(matrix.depth) + (matrix.flat ? " flat" : "");
  return text;
}

Result<TileShape> parseTile(std::string_view text) {
  TileShape tile;
  std::set<std::string_view> seen; // The names of the words so far.
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    int64_t number = 0;
    bool good = false;
    if (name == "points") {
      good = parseSizes(value, tile.result);
    } else if (name == "steps") {
      good = parseSizes(value, tile.reduction);
    } else if (name == "merged") {
      good = parseNumber(value, 0, number);
      tile.merged = static_cast<unsigned>(number);
    } else if (name == "along") {
      good = parseNumber(value, 0, number);
      tile.laneDim = static_cast<unsigned>(number);
    } else if (name == "lanes") {
      good = parseNumber(value, 1, number);
      tile.lanes = number;
    } else if (name == "run") {
      good = parseNumber(value, 1, number);
      tile.run = number;
    } else if (word == "dots") {
      good = tile.dots = true;
    }
    if (!good || !seen.insert(name).second)
      return Status(StatusCode::kInvalidArgument,
                    "'" + std::string(word) +
                        "' is not a word of a tile's text, or it is repeated, or a size in it is "
                        "not from 1 to 65536");
  }
  if (seen.count("points") == 0 || seen.count("steps") == 0)
    return Status(StatusCode::kInvalidArgument, "a tile needs points=… and steps=…");
  return tile;
}

} // namespace gantry::codegen
