// Implements Semantics: finds an item, and writes all items as lines of text.
#include "profiler_gui/panels/semantics.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gantry::profiler {

const SemanticItem *Semantics::find(const std::string &id) const {
  const auto found = std::find_if(items_.begin(), items_.end(),
                                  [&](const SemanticItem &item) { return item.id == id; });
  return found == items_.end() ? nullptr : &*found;
}

std::string Semantics::dump() const {
  std::string lines;
  for (const SemanticItem &item : items_) {
    std::array<char, 96> numbers{};
    const uint32_t c = item.colour;
    std::snprintf(numbers.data(), numbers.size(), "%.1f\t%.1f\t%.1f\t%.1f\t#%02x%02x%02x%02x",
                  static_cast<double>(item.rect.left), static_cast<double>(item.rect.top),
                  static_cast<double>(item.rect.right), static_cast<double>(item.rect.bottom),
                  c & 255, (c >> 8) & 255, (c >> 16) & 255, c >> 24);
    std::string text = item.text;
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::replace(text.begin(), text.end(), '\t', ' ');
    lines += item.id + '\t' + item.role + '\t' + numbers.data() + '\t' + text + '\n';
  }
  return lines;
}

} // namespace gantry::profiler
