// Execution modes that make a driver keep the special values of floating-point numbers.
//
// Without them, a driver may assume that no operand is NaN or an infinity, and may replace
// denormal numbers by zero. Some do: with NVIDIA's driver 580, max(x, 0) and exp(x) of NaN are
// 0. The compiler cannot add the modes, because a module with a mode that the device lacks is
// invalid; the backend knows the device and adds the modes that the device has.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gantry::vulkan {

/// The special values that a device can keep, for one width of floating-point numbers.
struct FloatWidthControls {
  bool keepsSpecials = false;  // Signed zeros, infinities and NaN (SignedZeroInfNanPreserve).
  bool keepsDenormals = false; // DenormPreserve.
};

struct FloatControls {
  FloatWidthControls f16, f32, f64;

  const FloatWidthControls *ofWidth(uint32_t bits) const {
    return bits == 16 ? &f16 : bits == 32 ? &f32 : bits == 64 ? &f64 : nullptr;
  }
};

/// Returns the SPIR-V module with added execution modes: for each floating-point width that the
/// module uses, the modes that the device has for this width (FloatWidthControls). Returns nullopt
/// if there is nothing to add, and for modules without an entry point or before SPIR-V 1.4, in
/// which the modes would need an extension.
std::optional<std::vector<uint32_t>> withFloatControls(std::span<const uint32_t> spirv,
                                                       const FloatControls &controls);

} // namespace gantry::vulkan
