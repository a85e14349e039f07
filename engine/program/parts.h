// Cutting a dispatch into parts, for two reasons: a buffer may be larger than the device binds at
// once, and a long dispatch keeps others (a desktop, a watchdog) from the GPU for too long.
//
// A part is the same kernel over some of the workgroups. Where buffers are too large, the parts are
// slices, of which the kernel's variant tells how far each buffer advances by one (artifact.fbs);
// where time is the reason, a part begins at a workgroup other than the first.
//
// Threads: pure functions.
#pragma once

#include "engine/artifact/artifact.h"
#include "engine/base/device_profile.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace gantry::program {

/// What a dispatch will find in one of its buffers.
struct BoundBuffer {
  uint64_t sizeBytes = 0;
  uint64_t offsetBytes = 0; // from a multiple of 256 in device memory
};

struct Part {
  std::array<uint32_t, 3> first{}, count{}; // workgroups
  uint64_t slice = 0;                       // the first one that is bound
  uint64_t slices = 0;                      // how many; 0: buffers are bound whole
};

/// Slices that fit into the device's bindings at once; 0 where no number of them does.
inline constexpr uint64_t kWhole = UINT64_MAX; // the buffers fit as they are
uint64_t slicesAtOnce(const artifact::KernelVariant &variant, const DeviceProfile &profile,
                      std::span<const BoundBuffer> buffers);

/// How long a dispatch may take on a slow device of that kind, in nanoseconds: an upper estimate
/// (5 GFLOP/s and 1 GB/s per compute unit), so that what it is compared with is kept to.
double slowEstimateNs(uint64_t flops, uint64_t bytes, const DeviceProfile &profile);

/// At most this many for the sake of time.
inline constexpr uint64_t kMaxPartsForTime = 1024;

/// The parts of a dispatch of so many workgroups, in order; one where nothing has to be cut.
/// atOnce: slicesAtOnce(), not 0. limitNs: what a part may take by the estimate; 0: no limit.
std::vector<Part> partsOf(const artifact::KernelVariant &variant,
                          const std::array<uint32_t, 3> &workgroups,
                          std::span<const BoundBuffer> buffers, uint64_t atOnce, double estimateNs,
                          uint64_t limitNs);

/// The stretch of buffer `index` that a part uses.
BoundBuffer stretchOf(const artifact::KernelVariant &variant, const Part &part, uint32_t index,
                      const BoundBuffer &whole);

} // namespace gantry::program
