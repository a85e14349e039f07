// The page of the inspector panel: a column of lines, written from top to bottom, and the functions
// that write the page for each kind of selection.
//
// Each function adds to the page at y() and moves y() down. Text that does not fit the width is
// shortened (short_name.h). An `id` names the item in the description of the screen that tests read
// (semantics.h). Threads: the user interface's thread.
#pragma once

#include "profiler_gui/model/analysis/compare.h"
#include "profiler_gui/panels/ui.h"

namespace gantry::profiler {

/// Writes lines into the inspector. Lines that do not fit the panel's height are left out.
class InspectorPage {
public:
  InspectorPage(Ui &ui, const ScreenRect &panel);
  Ui &ui() { return ui_; }
  float left() const { return left_; }
  float right() const { return right_; }
  float y() const { return y_; }

  /// Keeps the lowest `height` pixels of the page free.
  void reserve(float height);

  void heading(std::string_view text, const char *id);
  void section(std::string_view text);
  /// Adds a name at the left, and its value at the right in the font for numbers.
  void pair(std::string_view name, std::string_view value, const char *id);
  void line(std::string_view text, uint32_t colour, const char *id = nullptr,
            const char *role = "text");
  /// Adds a line in the small font, close below the previous line.
  void detail(std::string_view text, const char *id);
  /// Adds a text that is broken into several lines.
  void paragraph(std::string_view text, uint32_t colour, const char *id, const char *role = "text");
  /// Adds the begin, end and duration of a block or dispatch, relative to a base if this needs
  /// fewer digits (time_scale.h). `held` means that the block is still live at endNs.
  void times(uint64_t beginNs, uint64_t endNs, bool held);
  /// Adds a coloured square with a text.
  void chip(std::string_view text, uint32_t colour);
  /// Adds a horizontal bar that is filled to `share`, 0 to 1.
  void bar(double share, uint32_t colour, const char *id);
  /// Moves down by a number of grid units (Ui::unit()).
  void space(float units) { y_ += units * ui_.unit(); }
  /// Whether another line of text fits.
  bool hasSpace() const { return y_ + ui_.fonts.text->FontSize <= bottom_; }

private:
  Ui &ui_;
  float left_, right_, y_, bottom_;
};

/// Describes a block: its bytes, its times, the operators that use it, and its plan entry, the
/// plan's record of the value in the block.
void inspectBlock(InspectorPage &page, const Pick &pick);
/// Describes a dispatch: its kernel, its times, its shared memory, and the values that it uses.
void inspectDispatch(InspectorPage &page, const Pick &pick);
/// Describes the planner's answer to a what-if question, for example how the arena would look if a
/// value had another size (what_if.h). Adds nothing if there is no answer, or if the answer
/// concerns the size of a value that is not selected.
void inspectWhatIf(InspectorPage &page);
/// Describes the capture: its size, heaps, plans, and differences from the plan.
void inspectCapture(InspectorPage &page);
/// Describes the differences between two captures. `secondTitle` is the second capture's name.
void inspectComparison(InspectorPage &page, const Comparison &comparison,
                       const std::string &secondTitle);

} // namespace gantry::profiler
