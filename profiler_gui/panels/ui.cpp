#include "profiler_gui/panels/ui.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// The last place at or before `length` that begins a character of UTF-8.
size_t wholeCharacters(std::string_view text, size_t length) {
  while (length > 0 && length < text.size() &&
         (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80)
    --length;
  return length;
}

/// The text, or as much of it as fits with an ellipsis.
std::string fitted(ImFont *font, std::string_view text, float widest) {
  if (Ui::widthOf(font, text) <= widest)
    return std::string(text);
  static constexpr std::string_view kEllipsis = "…";
  size_t low = 0;
  size_t high = text.size();
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    std::string cut(text.substr(0, wholeCharacters(text, middle)));
    cut += kEllipsis;
    if (Ui::widthOf(font, cut) <= widest)
      low = middle;
    else
      high = middle - 1;
  }
  if (low == 0)
    return "";
  std::string cut(text.substr(0, wholeCharacters(text, low)));
  cut += kEllipsis;
  return cut;
}

} // namespace

float Ui::xOf(double timeNs) const {
  const double share = (timeNs - time.beginNs()) / time.spanNs();
  const double width = static_cast<double>(layout.plotRight - layout.plotLeft);
  return layout.plotLeft + static_cast<float>(std::clamp(share, -4.0, 5.0) * width);
}

double Ui::timeAt(float x) const {
  const double share = static_cast<double>(x - layout.plotLeft) /
                       static_cast<double>(layout.plotRight - layout.plotLeft);
  return time.beginNs() + share * time.spanNs();
}

std::vector<uint64_t> Ui::columnBounds(float left, float right, double shiftNs) const {
  std::vector<uint64_t> bounds;
  for (float x = left; x < right + 1; x += 1)
    bounds.push_back(static_cast<uint64_t>(std::max(0.0, timeAt(x) + shiftNs)));
  return bounds;
}

void Ui::fill(const ScreenRect &rect, uint32_t colour) const {
  list->AddRectFilled({rect.left, rect.top}, {rect.right, rect.bottom}, colour);
}

void Ui::lineX(float x, float top, float bottom, uint32_t colour, float width) const {
  x = std::floor(x);
  list->AddRectFilled({x, top}, {x + width, bottom}, colour);
}

void Ui::lineY(float y, float left, float right, uint32_t colour, float width) const {
  y = std::floor(y);
  list->AddRectFilled({left, y}, {right, y + width}, colour);
}

float Ui::widthOf(ImFont *font, std::string_view text) {
  return font->CalcTextSizeA(font->FontSize, 1e9f, 0, text.data(), text.data() + text.size()).x;
}

float Ui::write(ImFont *font, float x, float y, uint32_t colour, std::string_view text,
                float widest, const char *id, const char *role) {
  if (text.empty() || widest <= 0)
    return 0;
  const std::string shown = fitted(font, text, widest);
  x = std::floor(x);
  y = std::floor(y);
  list->AddText(font, font->FontSize, {x, y}, colour, shown.data(), shown.data() + shown.size());
  const float width = widthOf(font, shown);
  if (id != nullptr)
    semantics->add(id, role, {x, y, x + width, y + font->FontSize}, std::string(text), colour);
  return width;
}

void Ui::writeRight(ImFont *font, float right, float y, uint32_t colour, std::string_view text,
                    const char *id, const char *role) {
  write(font, right - widthOf(font, text), y, colour, text, 1e9f, id, role);
}

void Ui::pushClip(const ScreenRect &rect) const {
  list->PushClipRect({rect.left, rect.top}, {rect.right, rect.bottom}, true);
}

void Ui::popClip() const { list->PopClipRect(); }

std::string Ui::nameOf(uint32_t name, const char *otherwise) const {
  const std::string_view text = model->text(name);
  return text.empty() ? std::string(otherwise) : std::string(text);
}

} // namespace gantry::profiler
