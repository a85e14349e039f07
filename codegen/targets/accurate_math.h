// Expands functions of the math dialect on f32 to arithmetic with an error of at most 4 ulp.
//
// Vulkan allows an error of 3 + 2|x| ulp for exp, formulas for tanh that lose all digits near 0,
// and any result for pow of a negative number. These patterns use only addition, multiplication,
// division, square root, rounding to integers, comparisons and integer operations. Special values
// follow Annex F of C99 (IEEE 754-2019, section 9.2). Denormal arguments and results are correct on
// devices that do not flush them. Functions of f16 are computed in f32 and rounded once; functions
// of f64 are not changed.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// Adds patterns for exp, expm1, log, log1p, pow, erf, sin, cos, tan, sinh, cosh, tanh and the
/// inverses of the last six, and for arith.maximumf and arith.minimumf, which order -0 below +0 and
/// return NaN if an operand is NaN.
void populateAccurateMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
