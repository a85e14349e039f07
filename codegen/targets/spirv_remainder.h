// Expands the remainder of floats to an exact computation, equal to C's fmod: the result has the
// sign of the dividend.
//
// A driver may compute SPIR-V's OpFRem as x - y * trunc(x / y), which is wrong where the quotient
// is rounded or y is infinite. No exact formula in floats works on every device, because a fused
// multiply-add need not be fused. The mantissas are therefore divided as integers: the remainder of
// mx * 2^d by my, eight bits of 2^d at a time. d has at most 253 bits, which takes 32 steps without
// branches, each of them one remainder of 32-bit integers. The result is correct for all finite
// numbers, including denormal ones, but slow.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// Adds patterns for arith.remf on f32 and f16, scalars and vectors. f64 is not changed and has the
/// device's own precision.
void populateExactRemainderPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
