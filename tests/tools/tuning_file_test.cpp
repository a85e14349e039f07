// Tests the table of measured tiles (tuning_file.h): writing one line per kernel, keeping the
// entries of other kernels and devices, and refusing files that hold no such table.
#include "tools/gantry/io/tuning_file.h"

#include "tests/support/scratch.h"
#include "tools/gantry/error.h"

#include <gtest/gtest.h>

namespace gantry::tool {
namespace {

using test::ScratchFolder;

TuningFile fileOf(const ScratchFolder &folder, const std::string &text) {
  const std::string path = folder.path("t.json");
  std::ofstream(path) << text;
  return TuningFile::open(path);
}

TEST(TuningFile, CreatesATableIfTheFileDoesNotExist) {
  ScratchFolder folder;
  TuningFile file = TuningFile::open(folder.path("none.json"));
  file.put("vulkan:p", "device", {"k1", "texel points=4", "Relu \"r\"", 1000.4, 2000.6});
  EXPECT_EQ(file.text(),
            "{\n"
            " \"gantry_tuning\": 1,\n"
            " \"devices\": [\n"
            "  {\n"
            "   \"profile\": \"vulkan:p\",\n"
            "   \"device\": \"device\",\n"
            "   \"kernels\": {\n"
            "    \"k1\": {\"tile\":\"texel points=4\",\"ns\":1000,\"predicted_ns\":2001,"
            "\"what\":\"Relu \\\"r\\\"\"}}}]}\n");
}

TEST(TuningFile, KeepsTheOtherEntries) {
  ScratchFolder folder;
  const std::string other =
      R"({"profile":"q","device":"a","kernels":{"k1":{"tile":"x","more":[1,{"a":2}]}},"note":7})";
  TuningFile file =
      fileOf(folder, R"({"gantry_tuning":1,"by":"me","devices":[)" + other +
                         R"(,{"profile":"p","device":"a","kernels":{"k0":{"tile":"old","by":"us"},)"
                         R"("k2":{"tile":"y"}}}]})");
  file.put("p", "a", {"k0", "new", "Conv", 1, 2});
  file.put("p", "b", {"k0", "newer", "Conv", 3, 4});
  const auto json = nlohmann::json::parse(file.text());
  EXPECT_EQ(json["by"], "me");
  ASSERT_EQ(json["devices"].size(), 3u);
  // Devices that were measured last come first.
  EXPECT_EQ(json["devices"][0]["device"], "b");
  EXPECT_EQ(json["devices"][0]["kernels"]["k0"]["tile"], "newer");
  EXPECT_EQ(json["devices"][1]["kernels"]["k0"]["tile"], "new");
  EXPECT_EQ(json["devices"][1]["kernels"]["k0"]["by"], "us");
  EXPECT_EQ(json["devices"][1]["kernels"]["k2"]["tile"], "y");
  EXPECT_EQ(json["devices"][2], nlohmann::json::parse(other));
  // Reading and writing the table again does not change it.
  EXPECT_EQ(fileOf(folder, file.text()).text(), file.text());
}

TEST(TuningFile, RefusesOtherFiles) {
  ScratchFolder folder;
  for (const char *text : {"", "{", "[]", "7", "{}", R"({"devices":{}})", R"({"devices":[1]})",
                           R"({"devices":[{}]})", R"({"devices":[{"kernels":[]}]})", "\xff\xfe"})
    EXPECT_THROW(fileOf(folder, text), ToolError) << text;
}

} // namespace
} // namespace gantry::tool
