// Implements svg_text.h.
#include "tools/gantry/report/svg_text.h"

#include "tools/gantry/report/terminal.h"

#include <cstdint>
#include <cstring>

namespace gantry::tool {
namespace {

double characterWidth(char c) {
  if (std::strchr("ijl'|", c))
    return 0.29;
  if (std::strchr("I.,:; !", c))
    return 0.34;
  if (std::strchr("frt-/\\()[]", c))
    return 0.43;
  if (std::strchr("mMW%@", c))
    return 0.99;
  if (std::strchr("w+=<>~#", c))
    return 0.84;
  if (c >= 'A' && c <= 'Z')
    return 0.76;
  return 0.64; // Digits, lower-case letters and '_'.
}

/// Returns the length in bytes of the valid UTF-8 sequence at `at`, or 0.
size_t sequenceLength(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  size_t length = lead < 0x80                   ? 1
                  : lead >= 0xC2 && lead < 0xE0 ? 2
                  : lead >= 0xE0 && lead < 0xF0 ? 3
                  : lead >= 0xF0 && lead < 0xF5 ? 4
                                                : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  uint32_t point = length == 1 ? lead : lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80)
      return 0;
    point = point << 6 | (byte(at + i) & 0x3F);
  }
  bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  bool forbidden =
      (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF || point == 0xFFFE || point == 0xFFFF;
  return overlong || forbidden ? 0 : length;
}

} // namespace

double textWidth(std::string_view text, double fontPx) {
  double width = 0;
  for (char c : text) {
    if (isContinuation(c))
      continue;
    width += static_cast<unsigned char>(c) >= 0x80 ? 1.0 : characterWidth(c);
  }
  return width * fontPx;
}

std::string fitStart(const std::string &text, double widthPx, double fontPx, size_t minCharacters) {
  if (textWidth(text, fontPx) <= widthPx)
    return text;
  for (size_t end = text.size(); end-- > minCharacters;) {
    if (isContinuation(text[end]))
      continue;
    std::string candidate = text.substr(0, end) + "…";
    if (textWidth(candidate, fontPx) <= widthPx)
      return candidate;
  }
  return "";
}

std::string escapeXml(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t length = sequenceLength(text, i);
    char c = text[i];
    if (length == 0 || (static_cast<unsigned char>(c) < 0x20 && c != '\n'))
      result += '?';
    else if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += text.substr(i, length);
    i += length ? length : 1;
  }
  return result;
}

} // namespace gantry::tool
