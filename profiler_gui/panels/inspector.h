// The inspector's page: a column that is written from the top, shared by its parts.
#pragma once

#include "profiler_gui/model/compare.h"
#include "profiler_gui/panels/ui.h"

namespace gantry::profiler {

/// Writes lines into the inspector; each moves down. Lines beyond its end are left out.
class InspectorPage {
public:
  InspectorPage(Ui &ui, const ScreenRect &panel);
  Ui &ui() { return ui_; }
  float left() const { return left_; }
  float right() const { return right_; }
  float y() const { return y_; }

  /// Keeps the foot of the page free.
  void reserve(float height);

  void heading(std::string_view text, const char *id);
  void section(std::string_view text);
  /// A name and its value, right-aligned, in the numbers' font.
  void pair(std::string_view name, std::string_view value, const char *id);
  void line(std::string_view text, uint32_t colour, const char *id = nullptr,
            const char *role = "text");
  /// A line in the small font, close under the one before.
  void detail(std::string_view text, const char *id);
  /// Words that may take several lines.
  void paragraph(std::string_view text, uint32_t colour, const char *id, const char *role = "text");
  /// When something began and ended, told apart: relative to a base where that takes fewer digits.
  void times(uint64_t beginNs, uint64_t endNs, bool held);
  void chip(std::string_view text, uint32_t colour);
  /// A bar that shows value of limit.
  void bar(double share, uint32_t colour, const char *id);
  void space(float units) { y_ += units * ui_.unit(); }
  bool hasRoom() const { return y_ + ui_.fonts.text->FontSize <= bottom_; }

private:
  Ui &ui_;
  float left_, right_, y_, bottom_;
};

void inspectBlock(InspectorPage &page, const Pick &pick);
void inspectDispatch(InspectorPage &page, const Pick &pick);
/// The planner's answer, where it was asked: of the selected value, or of its plan.
void inspectWhatIf(InspectorPage &page);
void inspectCapture(InspectorPage &page);
void inspectComparison(InspectorPage &page, const Comparison &comparison,
                       const std::string &secondTitle);

} // namespace gantry::profiler
