// Draws the status bar: the pointer's time and address, the selected range, the number of matches
// of the search, and notes.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// Describes the selected range: its length, the peak and the growth of the live bytes of all heaps
/// in it, and the number of dispatches.
std::string rangeText(const Ui &ui) {
  const double begin = std::max(0.0, std::min(ui.rangeBeginNs, ui.rangeEndNs));
  const double end = std::max(begin, std::max(ui.rangeBeginNs, ui.rangeEndNs));
  uint64_t peak = 0;
  int64_t change = 0;
  for (const Heap &heap : ui.model->heaps()) {
    const auto first = static_cast<uint64_t>(begin);
    const auto last = static_cast<uint64_t>(end);
    peak += heap.live.range(first, last + 1).high;
    change += static_cast<int64_t>(heap.live.at(last)) - static_cast<int64_t>(heap.live.at(first));
  }
  uint64_t dispatches = 0;
  for (const Lane &lane : ui.model->dispatches().lanes()) {
    const DispatchTable::Range range = ui.model->dispatches().inWindow(lane, begin, end);
    dispatches += range.last - range.first;
  }
  return "range " + ui.lengthText(end - begin) + " · peak " + bytesText(peak) + " · Δ " +
         bytesDifferenceText(change) + " · " + countText(dispatches) + " dispatches";
}

} // namespace

void drawStatusBar(Ui &ui) {
  const ScreenRect &bar = ui.layout.statusBar;
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  ui.fill(bar, theme.panel);
  ui.lineY(bar.top, bar.left, bar.right, theme.line);
  ui.semantics->add("status_bar", "panel", bar, "", theme.panel);
  const float y = (bar.top + bar.bottom - ui.fonts.numbers->FontSize) / 2;
  float x = bar.left + 2 * unit;
  if (ui.mouseInPlots) {
    x += ui.write(ui.fonts.numbers, x, y, theme.text,
                  ui.momentText(ui.timeAt(ui.mouseX), ui.time.spanNs() / 1000), 1e9f,
                  "status/time") +
         2 * unit;
    if (ui.hovered.kind == Pick::Kind::kBlock)
      x += ui.write(ui.fonts.numbers, x, y, theme.text, addressText(ui.hovered.address), 1e9f,
                    "status/address") +
           2 * unit;
  }
  if (ui.hasRange)
    x += ui.write(ui.fonts.text, x, y, theme.text, rangeText(ui), 1e9f, "status/range") + 2 * unit;
  if (ui.found.active())
    x += ui.write(ui.fonts.text, x, y, theme.accent,
                  countText(ui.found.count) + (ui.found.count == 1 ? " match" : " matches") +
                      (ui.found.dispatches == 0
                           ? std::string()
                           : " · " + countText(ui.found.dispatches) + " dispatches"),
                  1e9f, "status/matches") +
         2 * unit;
  if (!ui.note.empty())
    x += ui.write(ui.fonts.text, x, y, theme.warning, ui.note,
                  std::max(0.0f, bar.right - x - 50 * unit), "status/note") +
         2 * unit;
  if (ui.model->unmatched() > 0)
    ui.write(ui.fonts.text, x, y, theme.warning,
             countText(ui.model->unmatched()) + " events refer to unknown objects", 1e9f,
             "status/unmatched", "warning");
  ui.writeRight(ui.fonts.small, bar.right - 2 * unit,
                (bar.top + bar.bottom - ui.fonts.small->FontSize) / 2, theme.dim,
                "wheel zoom · shift+wheel height · right drag pan · F all · / search · Ctrl+K "
                "commands",
                "status/keys");
}

} // namespace gantry::profiler
