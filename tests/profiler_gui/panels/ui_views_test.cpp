// Tests the four views (--view lifetimes, heap, dispatches or operators), the table of operators,
// fast typing, searching, hovering, live captures, and the FramePacer, which limits the redrawing.
#include "tests/profiler_gui/panels/ui_fixture.h"

#include "profiler_gui/model/quantity_text.h"
#include "profiler_gui/platform/frame_pacer.h"
#include "tests/support/scratch.h"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gantry::profiler {
namespace {

class ProfilerViews : public UiFixture {
protected:
  void focus(Focus focus) {
    ui().focus = focus;
    script_->frame();
    script_->frame();
  }
  std::vector<SemanticItem> role(const std::string &role) {
    std::vector<SemanticItem> found;
    for (const SemanticItem &item : script_->window().semantics().items()) {
      if (item.role == role)
        found.push_back(item);
    }
    return found;
  }
  float heightOf(const std::string &id) {
    const SemanticItem *found = script_->find(id);
    return found != nullptr ? found->rect.height() : 0;
  }
  static uint32_t alpha(const SemanticItem &item) { return item.colour >> 24; }
};

test::SyntheticCapture withoutSharedMemory() {
  test::SyntheticCapture capture = test::makeSyntheticCapture({});
  for (trace::Event &event : capture.events) {
    if (event.type() == trace::EventType::kCommand)
      event.command.sharedBytes = 0;
  }
  return capture;
}

TEST_F(ProfilerViews, TheViewOfDispatchesEnlargesTheLanes) {
  for (const bool shared : {true, false}) {
    if (!shared)
      open(withoutSharedMemory());
    focus(Focus::kDispatches);
    for (const char *other : {"heap_strips", "lifetimes", "shared"})
      EXPECT_GT(heightOf("lanes"), 1.3f * heightOf(other)) << other;
    EXPECT_FALSE(role("dispatch").empty());
  }
}

TEST_F(ProfilerViews, UnusedSharedMemoryIsOneLine) {
  EXPECT_GT(heightOf("shared"), 60);
  open(withoutSharedMemory());
  for (const Focus each : {Focus::kLifetimes, Focus::kHeap, Focus::kDispatches}) {
    focus(each);
    EXPECT_LE(heightOf("shared"), 24);
    EXPECT_TRUE(script_->item("shared/none").text.starts_with("no dispatch uses any"));
    EXPECT_NE(script_->item("shared/none").text.find("48.0 KiB"), std::string::npos);
  }
}

TEST_F(ProfilerViews, EmptySlabsAreFoldedAndArenasHaveHalfOfTheLifetimes) {
  test::SyntheticCapture capture = test::makeSyntheticCapture({});
  for (uint32_t slab = 40; slab < 46; ++slab) { // Much larger than the arena, and unused.
    trace::SlabEvent empty = trace::makeEvent<trace::SlabEvent>(trace::EventType::kSlab);
    empty.header.heap = 1;
    empty.header.timeNs = capture.events.back().header.timeNs;
    empty.slab = slab;
    empty.sizeBytes = uint64_t{1} << 30;
    capture.events.emplace_back(empty);
  }
  open(std::move(capture));
  float arenas = 0;
  size_t folded = 0;
  const auto &spaces = script_->model().spaces();
  for (size_t i = 0; i < spaces.size(); ++i) {
    const std::string id = "space/" + std::to_string(i);
    const bool empty = spaces[i].table.size() == 0;
    if (script_->find(id) == nullptr)
      continue;
    EXPECT_EQ(ui().strips[i].collapsed, empty) << spaces[i].label;
    if (empty) {
      ++folded;
      EXPECT_LE(heightOf(id), 20);
      EXPECT_EQ(script_->item(id + "/size").text, "1.00 GiB, empty");
    }
    arenas += spaces[i].kind == SpaceKind::kArena ? heightOf(id) : 0;
  }
  EXPECT_GE(folded, 4u);
  EXPECT_GE(arenas, 0.49f * heightOf("lifetimes"));
  // A click on its name unfolds an empty slab.
  const auto empty = std::find_if(spaces.begin(), spaces.end(), [](const AddressSpace &space) {
    return space.table.size() == 0;
  });
  const std::string id = "space/" + std::to_string(empty - spaces.begin());
  const SemanticItem fold = script_->item(id + "/fold");
  script_->click(midX(fold.rect), midY(fold.rect));
  EXPECT_FALSE(ui().strips[static_cast<size_t>(empty - spaces.begin())].collapsed);
}

TEST_F(ProfilerViews, TheTableListsAndSortsOperatorsAndSelectsADispatch) {
  focus(Focus::kOperators);
  OperatorTable table;
  table.update(script_->model());
  EXPECT_EQ(script_->item("operators").text, countText(table.rows().size()) + " operators");
  const auto lines = [&] {
    return operatorLines({&table, nullptr, 12, 0}, ui().operators.sortedBy,
                         ui().operators.descending);
  };
  const auto expectRows = [&](const char *what) {
    const std::vector<OperatorLine> expected = lines();
    ASSERT_GT(role("row").size(), 10u);
    for (size_t i = 0; i < 5; ++i) {
      const OperatorRow &row = *expected[i].first;
      const std::string id = "operators/row/" + std::to_string(i);
      EXPECT_EQ(script_->item(id).text, row.name) << what;
      EXPECT_EQ(script_->item(id + "/time").text, timeText(row.timeNs));
      EXPECT_EQ(script_->item(id + "/calls").text, countText(row.calls));
      EXPECT_EQ(script_->item(id + "/bytes").text, bytesText(static_cast<uint64_t>(row.bytes)));
      EXPECT_EQ(script_->item(id + "/gflops").text, rateText(row.gflops(), ""));
      EXPECT_EQ(script_->item(id + "/gigabytes").text, rateText(row.gigabytes(), ""));
      EXPECT_EQ(script_->item(id + "/shared").text,
                row.sharedBytes > 0 ? bytesText(row.sharedBytes) : "–");
      EXPECT_TRUE(script_->item(id + "/share").text.ends_with(" %"));
    }
  };
  expectRows("by time");
  for (const char *column : {"name", "shared", "shared", "gflops", "calls"}) {
    const SemanticItem head = script_->item(std::string("operators/head/") + column);
    script_->click(midX(head.rect), midY(head.rect));
    expectRows(column);
  }
  script_->hover(200, midY(script_->item("operators").rect));
  script_->wheel(-3);
  EXPECT_EQ(script_->find("operators/row/0"), nullptr) << "scrolled away";
  script_->wheel(100);
  const SemanticItem row = script_->item("operators/row/2");
  script_->click(midX(row.rect), midY(row.rect));
  ASSERT_EQ(ui().selected.kind, Pick::Kind::kDispatch);
  const Dispatch &dispatch = script_->model().dispatches()[ui().selected.dispatch];
  EXPECT_EQ(script_->model().text(script_->model().commandOf(dispatch)->name), row.text);
  EXPECT_EQ(script_->item("inspector/name").text, row.text);
  EXPECT_LE(ui().time.beginNs(), static_cast<double>(dispatch.beginNs));
  EXPECT_GE(ui().time.endNs(), static_cast<double>(dispatch.endNs));
  EXPECT_GT(script_->item("dispatch/" + std::to_string(ui().selected.dispatch)).rect.width(), 20);
}

TEST_F(ProfilerViews, TheTableOfTwoCapturesHasRatios) {
  test::SyntheticOptions options;
  options.layers = 9;
  const test::ScratchFolder scratch;
  const std::string path = scratch.path("second.gtrace");
  ASSERT_TRUE(test::makeSyntheticCapture(options).save(path).isOk());
  ASSERT_TRUE(script_->window().compareWith(path).isOk());
  script_->frame();
  const Comparison &comparison = script_->window().comparison()->comparison();
  EXPECT_NE(script_->item("compare/run/both")
                .text.find(ratioText(comparison.runNs[1] / comparison.runNs[0])),
            std::string::npos);
  focus(Focus::kOperators);
  size_t ratios = 0;
  for (const SemanticItem &row : role("row")) {
    const auto of = [&](const char *cell) { return script_->item(row.id + "/" + cell).text; };
    for (const ComparedRow &each : comparison.operators) {
      if (each.name != row.text || of("time") == "–")
        continue;
      EXPECT_EQ(of("time"), timeText(each.timeNs[0])) << row.text;
      EXPECT_EQ(of("second_time"), each.timeNs[1] > 0 ? timeText(each.timeNs[1]) : "–");
      if (each.timeNs[1] > 0) {
        ++ratios;
        EXPECT_EQ(of("ratio"), ratioText(each.timeNs[1] / each.timeNs[0])) << row.text;
      }
    }
  }
  EXPECT_GT(ratios, 5u);
}

TEST_F(ProfilerViews, TextTypedAfterSlashIsNeverLost) {
  script_->hover(500, 300);
  const double span = ui().time.spanNs();
  script_->typeAtOnce("/relu3"); // Types everything within one frame.
  EXPECT_EQ(std::string(ui().query), "relu3");
  EXPECT_GT(ui().found.count, 0u);
  script_->press(GLFW_KEY_ESCAPE);
  script_->press(GLFW_KEY_ESCAPE);
  script_->typeAtOnce("/");
  script_->typeAtOnce("wswsa"); // These would be commands without the slash.
  EXPECT_EQ(std::string(ui().query), "wswsa");
  EXPECT_EQ(ui().time.spanNs(), span);
  script_->press(GLFW_KEY_ESCAPE);
  script_->press(GLFW_KEY_ESCAPE);
  // The window keeps back Enter, like typed characters, until the search field has the keyboard.
  ImGui::GetIO().KeysDown[GLFW_KEY_ENTER] = true;
  script_->typeAtOnce("/im2col5");
  ImGui::GetIO().KeysDown[GLFW_KEY_ENTER] = false;
  script_->frame();
  EXPECT_EQ(std::string(ui().query), "im2col5");
  EXPECT_NE(script_->item("inspector/name").text.find("im2col5"), std::string::npos);
}

TEST_F(ProfilerViews, TextTypedIntoThePaletteIsNeverLost) {
  ImGui::GetIO().KeyCtrl = true;
  ImGui::GetIO().KeysDown['K'] = true;
  script_->frame();
  ImGui::GetIO().KeysDown['K'] = false;
  ImGui::GetIO().KeyCtrl = false;
  script_->typeAtOnce("operators");
  script_->press(GLFW_KEY_ENTER);
  EXPECT_EQ(ui().focus, Focus::kOperators);
}

TEST_F(ProfilerViews, ASearchDimsTheLanes) {
  const auto &run = script_->model().runs()[4];
  ui().time.show(static_cast<double>(run.beginNs), static_cast<double>(run.endNs));
  script_->window().setQuery("im2col");
  script_->frame();
  size_t bright = 0;
  size_t dim = 0;
  for (const SemanticItem &item : role("dispatch")) {
    const bool found = item.text.starts_with("Im2Col");
    EXPECT_EQ(alpha(item) > 128, found) << item.text;
    ++(found ? bright : dim);
  }
  EXPECT_GT(bright, 5u);
  EXPECT_GT(dim, 5u);
  for (const SemanticItem &item : role("bar")) {
    const auto index = static_cast<uint32_t>(std::stoul(item.id.substr(7)));
    const std::string_view name = script_->model().text(
        script_->model().commandOf(script_->model().dispatches()[index])->name);
    EXPECT_EQ(alpha(item) > 200, name.starts_with("Im2Col")) << name;
  }
  EXPECT_NE(script_->item("status/matches").text.find("168 dispatches"), std::string::npos);
}

TEST_F(ProfilerViews, OnlyHoveringInTheLifetimesDimsBlocks) {
  const auto dimmed = [&] {
    const std::vector<SemanticItem> blocks = role("block");
    return std::count_if(blocks.begin(), blocks.end(),
                         [](const SemanticItem &item) { return alpha(item) < 255; });
  };
  const std::vector<SemanticItem> dispatches = role("dispatch");
  const SemanticItem &dispatch =
      *std::max_element(dispatches.begin(), dispatches.end(), [](const auto &a, const auto &b) {
        return a.rect.width() < b.rect.width();
      });
  script_->hover(midX(dispatch.rect), midY(dispatch.rect));
  ASSERT_EQ(ui().hovered.kind, Pick::Kind::kDispatch);
  EXPECT_NE(script_->find("tooltip"), nullptr);
  EXPECT_EQ(dimmed(), 0);
  const ScreenRect heap = script_->item("heap/1").rect;
  script_->hover(500, midY(heap));
  EXPECT_EQ(dimmed(), 0);
  const std::vector<SemanticItem> blocks = role("block");
  const SemanticItem &block =
      *std::max_element(blocks.begin(), blocks.end(), [](const auto &a, const auto &b) {
        return (a.text.starts_with("relu") ? a.rect.width() * a.rect.height() : 0) <
               (b.text.starts_with("relu") ? b.rect.width() * b.rect.height() : 0);
      });
  script_->hover(midX(block.rect), midY(block.rect));
  EXPECT_GT(dimmed(), 10);
  for (const SemanticItem &item : role("dispatch"))
    EXPECT_GT(alpha(item), 180u) << "hovering a block does not fade the lanes";
}

TEST_F(ProfilerViews, ALiveCaptureStaysInViewAndIsShownWholeWhenItEnds) {
  std::string why;
  const test::SyntheticCapture capture = test::makeSyntheticCapture({});
  const size_t events = capture.events.size();
  script_.reset(); // Only one ImGui context may exist.
  script_ = UiScript::openLive(capture, events / 10, kWidth, kHeight, &why);
  ASSERT_NE(script_, nullptr) << why;
  EXPECT_EQ(script_->item("inspector/live/name").text, "live");
  EXPECT_FALSE(script_->item("heap/1/live").text.ends_with(" at the end"));
  const auto expectAll = [&](const char *when) {
    EXPECT_LE(ui().time.beginNs(), static_cast<double>(script_->model().firstActivityNs())) << when;
    EXPECT_GE(ui().time.endNs(), static_cast<double>(script_->model().nowNs())) << when;
  };
  for (int i = 0; i < 5; ++i) {
    script_->grow(events / 10);
    expectAll("while it grows");
  }
  script_->grow(events);
  script_->window().captureEnded();
  script_->frame();
  expectAll("at the end");
  EXPECT_TRUE(script_->item("heap/1/live").text.ends_with(" at the end"));
}

TEST_F(ProfilerViews, ALiveCaptureShowsAllOfItsMemoryAtItsEnd) {
  test::SyntheticOptions options;
  options.steps = 60; // Most values are narrower than a pixel.
  const test::SyntheticCapture capture = test::makeSyntheticCapture(options);
  script_.reset();
  std::string why;
  script_ = UiScript::openLive(capture, 400, kWidth, kHeight, &why);
  ASSERT_NE(script_, nullptr) << why;
  ui().detailBudget = 25'000; // The value that a window uses.
  for (size_t at = 0; at < capture.events.size(); at += 400)
    script_->grow(400);
  script_->window().captureEnded();
  script_->frame();
  for (int i = 0; i < 200 && script_->window().settling(); ++i)
    script_->frame();
  for (size_t i = 0; i < ui().strips.size(); ++i) {
    const AddressSpace &space = script_->model().spaces()[i];
    double held = 0;
    for (uint32_t row = 0; row < space.table.size(); ++row) {
      const uint64_t end = std::min(space.table.endNs(row), script_->model().nowNs());
      held += static_cast<double>(end - space.table.beginNs(row)) *
              static_cast<double>(space.table.sizeBytes(row));
    }
    SpaceView all;
    all.beginNs = ui().time.beginNs();
    all.endNs = ui().time.endNs();
    all.highAddress = static_cast<double>(space.sizeBytes);
    const double shown =
        ui().strips[i].detail.shownByteNs(space.table, all, script_->model().nowNs());
    if (!ui().strips[i].collapsed) {
      EXPECT_NEAR(shown / held, 1, 0.01) << space.label;
    }
  }
}

TEST_F(ProfilerViews, AViewThatTheUserChoseIsKeptWhenALiveCaptureEnds) {
  std::string why;
  const test::SyntheticCapture capture = test::makeSyntheticCapture({});
  script_.reset(); // Only one ImGui context may exist.
  script_ = UiScript::openLive(capture, capture.events.size() / 2, kWidth, kHeight, &why);
  ASSERT_NE(script_, nullptr) << why;
  script_->hover(500, 300);
  script_->wheel(8);
  script_->type(" "); // Pauses: the view stays where it is.
  const double begin = ui().time.beginNs();
  script_->grow(capture.events.size());
  script_->window().captureEnded();
  script_->frame();
  EXPECT_NEAR(ui().time.beginNs(), begin, 1);
}

/// Returns a capture of a loop with so many runs that each pixel column has several dispatches.
test::SyntheticCapture longLoop() {
  test::SyntheticOptions options;
  options.steps = 400;
  options.layers = 6;
  options.scratchPerStep = 2;
  return test::makeSyntheticCapture(options);
}

TEST_F(ProfilerViews, DispatchesThatShareAPixelColumnAreOneItem) {
  open(longLoop());
  const DispatchTable &table = script_->model().dispatches();
  for (const char *query : {"", "im2col"}) { // A search dims columns but hides none.
    script_->window().setQuery(query);
    script_->frame();
    for (const auto &[singles, columns] :
         {std::pair("dispatch", "dispatches"), std::pair("bar", "bars")}) {
      const std::vector<SemanticItem> groups = role(columns);
      EXPECT_GT(groups.size(), 100u) << columns;
      size_t dispatches = role(singles).size();
      for (const SemanticItem &item : groups) {
        const size_t count = std::stoul(item.text);
        EXPECT_GT(count, 1u) << item.id;
        EXPECT_TRUE(item.text.ends_with(" dispatches") || columns == std::string("bars"));
        dispatches += count;
      }
      EXPECT_EQ(dispatches, table.size()) << singles << " and " << columns << ", '" << query << "'";
    }
  }
  // A pixel at the bottom of such a column differs from the panel's background.
  script_->window().setQuery("");
  script_->frame();
  const uint32_t ground = ui().theme->panel & 0xffffff;
  for (const char *columns : {"dispatches", "bars"}) {
    for (const SemanticItem &item : role(columns)) {
      if (item.rect.left >= ui().layout.plotLeft && item.rect.right <= ui().layout.plotRight) {
        EXPECT_NE(script_->pixel(midX(item.rect), item.rect.bottom - 1) & 0xffffff, ground)
            << item.id;
      }
    }
  }
}

TEST_F(ProfilerViews, APausedViewOfEverythingStaysUntilItIsResumed) {
  std::string why;
  const test::SyntheticCapture capture = test::makeSyntheticCapture({});
  const size_t part = capture.events.size() / 5;
  script_.reset(); // Only one ImGui context may exist.
  script_ = UiScript::openLive(capture, part, kWidth, kHeight, &why);
  ASSERT_NE(script_, nullptr) << why;
  script_->grow(part);
  script_->type(" ");
  EXPECT_EQ(script_->item("top_bar/state").text, "paused");
  const double begin = ui().time.beginNs();
  const double end = ui().time.endNs();
  const auto shown = [&] {
    std::vector<std::pair<std::string, float>> places;
    for (const SemanticItem &item : role("dispatch"))
      places.emplace_back(item.id, item.rect.left);
    return places;
  };
  const auto before = shown();
  EXPECT_FALSE(before.empty());
  script_->grow(part);
  EXPECT_NEAR(ui().time.beginNs(), begin, 1);
  EXPECT_NEAR(ui().time.endNs(), end, 1);
  const auto after = shown(); // Dispatches of a run that had not ended may be added.
  ASSERT_GE(after.size(), before.size());
  EXPECT_TRUE(std::all_of(before.begin(), before.end(), [&](const auto &place) {
    return std::find(after.begin(), after.end(), place) != after.end();
  }));
  script_->type(" "); // Resumes: everything is shown again.
  EXPECT_EQ(script_->item("top_bar/state").text, "live");
  EXPECT_GE(ui().time.endNs(), static_cast<double>(script_->model().nowNs()));
  script_->grow(part);
  EXPECT_LE(ui().time.beginNs(), static_cast<double>(script_->model().firstActivityNs()));
  EXPECT_GE(ui().time.endNs(), static_cast<double>(script_->model().nowNs()));
  // A range that was chosen while paused keeps its length, and follows the end.
  script_->type(" ");
  script_->hover(500, 300);
  script_->wheel(8);
  const double span = ui().time.spanNs();
  script_->type(" ");
  script_->grow(part);
  EXPECT_NEAR(ui().time.spanNs(), span, 1);
  EXPECT_GE(ui().time.endNs(), static_cast<double>(script_->model().nowNs()));
}

TEST(FramePacer, FramesUseNoMoreThanTheirShareOfACore) {
  for (const double cost : {0.0005, 0.01, 0.04, 0.3}) {
    FramePacer pacer(0.2, 1.0 / 15, 1.0);
    double now = 100;
    double spent = 7;
    pacer.frameDrawn(now, spent);
    const double begin = now;
    int frames = 0;
    for (; now < begin + 60; ++frames) {
      now += pacer.wait(now);
      EXPECT_EQ(pacer.wait(now), 0);
      now += cost;
      spent += cost;
      pacer.frameDrawn(now, spent);
    }
    const double share = (spent - 7) / (now - begin);
    EXPECT_LE(share, cost < 0.2 ? 0.2 : 0.24) << cost;
    const double rate = frames / (now - begin);
    EXPECT_LE(rate, 15.1);
    EXPECT_GE(rate, cost >= 0.2 ? 0.7 : std::min(12.0, 0.8 * 0.2 / cost)) << cost;
  }
}

} // namespace
} // namespace gantry::profiler
