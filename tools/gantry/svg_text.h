// Text in a picture: how wide it is at most, how it is shortened, how it is escaped.
//
// SVG has no layout: who draws a label must know its width beforehand, and cannot know the font
// that a viewer will take. The widths here are those of DejaVu Sans (the widest of the usual
// sans-serif fonts), so text that fits by this measure fits in Inter, Helvetica or Segoe UI too.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace gantry::tool {

/// Upper estimate in pixels at `fontPx`.
double textWidth(std::string_view text, double fontPx);

/// The longest ending of `text` that fits, with "…" before it; "" where fewer than `least`
/// characters would be left. Endings, because the end of a tensor's path tells most.
std::string fitEnd(const std::string &text, double widthPx, double fontPx, size_t least = 3);
/// The same for beginnings, with "…" after it.
std::string fitStart(const std::string &text, double widthPx, double fontPx, size_t least = 3);

/// For element content and attributes; control characters and invalid UTF-8 become '?'.
std::string escapeXml(std::string_view text);

} // namespace gantry::tool
