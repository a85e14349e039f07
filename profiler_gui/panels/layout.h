// Where the panels are: a pure function of the window's size and of what there is to show.
//
// Top bar, then plots that share one time axis (heap strips, minimap, lifetimes, shared memory,
// lanes) between a gutter for names and one for limits, the inspector at the right, a status bar.
//
// Units: pixels; multiples of 8 at scale 1. Threads: pure.
#pragma once

#include "profiler_gui/panels/semantics.h"

#include <cstdint>
#include <string>

namespace gantry::profiler {

/// What gets the most room. kOperators shows the table of operators in place of the lifetimes.
enum class Focus : uint8_t { kLifetimes, kHeap, kDispatches, kOperators };
bool parseFocus(const std::string &text, Focus *focus);

struct Layout {
  ScreenRect window;
  ScreenRect topBar;
  ScreenRect heap; // all strips
  ScreenRect axis; // the time axis under the strips
  ScreenRect minimap;
  ScreenRect lifetimes;
  ScreenRect shared; // shared memory of each dispatch
  ScreenRect lanes;
  ScreenRect operators; // the table, below all plots; empty unless it has the focus
  ScreenRect caption;   // comparing: whose plots are below
  ScreenRect inspector;
  ScreenRect statusBar;
  float plotLeft = 0; // of all plots; names are to the left, limits to the right
  float plotRight = 0;
  float plotsBottom = 0; // of the lowest plot

  ScreenRect plotOf(const ScreenRect &panel) const {
    return {plotLeft, panel.top, plotRight, panel.bottom};
  }
};

/// What there is to show.
struct Contents {
  uint32_t heaps = 0;
  uint32_t lanes = 0;
  bool sharedUsed = true; // some dispatch has shared memory; else its plot is one line
};

Layout makeLayout(float width, float height, float scale, Focus focus, const Contents &contents);

/// Two captures on one time axis: heap strips, axis and minimap are shared, and each has lifetimes
/// and lanes of its own, the second's under the first's. There is no plot of shared memory. The
/// table of operators is shared, in the first layout.
struct ComparedLayout {
  Layout first, second;
};
ComparedLayout makeComparedLayout(float width, float height, float scale, Focus focus,
                                  const Contents &first, const Contents &second);

} // namespace gantry::profiler
