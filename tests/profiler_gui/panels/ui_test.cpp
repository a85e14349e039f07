// Tests the window with a scripted user: each test performs user input, and then checks the
// semantics (the list of visible items, semantics.h) and the pixels.
#include "tests/profiler_gui/panels/ui_script.h"

#include "profiler_gui/model/quantity_text.h"
#include "tests/support/scratch.h"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gantry::profiler {
namespace {

constexpr uint32_t kWidth = 1280;
constexpr uint32_t kHeight = 720;

class ProfilerUi : public testing::Test {
protected:
  void SetUp() override { open(test::SyntheticOptions()); }
  void TearDown() override {
    if (script_ != nullptr) {
      EXPECT_EQ(script_->gpu().validationMessages(), 0);
    }
  }
  void open(const test::SyntheticOptions &options) {
    script_.reset();
    std::string why;
    script_ = UiScript::open(options, kWidth, kHeight, &why);
    if (script_ == nullptr)
      GTEST_SKIP() << why;
  }
  /// Returns the transient "relu…" with the largest rectangle, so that the pointer can hit it.
  SemanticItem largeBlock() {
    SemanticItem best;
    for (const SemanticItem &item : script_->window().semantics().items()) {
      if (item.role == "block" && item.text.starts_with("relu") &&
          item.rect.width() * item.rect.height() > best.rect.width() * best.rect.height())
        best = item;
    }
    EXPECT_GT(best.rect.width(), 4.0f);
    return best;
  }
  /// Expects that no text leaves the window or overlaps another text.
  void expectNoOverlap() {
    const std::string &theme = script_->window().ui().theme->name;
    std::vector<SemanticItem> texts;
    for (const SemanticItem &item : script_->window().semantics().items()) {
      if (item.role == "text" || item.role == "label" || item.role == "heading")
        texts.push_back(item);
    }
    EXPECT_GT(texts.size(), 20u);
    for (size_t i = 0; i < texts.size(); ++i) {
      const ScreenRect &a = texts[i].rect;
      EXPECT_GE(a.left, 0) << texts[i].id;
      EXPECT_LE(a.right, static_cast<float>(kWidth)) << texts[i].id;
      EXPECT_LE(a.bottom, static_cast<float>(kHeight)) << texts[i].id;
      for (size_t j = i + 1; j < texts.size(); ++j) {
        const ScreenRect &b = texts[j].rect;
        const float wide = std::min(a.right, b.right) - std::max(a.left, b.left);
        const float high = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
        EXPECT_FALSE(wide > 1 && high > 2)
            << theme << ": '" << texts[i].text << "' and '" << texts[j].text << "'";
      }
    }
  }
  /// Opens a second capture, with another number of layers, for comparison, through the command
  /// palette (Ctrl+K).
  void compare(const test::ScratchFolder &scratch) {
    test::SyntheticOptions options;
    options.layers = 9;
    const std::string path = scratch.path("second.gtrace");
    ASSERT_TRUE(test::makeSyntheticCapture(options).save(path).isOk());
    script_->press('K', true);
    script_->type("compare");
    script_->press(GLFW_KEY_ENTER);
    ASSERT_NE(script_->find("palette"), nullptr) << "the palette asks for the capture";
    script_->type(path);
    script_->press(GLFW_KEY_ENTER);
    ASSERT_NE(script_->window().comparison(), nullptr) << script_->window().ui().note;
  }
  static float midX(const ScreenRect &rect) { return (rect.left + rect.right) / 2; }
  static float midY(const ScreenRect &rect) { return (rect.top + rect.bottom) / 2; }

  std::unique_ptr<UiScript> script_;
};

/// Returns the max difference of two colours in a channel, alpha excluded.
int difference(uint32_t a, uint32_t b) {
  int largest = 0;
  for (int shift = 0; shift < 24; shift += 8)
    largest = std::max(largest, std::abs(static_cast<int>((a >> shift) & 255) -
                                         static_cast<int>((b >> shift) & 255)));
  return largest;
}

TEST_F(ProfilerUi, PixelsOfBudgetLimitDispatchesAndBlocksMatchTheSemantics) {
  const Theme &theme = *script_->window().ui().theme;
  const SemanticItem budget = script_->item("heap/1/budget");
  EXPECT_EQ(budget.text, "320 MiB");
  EXPECT_LE(difference(script_->pixel(midX(budget.rect), budget.rect.top + 0.5f), theme.warning),
            2);
  const SemanticItem limit = script_->item("shared/limit");
  EXPECT_EQ(limit.text, "48.0 KiB");
  EXPECT_LE(difference(script_->pixel(limit.rect.left + 3, limit.rect.top + 0.5f), theme.over), 2);
  const SemanticItem block = largeBlock();
  EXPECT_LE(difference(script_->pixel(midX(block.rect), midY(block.rect)), block.colour), 60);
  size_t dispatches = 0;
  for (const SemanticItem &item : script_->window().semantics().items())
    dispatches += item.role == "dispatch" || item.role == "bar";
  EXPECT_GT(dispatches, 100u);
}

TEST_F(ProfilerUi, TheViewBeginsWithTheFirstMemoryAndOmitsUnusedHeaps) {
  constexpr uint64_t kQuietNs = 5'000'000'000;
  test::SyntheticOptions options;
  options.quietNs = kQuietNs;
  open(options);
  ASSERT_EQ(script_->model().heaps().size(), 2u);
  EXPECT_NE(script_->find("heap/1/name"), nullptr);
  EXPECT_EQ(script_->find("heap/2/name"), nullptr);
  const TimeView &time = script_->window().ui().time;
  EXPECT_GT(time.beginNs(), 0.9 * static_cast<double>(kQuietNs));
  EXPECT_LT(time.beginNs(), static_cast<double>(script_->model().firstActivityNs()));
  EXPECT_GE(time.endNs(), static_cast<double>(script_->model().nowNs()));
  EXPECT_GT(largeBlock().rect.width(), 4.0f);
  script_->type("f");
  EXPECT_LE(time.beginNs(), 1.0) << "F shows the whole capture";
}

TEST_F(ProfilerUi, HoveringShowsATooltipBesideTheBlockAndDimsTheOthers) {
  const SemanticItem block = largeBlock();
  script_->hover(midX(block.rect), midY(block.rect));
  const SemanticItem tooltip = script_->item("tooltip");
  EXPECT_EQ(tooltip.text, block.text);
  EXPECT_FALSE(tooltip.rect.contains(midX(block.rect), midY(block.rect)));
  EXPECT_LE(tooltip.rect.right, static_cast<float>(kWidth));
  size_t faint = 0;
  for (const SemanticItem &item : script_->window().semantics().items())
    faint += item.role == "block" && (item.colour >> 24) < 100;
  EXPECT_GT(faint, 10u);
}

TEST_F(ProfilerUi, AClickShowsTheBlockAndItsLocationInTheModel) {
  const SemanticItem block = largeBlock();
  script_->click(midX(block.rect), midY(block.rect));
  EXPECT_EQ(script_->item("inspector/name").text, block.text);
  EXPECT_TRUE(script_->item("inspector/writer/0").text.starts_with("Conv_"));
  EXPECT_TRUE(script_->item("inspector/writer/0/line").text.find("convnet.onnx:") !=
              std::string::npos);
  EXPECT_FALSE(script_->item("inspector/reader/0").text.empty());
  EXPECT_EQ(script_->item("inspector/plan_offset").text, script_->item("inspector/from").text);
  const SemanticItem outline = script_->item("selection");
  EXPECT_LE(difference(script_->pixel(midX(outline.rect), outline.rect.top + 1.0f), 0xffffffffu),
            24);
  script_->press(GLFW_KEY_ESCAPE);
  EXPECT_EQ(script_->find("selection"), nullptr);
}

TEST_F(ProfilerUi, TheWheelZoomsAboutThePointer) {
  const SemanticItem panel = script_->item("lifetimes");
  const float x = 500;
  script_->hover(x, midY(panel.rect));
  Ui &ui = script_->window().ui();
  const double before = ui.timeAt(x);
  const double span = ui.time.spanNs();
  script_->wheel(4);
  EXPECT_LT(ui.time.spanNs(), span * 0.6);
  EXPECT_NEAR(ui.timeAt(x), before, span * 1e-6);
  script_->press(GLFW_KEY_BACKSPACE);
  EXPECT_NEAR(ui.time.spanNs(), span, span * 1e-6);
}

TEST_F(ProfilerUi, DraggingSelectsARangeAndRightDraggingPans) {
  const SemanticItem panel = script_->item("lifetimes");
  script_->drag(300, midY(panel.rect), 600, midY(panel.rect));
  const SemanticItem range = script_->item("range");
  EXPECT_NEAR(range.rect.left, 300, 1.5);
  EXPECT_NEAR(range.rect.right, 600, 1.5);
  EXPECT_NE(script_->item("status/range").text.find("peak"), std::string::npos);
  script_->hover(600, midY(panel.rect));
  script_->wheel(6);
  const double begin = script_->window().ui().time.beginNs();
  script_->drag(600, midY(panel.rect), 500, midY(panel.rect), 1);
  EXPECT_GT(script_->window().ui().time.beginNs(), begin);
}

TEST_F(ProfilerUi, SlashSearchesAndEnterGoesToTheHits) {
  script_->hover(500, 300);
  script_->type("/");
  script_->type("relu3");
  EXPECT_EQ(std::string(script_->window().ui().query), "relu3");
  EXPECT_GT(script_->window().ui().found.count, 0u);
  EXPECT_NE(script_->item("status/matches").text.find("match"), std::string::npos);
  script_->press(GLFW_KEY_ENTER);
  EXPECT_NE(script_->item("inspector/name").text.find("relu3"), std::string::npos);
}

TEST_F(ProfilerUi, ThePaletteRunsACommand) {
  script_->press('K', true);
  EXPECT_NE(script_->find("palette"), nullptr);
  script_->type("light");
  script_->press(GLFW_KEY_ENTER);
  EXPECT_EQ(script_->window().ui().theme->name, "light");
  EXPECT_EQ(script_->find("palette"), nullptr);
}

TEST_F(ProfilerUi, TenantsOfTheSameBytesFollowEachOther) {
  const SemanticItem block = largeBlock();
  script_->click(midX(block.rect), midY(block.rect));
  const Pick first = script_->window().ui().selected;
  script_->type("[");
  const Pick second = script_->window().ui().selected;
  ASSERT_NE(first.row, second.row);
  const BlockTable &table = script_->model().spaces()[first.space].table;
  EXPECT_LE(table.beginNs(second.row), table.beginNs(first.row));
  script_->type("]");
  EXPECT_EQ(script_->window().ui().selected.row, first.row);
}

TEST_F(ProfilerUi, WhatIfShowsTheArenaForAChangedSize) {
  const SemanticItem block = largeBlock();
  script_->click(midX(block.rect), midY(block.rect));
  script_->type(".");
  const WhatIf doubled = script_->window().ui().whatIf;
  const BlockTable &table = script_->model().spaces()[script_->window().ui().selected.space].table;
  const PlanEntry &entry =
      script_->model().planEntries()[table.entry(script_->window().ui().selected.row) - 1];
  EXPECT_EQ(doubled.valueBytes, 2 * entry.sizeBytes);
  EXPECT_EQ(doubled.arenaBefore, script_->model().plans()[0].arenaBytes);
  EXPECT_GT(doubled.arenaBytes, doubled.arenaBefore);
  EXPECT_EQ(script_->item("inspector/what_if_arena").text, bytesText(doubled.arenaBytes));
  script_->type(","); // The value has its real size again.
  EXPECT_EQ(script_->window().ui().whatIf.kind, WhatIf::Kind::kNone);
  EXPECT_EQ(script_->find("inspector/what_if_arena"), nullptr);
}

TEST_F(ProfilerUi, WhatIfShowsTheArenasForABudgetAndAnOrder) {
  const uint64_t arena = script_->model().plans()[0].arenaBytes;
  script_->press('K', true);
  script_->type("budget");
  script_->press(GLFW_KEY_ENTER);
  script_->type(std::to_string(arena * 8 / 10));
  script_->press(GLFW_KEY_ENTER);
  const WhatIf &answer = script_->window().ui().whatIf;
  ASSERT_EQ(answer.kind, WhatIf::Kind::kBudget) << script_->window().ui().note;
  EXPECT_TRUE(answer.fits);
  EXPECT_LE(answer.arenaBytes, arena * 8 / 10);
  EXPECT_EQ(answer.arenaBefore, arena);
  EXPECT_EQ(script_->item("inspector/what_if_arena").text, bytesText(answer.arenaBytes));
  EXPECT_EQ(script_->item("inspector/what_if_extra").text, timeText(answer.extraNs));
  // In a view of one run, the new place of each value is outlined.
  const auto &run = script_->model().runs()[4];
  Ui &ui = script_->window().ui();
  ui.time.show(static_cast<double>(run.beginNs), static_cast<double>(run.endNs));
  script_->frame();
  size_t outlined = 0;
  for (const SemanticItem &item : script_->window().semantics().items())
    outlined += item.role == "outline";
  EXPECT_GE(outlined, 20u);
  expectNoOverlap();

  script_->press('K', true);
  script_->type("planner's");
  script_->press(GLFW_KEY_ENTER);
  EXPECT_EQ(ui.whatIf.kind, WhatIf::Kind::kOrder);
  EXPECT_FALSE(script_->item("inspector/what_if_moved").text.empty());
  script_->press('K', true);
  script_->type("forget");
  script_->press(GLFW_KEY_ENTER);
  EXPECT_EQ(script_->find("inspector/what_if_arena"), nullptr);
}

TEST_F(ProfilerUi, ADifferenceIsListedAndAClickOnItShowsItsPlace) {
  test::SyntheticOptions options;
  options.fault = test::Fault::kIllegalAlias;
  open(options);
  ASSERT_NE(script_, nullptr);
  EXPECT_EQ(script_->item("finding_text/0").text, script_->window().ui().findings[0].text);
  const SemanticItem listed = script_->item("finding/0");
  script_->click(midX(listed.rect), listed.rect.top + 4);
  const SemanticItem hatched = script_->item("difference/0");
  EXPECT_GT(hatched.rect.width(), 10);
  EXPECT_NE(script_->find("selection"), nullptr)
      << script_->window().ui().findings[0].text << ", space "
      << script_->window().ui().findings[0].space << ", "
      << script_->window().ui().findings[0].beginNs << " ns, view of "
      << script_->window().ui().time.spanNs() << " ns";
  // The difference is outlined in the colour for errors.
  bool seen = false;
  for (float x = std::max(hatched.rect.left, 180.0f); x < hatched.rect.right && x < 900; x += 1)
    seen = seen || difference(script_->pixel(x, midY(hatched.rect)),
                              script_->window().ui().theme->over) < 40;
  EXPECT_TRUE(seen);
}

TEST_F(ProfilerUi, ComparesWithASecondCaptureOnOneTimeAxis) {
  const test::ScratchFolder scratch;
  compare(scratch);
  const Comparison &comparison = script_->window().comparison()->comparison();
  const ComparedMemory &heap = comparison.heaps[0];
  ASSERT_LT(heap.peakBytes[1], heap.peakBytes[0]) << "the second capture has fewer layers";
  EXPECT_EQ(script_->item("compare/heap/0/difference").text,
            bytesDifferenceText(static_cast<int64_t>(heap.peakBytes[1] - heap.peakBytes[0])));
  EXPECT_EQ(script_->item("compare/heap/0/both").text,
            bytesText(heap.peakBytes[0]) + "  →  " + bytesText(heap.peakBytes[1]));
  EXPECT_EQ(script_->item("second/caption").text, "second.gtrace");
  EXPECT_EQ(script_->item("heap/1/second_peak").text, "peak " + bytesText(heap.peakBytes[1]));

  // The place of a value of the second capture follows from its own times and the shared axis.
  const ScreenRect upper = script_->item("lifetimes").rect;
  const ScreenRect lower = script_->item("second/lifetimes").rect;
  EXPECT_LE(upper.bottom, lower.top);
  const Ui &ui = script_->window().ui();
  const Ui &second = script_->window().comparison()->ui();
  SemanticItem block;
  for (const SemanticItem &item : script_->window().semantics().items()) {
    if (item.role == "block" && item.id.starts_with("second/") && item.text.starts_with("relu") &&
        item.rect.width() * item.rect.height() > block.rect.width() * block.rect.height())
      block = item;
  }
  ASSERT_GT(block.rect.width(), 4.0f);
  EXPECT_GE(block.rect.top, lower.top);
  script_->click(midX(block.rect), midY(block.rect));
  ASSERT_EQ(second.selected.kind, Pick::Kind::kBlock);
  EXPECT_EQ(ui.selected.kind, Pick::Kind::kNone);
  EXPECT_EQ(script_->item("inspector/name").text, block.text);
  const Block chosen = second.model->spaces()[second.selected.space].table.at(second.selected.row);
  const double first = static_cast<double>(ui.model->firstNs());
  const double fromStart =
      static_cast<double>(chosen.beginNs) - static_cast<double>(second.model->firstNs());
  EXPECT_NEAR(block.rect.left, ui.xOf(first + fromStart), 1.0f);

  // Zooming keeps both views aligned; the second curve is drawn over the first one's strip.
  script_->hover(500, midY(upper));
  script_->wheel(5);
  EXPECT_NEAR(second.time.spanNs(), ui.time.spanNs(), 1);
  script_->press(GLFW_KEY_ESCAPE);
  EXPECT_NE(script_->find("compare/heap/0/difference"), nullptr);
  bool seen = false;
  const ScreenRect strip = script_->item("heap/1").rect;
  for (float y = strip.top; y < strip.bottom; y += 1)
    seen = seen || difference(script_->pixel(530, y), ui.theme->second) < 8;
  EXPECT_TRUE(seen);
  for (uint32_t t = 0; t < kThemes; ++t) {
    script_->window().setTheme(static_cast<ThemeName>(t));
    script_->frame();
    expectNoOverlap();
  }
  script_->press('K', true);
  script_->type("stop comp");
  script_->press(GLFW_KEY_ENTER);
  EXPECT_EQ(script_->window().comparison(), nullptr);
  EXPECT_EQ(script_->find("second/lifetimes"), nullptr);
}

TEST_F(ProfilerUi, AnAbsentSecondCaptureIsRefused) {
  EXPECT_FALSE(script_->window().compareWith("absent.gtrace").isOk());
  EXPECT_EQ(script_->window().comparison(), nullptr);
  script_->frame();
  EXPECT_NE(script_->find("shared/limit"), nullptr) << "the plots of one capture are still shown";
}

TEST_F(ProfilerUi, TextIsReadableAndNeverOverlapsOrLeavesTheWindow) {
  for (uint32_t t = 0; t < kThemes; ++t) {
    script_->window().setTheme(static_cast<ThemeName>(t));
    script_->frame();
    const Theme &theme = *script_->window().ui().theme;
    EXPECT_GE(contrast(theme.second, theme.background), 4.5) << theme.name;
    for (const uint32_t back : {theme.background, theme.panel}) {
      EXPECT_GE(contrast(theme.text, back), 4.5) << theme.name;
      EXPECT_GE(contrast(theme.dim, back), 4.5) << theme.name;
      EXPECT_GE(contrast(theme.warning, back), 4.5) << theme.name;
      EXPECT_GE(contrast(theme.over, back), 4.5) << theme.name;
    }
    for (const uint32_t kind : theme.kinds)
      EXPECT_GE(contrast(theme.onKind, kind), 4.5) << theme.name;
    expectNoOverlap();
  }
}

TEST_F(ProfilerUi, TheSameFrameHasTheSamePixels) {
  script_->frame();
  const Picture first = script_->picture();
  script_->frame();
  EXPECT_EQ(first.pixels, script_->picture().pixels);
}

/// The pictures in golden/ were checked by a person. GANTRY_WRITE_GOLDEN=1 writes them again.
TEST_F(ProfilerUi, PicturesEqualTheGoldenOnes) {
  if (script_->gpu().name().find("llvmpipe") == std::string::npos)
    GTEST_SKIP() << "golden pictures are of the software device, not of " << script_->gpu().name();
  const char *write = std::getenv("GANTRY_WRITE_GOLDEN");
  for (uint32_t t = 0; t < kThemes; ++t) {
    script_->window().setTheme(static_cast<ThemeName>(t));
    script_->frame();
    const std::string path =
        std::string(GANTRY_GOLDEN) + "/" + script_->window().ui().theme->name + ".png";
    if (write != nullptr && std::string(write) == "1") {
      ASSERT_TRUE(writePng(path, script_->picture()).isOk());
      continue;
    }
    const Result<Picture> golden = readPng(path);
    ASSERT_TRUE(golden.isOk()) << golden.status().message();
    ASSERT_EQ(golden->pixels.size(), script_->picture().pixels.size());
    size_t differing = 0;
    for (size_t i = 0; i < golden->pixels.size(); ++i)
      differing += difference(golden->pixels[i], script_->picture().pixels[i]) > 24;
    // Other versions of fonts and drivers may differ at the edges of letters.
    EXPECT_LT(differing, golden->pixels.size() / 500) << path;
  }
}

} // namespace
} // namespace gantry::profiler
