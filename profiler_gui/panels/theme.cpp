// Defines the themes and the functions on colours.
#include "profiler_gui/panels/theme.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// An opaque colour from 0xrrggbb.
constexpr uint32_t rgb(uint32_t hex) {
  return 0xff000000u | ((hex & 0xff) << 16) | (hex & 0xff00) | (hex >> 16);
}

/// Sets the operators' colours to those of `gantry inspect --plot`.
void takePlotColours(Theme *theme, bool darkGround) {
  for (uint32_t i = 0; i < kOpKindCount; ++i) {
    const OpKindColours colours = opKindColours(static_cast<OpKind>(i), darkGround);
    theme->writers[i] = {rgb(colours.fill), rgb(colours.edge)};
  }
  theme->onWriter = rgb(darkGround ? 0xf2f6fb : 0x14202e);
}

Theme makeDark() {
  Theme theme;
  theme.name = "dark";
  theme.background = rgb(0x0e1014);
  theme.panel = rgb(0x15181d);
  theme.raised = rgb(0x20242c);
  theme.line = rgb(0x2a2f38);
  theme.text = rgb(0xdee3ed);
  theme.dim = rgb(0x8f99ab);
  theme.onKind = rgb(0x10131a);
  theme.selection = rgb(0xffffff);
  theme.accent = rgb(0x7cb0e8);
  theme.warning = rgb(0xe8b04a);
  theme.over = rgb(0xe5605e);
  theme.curve = rgb(0x6fa8dc);
  theme.second = rgb(0xc8a2f5);
  theme.reserved = rgb(0x3a4350);
  theme.dispatch = rgb(0xb9c6da);
  theme.secondDispatch = rgb(0xa893c9);
  theme.kinds = {rgb(0x7b92c9), rgb(0x5fb0a8), rgb(0xc58fb5), rgb(0x8db36b),
                 rgb(0xa6a08c), rgb(0xc99a6b), rgb(0x8892a2)};
  takePlotColours(&theme, true);
  return theme;
}

Theme makeLight() {
  Theme theme;
  theme.name = "light";
  theme.light = true;
  theme.background = rgb(0xf4f5f7);
  theme.panel = rgb(0xffffff);
  theme.raised = rgb(0xe9ecf1);
  theme.line = rgb(0xd5dae2);
  theme.text = rgb(0x1b2028);
  theme.dim = rgb(0x5a6473);
  theme.onKind = rgb(0x10131a);
  theme.selection = rgb(0x000000);
  theme.accent = rgb(0x245fa6);
  theme.warning = rgb(0x935f00);
  theme.over = rgb(0xb3261e);
  theme.curve = rgb(0x3571b8);
  theme.second = rgb(0x7a2fa8);
  theme.reserved = rgb(0xc9d0da);
  theme.dispatch = rgb(0x7393ad);
  theme.secondDispatch = rgb(0xb6a3d6);
  theme.kinds = {rgb(0x93a7d8), rgb(0x76bfb8), rgb(0xd6a5c8), rgb(0xa2c684),
                 rgb(0xbdb7a3), rgb(0xdbb086), rgb(0xa3acba)};
  takePlotColours(&theme, false);
  return theme;
}

Theme makeColourBlind() {
  Theme theme = makeDark();
  theme.name = "colour-blind";
  theme.kinds = {rgb(0x3f8fc4), rgb(0x14a37f), rgb(0xcc7fa9), rgb(0x7cc0e8),
                 rgb(0xb8b39f), rgb(0xe0a030), rgb(0x8892a2)};
  theme.curve = rgb(0x7cc0e8);
  theme.second = rgb(0xe0a030);
  theme.warning = rgb(0xf0e060);
  theme.over = rgb(0xe57b3a);
  theme.dispatch = rgb(0xa28888);
  theme.secondDispatch = rgb(0xe0a030);
  // In the order of OpKind: convolution, matmul, pool, normalise, elementwise, movement, other.
  static constexpr std::array<uint32_t, kOpKindCount> kFills = {
      0xa2bcd6, 0xa26ef0, 0xbc6e54, 0xbcbc20, 0x6ef0a2, 0xd6f0f0, 0xf0a26e};
  for (uint32_t i = 0; i < kOpKindCount; ++i)
    theme.writers[i] = {rgb(kFills[i]), mixed(rgb(kFills[i]), 0xff000000u, 0.35f)};
  theme.onWriter = theme.onKind;
  return theme;
}

/// Relative luminance by WCAG 2.1, 0 to 1.
double luminance(uint32_t colour) {
  const auto channel = [&](int shift) {
    const double value = ((colour >> shift) & 255) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(0) + 0.7152 * channel(8) + 0.0722 * channel(16);
}

} // namespace

const Theme &themeOf(ThemeName name) {
  static const std::array<Theme, kThemes> kAll = {makeDark(), makeLight(), makeColourBlind()};
  return kAll[static_cast<size_t>(name)];
}

bool parseTheme(const std::string &text, ThemeName *name) {
  for (uint32_t i = 0; i < kThemes; ++i) {
    if (themeOf(static_cast<ThemeName>(i)).name == text) {
      *name = static_cast<ThemeName>(i);
      return true;
    }
  }
  return false;
}

uint32_t faded(uint32_t colour, float share) {
  const auto alpha = static_cast<uint32_t>(std::lround(static_cast<float>(colour >> 24) * share));
  return (colour & 0x00ffffffu) | (std::min(alpha, 255u) << 24);
}

uint32_t mixed(uint32_t first, uint32_t second, float share) {
  uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    const auto a = static_cast<float>((first >> shift) & 255);
    const auto b = static_cast<float>((second >> shift) & 255);
    result |= static_cast<uint32_t>(std::lround(a + (b - a) * share)) << shift;
  }
  return result;
}

uint32_t Theme::small(BlockHue hue) const {
  return hue.isTransient() ? mixed(writer(hue.writer()).fill, writer(hue.writer()).edge, 0.55f)
                           : fill(hue);
}

double contrast(uint32_t first, uint32_t second) {
  const double a = luminance(first);
  const double b = luminance(second);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

} // namespace gantry::profiler
