// The user interface of one capture or of two captures that are compared. ProfilerWindow handles
// input, changes the view, and draws all panels.
//
// Mouse: the wheel zooms time at the pointer; with Shift, it zooms the heights of the lifetimes.
// Dragging with the right or middle button pans; dragging with the left button selects a range of
// time. A click selects the block or dispatch under the pointer, or folds an address space (shows
// it as one line) or unfolds it.
// Keys: W and S zoom, A and D pan, F fits the selection or all, / searches. [ and ] select the
// previous and the next tenant: a block that occupied some of the same bytes before or after. Comma
// and full stop ask what if the selected value were half or twice as large. M sets a marker, T
// changes the theme, Space pauses a live view, Backspace returns to the previous view, Escape
// clears the search, the range or the selection, Ctrl+K lists all commands.
//
// The caller owns ImGui's context, and renders ImGui's draw data and canvas() into a window or a
// picture.
//
// Threads: ImGui's thread.
#pragma once

#include "profiler_gui/panels/comparison_view.h"
#include "profiler_gui/panels/palette.h"
#include "profiler_gui/panels/type_ahead.h"
#include "profiler_gui/panels/ui.h"

#include <functional>
#include <memory>
#include <string>

namespace gantry::profiler {

class ProfilerWindow {
public:
  /// ImGui's context must exist and outlive the window.
  explicit ProfilerWindow(const Fonts &fonts);

  /// Shows a model, which must outlive the window or the next show(). `title` is its name.
  void show(const CaptureModel &model, std::string title);
  /// Call it after a live model has grown. A view that is not paused follows the end of the
  /// capture, and differences from the plan are searched again from time to time.
  void modelGrew();
  /// Call it when a live capture will not grow any more. The view then shows the whole capture,
  /// unless the user has paused or moved the view.
  void captureEnded();

  /// Loads a second capture and shows it beside the first one. Fails with the errors of
  /// loadCapture(), and then changes nothing.
  Status compareWith(const std::string &path);
  void stopComparing();
  /// The second capture's view; nullptr unless two captures are compared.
  ComparisonView *comparison() { return comparison_.get(); }

  /// Handles input and draws one frame. Call it between ImGui::NewFrame() and ImGui::Render().
  void frame();

  Ui &ui() { return ui_; }
  Canvas &canvas() { return canvas_; }
  Semantics &semantics() { return semantics_; }
  void setTheme(ThemeName name);
  /// Whether frames fill semantics(), the description of the screen that tests read (semantics.h).
  void setSemantics(bool wanted) { wantSemantics_ = wanted; }
  /// Whether the next frame differs even without input, because the raster of an address
  /// space's small blocks (level_of_detail.h) is incomplete.
  bool settling() const;
  bool quitWanted() const { return quit_; }

  /// Fits the selection or the selected range into the view. Fits the whole capture if there is
  /// neither, or if the view shows exactly the selection or range already.
  void fit();
  void fitAll();
  /// Shows the time of a finding (a difference from the plan; plan_check.h) and selects its block.
  void goTo(const Finding &finding);
  /// Selects the previous (-1) or next (1) block that occupies any of the selected block's bytes.
  void selectTenant(int direction);
  /// Asks what the arena would be if the selected value had another size, and shows the planner's
  /// answer. This size is `factor` times the size in the last such question about the value, or
  /// times the real size for the first question.
  void askWhatIf(double factor);
  /// Shows the arena that the planner finds for the order of commands with the lowest peak, or for
  /// a budget such as "64MiB". The question concerns the plan of the selected block or dispatch,
  /// else the plan with the largest arena.
  void askWhatIfOrder();
  void askWhatIfBudget(const std::string &size);
  /// Gives the search field the keyboard.
  void startSearch();
  /// Selects the longest dispatch of an operator and shows it.
  void goToOperator(const std::string &name);
  /// Searches; an invalid query leaves the old result and sets a note.
  void setQuery(const std::string &query);
  /// Selects the current hit of the search. The next (`direction` 1) or previous (-1) hit becomes
  /// the current one.
  void nextHit(int direction);

private:
  void applyStyle();
  void handleMouse();
  void handleKeys();
  void handleEscape();
  void handleCharacter(unsigned character, double spanNs, double middleNs);
  void handleWheel();
  void beginDrag();
  void drag();
  void endDrag();
  void click();
  void drawPanels();
  void drawSearch();
  void setBoundsToCapture();
  void showActivity();
  /// Pauses or resumes a live view. When resumed, a view that showed everything when it was paused
  /// and was not moved since then shows everything again.
  void setPaused(bool paused);
  bool clickOperators();
  std::vector<PaletteCommand> commands();
  bool inPlots(float x, float y) const;
  void updateLayout();
  bool clickFold(Ui &ui) const;
  uint32_t askedPlan();
  void showAnswer(const Result<WhatIf> &given);
  /// The capture that contains the selection: the second one if something is selected there, else
  /// the first.
  Ui &selectedUi();

  Ui ui_;
  Canvas canvas_;
  Semantics semantics_;
  Palette palette_;
  std::unique_ptr<ComparisonView> comparison_; // nullptr unless two captures are compared.
  bool wantSemantics_ = false;
  TypeAhead searchKeys_;
  bool focusSearch_ = false;
  bool quit_ = false;
  enum class Drag : uint8_t { kNone, kRange, kPan, kMinimap } drag_ = Drag::kNone;
  float dragX_ = 0, dragY_ = 0;
  bool dragMoved_ = false;
  Pick picked_;       // The block or dispatch under the pointer in the last frame, for a click.
  Pick pickedSecond_; // The same for the second capture.
  size_t hit_ = 0;    // Index in the search's hits that nextHit() shows next.
  uint64_t checkedEvents_ = 0; // Event count when differences from the plan were last searched.
  struct {
    double beginNs = 0, endNs = 0;
    bool all = false; // Whether the view showed the whole capture.
  } pausedAt_;        // The view when it was paused.
};

} // namespace gantry::profiler
