// Tests the SVG picture of a plan, the kinds of operators, and the shortening of labels. With
// GANTRY_WRITE_PLAN_SVG=FILE, the test writes a picture to FILE.
#include "tools/gantry/report/plan_svg.h"

#include "engine/op_kind/op_kind.h"

#include "tests/tools/synthetic_plan.h"
#include "tools/gantry/report/svg_text.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>

namespace gantry::tool {
namespace {

/// Returns whether every opening tag has its closing tag, attributes are quoted, and there is no
/// stray '<' or '&'.
bool isWellFormed(const std::string &xml) {
  std::vector<std::string> open;
  static const std::regex kTag(R"(^<(/?)([a-zA-Z]+)((?:\s+[a-zA-Z:0-9-]+="[^"<]*")*)\s*(/?)>)");
  static const std::regex kEntity(R"(^&(amp|lt|gt|quot);)");
  for (size_t i = 0; i < xml.size();) {
    if (xml[i] == '<') {
      size_t end = xml.find('>', i);
      if (end == std::string::npos)
        return false;
      std::smatch match;
      std::string tag = xml.substr(i, end - i + 1);
      if (tag.size() < 8192 ? !std::regex_search(tag, match, kTag) : !tag.starts_with("<path"))
        return false;
      if (tag.size() >= 8192) { // A long path; std::regex could exhaust the stack on it.
        i = end + 1;
        continue;
      }
      if (match[1].length()) {
        if (open.empty() || open.back() != match[2])
          return false;
        open.pop_back();
      } else if (!match[4].length()) {
        open.push_back(match[2]);
      }
      i += static_cast<size_t>(match.length());
    } else {
      if (xml[i] == '&' && !std::regex_search(xml.substr(i, 8), kEntity))
        return false;
      ++i;
    }
  }
  return open.empty();
}

size_t countOf(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

TEST(PlanSvg, DrawsEveryTensorOnce) {
  Description plan = syntheticSqueezenet();
  std::string svg = drawPlan(plan, "squeezenet1_1");
  EXPECT_TRUE(isWellFormed(svg));
  EXPECT_EQ(countOf(svg, "<g class=\"tensor\">"), plan.values.size());
  EXPECT_NE(svg.find("lower bound"), std::string::npos);
  EXPECT_NE(svg.find("peak at command " + std::to_string(plan.peakCommand)), std::string::npos);
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos);
  for (const ValueInfo &value : plan.values)
    EXPECT_NE(svg.find("<title>" + value.name), std::string::npos) << value.name;
  if (const char *path = std::getenv("GANTRY_WRITE_PLAN_SVG"))
    std::ofstream(path) << svg;
}

TEST(PlanSvg, RectanglesLieInThePlotAndDoNotOverlap) {
  Description plan = syntheticSqueezenet();
  std::string svg = drawPlan(plan, "squeezenet1_1");
  struct Rect {
    double x, y, w, h;
  };
  std::vector<Rect> rects;
  static const std::regex kRect(
      R"re(<g class="tensor"><rect class="\w+" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)")re");
  for (std::sregex_iterator at(svg.begin(), svg.end(), kRect), end; at != end; ++at)
    rects.push_back(
        {std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  ASSERT_EQ(rects.size(), plan.values.size());
  for (const Rect &a : rects) {
    EXPECT_GE(a.x, 92 - .01);
    EXPECT_LE(a.x + a.w, 1056.01);
    EXPECT_GE(a.y, 124 - .01);
    EXPECT_LE(a.y + a.h, 536.01 + 1);
    for (const Rect &b : rects) {
      if (&a == &b)
        continue;
      double across = std::min(a.x + a.w, b.x + b.w) - std::max(a.x, b.x);
      double up = std::min(a.y + a.h, b.y + b.h) - std::max(a.y, b.y);
      EXPECT_FALSE(across > .05 && up > 1.05) << "at " << a.x << "," << a.y;
    }
  }
}

TEST(PlanSvg, PartsOfAConcatenationAreOneRectangle) {
  SyntheticPlan parts;
  const size_t a = parts.add("Conv_0", "a", {256, 64}, {});
  const size_t b = parts.add("Conv_1", "b", {128, 64}, {});
  parts.add("Relu_2", "c", {384, 64}, {a, b});
  Description plan = parts.finish("m.onnx", 0);
  const uint64_t offsets[] = {0, *plan.values[0].sizeBytes, 0};
  for (size_t i = 0; i < 3; ++i) {
    plan.values[i].slot = 0;
    plan.values[i].offset = offsets[i];
  }
  plan.arenaBytes = plan.lowerBoundBytes = *plan.values[2].sizeBytes;
  const std::string svg = drawPlan(plan, "joined");
  static const std::regex kRect(
      R"re(<g class="tensor"><rect class="\w+" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)")re");
  std::vector<std::pair<std::string, std::string>> rects;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kRect), end; at != end; ++at)
    rects.emplace_back((*at)[1], (*at)[2]);
  ASSERT_EQ(rects.size(), 3U);
  EXPECT_EQ(rects[0], rects[1]);
  EXPECT_EQ(rects[0], rects[2]);
}

TEST(PlanSvg, LabelsAreNarrowerThanTheirClip) {
  std::string svg = drawPlan(syntheticSqueezenet(), "squeezenet1_1");
  static const std::regex kLying(
      R"re(<svg x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="[\d.]+" pointer-events="none">\n<text class="label"[^>]*font-size="([\d.]+)"[^>]*>([^<]*)</text>)re");
  int labels = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kLying), end; at != end; ++at, ++labels)
    EXPECT_LE(textWidth((*at)[3].str(), std::stod((*at)[2])), std::stod((*at)[1])) << (*at)[3];
  EXPECT_GT(labels, 3);
}

TEST(PlanSvg, EscapesHostileNames) {
  SyntheticPlan plan;
  size_t a = plan.add("<script>alert(\"1\")</script> & Conv", "a<b>&\"\x01\xff", {64, 64}, {});
  plan.add("]]>", "x", {64, 64}, {a});
  std::string svg = drawPlan(plan.finish("m.onnx", 0), "<&>");
  EXPECT_TRUE(isWellFormed(svg));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
}

TEST(PlanSvg, DrawsAnEmptyArena) {
  Description plan;
  plan.source = "identity.onnx";
  plan.arenaBytes = plan.lowerBoundBytes = 0;
  EXPECT_TRUE(isWellFormed(drawPlan(plan, "identity")));
}

TEST(PlanSvg, DrawsManyCommandsAndHugeSizes) {
  SyntheticPlan plan;
  size_t x = plan.add("Conv_0", "t0", {1 << 15, 1 << 15, 1 << 10}, {});
  for (int i = 1; i < 3000; ++i)
    x = plan.add("Add", "t", {1 << 15, i}, {x}, i % 3 == 0);
  std::string svg = drawPlan(plan.finish("deep.onnx", 0), "deep");
  EXPECT_TRUE(isWellFormed(svg));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(OpKind, TheMostExpensiveFusedOperatorDecides) {
  EXPECT_EQ(opKindOf("Conv_0 + Relu_1"), OpKind::kConvolution);
  EXPECT_EQ(opKindOf("Relu_1 + Conv_0"), OpKind::kConvolution);
  EXPECT_EQ(opKindOf("/features/squeeze/Conv"), OpKind::kConvolution);
  EXPECT_EQ(opKindOf("MatMul_3 + Add_4"), OpKind::kMatmul);
  EXPECT_EQ(opKindOf("GlobalAveragePool_66"), OpKind::kPool);
  EXPECT_EQ(opKindOf("LayerNormalization"), OpKind::kNormalise);
  EXPECT_EQ(opKindOf("/a/Concat"), OpKind::kMovement);
  EXPECT_EQ(opKindOf("HardSwish_9"), OpKind::kElementwise);
  EXPECT_EQ(opKindOf("node_17"), OpKind::kOther);
  EXPECT_EQ(opKindOf(""), OpKind::kOther);
}

TEST(SvgText, ShortensTextToAWidth) {
  EXPECT_EQ(fitStart("abc", 100, 10), "abc");
  const std::string start = fitStart("/features/3/expand1x1/Conv", 80, 10);
  EXPECT_TRUE(start.starts_with("/feat"));
  EXPECT_TRUE(start.ends_with("…"));
  EXPECT_LE(textWidth(start, 10), 80);
  EXPECT_EQ(fitStart("abcdefgh", 12, 10), "");
}

} // namespace
} // namespace gantry::tool
