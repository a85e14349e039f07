// Draws the lifetimes panel: the blocks of each address space in time × address, large blocks as
// rectangles and small ones as a raster (level_of_detail.h). Arenas are above slabs. The heights of
// the arenas are proportional to their sizes; the heights of the slabs are proportional to the
// slabs' sizes. All arenas together get at least half of the panel.
#include "profiler_gui/panels/panels.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// Lower limit on the number of blocks and index nodes that a frame may visit for the raster of one
/// space. It applies if the space's share of Ui::detailBudget is smaller.
constexpr uint64_t kMinBudget = 4096;
// A block whose visible part is narrower has no name. In grid units (Ui::unit()).
constexpr float kMinLabelUnits = 5;
constexpr size_t kMaxLabels = 300;    // Max labels per address space.
constexpr size_t kMaxOutlines = 4000; // After so many outlines, no further run is outlined.
constexpr float kFadedShare = 0.35f;  // Opacity of faded blocks.
constexpr uint64_t kEmptyPart = 64;   // A space is folded if it uses at most 1/64 of its size.
constexpr float kMinFramed = 6;       // Min width and height of a block with a frame, in pixels.

/// Returns the indices of the spaces in their order on the screen.
std::vector<uint32_t> spaceOrder(const CaptureModel &model) {
  std::vector<uint32_t> order(model.spaces().size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t i) {
      const AddressSpace &space = model.spaces()[i];
      return std::tuple(space.kind != SpaceKind::kArena, space.heap, space.slab);
    };
    return key(a) < key(b);
  });
  return order;
}

/// Whether a space is folded, that is, shown as one line with its name and size. The user's choice
/// decides; without a choice, a space is folded if its blocks never used more than 1/kEmptyPart of
/// it, because they would be too small to be seen.
bool isFolded(const SpaceStrip &strip, const AddressSpace &space) {
  return strip.fold == SpaceStrip::Fold::kAuto
             ? space.table.usedBytes() <= space.sizeBytes / kEmptyPart
             : strip.fold == SpaceStrip::Fold::kFolded;
}

/// Sets the position of each space's strip (SpaceStrip in ui.h) and returns the total height.
/// Arenas and slabs share the panel in proportion to their bytes, but arenas get at least half.
float placeStrips(Ui &ui, const std::vector<uint32_t> &order) {
  const ScreenRect &panel = ui.layout.lifetimes;
  const float unit = ui.unit();
  const float folded = 2.5f * unit;
  const float gap = std::round(0.5f * unit);
  double arenaBytes = 0;
  double slabBytes = 0;
  float fixed = 0;
  for (const uint32_t i : order) {
    const AddressSpace &space = ui.model->spaces()[i];
    ui.strips[i].collapsed = isFolded(ui.strips[i], space);
    fixed += gap + (ui.strips[i].collapsed ? folded : 0);
    if (!ui.strips[i].collapsed)
      (space.kind == SpaceKind::kArena ? arenaBytes : slabBytes) +=
          static_cast<double>(space.sizeBytes);
  }
  const float available = std::max(unit, panel.height() - fixed) * ui.stretch;
  const double share = arenaBytes / std::max(1.0, arenaBytes + slabBytes);
  const float arenaHeight = arenaBytes <= 0  ? 0
                            : slabBytes <= 0 ? available
                                             : std::max(static_cast<float>(share) * available,
                                                        panel.height() / 2 * ui.stretch);
  float y = panel.top - ui.scroll;
  for (const uint32_t i : order) {
    SpaceStrip &strip = ui.strips[i];
    const AddressSpace &space = ui.model->spaces()[i];
    const bool arena = space.kind == SpaceKind::kArena;
    const double part =
        static_cast<double>(space.sizeBytes) / std::max(1.0, arena ? arenaBytes : slabBytes);
    const float wanted = static_cast<float>(part) * (arena ? arenaHeight : available - arenaHeight);
    const float height = strip.collapsed ? folded : std::max(folded, wanted);
    strip.top = std::round(y);
    strip.bottom = std::round(y + height);
    y += height + gap;
  }
  return y + ui.scroll - panel.top;
}

/// Converts between addresses of a space and y coordinates of its strip.
struct Mapping {
  double sizeBytes;
  float top, bottom;
  float y(double address) const {
    return bottom - static_cast<float>(address / sizeBytes) * (bottom - top);
  }
  double address(float at) const {
    return static_cast<double>(bottom - at) / static_cast<double>(bottom - top) * sizeBytes;
  }
};

/// Computes the raster's colours: a mix of the hues in proportion to their coverage, premultiplied
/// by alpha.
void colourCells(const Ui &ui, SpaceStrip &strip) {
  const DensityGrid &grid = strip.detail.density();
  const Raster &raster = grid.raster();
  strip.cells.assign(size_t{raster.columns} * raster.rows, 0);
  std::vector<float> sums(size_t{raster.columns} * 4);
  for (uint32_t row = 0; row < raster.rows; ++row) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    bool any = false;
    for (uint32_t hue = 0; hue < BlockHue::kCount; ++hue) {
      const std::span<const float> line = grid.coverageRow(BlockHue::at(hue), row);
      if (line.empty())
        continue;
      any = true;
      const uint32_t colour = ui.theme->small(BlockHue::at(hue));
      const float red = static_cast<float>(colour & 255);
      const float green = static_cast<float>((colour >> 8) & 255);
      const float blue = static_cast<float>((colour >> 16) & 255);
      for (uint32_t column = 0; column < raster.columns; ++column) {
        const float share = line[column];
        sums[column * 4] += red * share;
        sums[column * 4 + 1] += green * share;
        sums[column * 4 + 2] += blue * share;
        sums[column * 4 + 3] += share;
      }
    }
    for (uint32_t column = 0; any && column < raster.columns; ++column) {
      const float *sum = &sums[size_t{column} * 4];
      if (sum[3] <= 0)
        continue;
      const float total = std::max(sum[3], 1.0f); // Above 1 if blocks overlap.
      const auto byte = [&](float value) {
        return static_cast<uint32_t>(std::min(value / total + 0.5f, 255.0f));
      };
      strip.cells[size_t{row} * raster.columns + column] =
          byte(sum[0]) | (byte(sum[1]) << 8) | (byte(sum[2]) << 16) |
          (byte(std::min(sum[3], 1.0f) * 255.0f * total) << 24);
    }
  }
  strip.coloured = strip.detail.revision();
  strip.colouredTheme = static_cast<uint32_t>(ui.themeName);
}

void drawRaster(Ui &ui, SpaceStrip &strip, const Mapping &map, float opacity) {
  const Raster &raster = strip.detail.density().raster();
  if (raster.columns == 0)
    return;
  if (strip.coloured != strip.detail.revision() ||
      strip.colouredTheme != static_cast<uint32_t>(ui.themeName))
    colourCells(ui, strip);
  const RasterImage image = ui.canvas->addCells(strip.cells, raster.columns, raster.rows);
  const ScreenRect plot = ui.plot(ui.layout.lifetimes);
  const float top = std::max(map.top, ui.layout.lifetimes.top);
  const float bottom = std::min(map.bottom, ui.layout.lifetimes.bottom);
  const auto column = [&](float x) {
    return static_cast<float>((ui.timeAt(x) - static_cast<double>(raster.beginNs())) /
                              raster.cellNs());
  };
  const auto row = [&](float y) {
    return static_cast<float>((map.address(y) - static_cast<double>(raster.lowAddress())) /
                              raster.cellBytes());
  };
  const float cells[4] = {column(plot.left), row(top), column(plot.right), row(bottom)};
  ui.canvas->addRaster(*ui.list, image, {plot.left, top}, {plot.right, bottom}, cells, opacity);
}

/// Returns the fill of a block. Blocks with one hue vary in lightness by name, so that neighbours
/// can be distinguished. Transients do not vary: their frames separate neighbours, and so they have
/// exactly the legend's colours.
uint32_t blockColour(const Theme &theme, BlockHue hue, uint32_t name) {
  const uint32_t base = theme.fill(hue);
  if (hue.isTransient())
    return base;
  const float shade =
      static_cast<float>((name * 2654435761u) >> 29) / 7.0f; // 0 to 1, from a hash of the name.
  return shade < 0.5f ? mixed(base, 0xff000000u, 0.16f * (0.5f - shade))
                      : mixed(base, 0xffffffffu, 0.24f * (shade - 0.5f));
}

struct BlockLabel {
  ScreenRect rect; // The visible part of the block.
  uint32_t row;
};

/// Writes the names of the blocks, which are in the order in which they were drawn. A value that is
/// a part of a larger value, such as an input of a concatenation, has a block inside the block of
/// that value. A name therefore ends where a block that is drawn later covers its line, and is left
/// out if that leaves less than kMinLabelUnits.
void writeLabels(Ui &ui, const BlockTable &table, std::span<const BlockLabel> labels) {
  const float textHeight = ui.fonts.small->FontSize;
  const float inset = ui.unit() / 2;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto &[rect, row] = labels[i];
    const float y =
        rect.height() > 2 * textHeight ? rect.top + 2 : (rect.top + rect.bottom - textHeight) / 2;
    float right = rect.right;
    for (const auto &[cover, coverRow] : labels.subspan(i + 1))
      if (cover.top < y + textHeight && cover.bottom > y && cover.right > rect.left)
        right = std::min(right, cover.left);
    if (right == rect.right || right - rect.left >= kMinLabelUnits * ui.unit())
      ui.write(ui.fonts.small, rect.left + inset, y, ui.theme->textOn(table.hue(row)),
               ui.nameOf(table.name(row), ""), right - rect.left - 2 * inset, "block_label",
               "label");
  }
}

/// Returns the hovered block, else the selection. Blocks that are not related to it are faded.
/// Hovering a dispatch in another plot has no effect here.
const Pick &focusOf(const Ui &ui) {
  return ui.hovered.kind == Pick::Kind::kBlock ? ui.hovered : ui.selected;
}

/// Returns the opacity of a block. During a search, blocks that do not match are faded. Otherwise,
/// blocks that are not related to the hovered block or the selection are faded.
float opacityOf(const Ui &ui, uint32_t space, uint32_t row) {
  const BlockTable &table = ui.model->spaces()[space].table;
  if (ui.found.active())
    return ui.found.has(table.at(row)) ? 1.0f : kFadedShare * 0.6f;
  const Pick &focus = focusOf(ui);
  if (focus.kind == Pick::Kind::kNone)
    return 1.0f;
  if (focus.kind == Pick::Kind::kBlock && focus.space == space && focus.row == row)
    return 1.0f;
  const uint32_t entry = table.entry(row);
  return entry != 0 && ui.related.contains(entry - 1) ? 1.0f : kFadedShare;
}

void drawBlocks(Ui &ui, uint32_t space, SpaceStrip &strip, const Mapping &map) {
  const BlockTable &table = ui.model->spaces()[space].table;
  const Theme &theme = *ui.theme;
  static thread_local std::vector<RectInstance> rects;
  static thread_local std::vector<BlockLabel> labels;
  rects.clear();
  labels.clear();
  const ScreenRect plot = ui.plot(ui.layout.lifetimes);
  const double now = static_cast<double>(ui.model->nowNs());
  const float textHeight = ui.fonts.small->FontSize;
  for (const uint32_t row : strip.detail.exact()) {
    const double end = std::min(static_cast<double>(table.endNs(row)), now);
    const double low = static_cast<double>(table.offset(row));
    const double high = low + static_cast<double>(table.sizeBytes(row));
    const RectInstance rect{ui.xOf(static_cast<double>(table.beginNs(row))),
                            map.y(high),
                            ui.xOf(end),
                            map.y(low),
                            0,
                            kRectEdge};
    const float share = opacityOf(ui, space, row);
    const BlockHue hue = table.hue(row);
    const bool framed = hue.isTransient() && rect.right - rect.left >= kMinFramed &&
                        rect.bottom - rect.top >= kMinFramed;
    const uint32_t fill = faded(
        hue.isTransient() && !framed ? theme.small(hue) : blockColour(theme, hue, table.name(row)),
        share);
    rects.push_back(rect);
    rects.back().fill = fill;
    if (framed) {
      rects.back().style = kRectPlain;
      rects.push_back(rect);
      rects.back().fill = faded(theme.writer(hue.writer()).edge, share);
      rects.back().style = kRectOutline;
    }
    const ScreenRect seen{std::max(rect.left, plot.left), std::max(rect.top, plot.top),
                          std::min(rect.right, plot.right), std::min(rect.bottom, plot.bottom)};
    if (seen.width() >= kMinLabelUnits * ui.unit() && seen.height() >= textHeight + 2 &&
        labels.size() < kMaxLabels && share == 1.0f)
      labels.push_back({seen, row});
    if (ui.semantics->wanted() && seen.width() > 0 && seen.height() > 0)
      ui.semantics->add("block/" + std::to_string(space) + "/" + std::to_string(row), "block", seen,
                        ui.nameOf(table.name(row), "unnamed"), fill);
  }
  ui.canvas->addRects(*ui.list, rects);
  writeLabels(ui, table, labels);
}

/// Adds outlines of the places of the values in the arena that the planner found for the last
/// what-if question (Ui::whatIf), at the times of one run.
void addWhatIf(const Ui &ui, const Run &run, const Mapping &map, std::vector<RectInstance> *rects) {
  for (const WhatIfPlace &place : ui.whatIf.places) {
    const double low = static_cast<double>(place.offset);
    const RectInstance rect{
        ui.xOf(static_cast<double>(ui.model->commandTimes(run, place.firstUse).beginNs)),
        map.y(low + static_cast<double>(place.sizeBytes)),
        ui.xOf(static_cast<double>(ui.model->commandTimes(run, place.lastUse).endNs)),
        map.y(low),
        ui.theme->selection,
        kRectOutline | kRectDashed};
    if (rect.right - rect.left < 2 || rect.bottom - rect.top < 2)
      continue;
    rects->push_back(rect);
    if (ui.semantics->wanted())
      ui.semantics->add("what_if/" + std::to_string(place.entry), "outline",
                        {rect.left, rect.top, rect.right, rect.bottom}, bytesText(place.sizeBytes),
                        ui.theme->selection);
  }
}

/// Draws dashed outlines of the planned places of transients, for each run in view. If a what-if
/// answer concerns the run's plan, the answer's places are outlined instead.
void drawPlan(Ui &ui, const AddressSpace &space, const Mapping &map) {
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  const uint32_t colour = faded(ui.theme->light ? 0xff000000u : ui.theme->selection, 0.38f);
  const CaptureModel &model = *ui.model;
  const auto &runs = model.runs();
  const auto first = std::partition_point(runs.begin(), runs.end(), [&](const Run &run) {
    return run.endNs != kStillHeld && static_cast<double>(run.endNs) < ui.time.beginNs();
  });
  for (auto run = first; run != runs.end(); ++run) {
    if (static_cast<double>(run->beginNs) > ui.time.endNs() || rects.size() > kMaxOutlines)
      break;
    if (run->session != space.session || run->plan >= model.plans().size() ||
        run->endNs == kStillHeld)
      continue;
    const float width =
        ui.xOf(static_cast<double>(run->endNs)) - ui.xOf(static_cast<double>(run->beginNs));
    if (width < 12 * ui.unit())
      continue; // Outlines would hide the blocks of a run this narrow.
    if (ui.whatIf.kind != WhatIf::Kind::kNone && ui.whatIf.plan == run->plan) {
      addWhatIf(ui, *run, map, &rects);
      continue;
    }
    for (const uint32_t index : model.plans()[run->plan].entries) {
      const PlanEntry &entry = model.planEntries()[index];
      if (entry.storage != Storage::kTransient)
        continue;
      const double low = static_cast<double>(entry.offset);
      const RectInstance rect{
          ui.xOf(static_cast<double>(model.commandTimes(*run, entry.firstUse).beginNs)),
          map.y(low + static_cast<double>(entry.sizeBytes)),
          ui.xOf(static_cast<double>(model.commandTimes(*run, entry.lastUse).endNs)),
          map.y(low),
          colour,
          kRectOutline | kRectDashed};
      if (rect.right - rect.left >= 6 && rect.bottom - rect.top >= 6)
        rects.push_back(rect);
    }
  }
  ui.canvas->addRects(*ui.list, rects);
}

/// Draws hatched rectangles over the places and times of the differences from the plan.
void drawFindings(Ui &ui, uint32_t space, const Mapping &map) {
  static thread_local std::vector<RectInstance> rects;
  rects.clear();
  for (size_t i = 0; i < ui.findings.size(); ++i) {
    const Finding &finding = ui.findings[i];
    if (finding.space != space || finding.highAddress <= finding.lowAddress)
      continue;
    RectInstance rect{ui.xOf(static_cast<double>(finding.beginNs)),
                      map.y(static_cast<double>(finding.highAddress)),
                      ui.xOf(static_cast<double>(finding.endNs)),
                      map.y(static_cast<double>(finding.lowAddress)),
                      ui.theme->over,
                      kRectHatch};
    rect.right = std::max(rect.right, rect.left + 3);
    rect.top = std::min(rect.top, rect.bottom - 3);
    rects.push_back(rect);
    rect.style = kRectOutline | kRectBold;
    rects.push_back(rect);
    ui.semantics->add("difference/" + std::to_string(i), "finding",
                      {rect.left, rect.top, rect.right, rect.bottom}, finding.text, ui.theme->over);
  }
  ui.canvas->addRects(*ui.list, rects);
}

/// Outlines a block. An opacity of 1 means that the block is the selection, which is also added to
/// the description of the screen that tests read (semantics.h).
void drawSelection(Ui &ui, uint32_t space, const Pick &pick, const Mapping &map, float opacity) {
  if (pick.kind != Pick::Kind::kBlock || pick.space != space)
    return;
  const BlockTable &table = ui.model->spaces()[space].table;
  if (pick.row >= table.size())
    return;
  const Block block = table.at(pick.row);
  const double end =
      std::min(static_cast<double>(block.endNs), static_cast<double>(ui.model->nowNs()));
  RectInstance rect{ui.xOf(static_cast<double>(block.beginNs)) - 1,
                    map.y(static_cast<double>(block.endOffset())) - 1,
                    ui.xOf(end) + 1,
                    map.y(static_cast<double>(block.offset)) + 1,
                    faded(ui.theme->selection, opacity),
                    kRectOutline | kRectBold};
  ui.canvas->addRects(*ui.list, {&rect, 1});
  if (opacity == 1.0f)
    ui.semantics->add("selection", "selection", {rect.left, rect.top, rect.right, rect.bottom},
                      ui.nameOf(block.name, "unnamed"), ui.theme->selection);
}

/// Sets ui.hovered to the block under the pointer, if the pointer is over a block in `seen`, the
/// visible part of the strip.
void pickBlock(Ui &ui, uint32_t space, const Mapping &map, const ScreenRect &seen) {
  if (!ui.mouseInPlots || !seen.contains(ui.mouseX, ui.mouseY))
    return;
  const double time = ui.timeAt(ui.mouseX + 0.5f);
  const double address = map.address(ui.mouseY + 0.5f);
  if (time < 0 || address < 0)
    return;
  const AddressSpace &at = ui.model->spaces()[space];
  const std::vector<uint32_t> rows =
      at.index.at(at.table, static_cast<uint64_t>(time), static_cast<uint64_t>(address));
  if (!rows.empty() && time <= static_cast<double>(ui.model->nowNs()))
    ui.hovered = {Pick::Kind::kBlock, space, rows[0], 0, static_cast<uint64_t>(address)};
}

/// Draws the name, the size and the fold button of a space.
void drawStripName(Ui &ui, const AddressSpace &space, const SpaceStrip &strip,
                   const std::string &id) {
  const Theme &theme = *ui.theme;
  const float unit = ui.unit();
  const ScreenRect &panel = ui.layout.lifetimes;
  const ScreenRect plot = ui.plot(panel);
  const float left = panel.left + 2 * unit;
  float y = std::max(strip.top, panel.top) + 1;
  ui.pushClip({panel.left, std::max(strip.top, panel.top), panel.right,
               std::min(strip.bottom, panel.bottom)});
  const float arrow = unit;
  const ImVec2 middle{left + arrow / 2, y + ui.fonts.small->FontSize / 2 + 1};
  if (strip.collapsed)
    ui.list->AddTriangleFilled({middle.x - 2, middle.y - 4}, {middle.x - 2, middle.y + 4},
                               {middle.x + 4, middle.y}, theme.dim);
  else
    ui.list->AddTriangleFilled({middle.x - 4, middle.y - 2}, {middle.x + 4, middle.y - 2},
                               {middle.x, middle.y + 4}, theme.dim);
  ui.semantics->add(id + "/fold", "button",
                    {panel.left, std::max(strip.top, panel.top), plot.left, y + 2 * unit},
                    strip.collapsed ? "unfold" : "fold", theme.dim);
  ui.write(ui.fonts.small, left + 1.5f * unit, y, theme.text, space.label,
           plot.left - left - 2 * unit, (id + "/name").c_str(), "label");
  if (strip.collapsed) { // A folded space has its size in the plot, on the same line.
    const uint64_t used = space.table.usedBytes();
    const std::string more = used == 0 ? ", empty"
                             : strip.fold == SpaceStrip::Fold::kAuto
                                 ? ", " + bytesText(used) + " used"
                                 : "";
    ui.write(ui.fonts.small, plot.left + unit, y, theme.dim, bytesText(space.sizeBytes) + more,
             plot.width() - 2 * unit, (id + "/size").c_str());
  }
  y += ui.fonts.small->FontSize + 3;
  if (y + ui.fonts.small->FontSize < strip.bottom && !strip.collapsed)
    ui.write(ui.fonts.small, left + 1.5f * unit, y, theme.dim, bytesText(space.sizeBytes),
             plot.left - left - 2 * unit, (id + "/size").c_str());
  ui.popClip();
}

void drawStrip(Ui &ui, uint32_t index) {
  const AddressSpace &space = ui.model->spaces()[index];
  SpaceStrip &strip = ui.strips[index];
  const ScreenRect &panel = ui.layout.lifetimes;
  if (strip.bottom <= panel.top || strip.top >= panel.bottom)
    return;
  const ScreenRect plot = ui.plot(panel);
  const ScreenRect seen{plot.left, std::max(strip.top, panel.top), plot.right,
                        std::min(strip.bottom, panel.bottom)};
  const std::string id = "space/" + std::to_string(index);
  ui.fill(seen, ui.theme->panel);
  ui.semantics->add(id, "space", seen, space.label, ui.theme->panel);
  drawStripName(ui, space, strip, id);
  if (strip.collapsed || space.sizeBytes == 0)
    return;

  const Mapping map{static_cast<double>(space.sizeBytes), strip.top, strip.bottom};
  SpaceView view;
  view.beginNs = std::max(0.0, ui.time.beginNs());
  view.endNs = std::max(view.beginNs, ui.time.endNs());
  view.lowAddress = std::max(0.0, map.address(seen.bottom));
  view.highAddress = std::min(map.sizeBytes, map.address(seen.top));
  view.widthPixels =
      static_cast<double>(plot.width()) * (view.endNs - view.beginNs) / ui.time.spanNs();
  view.heightPixels = static_cast<double>(seen.height());
  // All spaces share the number of blocks and nodes that a frame may visit (Ui::detailBudget).
  const uint64_t budget =
      ui.detailBudget == 0 ? 0 : std::max<uint64_t>(ui.detailBudget / ui.strips.size(), kMinBudget);
  strip.detail.refine(space.table, space.index, view, ui.model->nowNs(), budget);

  ui.pushClip(seen);
  const bool fade = ui.found.active() || focusOf(ui).kind != Pick::Kind::kNone;
  drawRaster(ui, strip, map, fade ? kFadedShare + 0.2f : 1.0f);
  drawBlocks(ui, index, strip, map);
  if (space.kind == SpaceKind::kArena)
    drawPlan(ui, space, map);
  drawFindings(ui, index, map);
  drawSelection(ui, index, ui.hovered, map, 0.6f);
  drawSelection(ui, index, ui.selected, map, 1.0f);
  ui.popClip();
}

/// Sets ui.hovered. Must run before any block is drawn, because the hovered block decides which
/// blocks are faded.
void findHovered(Ui &ui, const std::vector<uint32_t> &order) {
  const ScreenRect &panel = ui.layout.lifetimes;
  const ScreenRect plot = ui.plot(panel);
  for (const uint32_t index : order) {
    const SpaceStrip &strip = ui.strips[index];
    const AddressSpace &space = ui.model->spaces()[index];
    if (strip.collapsed || space.sizeBytes == 0)
      continue;
    pickBlock(ui, index, {static_cast<double>(space.sizeBytes), strip.top, strip.bottom},
              {plot.left, std::max(strip.top, panel.top), plot.right,
               std::min(strip.bottom, panel.bottom)});
  }
}

} // namespace

void drawLifetimes(Ui &ui) {
  const ScreenRect &panel = ui.layout.lifetimes;
  const Theme &theme = *ui.theme;
  ui.strips.resize(ui.model->spaces().size());
  if (panel.height() <= 0)
    return; // The table of operators is shown instead.
  ui.fill(panel, theme.background);
  ui.semantics->add("lifetimes", "panel", panel,
                    std::to_string(ui.model->spaces().size()) + " address spaces",
                    theme.background);
  const std::vector<uint32_t> order = spaceOrder(*ui.model);
  float height = placeStrips(ui, order);
  const float maxScroll = std::max(0.0f, height - panel.height());
  if (ui.scroll > maxScroll) {
    ui.scroll = maxScroll;
    height = placeStrips(ui, order);
  }
  findHovered(ui, order);
  ui.related = relatedEntries(*ui.model, focusOf(ui));
  ui.pushClip(panel);
  for (const AxisTick &tick : axisTicks(ui).ticks)
    ui.lineX(ui.xOf(tick.ns), panel.top, panel.bottom, faded(theme.line, 0.6f));
  for (const uint32_t index : order)
    drawStrip(ui, index);
  if (height > panel.height() + 1) { // Draws a scroll bar.
    const float shown = panel.height() / height;
    const float top = panel.top + ui.scroll / height * panel.height();
    ui.fill({panel.right - ui.unit() / 2, top, panel.right, top + shown * panel.height()},
            theme.line);
  }
  ui.popClip();
  ui.lineY(panel.bottom - 1, panel.left, panel.right, theme.line);
}

} // namespace gantry::profiler
