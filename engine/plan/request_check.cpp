// Implements checkRequest().
#include "engine/plan/request_check.h"
#include "engine/base/align.h"

#include <optional>

namespace gantry::plan {

Status checkRequest(const std::vector<Value> &values) {
  using Printable = unsigned long long;
  uint64_t totalBytes = 0; // All sizes, each with the largest padding that its alignment may cost.
  for (size_t i = 0; i < values.size(); ++i) {
    const Value &value = values[i];
    if (!isPowerOfTwo(value.alignment))
      return statusf(StatusCode::kInvalidArgument,
                     "value %zu has alignment %llu; a power of two is needed", i,
                     static_cast<Printable>(value.alignment));
    if (value.firstUse > value.lastUse)
      return statusf(StatusCode::kInvalidArgument,
                     "value %zu is used first by command %u and last by command %u; the first use "
                     "must not come after the last",
                     i, value.firstUse, value.lastUse);
    const std::optional<uint64_t> rounded = checkedRoundUp(value.sizeBytes, value.alignment);
    const std::optional<uint64_t> padded =
        rounded ? checkedAdd(*rounded, value.alignment - 1) : std::nullopt;
    const std::optional<uint64_t> sum = padded ? checkedAdd(totalBytes, *padded) : std::nullopt;
    if (!sum)
      return statusf(StatusCode::kInvalidArgument,
                     "with value %zu (%llu bytes, alignment %llu) the padded sizes exceed 64 bits",
                     i, static_cast<Printable>(value.sizeBytes),
                     static_cast<Printable>(value.alignment));
    totalBytes = *sum;
  }
  return Status::ok();
}

} // namespace gantry::plan
