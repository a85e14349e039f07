// Implements the helpers of Ui.
#include "profiler_gui/panels/ui.h"

#include "profiler_gui/model/short_name.h"
#include "profiler_gui/model/quantity_text.h"
#include "profiler_gui/model/time_scale.h"
#include "profiler_gui/model/capture/unrun_capture.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {
namespace {

/// Returns the text, shortened to maxWidth pixels if necessary.
std::string fitted(ImFont *font, std::string_view text, float maxWidth) {
  return shortName(text,
                   [&](std::string_view part) { return Ui::widthOf(font, part) <= maxWidth; });
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
                float maxWidth, const char *id, const char *role) {
  if (text.empty() || maxWidth <= 0)
    return 0;
  const std::string shown = fitted(font, text, maxWidth);
  x = std::floor(x);
  y = std::floor(y);
  list->AddText(font, font->FontSize, {x, y}, colour, shown.data(), shown.data() + shown.size());
  const float width = widthOf(font, shown);
  if (id != nullptr) {
    const ScreenRect place{x, y, x + width, y + font->FontSize};
    semantics->add(id, role, place, std::string(text), colour);
    if (shown.size() != text.size() || shown != text)
      semantics->add(std::string(id) + "/shown", "shown", place, shown, colour);
  }
  return width;
}

void Ui::writeUpwards(ImFont *font, float x, float bottom, uint32_t colour, std::string_view text,
                      float maxLength, const char *id, const char *role) const {
  const std::string shown = fitted(font, text, maxLength);
  if (shown.empty())
    return;
  x = std::floor(x);
  bottom = std::floor(bottom);
  const int first = list->VtxBuffer.Size;
  // The letters are written horizontally at the origin and then turned. ImGui must not clip them at
  // the origin.
  const ImVec4 everywhere(-1e9f, -1e9f, 1e9f, 1e9f);
  font->RenderText(list, font->FontSize, {0, 0}, colour, everywhere, shown.data(),
                   shown.data() + shown.size());
  for (int i = first; i < list->VtxBuffer.Size; ++i) {
    const ImVec2 flat = list->VtxBuffer[i].pos;
    list->VtxBuffer[i].pos = {x + flat.y, bottom - flat.x};
  }
  const ScreenRect place{x, bottom - widthOf(font, shown), x + font->FontSize, bottom};
  semantics->add(id, role, place, std::string(text), colour);
  if (shown.size() != text.size())
    semantics->add(std::string(id) + "/shown", "shown", place, shown, colour);
}

void Ui::writeRight(ImFont *font, float right, float y, uint32_t colour, std::string_view text,
                    const char *id, const char *role) {
  write(font, right - widthOf(font, text), y, colour, text, 1e9f, id, role);
}

void Ui::pushClip(const ScreenRect &rect) const {
  list->PushClipRect({rect.left, rect.top}, {rect.right, rect.bottom}, true);
}

void Ui::popClip() const { list->PopClipRect(); }

std::string Ui::momentText(double ns, double resolutionNs) const {
  if (!model->modelled())
    return profiler::momentText(ns, resolutionNs);
  const auto &runs = model->runs();
  const auto after = std::partition_point(runs.begin(), runs.end(), [&](const Run &run) {
    return static_cast<double>(run.beginNs) <= ns;
  });
  if (after == runs.begin() || (after - 1)->plan >= model->plans().size())
    return "before the first command";
  const Run &run = *(after - 1);
  const double last =
      std::max<double>(1, static_cast<double>(model->plans()[run.plan].commands.size())) - 1;
  const double command = std::floor((ns - static_cast<double>(run.beginNs)) / kUnrunCommandNs);
  const std::string text =
      "command " + std::to_string(static_cast<uint64_t>(std::clamp(command, 0.0, last)));
  return runs.size() < 2 ? text : "variant " + std::to_string(after - runs.begin()) + " · " + text;
}

std::string Ui::lengthText(double ns) const {
  if (!model->modelled())
    return timeText(ns);
  const auto commands = static_cast<uint64_t>(std::llround(std::abs(ns) / kUnrunCommandNs));
  return countText(commands) + (commands == 1 ? " command" : " commands");
}

std::string Ui::nameOf(uint32_t name, const char *otherwise) const {
  const std::string_view text = model->text(name);
  return text.empty() ? std::string(otherwise) : std::string(text);
}

} // namespace gantry::profiler
