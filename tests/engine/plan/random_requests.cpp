#include "tests/engine/plan/random_requests.h"

#include <algorithm>

namespace gantry::plan {

std::vector<Value> randomValues(std::mt19937_64 &random, const RandomShape &shape) {
  std::vector<Value> values(shape.count);
  for (Value &value : values) {
    value.sizeBytes = random() % (shape.maxSizeBytes + 1);
    value.alignment = uint64_t{1} << (random() % (shape.maxAlignmentBits + 1));
    value.firstUse = static_cast<uint32_t>(random() % shape.commands);
    value.lastUse = std::min(shape.commands - 1,
                             value.firstUse + static_cast<uint32_t>(random() % shape.maxCommands));
  }
  return values;
}

} // namespace gantry::plan
