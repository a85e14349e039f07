// What the panels share while they draw one frame: the model, the view, what is under the pointer
// and what is selected, colours, fonts, and helpers to write and draw with.
//
// Panels are functions: they read the model and this, draw, and note what the pointer is over. The
// window (profiler_window.h) turns input into changes of this.
//
// Threads: that of the user interface.
#pragma once

#include "profiler_gui/model/capture_model.h"
#include "profiler_gui/model/level_of_detail.h"
#include "profiler_gui/model/operators.h"
#include "profiler_gui/model/plan_check.h"
#include "profiler_gui/model/search.h"
#include "profiler_gui/model/time_view.h"
#include "profiler_gui/model/what_if.h"
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

/// A thing in the capture.
struct Pick {
  enum class Kind : uint8_t { kNone, kBlock, kDispatch };
  Kind kind = Kind::kNone;
  uint32_t space = 0; // of kBlock: index in spaces()
  uint32_t row = 0;   // of kBlock
  uint32_t dispatch = 0;
  uint64_t address = 0; // of kBlock: the byte that was pointed at
  bool operator==(const Pick &) const = default;
};

/// How one address space lies in the lifetimes view.
struct SpaceStrip {
  enum class Fold : uint8_t { kAuto, kFolded, kOpen } fold = Fold::kAuto;
  bool collapsed = false;    // Folded by the user, or empty.
  float top = 0, bottom = 0; // pixels, both possibly outside of the panel
  LevelOfDetail detail;
  uint64_t coloured = 0; // the revision that `cells` shows
  uint32_t colouredTheme = UINT32_MAX;
  std::vector<uint32_t> cells;
};

/// Dispatches of one lane that are drawn as one (dispatch_columns.h).
struct DispatchColumn {
  float left = 0, right = 0;
  uint32_t first = 0; // positions in the lane
  uint32_t last = 0;  // exclusive; first + 1 where it is a single one
};

/// The whole capture in the minimap's columns; made again when the capture or the width changes.
struct MinimapColumns {
  uint64_t events = 0;
  float left = 0, right = 0;
  std::vector<float> share; // of the highest
};

/// The table of operators: its order, and where its parts were drawn in this frame.
struct OperatorView {
  OperatorTable table;
  OperatorColumn sortedBy = OperatorColumn::kTime;
  bool descending = true;
  float scroll = 0; // pixels
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

/// Which hues occur; looked for again when the capture has grown.
struct SeenHues {
  uint64_t events = UINT64_MAX;
  std::array<bool, BlockHue::kCount> seen{};
};

struct Ui {
  // ---- set by the window ----
  const CaptureModel *model = nullptr;
  Canvas *canvas = nullptr;
  Semantics *semantics = nullptr;
  const Theme *theme = nullptr;
  ThemeName themeName = ThemeName::kDark;
  Fonts fonts;
  Layout layout;
  Focus focus = Focus::kLifetimes;
  std::string title;                    // the file's or the process's name
  std::string note;                     // a line of the status bar: what failed, what was done
  const CaptureModel *second = nullptr; // comparing: drawn over the heaps of the first capture
  double secondShiftNs = 0;             // its times less those of the first

  bool live = false;
  bool paused = false;
  uint64_t detailBudget = 0; // blocks and nodes per frame for rasters; 0: all

  TimeView time;
  float scroll = 0;  // of the lifetimes, pixels
  float stretch = 1; // of the lifetimes' heights
  std::vector<SpaceStrip> strips;
  Pick hovered, selected;
  std::unordered_set<uint32_t> related; // plan entries linked to the hovered or selected thing
  bool hasRange = false;
  double rangeBeginNs = 0, rangeEndNs = 0;
  std::vector<double> markers;
  float mouseX = -1, mouseY = -1;
  bool mouseInPlots = false;

  double whatIfFactor = 1; // of the selected value's size
  Pick whatIfOf;
  WhatIf whatIf; // drawn over the arena of its plan

  char query[128] = "";
  SearchResult found;
  std::vector<Finding> findings;
  std::vector<ScreenRect> findingRects; // where the inspector lists them

  // ---- kept by panels ----
  std::vector<std::vector<DispatchColumn>> laneColumns; // of this frame
  MinimapColumns minimap;
  OperatorView operators;
  SeenHues hues;

  // ---- helpers ----
  ImDrawList *list = nullptr; // of the frame

  float unit() const { return 8 * fonts.scale; }
  float xOf(double timeNs) const;
  double timeAt(float x) const;
  /// The moments between the plot's columns of pixels, from `left` on; their times are less `shift`
  /// in the second capture. Never below 0.
  std::vector<uint64_t> columnBounds(float left, float right, double shiftNs) const;
  ScreenRect plot(const ScreenRect &panel) const { return layout.plotOf(panel); }

  void fill(const ScreenRect &rect, uint32_t colour) const;
  void lineX(float x, float top, float bottom, uint32_t colour, float width = 1) const;
  void lineY(float y, float left, float right, uint32_t colour, float width = 1) const;
  /// Writes a line, shortened with "…" where it does not fit (short_name.h); returns its width.
  /// With an id it is told to the semantics, whole; what is left of a shortened one is told as
  /// id/shown.
  float write(ImFont *font, float x, float y, uint32_t colour, std::string_view text,
              float widest = 1e9f, const char *id = nullptr, const char *role = "text");
  /// The same, turned to the left: reads upwards from (x, bottom), x being its left edge.
  void writeUpwards(ImFont *font, float x, float bottom, uint32_t colour, std::string_view text,
                    float longest, const char *id, const char *role) const;
  /// The same, ending at `right`.
  void writeRight(ImFont *font, float right, float y, uint32_t colour, std::string_view text,
                  const char *id = nullptr, const char *role = "text");
  static float widthOf(ImFont *font, std::string_view text);
  void pushClip(const ScreenRect &rect) const;
  void popClip() const;
  /// A moment and a length of time in words. In an artifact that was never run, whose times are
  /// invented, they are commands: "command 12", "5 commands".
  std::string momentText(double ns, double resolutionNs) const;
  std::string lengthText(double ns) const;
  std::string nameOf(uint32_t name, const char *otherwise) const;
};

} // namespace gantry::profiler
