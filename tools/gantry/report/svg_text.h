// Measures, shortens and escapes text for SVG.
//
// SVG does not wrap or shorten text, and the viewer's font is unknown when a label is written. The
// widths here are those of DejaVu Sans, the widest of the usual sans-serif fonts, so text that fits
// with these widths also fits in Inter, Helvetica or Segoe UI.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace gantry::tool {

/// Returns an upper estimate of the width in pixels at font size `fontPx`.
double textWidth(std::string_view text, double fontPx);

/// Returns the longest beginning of `text` that fits, with "…" after it; "" if fewer than
/// `minCharacters` characters would be left.
std::string fitStart(const std::string &text, double widthPx, double fontPx,
                     size_t minCharacters = 3);

/// Escapes text for element content and attributes. Control characters and invalid UTF-8 become
/// '?'.
std::string escapeXml(std::string_view text);

} // namespace gantry::tool
