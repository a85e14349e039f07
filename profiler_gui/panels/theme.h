// Colours of the user interface. Hue says what kind of buffer it is, and of a transient what kind
// of operator writes it, as `gantry inspect --plot` draws it (engine/op_kind); red is for what is
// over a limit, amber for warnings, and neither is used for anything else; selection is white
// (black on light).
//
// The kinds' hues have near-equal lightness and moderate chroma. The colour-blind theme takes the
// hues of Okabe & Ito (2008), which people with any of the common deficiencies can tell apart; its
// colours of operators, of constants and of dispatches are as far from each other as a search over
// simulated deficiencies (Machado 2009) could bring them.
//
// Threads: values.
#pragma once

#include "profiler_gui/model/block_table.h"

#include <array>
#include <cstdint>
#include <string>

namespace gantry::profiler {

/// A kind of operator: what it writes is filled with one colour, and framed with the other where
/// there is room for a frame.
struct WriterColours {
  uint32_t fill = 0;
  uint32_t edge = 0;
};

struct Theme {
  std::string name;
  bool light = false;
  // red in the low byte, alpha in the high
  uint32_t background = 0;
  uint32_t panel = 0;
  uint32_t raised = 0; // buttons, chips, tooltips
  uint32_t line = 0;   // between panels, grids
  uint32_t text = 0;
  uint32_t dim = 0;
  uint32_t onKind = 0; // text on a kind's colour
  uint32_t selection = 0;
  uint32_t accent = 0;
  uint32_t warning = 0;
  uint32_t over = 0;
  uint32_t curve = 0;    // live bytes
  uint32_t second = 0;   // those of the second of two captures
  uint32_t reserved = 0; // slabs
  uint32_t dispatch = 0;
  uint32_t secondDispatch = 0;
  std::array<uint32_t, kBlockKinds> kinds{};

  std::array<WriterColours, kOpKindCount> writers{};
  uint32_t onWriter = 0; // text on a writer's fill

  const WriterColours &writer(OpKind kind) const { return writers[static_cast<size_t>(kind)]; }
  /// What fills a block.
  uint32_t fill(BlockHue hue) const {
    return hue.isTransient() ? writer(hue.writer()).fill : kinds[static_cast<size_t>(hue.kind())];
  }
  /// The same for what is too small to have a frame: fill and frame mixed.
  uint32_t small(BlockHue hue) const;
  uint32_t textOn(BlockHue hue) const { return hue.isTransient() ? onWriter : onKind; }
};

enum class ThemeName : uint8_t { kDark, kLight, kColourBlind };
inline constexpr uint32_t kThemes = 3;

const Theme &themeOf(ThemeName name);
/// "dark", "light", "colour-blind"; false for any other name.
bool parseTheme(const std::string &text, ThemeName *name);

/// The colour with this share of its opacity.
uint32_t faded(uint32_t colour, float share);
/// A mix: 0 is the first, 1 the second.
uint32_t mixed(uint32_t first, uint32_t second, float share);
/// The contrast ratio of two opaque colours (WCAG 2.1): 1 to 21.
double contrast(uint32_t first, uint32_t second);

} // namespace gantry::profiler
