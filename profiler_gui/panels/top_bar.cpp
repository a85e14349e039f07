// Draws the top bar: the title, the device, whether a live view is paused, and the number of
// dropped events.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"

namespace gantry::profiler {

void drawTopBar(Ui &ui) {
  const ScreenRect &bar = ui.layout.topBar;
  const Theme &theme = *ui.theme;
  ui.fill(bar, theme.panel);
  ui.lineY(bar.bottom - 1, bar.left, bar.right, theme.line);
  ui.semantics->add("top_bar", "panel", bar, ui.title, theme.panel);

  const float unit = ui.unit();
  const float y = (bar.top + bar.bottom - ui.fonts.text->FontSize) / 2;
  float x = bar.left + 2 * unit;
  x += ui.write(ui.fonts.strong, x, y, theme.text, "gantry", 1e9f, "top_bar/product") + 2 * unit;
  x += ui.write(ui.fonts.text, x, y, theme.text, ui.title, 40 * unit, "top_bar/title") + 2 * unit;
  const CaptureModel &model = *ui.model;
  if (!model.devices().empty()) {
    const std::string device = ui.nameOf(model.devices()[0].name, "unnamed device");
    x += ui.write(ui.fonts.text, x, y, theme.dim, device, 36 * unit, "top_bar/device") + 2 * unit;
  }
  if (ui.live) {
    const char *state = ui.paused ? "paused" : "live";
    const uint32_t colour = ui.paused ? theme.warning : theme.accent;
    ui.list->AddCircleFilled({x + unit / 2, (bar.top + bar.bottom) / 2}, unit / 2, colour);
    x += 1.5f * unit;
    x += ui.write(ui.fonts.text, x, y, colour, state, 1e9f, "top_bar/state") + 2 * unit;
  }
  if (model.modelled())
    x += ui.write(ui.fonts.text, x, y, theme.warning, "modelled", 1e9f, "top_bar/modelled") +
         2 * unit;
  if (model.droppedEvents() > 0)
    ui.write(ui.fonts.text, x, y, theme.over, countText(model.droppedEvents()) + " events dropped",
             1e9f, "top_bar/dropped", "warning");
}

} // namespace gantry::profiler
