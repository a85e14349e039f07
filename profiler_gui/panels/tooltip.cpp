// Draws the tooltip: up to four lines about the hovered block or dispatch, beside the pointer.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>

namespace gantry::profiler {
namespace {

std::vector<std::string> linesFor(const Ui &ui) {
  const CaptureModel &model = *ui.model;
  std::vector<std::string> lines;
  if (ui.hovered.kind == Pick::Kind::kBlock) {
    const Block block = model.spaces()[ui.hovered.space].table.at(ui.hovered.row);
    lines.push_back(ui.nameOf(block.name, "unnamed block"));
    lines.push_back(bytesText(block.sizeBytes) + " at " + addressText(block.offset));
    const bool held = block.endNs == kStillHeld;
    const uint64_t end = held ? model.nowNs() : block.endNs;
    lines.push_back((held ? "held for " : "lives ") +
                    ui.lengthText(static_cast<double>(end - std::min(end, block.beginNs))));
    if (block.op != 0)
      lines.push_back(ui.nameOf(block.op, ""));
  } else if (ui.hovered.kind == Pick::Kind::kDispatch) {
    const Dispatch &dispatch = model.dispatches()[ui.hovered.dispatch];
    const PlanCommand *command = model.commandOf(dispatch);
    lines.push_back(command != nullptr ? ui.nameOf(command->name, "unnamed") : "dispatch");
    lines.push_back(model.modelled()
                        ? ui.momentText(static_cast<double>(dispatch.beginNs), 1)
                        : timeText(static_cast<double>(dispatch.endNs - dispatch.beginNs)));
    if (!dispatch.isCopy)
      lines.push_back(bytesText(dispatch.sharedBytes) + " shared per workgroup");
  }
  return lines;
}

} // namespace

void drawTooltip(Ui &ui) {
  if (!ui.mouseInPlots || ui.hovered.kind == Pick::Kind::kNone)
    return;
  const std::vector<std::string> lines = linesFor(ui);
  const float unit = ui.unit();
  float width = 0;
  for (const std::string &line : lines)
    width = std::max(width, Ui::widthOf(ui.fonts.text, line));
  width = std::min(width, 48 * unit) + 2 * unit;
  const float step = ui.fonts.text->FontSize + unit / 2;
  const float height = step * static_cast<float>(lines.size()) + 1.25f * unit;
  float x = ui.mouseX + 2 * unit;
  float y = ui.mouseY + 2 * unit;
  if (x + width > ui.layout.window.right)
    x = ui.mouseX - 2 * unit - width;
  if (y + height > ui.layout.statusBar.top)
    y = ui.mouseY - 2 * unit - height;
  const ScreenRect box{x, y, x + width, y + height};
  ui.list->AddRectFilled({box.left, box.top}, {box.right, box.bottom}, ui.theme->raised, 4);
  ui.list->AddRect({box.left, box.top}, {box.right, box.bottom}, ui.theme->line, 4);
  for (size_t i = 0; i < lines.size(); ++i)
    ui.write(ui.fonts.text, x + unit, y + unit / 2 + step * static_cast<float>(i),
             i == 0 ? ui.theme->text : ui.theme->dim, lines[i], width - 2 * unit,
             ("tooltip/" + std::to_string(i)).c_str());
  ui.semantics->add("tooltip", "tooltip", box, lines[0], ui.theme->raised);
}

} // namespace gantry::profiler
