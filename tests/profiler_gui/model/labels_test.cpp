// Tests the texts of times, names, locations, ratios and rates: labels of different times differ,
// and shortened names fit and keep their ends.
#include "profiler_gui/model/short_name.h"
#include "profiler_gui/model/quantity_text.h"
#include "profiler_gui/model/time_scale.h"

#include "engine/plan/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <set>
#include <string>

namespace gantry::profiler {
namespace {

constexpr uint64_t kLabelSeed = 20261123;

/// Returns the time of a label in ns: its number times its unit.
double valueOf(std::string text) {
  char *unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  const std::string name = unit;
  return number * (name == " ns" ? 1 : name == " µs" ? 1e3 : name == " ms" ? 1e6 : 1e9);
}

TEST(TimeScale, LabelsNeverRepeatAndHaveTheRightValue) {
  std::cout << "seed " << kLabelSeed << '\n';
  plan::Random random(kLabelSeed);
  for (int trial = 0; trial < 20000; ++trial) {
    const double step = std::floor(std::pow(10.0, 9 * random.unit())) * (random.below(2) + 1);
    const double begin = std::floor(std::pow(10.0, 13 * random.unit()) / step) * step;
    const TimeScale scale(begin, begin + 10 * step, step);
    const double base = scale.baseNs() > 0 ? valueOf(scale.baseText()) : 0;
    EXPECT_NEAR(base, scale.baseNs(), 0.01) << "the base is written exactly: " << scale.baseText();
    EXPECT_LE(scale.baseNs(), begin);
    std::set<std::string> labels;
    for (int i = 0; i <= 10; ++i) {
      const std::string label = scale.text(begin + i * step);
      EXPECT_TRUE(labels.insert(label).second) << label << " twice, " << step << " ns apart";
      EXPECT_LE(label.size(), 14u) << label;
      EXPECT_NEAR(base + valueOf(label), begin + i * step, step / 2) << label;
    }
  }
}

TEST(TimeScale, BasesAreRoundAndExistOnlyIfTheyShortenLabels) {
  const TimeScale late(9.6413e9, 9.6415e9, 20e3);
  EXPECT_EQ(late.baseText(), "9.641 s");
  EXPECT_EQ(late.text(9.6413271e9), "+327 µs");
  EXPECT_EQ(late.wholeText(9.64132e9), "9.641 s + 320 µs");
  const TimeScale early(0, 431e6, 50e6);
  EXPECT_EQ(early.baseText(), "");
  EXPECT_EQ(early.text(50e6), "50 ms");
  EXPECT_EQ(early.text(-1e-9), "0 ms") << "never minus zero";
  const TimeScale close(431.2e6, 431.6e6, 50e3);
  EXPECT_EQ(close.text(431.25e6), "431.25 ms");
  EXPECT_EQ(momentText(1234, 1), "1.234 µs");
}

TEST(ShortName, DropsScopesFirstAndKeepsLastComponents) {
  const auto within = [](size_t characters) {
    return [characters](std::string_view text) {
      size_t count = 0;
      for (const char c : text)
        count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      return count <= characters;
    };
  };
  const std::string path = "/features/features.4/expand3x3/Conv";
  EXPECT_EQ(shortName(path, within(80)), path);
  EXPECT_EQ(shortName(path, within(30)), "…/features.4/expand3x3/Conv");
  EXPECT_EQ(shortName(path, within(20)), "…/expand3x3/Conv");
  EXPECT_EQ(shortName(path, within(8)), "…/Conv");
  const std::string fused = "/features/features.0/Conv + /features/features.1/Relu";
  EXPECT_EQ(shortName(fused, within(46)), "…/features.0/Conv + /features/features.1/Relu");
  EXPECT_EQ(shortName(fused, within(20)), "…/Conv + …/Relu");
  EXPECT_EQ(shortName("gradient_norm_of_layer_17", within(12)), "gradi…yer_17");
  EXPECT_EQ(shortName("/a/a.2/Mul_output_0", within(9)), "Mul_…ut_0") << "only one ellipsis";
  EXPECT_EQ(shortName(fused, within(11)), "Conv + Relu");
  EXPECT_EQ(shortName("xyz", within(0)), "");
  EXPECT_EQ(shortName("", within(4)), "");
}

TEST(ShortName, EveryShortenedNameFitsAndHasWholeCharacters) {
  std::cout << "seed " << kLabelSeed << '\n';
  plan::Random random(kLabelSeed);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text;
    for (uint32_t i = 0; i < 1 + random.below(60); ++i) {
      static const char *const kPieces[] = {"a", "b", "/", "ü", "µ", " + ", "…", "7", "漢"};
      text += kPieces[random.below(9)];
    }
    const size_t maxBytes = random.below(40);
    const auto fits = [&](std::string_view part) { return part.size() <= maxBytes; };
    const std::string cut = shortName(text, fits);
    EXPECT_TRUE(cut.empty() || fits(cut)) << text << " to " << maxBytes << ": " << cut;
    for (size_t i = 0; i < cut.size();) {
      const auto lead = static_cast<unsigned char>(cut[i]);
      const size_t length = lead < 0x80 ? 1 : lead >= 0xe0 ? 3 : 2;
      ASSERT_NE(lead & 0xc0, 0x80) << "a character was cut: " << cut;
      i += length;
    }
  }
}

TEST(ShortLocation, KeepsFileAndNode) {
  EXPECT_EQ(shortLocation("/models/squeezenet/model.onnx:18"), "model.onnx:18");
  EXPECT_EQ(shortLocation("model.onnx:/features/Conv"), "model.onnx:/features/Conv");
  EXPECT_EQ(shortLocation("a/gpt.mlir:4:7"), "gpt.mlir:4:7");
  EXPECT_EQ(shortLocation("Conv_7"), "Conv_7");
}

TEST(QuantityText, RatiosAndRatesHaveThreeDigits) {
  EXPECT_EQ(ratioText(1.3249), "×1.32");
  EXPECT_EQ(ratioText(0.0432), "×0.043");
  EXPECT_EQ(ratioText(250), "×250");
  EXPECT_EQ(rateText(12.34, "GFLOP/s"), "12.3 GFLOP/s");
  EXPECT_EQ(rateText(12.34, ""), "12.3");
}

} // namespace
} // namespace gantry::profiler
