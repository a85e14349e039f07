// Implements checkRequest().
#include "engine/plan/request_check.h"
#include "engine/base/align.h"

#include <optional>

namespace gantry::plan {

namespace {

using Printable = unsigned long long;

/// In a request with pins, the upper limit on each pin's offset and on the sum of all sizes, in
/// bytes. The limit keeps sums of two heights far below 2^64.
constexpr uint64_t kMaxPinnedBytes = uint64_t{1} << 60;

/// Checks each value. Sets totalBytes to the sum of all sizes, each with the largest padding that
/// its alignment may cost.
Status checkValues(const std::vector<Value> &values, uint64_t &totalBytes) {
  totalBytes = 0;
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

Status checkPins(const std::vector<Value> &values, const std::vector<Pin> &pins) {
  std::vector<bool> pinned(values.size());
  for (size_t k = 0; k < pins.size(); ++k) {
    const Pin &pin = pins[k];
    if (pin.value >= values.size())
      return statusf(StatusCode::kInvalidArgument,
                     "pin %zu names value %u, but there are %zu values", k, pin.value,
                     values.size());
    if (pinned[pin.value])
      return statusf(StatusCode::kInvalidArgument, "value %u is pinned twice", pin.value);
    pinned[pin.value] = true;
    if (pin.offset % values[pin.value].alignment != 0)
      return statusf(StatusCode::kInvalidArgument,
                     "value %u is pinned at %llu, which is no multiple of its alignment %llu",
                     pin.value, static_cast<Printable>(pin.offset),
                     static_cast<Printable>(values[pin.value].alignment));
    if (pin.offset > kMaxPinnedBytes)
      return statusf(StatusCode::kInvalidArgument,
                     "value %u is pinned at %llu; offsets up to %llu are supported", pin.value,
                     static_cast<Printable>(pin.offset), static_cast<Printable>(kMaxPinnedBytes));
  }
  return Status::ok();
}

} // namespace

Status checkRequest(const std::vector<Value> &values, const std::vector<Pin> &pins) {
  uint64_t totalBytes = 0;
  GANTRY_RETURN_IF_ERROR(checkValues(values, totalBytes));
  GANTRY_RETURN_IF_ERROR(checkPins(values, pins));
  if (!pins.empty() && totalBytes >= kMaxPinnedBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "the sizes add up to %llu bytes; with pins they must be below %llu",
                   static_cast<Printable>(totalBytes), static_cast<Printable>(kMaxPinnedBytes));
  return Status::ok();
}

} // namespace gantry::plan
