// Two captures in one window: the second capture's own Ui, kept in step with the first's.
//
// The first capture's panels stay as they are, in the upper half; the second's lifetimes and lanes
// are drawn by the same functions into the lower half, from this Ui, which looks at the same
// stretch of time. Both captures begin at the same pixel: each one's times count from its first
// event. Heaps lie over each other in one strip.
//
// Threads: that of the user interface.
#pragma once

#include "profiler_gui/model/compare.h"
#include "profiler_gui/model/source.h"
#include "profiler_gui/panels/ui.h"

#include <memory>
#include <string>

namespace gantry::profiler {

class ComparisonView {
public:
  /// `loaded` is kept.
  ComparisonView(std::unique_ptr<LoadedCapture> loaded, std::string title);

  Ui &ui() { return ui_; }
  const Ui &ui() const { return ui_; }
  const Comparison &comparison() const { return comparison_; }
  /// Compares again: the first capture has grown.
  void compareWith(const CaptureModel &first);
  /// What there is to see is as long as the longer of the two.
  void setBounds(Ui &first);
  /// Before a frame: gives both their layouts, and this the first's view, theme and pointer.
  void follow(Ui &first, float width, float height);
  /// Who a part of the window belongs to, written over it.
  void drawCaptions(Ui &first);
  /// The second's panels.
  void draw(Ui &first);

private:
  std::unique_ptr<LoadedCapture> loaded_;
  Comparison comparison_;
  Ui ui_;
};

} // namespace gantry::profiler
