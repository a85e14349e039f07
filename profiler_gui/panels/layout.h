// Computes the rectangles of all panels from the window's size and the contents of the capture.
//
// From top to bottom, a window has a top bar, the plots, and a status bar. The plots share one time
// axis and are, from top to bottom: heap strips (the bytes of each heap), the time axis, the
// minimap (the whole capture), lifetimes (the blocks in time × address), shared memory (of each
// dispatch), and lanes (the dispatches of each device). Plots have a gutter at the left for names
// and one at the right for the numbers of horizontal lines, such as the budget. The inspector, with
// details of the selection, is to the right of the plots; windows narrower than 1000 pixels at
// scale 1 have no inspector.
//
// Units: pixels. The code measures lengths in grid units, which are 8 pixels at scale 1. Threads:
// pure functions.
#pragma once

#include "profiler_gui/panels/semantics.h"

#include <cstdint>
#include <string>

namespace gantry::profiler {

/// The plot that gets the most space. kOperators hides the lifetimes and shows the table of
/// operators below the other plots.
enum class Focus : uint8_t { kLifetimes, kHeap, kDispatches, kOperators };
/// Parses "lifetimes", "heap", "dispatches" or "operators"; returns false for other texts.
bool parseFocus(const std::string &text, Focus *focus);

struct Layout {
  ScreenRect window;
  ScreenRect topBar;
  ScreenRect heap; // All heap strips.
  ScreenRect axis; // The time axis below the strips.
  ScreenRect minimap;
  ScreenRect lifetimes;
  ScreenRect shared; // Shared memory of each dispatch.
  ScreenRect lanes;
  ScreenRect operators; // The table, below all plots; empty unless the focus is kOperators.
  ScreenRect caption;   // The name of the capture above its plots; empty unless two are compared.
  ScreenRect inspector;
  ScreenRect statusBar;
  float plotLeft = 0;    // Left edge of all plots; names are to its left.
  float plotRight = 0;   // Right edge of all plots; budgets are to its right.
  float plotsBottom = 0; // Bottom edge of the lowest plot.

  /// The part of a panel between the gutters.
  ScreenRect plotOf(const ScreenRect &panel) const {
    return {plotLeft, panel.top, plotRight, panel.bottom};
  }
};

/// The contents of a capture that affect the layout.
struct Contents {
  uint32_t heaps = 0;
  uint32_t lanes = 0; // Including the row of host spans, if there is one.
  /// Whether any dispatch uses shared memory. If not, the plot of shared memory is one line of
  /// text.
  bool sharedUsed = true;
};

/// The layout of one capture.
Layout makeLayout(float width, float height, float scale, Focus focus, const Contents &contents);

/// The layouts of two captures on one time axis. Heap strips, axis, minimap and the table of
/// operators are shared and are in both layouts. Each capture has its own lifetimes and lanes, the
/// second's below the first's. There is no plot of shared memory.
struct ComparedLayout {
  Layout first, second;
};
ComparedLayout makeComparedLayout(float width, float height, float scale, Focus focus,
                                  const Contents &first, const Contents &second);

} // namespace gantry::profiler
