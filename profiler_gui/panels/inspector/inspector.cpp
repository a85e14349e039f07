// Implements InspectorPage and the inspector panel.
#include "profiler_gui/panels/inspector/inspector.h"

#include "profiler_gui/model/time_scale.h"
#include "profiler_gui/panels/panels.h"

#include <algorithm>

namespace gantry::profiler {

InspectorPage::InspectorPage(Ui &ui, const ScreenRect &panel)
    : ui_(ui), left_(panel.left + 2 * ui.unit()), right_(panel.right - 2 * ui.unit()),
      y_(panel.top + 1.5f * ui.unit()), bottom_(panel.bottom - ui.unit()) {}

void InspectorPage::reserve(float height) { bottom_ -= height; }

void InspectorPage::heading(std::string_view text, const char *id) {
  if (hasSpace())
    ui_.write(ui_.fonts.strong, left_, y_, ui_.theme->text, text, right_ - left_, id, "heading");
  y_ += ui_.fonts.strong->FontSize + ui_.unit();
}

void InspectorPage::section(std::string_view text) {
  y_ += ui_.unit();
  if (hasSpace()) {
    ui_.lineY(y_, left_, right_, ui_.theme->line);
    ui_.write(ui_.fonts.small, left_, y_ + ui_.unit(), ui_.theme->dim, text, right_ - left_);
  }
  y_ += ui_.fonts.small->FontSize + 1.75f * ui_.unit();
}

void InspectorPage::pair(std::string_view name, std::string_view value, const char *id) {
  if (hasSpace()) {
    // The name gets the width that the value leaves, but may always use 55 % of the line. The value
    // gets the width that the shortened name leaves.
    const float all = right_ - left_;
    const float wanted = Ui::widthOf(ui_.fonts.numbers, value);
    const float nameWidth = std::max(all * 0.55f, all - wanted - ui_.unit());
    const std::string nameId = std::string(id) + "/name";
    const float used = ui_.write(ui_.fonts.text, left_, y_, ui_.theme->dim, name, nameWidth,
                                 nameId.c_str(), "label");
    const float valueWidth = all - used - ui_.unit();
    ui_.write(ui_.fonts.numbers, right_ - std::min(valueWidth, wanted), y_ + 1, ui_.theme->text,
              value, valueWidth + 1, id);
  }
  y_ += ui_.fonts.text->FontSize + 0.75f * ui_.unit();
}

void InspectorPage::line(std::string_view text, uint32_t colour, const char *id, const char *role) {
  if (hasSpace())
    ui_.write(ui_.fonts.text, left_, y_, colour, text, right_ - left_, id, role);
  y_ += ui_.fonts.text->FontSize + 0.5f * ui_.unit();
}

void InspectorPage::detail(std::string_view text, const char *id) {
  y_ -= 0.25f * ui_.unit();
  if (hasSpace())
    ui_.write(ui_.fonts.small, left_, y_, ui_.theme->dim, text, right_ - left_, id);
  y_ += ui_.fonts.small->FontSize + 0.75f * ui_.unit();
}

void InspectorPage::paragraph(std::string_view text, uint32_t colour, const char *id,
                              const char *role) {
  const std::string_view whole = text;
  const bool isDrawn = hasSpace();
  const float top = y_;
  while (!text.empty() && hasSpace()) {
    size_t length = text.size();
    while (length > 0 && Ui::widthOf(ui_.fonts.text, text.substr(0, length)) > right_ - left_) {
      const size_t space = text.rfind(' ', length - 1);
      if (space == std::string_view::npos || space == 0)
        break; // write() shortens a single word that is too long.
      length = space;
    }
    ui_.write(ui_.fonts.text, left_, y_, colour, text.substr(0, length), right_ - left_);
    y_ += ui_.fonts.text->FontSize + 0.4f * ui_.unit();
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  if (isDrawn)
    ui_.semantics->add(id, role, {left_, top, right_, y_}, std::string(whole), colour);
  y_ += 0.25f * ui_.unit();
}

void InspectorPage::times(uint64_t beginNs, uint64_t endNs, bool held) {
  const auto begin = static_cast<double>(beginNs);
  const auto end = static_cast<double>(std::max(endNs, beginNs));
  if (ui_.model->modelled()) {
    pair("first command", ui_.momentText(begin, 1), "inspector/begins");
    pair("last command", ui_.momentText(std::max(begin, end - 1), 1), "inspector/ends");
    pair("lives", ui_.lengthText(end - begin), "inspector/lives");
    return;
  }
  const TimeScale scale(begin, held ? begin : end, std::max((end - begin) / 100, 1.0));
  if (scale.baseNs() > 0)
    pair("counted from", scale.baseText(), "inspector/base");
  pair("begins", scale.text(begin), "inspector/begins");
  pair("ends", held ? "still held" : scale.text(end), "inspector/ends");
  pair(held ? "held for" : "takes", ui_.lengthText(end - begin), "inspector/takes");
}

void InspectorPage::chip(std::string_view text, uint32_t colour) {
  if (hasSpace()) {
    const float size = ui_.unit() * 1.25f;
    ui_.list->AddRectFilled({left_, y_ + 3}, {left_ + size, y_ + 3 + size}, colour, 2);
    ui_.write(ui_.fonts.text, left_ + size + ui_.unit(), y_, ui_.theme->text, text,
              right_ - left_ - size - ui_.unit());
  }
  y_ += ui_.fonts.text->FontSize + 0.5f * ui_.unit();
}

void InspectorPage::bar(double share, uint32_t colour, const char *id) {
  const ScreenRect whole{left_, y_, right_, y_ + ui_.unit()};
  if (hasSpace()) {
    ui_.fill(whole, ui_.theme->raised);
    const float width = static_cast<float>(std::clamp(share, 0.0, 1.0)) * whole.width();
    ui_.fill({whole.left, whole.top, whole.left + width, whole.bottom}, colour);
    ui_.semantics->add(id, "bar", {whole.left, whole.top, whole.left + width, whole.bottom}, "",
                       colour);
  }
  y_ += 2 * ui_.unit();
}

void drawInspector(Ui &ui, const ComparisonView *comparison) {
  const ScreenRect &panel = ui.layout.inspector;
  if (panel.width() <= 0)
    return;
  ui.fill(panel, ui.theme->panel);
  ui.lineX(panel.left, panel.top, panel.bottom, ui.theme->line);
  ui.semantics->add("inspector", "panel", panel, "", ui.theme->panel);
  ui.pushClip(panel);
  InspectorPage page(ui, panel);
  // The legend is at the bottom. It is left out if a page about a selection or a comparison needs
  // the space.
  const float legend = legendHeight(ui);
  const bool detailed = ui.selected.kind != Pick::Kind::kNone || comparison != nullptr;
  const bool legendFits = legend > 0 && panel.height() >= 2 * legend;
  if (legendFits && !detailed)
    page.reserve(legend + ui.unit());
  switch (ui.selected.kind) {
  case Pick::Kind::kBlock:
    inspectBlock(page, ui.selected);
    break;
  case Pick::Kind::kDispatch:
    inspectDispatch(page, ui.selected);
    break;
  case Pick::Kind::kNone:
    if (comparison != nullptr)
      inspectComparison(page, comparison->comparison(), comparison->ui().title);
    else
      inspectCapture(page);
    break;
  }
  if (legendFits && (!detailed || page.y() <= panel.bottom - legend))
    drawLegend(ui, {page.left(), panel.bottom - legend, page.right(), panel.bottom});
  ui.popClip();
}

} // namespace gantry::profiler
