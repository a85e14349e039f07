// Expands arithmetic that drivers, or MLIR's conversion to SPIR-V, do not compute as IEEE 754 and C
// define it.
//
// - Sums, products and quotients with a constant zero. Mesa's software device folds x + 0 to x and
//   x * 0 to 0, and leaves x / 0 undefined. Decorations do not prevent this.
// - f32 to f16. Vulkan leaves the rounding to the driver, and some drivers truncate. The patterns
//   round to the nearest f16, ties to even, before the conversion.
// - The remainder of signed integers. MLIR's conversion treats the smallest integer as positive.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gantry::codegen {

/// Adds the patterns. They run before the conversion to SPIR-V.
void populateExactArithmeticPatterns(mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
