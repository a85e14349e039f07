// Tests the texts and colours of the window: times, names, budgets, artifacts that were never run,
// and the distinctness of colours.
#include "tests/profiler_gui/panels/ui_fixture.h"

#include "engine/op_kind/op_kind.h"
#include "profiler_gui/model/quantity_text.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <set>

namespace gantry::profiler {
namespace {

class ProfilerLabels : public UiFixture {
protected:
  const std::vector<SemanticItem> &items() { return script_->window().semantics().items(); }
  std::vector<SemanticItem> all(const std::string &id) {
    std::vector<SemanticItem> found;
    std::copy_if(items().begin(), items().end(), std::back_inserter(found),
                 [&](const SemanticItem &item) { return item.id == id; });
    return found;
  }
  void expectTicksDiffer() {
    std::set<std::string> seen;
    const std::vector<SemanticItem> ticks = all("time_axis/tick");
    EXPECT_GE(ticks.size(), 2u);
    for (const SemanticItem &tick : ticks)
      EXPECT_TRUE(seen.insert(tick.text).second)
          << tick.text << " twice, in a view of " << ui().time.spanNs() << " ns from "
          << ui().time.beginNs() << " ns";
  }
};

TEST_F(ProfilerLabels, TicksNeverRepeatAtAnyZoomAndTime) {
  test::SyntheticOptions options;
  options.quietNs = 9'640'000'000;
  open(test::makeSyntheticCapture(options));
  script_->type("f");
  const double first = 9.641e9;
  for (double span = 9e9; span > 30; span /= 2.7) {
    ui().time.show(first - span / 2, first + span / 2);
    script_->frame();
    expectTicksDiffer();
  }
  EXPECT_TRUE(script_->item("time_axis/base").text.starts_with("from 9.64"));
  // The begin and end of a short dispatch late in the capture have different texts.
  const Dispatch &dispatch = script_->model().dispatches()[7];
  ui().selected = {Pick::Kind::kDispatch, 0, 0, 7, 0};
  script_->frame();
  EXPECT_NE(script_->item("inspector/begins").text, script_->item("inspector/ends").text);
  EXPECT_TRUE(script_->item("inspector/begins").text.starts_with("+"));
  EXPECT_TRUE(script_->item("inspector/base").text.starts_with("9.64"));
  EXPECT_EQ(script_->item("inspector/takes").text,
            timeText(static_cast<double>(dispatch.endNs - dispatch.beginNs)));
}

TEST_F(ProfilerLabels, LongNamesLoseTheirScopeButKeepTheirEnd) {
  test::SyntheticCapture capture = test::makeSyntheticCapture({});
  for (uint32_t id = 1; id < capture.names.size(); ++id) {
    const std::string name(capture.names[id]);
    if (name.starts_with("relu") || name.starts_with("Im2Col"))
      capture.names.set(id, "/features/features.12/expand3x3/" + name);
    else if (name.starts_with("convnet.onnx:"))
      capture.names.set(id, "/models/of/somebody/" + name);
  }
  open(std::move(capture));
  const auto &run = script_->model().runs()[4];
  for (const double zoom : {3.0, 1.5, 1.0}) {
    const double begin = static_cast<double>(run.beginNs);
    ui().time.show(begin, begin + zoom * static_cast<double>(run.endNs - run.beginNs));
    script_->frame();
    size_t cut = 0;
    for (size_t i = 1; i < items().size(); ++i) {
      const SemanticItem &item = items()[i];
      if (item.id != "block_label/shown")
        continue;
      const std::string &whole = items()[i - 1].text;
      ASSERT_EQ(items()[i - 1].id, "block_label");
      ++cut;
      EXPECT_FALSE(item.text.ends_with("…")) << item.text;
      EXPECT_NE(item.text.find("…"), std::string::npos) << item.text;
      EXPECT_EQ(item.text.substr(item.text.size() - 2), whole.substr(whole.size() - 2));
      if (item.text.find('/') != std::string::npos) { // A path keeps its whole last component.
        EXPECT_TRUE(item.text.ends_with(whole.substr(whole.rfind('/')))) << item.text;
      }
      EXPECT_LE(item.rect.width(), 40 * ui().unit());
    }
    EXPECT_GT(cut, 0u) << zoom;
  }
  // Locations are shown as file and node.
  ui().selected = {Pick::Kind::kDispatch, 0, 0, 5, 0};
  script_->frame();
  EXPECT_TRUE(script_->item("inspector/location").text.starts_with("convnet.onnx:"));
  // A long name beside a short number uses the space that the number leaves.
  for (const SemanticItem &item : items()) {
    if (item.id == "inspector/reads/name" && item.text.starts_with("/features")) {
      const ScreenRect panel = ui().layout.inspector;
      EXPECT_TRUE(item.rect.width() > 0.55f * (panel.width() - 4 * ui().unit()) ||
                  script_->find("inspector/reads/name/shown") == nullptr)
          << item.text << " has " << item.rect.width() << " pixels";
    }
  }
}

TEST_F(ProfilerLabels, NamesOfViewsAndBasesDoNotOverlap) {
  test::SyntheticCapture capture = test::makeSyntheticCapture({});
  // Every second transient value gets the offset of the transient value before it, whose view it
  // then is.
  uint64_t last = 0;
  uint32_t count = 0;
  for (trace::Event &event : capture.events)
    if (event.type() == trace::EventType::kPlanEntry &&
        event.planEntry.storage == static_cast<uint8_t>(trace::EntryStorage::kTransient)) {
      if (++count % 2 == 0)
        event.planEntry.offsetBytes = last;
      last = event.planEntry.offsetBytes;
    }
  ASSERT_GT(count, 10u);
  open(std::move(capture));
  const auto &run = script_->model().runs()[4];
  for (const double zoom : {3.0, 1.0, 0.5, 0.2}) {
    const double begin = static_cast<double>(run.beginNs);
    ui().time.show(begin, begin + zoom * static_cast<double>(run.endNs - run.beginNs));
    script_->frame();
    const std::vector<SemanticItem> labels = all("block_label");
    EXPECT_GT(labels.size(), 2u) << zoom;
    for (size_t i = 0; i < labels.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const ScreenRect &a = labels[i].rect, &b = labels[j].rect;
        EXPECT_FALSE(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
            << labels[i].text << " covers " << labels[j].text << " at zoom " << zoom;
      }
  }
}

TEST_F(ProfilerLabels, ABudgetAboveThePlotIsAnArrowAtItsTopEdge) {
  test::SyntheticCapture capture = test::makeSyntheticCapture({});
  for (trace::Event &event : capture.events) {
    if (event.type() == trace::EventType::kBudget)
      event.budget.budgetBytes = uint64_t{8} << 30;
  }
  open(std::move(capture));
  const SemanticItem strip = script_->item("heap/1");
  const SemanticItem arrow = script_->item("heap/1/budget");
  EXPECT_EQ(arrow.role, "arrow");
  EXPECT_EQ(arrow.text, "8.00 GiB");
  EXPECT_LE(arrow.rect.top, strip.rect.top + 4);
  EXPECT_LE(arrow.rect.bottom, midY(strip.rect));
  EXPECT_LE(arrow.rect.right, ui().layout.plotRight);
  EXPECT_EQ(script_->pixel(midX(arrow.rect), arrow.rect.bottom - 2), ui().theme->warning);
  const SemanticItem label = script_->item("heap/1/budget_label");
  EXPECT_EQ(label.text, "budget 8.00 GiB");
  EXPECT_LE(label.rect.bottom, midY(strip.rect)) << "the label is beside the arrow";
  EXPECT_GE(script_->item("heap/1/top").rect.top, label.rect.bottom);
}

TEST_F(ProfilerLabels, LiveBytesAreMarkedAtTheEndOnlyIfTheEndIsInView) {
  EXPECT_TRUE(script_->item("heap/1/live").text.ends_with(" at the end"));
  EXPECT_EQ(script_->item("inspector/live/name").text, "live at the end");
  const double now = static_cast<double>(script_->model().nowNs());
  ui().time.show(0.2 * now, 0.5 * now);
  script_->frame();
  EXPECT_FALSE(script_->item("heap/1/live").text.ends_with(" at the end"));
}

TEST_F(ProfilerLabels, AnArtifactThatWasNeverRunShowsNoTimes) {
  test::TestModel model;
  const uint32_t x = model.input("x", test::ElementType::f32, {model.number(4096)});
  const uint32_t a = model.apply(test::TestKernel::kTwice, {x}, "Twice_0");
  const uint32_t b = model.apply(test::TestKernel::kTwice, {a}, "Twice_1");
  model.output("y", model.apply(test::TestKernel::kAdd, {a, b}, "Add_2"));
  const test::ScratchFolder scratch;
  const std::string path = scratch.path("m.gantry");
  ASSERT_TRUE(model.write(path).isOk());
  std::string why;
  script_.reset();
  script_ = UiScript::openFile(path, kWidth, kHeight, &why);
  ASSERT_NE(script_, nullptr) << why;
  const std::regex time(R"((^|[^0-9a-zA-Z])[0-9.]+ (ns|µs|ms|s)($|[^a-zA-Z]))");
  const auto expectNoTimes = [&](const char *what) {
    for (const SemanticItem &item : items()) {
      EXPECT_FALSE(std::regex_search(item.text, time))
          << what << ": " << item.id << ": " << item.text;
      EXPECT_EQ(item.text.find(" runs"), std::string::npos) << what << ": " << item.text;
    }
  };
  EXPECT_EQ(script_->item("top_bar/modelled").text, "modelled");
  EXPECT_EQ(script_->find("inspector/runs"), nullptr);
  EXPECT_EQ(script_->find("inspector/length"), nullptr);
  EXPECT_EQ(script_->item("inspector/variants").text,
            std::to_string(script_->model().runs().size()));
  expectNoTimes("the artifact");
  SemanticItem block;
  for (const SemanticItem &item : items()) {
    if (item.role == "block" && item.rect.width() > block.rect.width())
      block = item;
  }
  script_->hover(midX(block.rect), midY(block.rect));
  EXPECT_NE(script_->find("tooltip"), nullptr);
  expectNoTimes("hovering");
  script_->click(midX(block.rect), midY(block.rect));
  EXPECT_NE(script_->item("inspector/begins").text.find("command 0"), std::string::npos);
  EXPECT_EQ(script_->item("inspector/lives").text, "3 commands")
      << "the first command writes the value, and the other two read it";
  expectNoTimes("a block");
  ui().selected = {Pick::Kind::kDispatch, 0, 0, 1, 0};
  script_->drag(300, midY(block.rect), 600, midY(block.rect));
  ui().selected = {Pick::Kind::kDispatch, 0, 0, 1, 0};
  script_->frame();
  expectNoTimes("a dispatch and a range");
  ui().focus = Focus::kOperators;
  script_->frame();
  EXPECT_EQ(script_->item("operators/row/0/time").text, "–");
  EXPECT_EQ(script_->item("operators/row/0/gflops").text, "–");
  expectNoTimes("the table");
}

// ---- Colours -----------------------------------------------------------------------------------

using Matrix = std::array<std::array<double, 3>, 3>;

double linear(uint32_t byte) {
  const double value = byte / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// Returns CIE L*a*b* of a colour, as seen with a colour vision deficiency. The matrix `sight`
/// simulates the deficiency in linear RGB.
std::array<double, 3> labOf(uint32_t colour, const Matrix &sight) {
  const double rgb[3] = {linear(colour & 255), linear((colour >> 8) & 255),
                         linear((colour >> 16) & 255)};
  double seen[3];
  for (size_t i = 0; i < 3; ++i)
    seen[i] =
        std::clamp(sight[i][0] * rgb[0] + sight[i][1] * rgb[1] + sight[i][2] * rgb[2], 0.0, 1.0);
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116.0; };
  const double x = f((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.9505);
  const double y = f(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]);
  const double z = f((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/// Returns the min distance of two colours in CIE L*a*b* over normal vision and protanopia,
/// deuteranopia and tritanopia as simulated by Machado et al. (2009). About 2.3 is the smallest
/// visible difference.
double minDistance(uint32_t a, uint32_t b) {
  static constexpr std::array<Matrix, 4> kSights = {{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                                     {{{0.152286, 1.052583, -0.204868},
                                                       {0.114503, 0.786281, 0.099216},
                                                       {-0.003882, -0.048116, 1.051998}}},
                                                     {{{0.367322, 0.860646, -0.227968},
                                                       {0.280085, 0.672501, 0.047413},
                                                       {-0.011820, 0.042940, 0.968881}}},
                                                     {{{1.255528, -0.076749, -0.178779},
                                                       {-0.078411, 0.930809, 0.147602},
                                                       {0.004733, 0.691367, 0.303900}}}}};
  double distance = 1e9;
  for (const Matrix &sight : kSights) {
    const auto p = labOf(a, sight);
    const auto q = labOf(b, sight);
    distance = std::min(distance, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
  }
  return distance;
}

TEST_F(ProfilerLabels, ConstantsTransientsAndDispatchesAreDistinctWithColourVisionDeficiencies) {
  const Theme &theme = themeOf(ThemeName::kColourBlind);
  const uint32_t constant = theme.fill(BlockKind::kConstant);
  EXPECT_GE(minDistance(constant, theme.dispatch), 15);
  for (uint32_t i = 0; i < kOpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_GE(minDistance(constant, theme.fill(kind)), 15) << opKindName(kind);
    EXPECT_GE(minDistance(theme.dispatch, theme.fill(kind)), 15) << opKindName(kind);
    for (uint32_t j = 0; j < i; ++j)
      EXPECT_GE(minDistance(theme.fill(kind), theme.fill(static_cast<OpKind>(j))), 15)
          << opKindName(kind) << " and " << opKindName(static_cast<OpKind>(j));
  }
  for (const ThemeName name : {ThemeName::kDark, ThemeName::kLight}) {
    const Theme &other = themeOf(name);
    EXPECT_NE(other.fill(BlockKind::kConstant), other.dispatch);
  }
}

TEST_F(ProfilerLabels, TransientsHaveThePlotsColoursAndALegend) {
  for (uint32_t t = 0; t < kThemes; ++t) {
    script_->window().setTheme(static_cast<ThemeName>(t));
    script_->frame();
    const Theme &theme = *ui().theme;
    for (uint32_t i = 0; i < kOpKindCount; ++i) {
      EXPECT_GE(contrast(theme.onWriter, theme.writers[i].fill), 4.5) << theme.name << " " << i;
      const OpKindColours plot = opKindColours(static_cast<OpKind>(i), !theme.light);
      const uint32_t fill =
          0xff000000u | ((plot.fill & 255) << 16) | (plot.fill & 0xff00) | (plot.fill >> 16);
      if (static_cast<ThemeName>(t) != ThemeName::kColourBlind) {
        EXPECT_EQ(theme.writers[i].fill, fill) << theme.name;
      }
    }
    const uint32_t convolution = theme.writer(OpKind::kConvolution).fill;
    EXPECT_EQ(script_->item("legend/convolution/chip").colour, convolution);
    EXPECT_EQ(script_->item("legend/constant/chip").colour, theme.fill(BlockKind::kConstant));
    EXPECT_EQ(script_->item("legend/dispatch/chip").colour, theme.dispatch);
    size_t blocks = 0;
    for (const SemanticItem &item : items()) {
      if (item.role != "block" || !item.text.starts_with("relu") || item.rect.width() < 8 ||
          item.rect.height() < 8)
        continue;
      ++blocks;
      EXPECT_EQ(item.colour, convolution) << item.text;
    }
    EXPECT_GT(blocks, 5u);
  }
}

} // namespace
} // namespace gantry::profiler
