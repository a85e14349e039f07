// Draws the legend at the bottom of the inspector: the colours that occur in the capture, with
// their meanings.
#include "profiler_gui/panels/panels.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// The first kMaxRows blocks of each address space are searched for hues, the properties of blocks
/// that select their colours (BlockHue, block_table.h).
constexpr uint32_t kMaxRows = 4096;

struct Entry {
  std::string name;
  uint32_t fill;
  uint32_t edge;
};

void findHues(const CaptureModel &model, SeenHues *hues) {
  if (hues->events == model.eventCount())
    return;
  hues->events = model.eventCount();
  for (const AddressSpace &space : model.spaces()) {
    for (uint32_t row = 0; row < std::min(space.table.size(), kMaxRows); ++row)
      hues->seen[space.table.hue(row).index()] = true;
  }
}

struct Entries {
  std::vector<Entry> kinds;   // Kinds of blocks, and dispatches.
  std::vector<Entry> writers; // Kinds of operators that write transients.
};

Entries entriesOf(Ui &ui) {
  findHues(*ui.model, &ui.hues);
  const Theme &theme = *ui.theme;
  Entries entries;
  for (uint32_t i = 0; i < BlockHue::kCount; ++i) {
    const BlockHue hue = BlockHue::at(i);
    if (!ui.hues.seen[i])
      continue;
    if (hue.isTransient())
      entries.writers.push_back(
          {opKindName(hue.writer()), theme.fill(hue), theme.writer(hue.writer()).edge});
    else
      entries.kinds.push_back({blockKindName(hue.kind()), theme.fill(hue), theme.fill(hue)});
  }
  if (ui.model->dispatches().size() > 0)
    entries.kinds.push_back({"dispatch", theme.dispatch, theme.dispatch});
  return entries;
}

float rowHeight(const Ui &ui) { return ui.fonts.small->FontSize + 0.75f * ui.unit(); }

float headHeight(const Ui &ui) { return ui.fonts.small->FontSize + 1.25f * ui.unit(); }

size_t rowsOf(const std::vector<Entry> &entries) { return (entries.size() + 1) / 2; }

/// Draws a title and its entries in two columns. Returns the y coordinate below them.
float drawPart(Ui &ui, const char *title, const std::vector<Entry> &entries, ScreenRect place) {
  if (entries.empty())
    return place.top;
  const float unit = ui.unit();
  const float size = 1.25f * unit;
  ui.write(ui.fonts.small, place.left, place.top, ui.theme->dim, title, place.width());
  place.top += headHeight(ui);
  const float column = place.width() / 2;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry &entry = entries[i];
    const float x = place.left + column * static_cast<float>(i % 2);
    const size_t row = i / 2;
    const float y = place.top + rowHeight(ui) * static_cast<float>(row);
    const float top = std::floor(y + (ui.fonts.small->FontSize - size) / 2 + 1);
    const ScreenRect chip{std::floor(x), top, std::floor(x) + size, top + size};
    ui.fill(chip, entry.edge);
    ui.fill({chip.left + 1, chip.top + 1, chip.right - 1, chip.bottom - 1}, entry.fill);
    ui.semantics->add("legend/" + entry.name + "/chip", "chip", chip, entry.name, entry.fill);
    ui.write(ui.fonts.small, x + size + unit, y, ui.theme->text, entry.name,
             column - size - 1.5f * unit, ("legend/" + entry.name).c_str(), "label");
  }
  return place.top + rowHeight(ui) * static_cast<float>(rowsOf(entries));
}

} // namespace

float legendHeight(Ui &ui) {
  const Entries entries = entriesOf(ui);
  float height = 0;
  for (const std::vector<Entry> *part : {&entries.kinds, &entries.writers}) {
    if (!part->empty())
      height += headHeight(ui) + rowHeight(ui) * static_cast<float>(rowsOf(*part)) + ui.unit();
  }
  return height > 0 ? height + ui.unit() : 0;
}

void drawLegend(Ui &ui, const ScreenRect &place) {
  const Entries entries = entriesOf(ui);
  const float unit = ui.unit();
  ui.lineY(place.top, place.left, place.right, ui.theme->line);
  ScreenRect rest{place.left, place.top + unit, place.right, place.bottom};
  rest.top = drawPart(ui, "colours", entries.kinds, rest) + unit;
  drawPart(ui, "transients, by the operator that writes them", entries.writers, rest);
}

} // namespace gantry::profiler
