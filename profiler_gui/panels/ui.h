// The state that the panels share while they draw one frame: the model, the view, the hovered and
// the selected block or dispatch, colours and fonts; and helpers for drawing and writing text.
//
// Panels are functions. They read the model and this state, draw, and record the block or dispatch
// under the pointer. ProfilerWindow (profiler_window.h) changes this state in response to input.
//
// Screen coordinates are ImGui's pixels, from the top left corner. Times are nanoseconds from the
// capture's start. Colours are as in theme.h. Threads: the user interface's thread.
#pragma once

#include "profiler_gui/model/capture/capture_model.h"
#include "profiler_gui/model/index/level_of_detail.h"
#include "profiler_gui/model/analysis/operator_table.h"
#include "profiler_gui/model/analysis/plan_check.h"
#include "profiler_gui/model/index/search.h"
#include "profiler_gui/model/time_view.h"
#include "profiler_gui/model/analysis/what_if.h"
#include "profiler_gui/panels/canvas.h"
#include "profiler_gui/panels/fonts.h"
#include "profiler_gui/panels/layout.h"
#include "profiler_gui/panels/semantics.h"
#include "profiler_gui/panels/theme.h"

#include <imgui.h>

#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace gantry::profiler {

/// A block or a dispatch of the capture that the user points at or has selected.
struct Pick {
  enum class Kind : uint8_t { kNone, kBlock, kDispatch };
  Kind kind = Kind::kNone;
  uint32_t space = 0;    // Index in CaptureModel::spaces(). Valid for kBlock.
  uint32_t row = 0;      // Row in the space's table. Valid for kBlock.
  uint32_t dispatch = 0; // Index in CaptureModel::dispatches(). Valid for kDispatch.
  uint64_t address = 0;  // Address under the pointer. Valid for kBlock.
  bool operator==(const Pick &) const = default;
};

/// One address space, a slab or an arena (panels.h), in the lifetimes panel. A folded space is one
/// line with its name and size.
struct SpaceStrip {
  /// The user's choice; kAuto folds spaces that are nearly empty.
  enum class Fold : uint8_t { kAuto, kFolded, kOpen } fold = Fold::kAuto;
  bool collapsed = false;    // Whether the strip is folded in this frame.
  float top = 0, bottom = 0; // Pixels; both may be outside the panel.
  LevelOfDetail detail;
  /// The colour of each cell of the raster that shows the small blocks, computed from
  /// detail.density(), premultiplied by alpha.
  std::vector<uint32_t> cells;
  uint64_t coloured = 0;               // The revision of `detail` for which `cells` is valid.
  uint32_t colouredTheme = UINT32_MAX; // The ThemeName for which `cells` is valid.
};

/// Dispatches of one lane (Lane in dispatch_table.h) that are drawn as one rectangle
/// (dispatch_columns.h).
struct DispatchColumn {
  float left = 0, right = 0; // Pixels.
  uint32_t first = 0;        // Position in Lane::dispatches.
  uint32_t last = 0;         // Exclusive.
};

/// The minimap's curve; recomputed when the capture or the plot's width changes.
struct MinimapColumns {
  uint64_t events = 0;       // Event count of the capture when the curve was computed.
  float left = 0, right = 0; // Plot edges when the curve was computed.
  /// For each pixel column, the live bytes of all heaps divided by the sum of the heaps' peaks, 0
  /// to 1.
  std::vector<float> share;
};

/// The table of operators: its sort order, and where its parts were drawn in this frame.
struct OperatorView {
  OperatorTable table;
  OperatorColumn sortedBy = OperatorColumn::kTime;
  bool descending = true;
  float scroll = 0; // Pixels.
  struct Header {
    ScreenRect rect;
    OperatorColumn column;
  };
  struct Row {
    ScreenRect rect;
    std::string name;
  };
  std::vector<Header> headers;
  std::vector<Row> rows;
};

/// The hues of blocks, which select their colours, that occur in the capture; searched again when
/// the capture has grown.
struct SeenHues {
  uint64_t events = UINT64_MAX; // Event count of the capture when the hues were searched.
  std::array<bool, BlockHue::kCount> seen{};
};

struct Ui {
  // ---- Set by ProfilerWindow ----
  const CaptureModel *model = nullptr;
  Canvas *canvas = nullptr;
  Semantics *semantics = nullptr;
  const Theme *theme = nullptr;
  ThemeName themeName = ThemeName::kDark;
  Fonts fonts;
  Layout layout;
  Focus focus = Focus::kLifetimes;
  std::string title;                    // The name of the file or process.
  std::string note;                     // A message for the status bar.
  const CaptureModel *second = nullptr; // The second capture while comparing, else nullptr.
  /// Time in the second capture minus time in the first capture, for the same pixel.
  double secondShiftNs = 0;

  bool live = false;
  bool paused = false;
  /// Max number of blocks, and of nodes of the trees that index the blocks (BlockIndex), that one
  /// frame visits to compute the rasters of small blocks (LevelOfDetail::refine()); 0: no limit.
  uint64_t detailBudget = 0;

  TimeView time;
  float scroll = 0;  // Vertical scroll position of the lifetimes, in pixels.
  float stretch = 1; // Vertical zoom factor of the lifetimes, 1 or more.
  std::vector<SpaceStrip> strips;
  Pick hovered, selected;
  /// The values that are related to the hovered block or the selection, as indices in
  /// CaptureModel::planEntries() (relatedEntries() in panels.h). Blocks of other values are faded.
  std::unordered_set<uint32_t> related;
  bool hasRange = false;
  double rangeBeginNs = 0, rangeEndNs = 0;
  std::vector<double> markers; // The times that the user has marked, in ns.
  float mouseX = -1, mouseY = -1;
  bool mouseInPlots = false;

  double whatIfFactor = 1; // Factor on the size of the value `whatIfOf`.
  Pick whatIfOf;
  /// The planner's answer to the last what-if question, for example how the arena would look if the
  /// value `whatIfOf` had another size (what_if.h). Drawn over the arena of its plan.
  WhatIf whatIf;

  char query[128] = "";
  SearchResult found;                   // The result of the search for `query`.
  std::vector<Finding> findings;        // Differences from the plans (plan_check.h).
  std::vector<ScreenRect> findingRects; // The inspector's rectangle of each listed finding.

  // ---- Set by panels ----
  std::vector<std::vector<DispatchColumn>> laneColumns; // The columns of each lane in this frame.
  MinimapColumns minimap;
  OperatorView operators;
  SeenHues hues;

  // ---- Helpers ----
  ImDrawList *list = nullptr; // The draw list of this frame.

  /// The grid unit in pixels (layout.h).
  float unit() const { return 8 * fonts.scale; }
  /// Converts between times and x coordinates of the plots.
  float xOf(double timeNs) const;
  double timeAt(float x) const;
  /// The times at the edges of the pixel columns from `left` to `right`, plus shiftNs. Negative
  /// times become 0.
  std::vector<uint64_t> columnBounds(float left, float right, double shiftNs) const;
  /// The part of a panel between the gutters.
  ScreenRect plot(const ScreenRect &panel) const { return layout.plotOf(panel); }

  void fill(const ScreenRect &rect, uint32_t colour) const;
  /// A vertical line at x, and a horizontal one at y.
  void lineX(float x, float top, float bottom, uint32_t colour, float width = 1) const;
  void lineY(float y, float left, float right, uint32_t colour, float width = 1) const;
  /// Writes one line of text, shortened to `maxWidth` pixels if necessary (short_name.h), and
  /// returns its width. If `id` is not nullptr, an item with this id and the full text is added to
  /// the description of the screen that tests read (semantics.h). A shortened text is added there
  /// too, as an item whose id ends in "/shown".
  float write(ImFont *font, float x, float y, uint32_t colour, std::string_view text,
              float maxWidth = 1e9f, const char *id = nullptr, const char *role = "text");
  /// Like write(), turned by 90° to read upwards from (x, bottom); x is the left edge.
  void writeUpwards(ImFont *font, float x, float bottom, uint32_t colour, std::string_view text,
                    float maxLength, const char *id, const char *role) const;
  /// Like write() without a max width; the text ends at `right`.
  void writeRight(ImFont *font, float right, float y, uint32_t colour, std::string_view text,
                  const char *id = nullptr, const char *role = "text");
  /// The width of a text in pixels.
  static float widthOf(ImFont *font, std::string_view text);
  /// Limits drawing to the rectangle until popClip().
  void pushClip(const ScreenRect &rect) const;
  void popClip() const;
  /// A point in time and a duration as text. The times of an artifact, a compiled model, that was
  /// never run are invented (unrun_capture.h), so they are written as numbers of commands: "command
  /// 12", "5 commands".
  std::string momentText(double ns, double resolutionNs) const;
  std::string lengthText(double ns) const;
  /// The text with this id, or `otherwise` if it is empty.
  std::string nameOf(uint32_t name, const char *otherwise) const;
};

} // namespace gantry::profiler
