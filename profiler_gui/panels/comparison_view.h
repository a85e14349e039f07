// The second capture of a window that compares two captures. It has a Ui (the state that panels
// share while they draw; ui.h) of its own, which follows the view of the first capture's Ui.
//
// The first capture's lifetimes (its blocks) and lanes (its dispatches; panels.h) are in the upper
// half of the window. The same panel functions draw the second capture's lifetimes and lanes into
// the lower half, from this class's Ui. Both captures begin at the same pixel, because times are
// aligned at each capture's first event. A heap of the first capture and the heap of the same name
// in the second share one heap strip, the plot of a heap's bytes over time (heap_strip.cpp).
//
// Threads: the user interface's thread.
#pragma once

#include "profiler_gui/model/analysis/compare.h"
#include "profiler_gui/model/capture/load_capture.h"
#include "profiler_gui/panels/ui.h"

#include <memory>
#include <string>

namespace gantry::profiler {

class ComparisonView {
public:
  /// Takes ownership of the second capture. `title` is its name.
  ComparisonView(std::unique_ptr<LoadedCapture> loaded, std::string title);

  Ui &ui() { return ui_; }
  const Ui &ui() const { return ui_; }
  /// The result of the last compareWith().
  const Comparison &comparison() const { return comparison_; }
  /// Compares the captures. Call it again when the first capture has grown.
  void compareWith(const CaptureModel &first);
  /// Sets the time bounds of both views. Each begins at its capture's first event, and both are as
  /// long as the longer capture.
  void setBounds(Ui &first);
  /// Computes both layouts, and copies the view, the theme and the mouse position from `first`.
  /// Call it before a frame.
  void follow(Ui &first, float width, float height);
  /// Writes each capture's name above its plots.
  void drawCaptions(Ui &first);
  /// Draws the second capture's panels.
  void draw(Ui &first);

private:
  std::unique_ptr<LoadedCapture> loaded_;
  Comparison comparison_;
  Ui ui_;
};

} // namespace gantry::profiler
