// Loops of SPIR-V kernels.
#pragma once

namespace mlir {
class RewritePatternSet;
class SPIRVTypeConverter;
} // namespace mlir

namespace gantry::codegen {

/// scf.for as spirv.mlir.loop with one variable of the function per value that it carries: set
/// before the loop, read in its header, written at the end of its body and read behind it. The
/// optimiser makes one phi of each. (The upstream conversion carries the values in block arguments
/// and stores them besides for their reader behind the loop, which makes two phis of each, and a
/// result undefined where the loop does not run. Software devices mask and store each phi.)
void populateLoopPatterns(const mlir::SPIRVTypeConverter &converter,
                          mlir::RewritePatternSet &patterns);

} // namespace gantry::codegen
