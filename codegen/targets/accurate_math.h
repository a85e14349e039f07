// Expands functions of the math dialect on f32 to arithmetic with an error of at most 4 ulp.
//
// Vulkan lets a driver compute exp with an error of 3 + 2|x| ulp and tanh by formulas that lose all
// digits near 0, and it leaves pow of negative numbers undefined. These patterns use only
// operations that SPIR-V defines exactly: addition, multiplication, division, square root, and
// integers. Special values follow Annex F of C99 (IEEE 754-2019, section 9.2). Denormal arguments
// and results are correct on devices that do not flush them. f16 is computed in f32 and rounded
// once; f64 is not changed.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// Adds patterns for exp, expm1, log, log1p, pow, erf, tanh, sin, cos, tan and their inverses, for
/// the hyperbolic functions and their inverses, and for arith.maximumf and arith.minimumf, which
/// order -0 below +0 and return NaN if an operand is NaN.
void populateAccurateMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
