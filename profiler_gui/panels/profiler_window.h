// The whole user interface of one capture: turns input into changes of the view, draws all panels.
//
// Mouse: the wheel zooms time at the pointer, with shift the heights; right or middle drag pans;
// left drag selects a range of time; a click selects what is under it, or folds an address space.
// Keys: W S zoom, A D pan, F fits (the selection, or all), / searches, [ ] go to the tenant of the
// same bytes before and after, M sets a marker, T changes the theme, space pauses, backspace goes
// back to the view before, Escape lets go, Ctrl+K lists all commands.
//
// Threads: that of ImGui.
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
  explicit ProfilerWindow(const Fonts &fonts);

  /// The model is read until another one is set; `title` names it.
  void show(const CaptureModel &model, std::string title);
  /// After the model has grown: looks for differences again, and follows its end. While it is
  /// paused, the view stays where it is.
  void modelGrew();
  /// A live capture will not grow any more: shows all of it, unless somebody paused or moved the
  /// view.
  void captureEnded();

  /// Shows a second capture beside the first, and where they differ. Fails as loadCapture does, and
  /// then changes nothing.
  Status compareWith(const std::string &path);
  void stopComparing();
  ComparisonView *comparison() { return comparison_.get(); }

  /// Between ImGui::NewFrame() and ImGui::Render().
  void frame();

  Ui &ui() { return ui_; }
  Canvas &canvas() { return canvas_; }
  Semantics &semantics() { return semantics_; }
  void setTheme(ThemeName name);
  void setSemantics(bool wanted) { wantSemantics_ = wanted; }
  /// How many more frames change something by themselves (rasters in the making).
  bool settling() const;
  bool quitWanted() const { return quit_; }

  void fit();
  void fitAll();
  /// Shows a finding's place.
  void goTo(const Finding &finding);
  /// Selects the tenant of the selected bytes before (-1) or after (1).
  void tenant(int direction);
  /// Asks the planner what the arena were if the selected value's size changed by this factor more.
  void askWhatIf(double factor);
  /// Asks for the order of least memory, or for an arena within a budget, of the selected thing's
  /// plan; of the largest one where nothing is selected.
  void askWhatIfOrder();
  void askWhatIfBudget(const std::string &size);
  void startSearch();
  /// Selects the longest dispatch of an operator and shows it.
  void goToOperator(const std::string &name);
  void setQuery(const std::string &query);
  void nextHit(int direction);

private:
  void applyStyle();
  void handleMouse();
  void handleKeys();
  void handleWheel();
  void endDrag();
  void click();
  void drawSearch();
  void showActivity();
  /// Pauses a live view or resumes it. On resume, a view that showed everything when it was paused
  /// and was not moved since shows everything again.
  void setPaused(bool paused);
  bool clickOperators();
  std::vector<PaletteCommand> commands();
  bool inPlots(float x, float y) const;
  void place();
  bool fold(Ui &ui) const;
  uint32_t askedPlan();
  void answer(const Result<WhatIf> &given);
  /// Of the two captures that which the selection is in.
  Ui &chosen();

  Ui ui_;
  Canvas canvas_;
  Semantics semantics_;
  Palette palette_;
  std::unique_ptr<ComparisonView> comparison_; // none: one capture
  bool wantSemantics_ = false;
  TypeAhead searchKeys_;
  bool focusSearch_ = false;
  bool quit_ = false;
  enum class Drag : uint8_t { kNone, kRange, kPan, kMinimap } drag_ = Drag::kNone;
  float dragX_ = 0, dragY_ = 0;
  bool dragMoved_ = false;
  Pick picked_; // what was under the pointer in the last frame
  Pick pickedSecond_;
  size_t hit_ = 0;
  uint64_t checkedEvents_ = 0;
  struct {
    double beginNs = 0, endNs = 0;
    bool all = false; // Whether the view showed the whole capture.
  } pausedAt_;        // The view when it was paused.
};

} // namespace gantry::profiler
