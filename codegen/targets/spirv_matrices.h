// Cooperative matrices (SPV_KHR_cooperative_matrix) in SPIR-V kernels.
#pragma once

namespace mlir {
class RewritePatternSet;
class SPIRVTypeConverter;
namespace spirv {
class ModuleOp;
}
} // namespace mlir

namespace gantry::codegen {

/// gantry.load_matrix and gantry.store_matrix as the extension's loads and stores.
void populateMatrixPatterns(const mlir::SPIRVTypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// Makes a kernel right in the Vulkan memory model, which the extension requires. There, what
/// invocations exchange through shared memory has to be marked as not private, and barriers make
/// what was written available, and what is read visible.
void useVulkanMemoryModel(mlir::spirv::ModuleOp module);

} // namespace gantry::codegen
