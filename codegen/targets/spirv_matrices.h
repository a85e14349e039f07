// Converts cooperative matrices to SPIR-V (SPV_KHR_cooperative_matrix).
#pragma once

namespace mlir {
class RewritePatternSet;
class SPIRVTypeConverter;
namespace spirv {
class ModuleOp;
}
} // namespace mlir

namespace gantry::codegen {

/// Adds patterns that convert gantry.load_matrix and gantry.store_matrix to the extension's loads
/// and stores.
void populateMatrixPatterns(const mlir::SPIRVTypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// Adapts a kernel to the Vulkan memory model, which the extension requires. Marks all accesses to
/// shared memory as non-private, because they exchange data between invocations, and lets barriers
/// make writes available and visible.
void useVulkanMemoryModel(mlir::spirv::ModuleOp module);

} // namespace gantry::codegen
