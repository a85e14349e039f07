// Implements preview.h.
#include "tools/gantry/report/preview.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace gantry::tool {

bool isClassVector(const Tensor &tensor) {
  uint64_t count = elementCount(tensor);
  return traitsOf(tensor.type).isFloat && count >= 3 &&
         std::count(tensor.dims.begin(), tensor.dims.end(), static_cast<int64_t>(count)) == 1;
}

std::vector<uint64_t> topIndices(const Tensor &tensor, size_t count) {
  // At most `count` of the elements so far, sorted from the largest to the smallest.
  struct Best {
    double key;
    uint64_t index;
  };
  std::vector<Best> best;
  const uint64_t elements = elementCount(tensor);
  for (uint64_t i = 0; i < elements && count > 0; ++i) {
    double key = elementAsDouble(tensor, i);
    if (std::isnan(key))
      key = -std::numeric_limits<double>::infinity();
    if (best.size() == count && !(key > best.back().key))
      continue; // Equal elements are ordered by index, so this one comes after the ones found.
    if (best.size() == count)
      best.pop_back();
    const auto at =
        std::find_if(best.begin(), best.end(), [&](const Best &other) { return other.key < key; });
    best.insert(at, {key, i});
  }
  std::vector<uint64_t> indices;
  for (const Best &element : best)
    indices.push_back(element.index);
  return indices;
}

std::string previewText(const Tensor &tensor) {
  uint64_t count = elementCount(tensor);
  if (count == 0)
    return "empty";
  std::string text;
  if (isClassVector(tensor)) {
    std::vector<uint64_t> top = topIndices(tensor, 5);
    text = fmt::format("top {}:", top.size());
    for (size_t i = 0; i < top.size(); ++i)
      text += fmt::format("{} {} ({})", i ? "," : "", top[i], elementText(tensor, top[i], 4));
    return text;
  }
  constexpr uint64_t kShown = 6;
  for (uint64_t i = 0; i < std::min(count, kShown); ++i)
    text += (i ? ", " : "") + elementText(tensor, i, 4);
  if (count <= kShown)
    return text;
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
  uint64_t notNumbers = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double value = elementAsDouble(tensor, i);
    if (std::isnan(value)) {
      ++notNumbers;
      continue;
    }
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
  }
  if (notNumbers == count)
    return text + ", ... (all NaN)";
  text += fmt::format(", ... (min {:.4g}, max {:.4g}, mean {:.4g}", min, max,
                      sum / static_cast<double>(count - notNumbers));
  return text + (notNumbers ? fmt::format(", {} NaN)", notNumbers) : ")");
}

} // namespace gantry::tool
