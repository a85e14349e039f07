// Serialises a kernel's SPIR-V module, and validates and optimises it with SPIRV-Tools.
//
// The passes convert-kernels-to-spirv and bind-buffers make the module (passes/Passes.td).
//
// Thread safety: there is no shared state, so different modules may be serialised at the same time.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
namespace spirv {
class ModuleOp;
class TargetEnvAttr;
} // namespace spirv
} // namespace mlir

namespace gantry::codegen {

/// Returns the target environment of all kernels: Vulkan 1.2 with all extensions that a kernel may
/// use. Its version is SPIR-V 1.6, which MLIR requires for cooperative matrices; the serialised
/// modules have version 1.5.
mlir::spirv::TargetEnvAttr spirvTargetEnv(mlir::MLIRContext *context);

struct SpirvBinary {
  std::vector<uint32_t> words;
  // Required device features, as KernelVariant.capabilities (engine/artifact/artifact.fbs).
  std::vector<std::string> features;
  uint32_t sharedBytes = 0; // Size of the variables in workgroup memory.
};

/// Serialises a module, validates it, optimises it and validates it again. The message of an error
/// contains the validator's message. A module with cooperative matrices is only serialised, because
/// the installed SPIRV-Tools does not know them. Sets the version, the capabilities and the
/// extensions of `module`.
Result<SpirvBinary> serializeKernel(mlir::spirv::ModuleOp module);

/// Returns the serialised module with each call of the function `texel_fetch` (image, coordinate)
/// replaced by OpImageFetch.
std::vector<uint32_t> fetchTexels(const std::vector<uint32_t> &words);

/// Returns the size in bytes of a serialised module's variables in workgroup memory. The emission
/// compares it with the size that the tile was planned with.
uint32_t sharedBytesOf(const std::vector<uint32_t> &words);

/// Returns the assembly text of a serialised module, or an empty string if SPIRV-Tools does not
/// know an instruction, as in modules with cooperative matrices.
std::string disassemble(const std::vector<uint32_t> &words);

} // namespace gantry::codegen
