// Converts the loops of kernels to the SPIR-V dialect.
#pragma once

namespace mlir {
class RewritePatternSet;
class SPIRVTypeConverter;
} // namespace mlir

namespace gantry::codegen {

/// Adds patterns that convert scf.for to spirv.mlir.loop. Each value that the loop carries becomes
/// a variable of the function, which is written before the loop, read in the loop's header, written
/// at the end of the body, and read after the loop. SPIRV-Tools turns each variable into one phi.
///
/// MLIR's own conversion is not used. It carries the values in block arguments and also stores them
/// for their uses after the loop. Each value then has two phis, which cost time on software
/// devices, and the results of a loop without iterations are undefined.
void populateLoopPatterns(const mlir::SPIRVTypeConverter &converter,
                          mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
