// The colours of the user interface, as three themes.
//
// A block is a range of memory with a lifetime, drawn as a rectangle. Its colour shows its kind. A
// transient is a value that exists only during a run, and its colour shows the kind of the operator
// that writes it, in the colours of the pictures of `gantry inspect --plot` (engine/op_kind). Red
// is used only for values over a limit and for differences from the plan, amber only for budgets
// and warnings; the colour-blind theme has orange and yellow instead. The selection is white, or
// black in the light theme.
//
// The colours of the kinds have nearly equal lightness and moderate chroma. The colour-blind theme
// uses the hues of Okabe and Ito (2008), which remain distinct with all common colour vision
// deficiencies. The exceptions are its colours of operators, constants and dispatches: they come
// from a search that maximised their distance under simulated deficiencies (Machado et al., 2009).
//
// Colours are ImU32: red in the low byte, alpha in the high byte. Threads: immutable values.
#pragma once

#include "profiler_gui/model/capture/block_table.h"

#include <array>
#include <cstdint>
#include <string>

namespace gantry::profiler {

/// The colours of the transients that one kind of operator writes: of the rectangle and of its
/// frame. A rectangle that is too small for a frame has the colour Theme::small() instead.
struct WriterColours {
  uint32_t fill = 0;
  uint32_t edge = 0;
};

struct Theme {
  std::string name;
  bool light = false;
  uint32_t background = 0;
  uint32_t panel = 0;
  // Tooltips, the list of commands (palette.h), captions, host spans and hovered rows.
  uint32_t raised = 0;
  uint32_t line = 0; // Lines between panels, and grids.
  uint32_t text = 0;
  uint32_t dim = 0;    // Text of minor importance.
  uint32_t onKind = 0; // Text on a block that is not a transient, and on a dispatch.
  uint32_t selection = 0;
  uint32_t accent = 0;
  uint32_t warning = 0;
  uint32_t over = 0;     // Over a limit, or different from the plan.
  uint32_t curve = 0;    // Live bytes.
  uint32_t second = 0;   // Live bytes of the second capture.
  uint32_t reserved = 0; // Bytes of slabs.
  // Dispatches are drawn in rows, the lanes of dispatch_table.h. The lanes of a device are
  // numbered.
  uint32_t dispatch = 0;       // Dispatches in lanes with even numbers.
  uint32_t secondDispatch = 0; // Dispatches in lanes with odd numbers.
  std::array<uint32_t, kBlockKinds> kinds{};
  std::array<WriterColours, kOpKindCount> writers{};
  uint32_t onWriter = 0; // Text on a writer's fill.

  const WriterColours &writer(OpKind kind) const { return writers[static_cast<size_t>(kind)]; }
  /// The fill of a block.
  uint32_t fill(BlockHue hue) const {
    return hue.isTransient() ? writer(hue.writer()).fill : kinds[static_cast<size_t>(hue.kind())];
  }
  /// The fill of a block that is too small for a frame: a mix of fill and frame.
  uint32_t small(BlockHue hue) const;
  /// The colour of text on a block.
  uint32_t textOn(BlockHue hue) const { return hue.isTransient() ? onWriter : onKind; }
};

enum class ThemeName : uint8_t { kDark, kLight, kColourBlind };
inline constexpr uint32_t kThemes = 3;

const Theme &themeOf(ThemeName name);
/// Parses "dark", "light" or "colour-blind"; returns false for other texts.
bool parseTheme(const std::string &text, ThemeName *name);

/// The colour with its alpha multiplied by `share`, 0 to 1.
uint32_t faded(uint32_t colour, float share);
/// Interpolates linearly: a share of 0 gives the first colour, 1 the second.
uint32_t mixed(uint32_t first, uint32_t second, float share);
/// The contrast ratio of two opaque colours by WCAG 2.1, 1 to 21.
double contrast(uint32_t first, uint32_t second);

} // namespace gantry::profiler
