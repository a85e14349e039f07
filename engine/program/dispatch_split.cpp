// Splits dispatches by buffer limits and by time.
#include "engine/program/dispatch_split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gantry::program {

namespace {

// The largest alignment, in bytes, that a Vulkan device may require of a buffer binding.
constexpr uint64_t kBindingAlignment = 256;
constexpr double kSlowFlopsPerNs = 5, kSlowBytesPerNs = 1; // Per compute unit.

/// Splits a box of workgroups into boxes of at most maxWorkgroups workgroups. It splits z first,
/// then y, then x.
void splitBox(const DispatchPart &box, uint64_t maxWorkgroups, std::vector<DispatchPart> &parts) {
  const uint64_t all = uint64_t{box.count[0]} * box.count[1] * box.count[2];
  if (all <= maxWorkgroups) {
    parts.push_back(box);
    return;
  }
  size_t axis = 2;
  while (box.count[axis] == 1)
    --axis;
  const uint64_t each = all / box.count[axis];
  const auto step = static_cast<uint32_t>(std::max<uint64_t>(maxWorkgroups / each, 1));
  for (uint32_t at = 0; at < box.count[axis]; at += std::min(step, box.count[axis] - at)) {
    DispatchPart part = box;
    part.first[axis] += at;
    part.count[axis] = std::min(step, box.count[axis] - at);
    splitBox(part, maxWorkgroups, parts);
  }
}

} // namespace

uint64_t maxSlicesAtOnce(const artifact::KernelVariant &variant, const DeviceProfile &profile,
                         std::span<const BoundBuffer> buffers) {
  if (variant.binding() == artifact::Binding::address)
    return kBindWhole;
  uint64_t maxSlices = kBindWhole;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    uint64_t limit = profile.maxStorageBufferRange;
    for (uint32_t t = 0; variant.texels() && t < variant.texels()->size(); ++t) {
      const artifact::TexelRead &read = *variant.texels()->Get(t);
      if (read.buffer() != i)
        continue;
      const uint64_t texels = profile.maxTexelBufferElements * artifact::texelSize(read.format());
      limit = read.alone() ? texels : std::min(limit, texels);
    }
    if (buffers[i].sizeBytes <= limit)
      continue;
    const uint64_t step = variant.slice_workgroups() ? variant.slice_bytes()->Get(i) : 0;
    if (step == 0 || step > limit)
      return 0;
    maxSlices = std::min(maxSlices, limit / step);
  }
  if (maxSlices == kBindWhole)
    return kBindWhole;
  maxSlices =
      std::min<uint64_t>(maxSlices, artifact::kWorkgroupsAlongX / variant.slice_workgroups());
  // A part must start at a multiple of kBindingAlignment bytes in every buffer, but a slice may
  // have another size. The number of slices of a part must therefore be a multiple of `unit`.
  uint64_t unit = 1;
  for (const uint64_t step : *variant.slice_bytes())
    if (step > 0)
      unit = std::lcm(unit, kBindingAlignment / std::gcd(step, kBindingAlignment));
  return maxSlices - maxSlices % unit;
}

double slowEstimateNs(uint64_t flops, uint64_t bytes, const DeviceProfile &profile) {
  const double units = std::max(profile.computeUnits, 1U);
  return std::max(static_cast<double>(flops) / kSlowFlopsPerNs,
                  static_cast<double>(bytes) / kSlowBytesPerNs) /
         units;
}

std::vector<DispatchPart> splitDispatch(const artifact::KernelVariant &variant,
                                        const std::array<uint32_t, 3> &workgroups,
                                        std::span<const BoundBuffer> buffers, uint64_t atOnce,
                                        double estimateNs, uint64_t limitNs) {
  std::vector<DispatchPart> slices;
  if (atOnce == kBindWhole) {
    slices.push_back({{}, workgroups});
  } else {
    uint64_t count = 0;
    for (uint32_t i = 0; i < buffers.size(); ++i)
      if (const uint64_t step = variant.slice_bytes()->Get(i); step > 0)
        count = std::max(count, (buffers[i].sizeBytes + step - 1) / step);
    for (uint64_t at = 0; at < count; at += atOnce) {
      const uint64_t taken = std::min(atOnce, count - at);
      const auto groups = static_cast<uint32_t>(taken * variant.slice_workgroups());
      slices.push_back({{}, {groups, 1, 1}, at, taken});
    }
  }
  const uint64_t all = uint64_t{workgroups[0]} * workgroups[1] * workgroups[2];
  uint64_t maxWorkgroups = all;
  if (limitNs > 0 && estimateNs > static_cast<double>(limitNs)) {
    const double wanted = std::min(std::ceil(estimateNs / static_cast<double>(limitNs)),
                                   static_cast<double>(kMaxPartsForTime));
    maxWorkgroups = std::max<uint64_t>(all / static_cast<uint64_t>(wanted), 1);
  }
  std::vector<DispatchPart> parts;
  for (const DispatchPart &slice : slices)
    splitBox(slice, maxWorkgroups, parts);
  return parts;
}

BoundBuffer rangeOfPart(const artifact::KernelVariant &variant, const DispatchPart &part,
                        uint32_t index, const BoundBuffer &whole) {
  const uint64_t step = part.slices ? variant.slice_bytes()->Get(index) : 0;
  if (step == 0)
    return whole;
  const uint64_t from = std::min(part.slice * step, whole.sizeBytes);
  return {std::min(part.slices * step, whole.sizeBytes - from), whole.offsetBytes + from};
}

} // namespace gantry::program
