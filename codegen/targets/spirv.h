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

/// Words of a SPIR-V module before its first instruction.
inline constexpr uint32_t kSpirvHeaderWords = 5;

struct SpirvBinary {
  std::vector<uint32_t> words;
  // The names of the device features that the module needs, as the artifact stores them
  // (KernelVariant.capabilities in engine/artifact/artifact.fbs).
  std::vector<std::string> features;
  uint32_t sharedBytes = 0; // Size of the variables in shared memory (storage class Workgroup).
};

/// Serialises a module, optimises it and validates the result. Debug builds also validate the
/// module before they optimise it. The message of an error contains the text of the tool that
/// failed. A module with cooperative matrices is only serialised, because the installed SPIRV-Tools
/// does not know them. Sets the version, the capabilities and the extensions of `module`.
Result<SpirvBinary> serializeKernel(mlir::spirv::ModuleOp module);

/// Returns the serialised module with each call of a function whose name begins with texel_fetch
/// replaced by OpLoad and OpImageFetch. The function's arguments are a pointer to the image and the
/// coordinate. bind-buffers makes these calls, because MLIR has no such operation.
std::vector<uint32_t> fetchTexels(const std::vector<uint32_t> &words);

/// Returns the size in bytes of a serialised module's variables in shared memory. emit/emit.cpp
/// compares this size with the one that the compiler planned for the kernel.
uint32_t sharedBytesOf(const std::vector<uint32_t> &words);

/// Returns the assembly text of a serialised module, or an empty string if SPIRV-Tools does not
/// know an instruction, as in modules with cooperative matrices.
std::string disassemble(const std::vector<uint32_t> &words);

} // namespace gantry::codegen
