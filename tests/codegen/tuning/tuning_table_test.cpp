// Tests tables of measured tiles (docs/tuning.md) and the text form of tiles: parsing, error
// messages, damaged texts and the built-in table. GANTRY_FUZZ_SEED sets the seed of the damage; the
// default is random, and the test prints the seed.
#include "codegen/tuning/tuning_table.h"
#include "codegen/tiling/tile_text.h"
#include "engine/base/device_profile.h"
#include "tests/support/scratch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace gantry::codegen {
namespace {

constexpr int kDamaged = 20000;

const std::string kTable = R"({"gantry_tuning": 1, "by": ["someone", {"at": "noon"}], "devices": [
  {"profile": "p", "device": "a", "kernels": {
    "k1": {"tile": "texel points=4x4 steps=8x1x1 lanes=8 along=1 run=4", "ns": 98.5, "predicted_ns": 1e3},
    "k2": {"tile": "baseline points=1 steps=-", "what": "Relu \"r\" \u00e9"}}},
  {"profile": "q", "device": "a", "kernels": {"k1": {"tile": "baseline of q"}}},
  {"profile": "p", "device": "b", "kernels": {"k1": {"tile": "dots of b"}, "k3": {"tile": "dots of b"}}}]})";

std::mt19937 seeded() {
  const char *given = std::getenv("GANTRY_FUZZ_SEED");
  const unsigned seed = given ? unsigned(std::atoi(given)) : std::random_device{}();
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  printf("GANTRY_FUZZ_SEED=%u\n", seed);
  return std::mt19937(seed);
}

/// Returns the text after one to four random erasures, insertions or copies.
std::string damaged(std::string text, std::mt19937 &random) {
  static const std::string kParts[] = {"{",       "}",    "[",  "]",     "\"",
                                       ",",       ":",    "-1", "1e999", "null",
                                       "\\u0000", "\xff", "x",  "=",     "99999999999999999999",
                                       " "};
  for (unsigned change = 0; change <= random() % 4; ++change) {
    const size_t at = random() % (text.size() + 1);
    switch (random() % 3) {
    case 0:
      text.erase(at, random() % 20);
      break;
    case 1:
      text.insert(at, kParts[random() % std::size(kParts)]);
      break;
    default:
      text.insert(at, text.substr(random() % (text.size() + 1), random() % 40));
    }
  }
  return text;
}

TEST(TuningTable, UsesTheFirstEntryOfAKernelForTheProfile) {
  auto table = TuningTable::parse(kTable, "t.json", "p");
  ASSERT_TRUE(table.isOk()) << table.status().message();
  EXPECT_EQ(table->size(), 3u);
  ASSERT_NE(table->find("k1"), nullptr);
  EXPECT_EQ(table->find("k1")->kind, TileKind::kTexel);
  EXPECT_EQ(table->find("k1")->tile, "points=4x4 steps=8x1x1 lanes=8 along=1 run=4");
  EXPECT_EQ(table->find("k1")->device, "a");
  EXPECT_DOUBLE_EQ(table->find("k1")->ns, 98.5);
  EXPECT_DOUBLE_EQ(table->find("k1")->predictedNs, 1000);
  EXPECT_EQ(table->find("k2")->ns, 0);
  EXPECT_EQ(table->find("k3")->device, "b");
  EXPECT_EQ(table->find("k4"), nullptr);
  auto other = TuningTable::parse(kTable, "t.json", "q");
  ASSERT_TRUE(other.isOk());
  EXPECT_EQ(other->find("k1")->tile, "of q");
  EXPECT_EQ(TuningTable::parse(kTable, "t.json", "r")->size(), 0u);
}

TEST(TuningTable, ErrorsNameTheEntry) {
  // The table is for profile "p", but parse() also checks the entries of other profiles.
  auto bad = TuningTable::parse(R"({"gantry_tuning": 1, "devices": [{"profile": "q", "device": "d",
      "kernels": {"k7": {"tile": ""}}}]})",
                                "t.json", "p");
  ASSERT_FALSE(bad.isOk());
  EXPECT_EQ(bad.status().message(), "t.json: kernel \"k7\" of \"d\" has no \"tile\"");
  bad = TuningTable::parse(R"({"gantry_tuning": 1, "devices": [{"profile": "q", "device": "d",
      "kernels": {"k7": {"tile": "warp points=4"}}}]})",
                           "t.json", "p");
  ASSERT_FALSE(bad.isOk());
  EXPECT_EQ(bad.status().message(),
            "t.json: kernel \"k7\" of \"d\" has a \"tile\" that is not a kind, a space and a text; "
            "the kinds are baseline, texel, staged, matrices, dots, subgroup");
  EXPECT_EQ(TuningTable::parse(R"({"gantry_tuning": 9, "devices": []})", "t", "p").status().code(),
            StatusCode::kVersionMismatch);
  EXPECT_EQ(TuningTable::read("/nonexistent/t.json", "p").status().code(), StatusCode::kNotFound);
}

TEST(TuningTable, DamagedTextIsParsedOrRefused) {
  std::mt19937 random = seeded();
  int refused = 0;
  for (int i = 0; i < kDamaged; ++i) {
    const std::string text = damaged(kTable, random);
    const auto table = TuningTable::parse(text, "t.json", "p");
    if (table.isOk()) {
      EXPECT_LE(table->size(), 8u);
    } else {
      ++refused;
      EXPECT_EQ(table.status().message().rfind("t.json: ", 0), 0u) << table.status().message();
      EXPECT_EQ(table.status().message().find('\n'), std::string::npos) << text;
    }
  }
  EXPECT_GT(refused, kDamaged / 4);
}

TEST(TuningTable, DeepNestingIsRefused) {
  for (const char *open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 200000; ++i)
      text += open;
    EXPECT_FALSE(TuningTable::parse(text, "t.json", "p").isOk());
  }
}

TEST(TuningTable, TheBuiltInTableIsValid) {
  for (const std::string &profile : profileNames()) {
    const TuningTable table = TuningTable::builtIn(profile);
    EXPECT_EQ(table.size() > 0, profile == "vulkan:lavapipe") << profile;
  }
  const std::string path = GANTRY_TEST_DATA "/../../codegen/tuning/lavapipe.json";
  const auto file = TuningTable::read(path, "vulkan:lavapipe");
  ASSERT_TRUE(file.isOk()) << file.status().message();
  EXPECT_EQ(file->size(), TuningTable::builtIn("vulkan:lavapipe").size());
}

TEST(TileText, ParsesWhatItPrints) {
  for (const char *text :
       {"points=- steps=-", "points=1x16x2 steps=8x1x1",
        "points=1x16x2 steps=8x1x1 merged=2 lanes=8 along=2 run=4", "points=65536 steps=- merged=0",
        "points=4x4 steps=- lanes=8", "points=4x4 steps=8 dots"}) {
    const auto tile = parseTile(text);
    ASSERT_TRUE(tile.isOk()) << text << ": " << tile.status().message();
    EXPECT_EQ(exactTile(*tile), text);
  }
  EXPECT_FALSE(parseTile("points=4x4 steps=8 dots dots").isOk());
  EXPECT_FALSE(parseTile("points=4x4 steps=8 dots=1").isOk());
  EXPECT_FALSE(parseTile("points=4x4 steps=8 run=4 run=2").isOk());
}

TEST(TileText, DamagedTextIsParsedOrRefused) {
  std::mt19937 random = seeded();
  for (int i = 0; i < kDamaged; ++i) {
    const auto tile =
        parseTile(damaged("points=1x16x2 steps=8x1x1 merged=2 lanes=8 along=2 run=4", random));
    if (!tile.isOk())
      continue;
    for (const auto &sizes : {tile->result, tile->reduction})
      for (int64_t size : sizes)
        EXPECT_TRUE(size >= 1 && size <= 65536);
    EXPECT_GE(tile->lanes, 1);
    EXPECT_GE(tile->run, 1);
    EXPECT_EQ(exactTile(*parseTile(exactTile(*tile))), exactTile(*tile));
  }
}

} // namespace
} // namespace gantry::codegen
