// Serialises a kernel's SPIR-V module to words that SPIRV-Tools has validated and optimised.
//
// The passes convert-kernels-to-spirv and bind-buffers make the module (passes/Passes.td).
//
// Thread safety: the functions are pure; several kernels may be serialised at once.
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

/// Returns the environment that kernels are converted for: Vulkan 1.2 with all extensions that a
/// kernel may use. It claims SPIR-V 1.6, which MLIR requires for cooperative matrices; the
/// serialised modules have version 1.5.
mlir::spirv::TargetEnvAttr spirvTargetEnv(mlir::MLIRContext *context);

struct SpirvBinary {
  std::vector<uint32_t> words;
  std::vector<std::string> features; // The Vulkan names of the device features that it needs.
  uint32_t sharedBytes = 0;          // Size of its variables in workgroup memory.
};

/// Serialises a module, validates it, optimises it and validates it again. An error carries the
/// validator's message. A module with cooperative matrices is only serialised, because the
/// installed SPIRV-Tools does not know them.
Result<SpirvBinary> serializeKernel(mlir::spirv::ModuleOp module);

/// Replaces calls of the function `texel_fetch` (image, coordinate) by OpImageFetch.
std::vector<uint32_t> fetchTexels(const std::vector<uint32_t> &words);

/// Returns the bytes of a module's variables in workgroup memory, counted from the words alone.
/// This checks the plan of the tile, independently of it.
uint32_t sharedBytesOf(const std::vector<uint32_t> &words);

/// Returns the assembly text of a module for --dump-spirv. The text of a module with cooperative
/// matrices is empty.
std::string disassemble(const std::vector<uint32_t> &words);

} // namespace gantry::codegen
