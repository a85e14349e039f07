// Splits a dispatch into several smaller dispatches ("parts"), for two reasons: a buffer is larger
// than the device can bind at once, or the dispatch would block the GPU for so long that the
// desktop stutters or a watchdog resets the device.
//
// A part runs the same kernel over some of the workgroups. If a buffer is too large, the workgroups
// are divided into slices, and a part binds only the bytes of its slices. The kernel variant (one
// SPIR-V form of the kernel, KernelVariant in artifact.fbs) states how many workgroups a slice has
// and by how many bytes each buffer advances per slice. If only the time is too long, every part
// binds the whole buffers and starts at a different workgroup.
//
// Units: bytes and nanoseconds. Threads: pure functions.
#pragma once

#include "engine/artifact/artifact.h"
#include "engine/base/device_profile.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace gantry::program {

/// A buffer that is bound to a dispatch.
struct BoundBuffer {
  uint64_t sizeBytes = 0;
  uint64_t offsetBytes = 0; // Offset from an address that is a multiple of 256.
};

/// One part of a dispatch.
struct DispatchPart {
  /// The part's first workgroup, counted from its first slice if it has slices, and its workgroup
  /// counts.
  std::array<uint32_t, 3> first{}, count{};
  uint64_t slice = 0;  // The first slice that the part binds.
  uint64_t slices = 0; // Number of slices; 0: the part binds whole buffers.
};

inline constexpr uint64_t kBindWhole = UINT64_MAX;

/// Returns the max number of slices of a part for which the part's buffers fit into the device's
/// bindings. Returns kBindWhole if the whole buffers fit, and 0 if the dispatch cannot be sliced so
/// that they fit.
uint64_t maxSlicesAtOnce(const artifact::KernelVariant &variant, const DeviceProfile &profile,
                         std::span<const BoundBuffer> buffers);

/// Estimates the duration of a dispatch on a slow device with the profile's number of compute
/// units: 5 GFLOP/s and 1 GB/s per unit. The estimate is high on purpose, so that real parts stay
/// below the time limit.
double slowEstimateNs(uint64_t flops, uint64_t bytes, const DeviceProfile &profile);

/// Limits the number of parts if the time limit is short: a part may always have 1/kMaxPartsForTime
/// of the dispatch's workgroups, rounded down, even if it then takes longer than the limit. A part
/// is a box of workgroups, so many parts are smaller than they may be, and there can be more parts
/// than this number.
inline constexpr uint64_t kMaxPartsForTime = 1024;

/// Returns the parts of a dispatch in order; one part if the dispatch need not be split. atOnce is
/// the result of maxSlicesAtOnce(), which must not be 0. estimateNs is the estimated duration of
/// the whole dispatch; limitNs is the time limit of a part, or 0 for no limit.
std::vector<DispatchPart> splitDispatch(const artifact::KernelVariant &variant,
                                        const std::array<uint32_t, 3> &workgroups,
                                        std::span<const BoundBuffer> buffers, uint64_t atOnce,
                                        double estimateNs, uint64_t limitNs);

/// Returns the range of buffer `index` that a part uses; `whole` is the whole buffer.
BoundBuffer rangeOfPart(const artifact::KernelVariant &variant, const DispatchPart &part,
                        uint32_t index, const BoundBuffer &whole);

} // namespace gantry::program
