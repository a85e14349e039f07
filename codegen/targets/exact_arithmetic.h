// Expands arithmetic that drivers, or MLIR's conversion to SPIR-V, do not compute as IEEE 754 and C
// define it.
//
// - Sums, differences, products and quotients with a constant zero as an operand, if they have the
//   attribute kNoContraction (float_emitter.h). Mesa's software device folds x + 0 to x and x * 0
//   to 0, and leaves x / 0 undefined, even if the operation is decorated NoContraction.
// - Conversions from f32 and f64 to f16. Vulkan leaves the rounding to the driver, and some drivers
//   truncate. The patterns round to the nearest f16, ties to even, before the conversion.
// - Rounding of f64 to integers. On some processors (seen on one with AVX2 but without AVX-512),
//   Mesa's software device rounds 1.5 to 1, and negative fractions to 0 instead of -0.
// - The remainder of signed integers. MLIR's conversion treats the smallest integer as positive.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// Adds the patterns, which must be applied before the conversion to SPIR-V.
void populateExactArithmeticPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
