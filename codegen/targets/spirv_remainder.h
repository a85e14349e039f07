// Expands the remainder of floats to integer arithmetic with an exact result, as C's fmod has: the
// result has the sign of the dividend.
//
// A driver may compute SPIR-V's OpFRem as x - y * trunc(x / y), which is wrong if the quotient is
// rounded or y is infinite. No formula in floats is exact on every device, because SPIR-V does not
// guarantee a fused multiply-add. Therefore the mantissas mx and my are divided as integers. Let d
// be the difference of the exponents. The mantissa of the result is the remainder of mx * 2^d by
// my. It is computed in steps that multiply by at most 2^8 and take the remainder of two 32-bit
// integers. d is at most 253, so there are at most 32 steps. For scalars they are a loop with
// ceil(d / 8) rounds, for vectors 32 steps without branches. The result is exact for all finite
// numbers, including denormal ones.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// Adds patterns for arith.remf on f32 and f16, scalars and vectors. Operations on f64 are not
/// changed and have the precision of the device.
void populateExactRemainderPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
