// Functions of the math dialect on f32, as arithmetic with at most 4 ulp of error.
//
// Vulkan lets a driver compute exp with an error of 3 + 2|x| ulp, tanh and the like by formulas
// that lose every digit near 0, and leaves pow of negative numbers undefined. These patterns need
// only what SPIR-V defines exactly: additions, multiplications, divisions, square roots and
// integers. Special values follow Annex F of C99 (IEEE 754-2019, section 9.2). Denormal arguments
// and results are right on devices that keep them. f16 is computed in f32 and rounded once. f64
// stays as it is.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// exp, expm1, log, log1p, pow, erf, tanh, sin, cos, tan, their inverses, the hyperbolic functions
/// and their inverses; and arith.maximumf and minimumf, with -0 below +0 and NaN above all.
void populateAccurateMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
