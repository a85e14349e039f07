// Remainders of floats as C's fmod: exact, with the sign of the dividend.
//
// SPIR-V's OpFRem may be x - y * trunc(x / y) in the device's arithmetic, which is wrong as soon as
// the quotient is rounded, or y infinite. There is no exact form in floats that every device can do
// (a fused multiply-add need not be fused), so the mantissas are divided as integers: the remainder
// of mx * 2^d by my, eight bits of 2^d at a time. At most 253 bits, so 32 steps without a branch,
// each one remainder of 32-bit integers: correct for all finite numbers, denormal ones too, and not
// fast.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// Expands arith.remf on f32 and f16, scalars and vectors. f64 stays: the device's own precision.
void populateExactRemainderPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
