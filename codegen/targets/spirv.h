// The SPIR-V target: from a kernel's module to validated, optimised words.
//
// The passes are convert-kernels-to-spirv and bind-buffers (passes/Passes.td); this is what
// follows. Threads: functions are pure; several kernels may be serialised at once.
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

/// The environment that kernels are converted for: Vulkan 1.2, and what some devices have besides.
/// (It calls itself SPIR-V 1.6, which MLIR asks for cooperative matrices; modules are of 1.5.)
mlir::spirv::TargetEnvAttr spirvTargetEnv(mlir::MLIRContext *context);

struct SpirvBinary {
  std::vector<uint32_t> words;
  std::vector<std::string> features; // device features it needs, by their Vulkan names
  uint32_t sharedBytes = 0;          // of its variables in workgroup memory
};

/// Serialises, validates (SPIRV-Tools), optimises and validates again. An error carries the
/// validator's message. Modules that multiply matrices are serialised only.
Result<SpirvBinary> serializeKernel(mlir::spirv::ModuleOp module);

/// The words with calls of functions `texel_fetch…` (image, coordinate) as OpImageFetch.
std::vector<uint32_t> fetchTexels(const std::vector<uint32_t> &words);

/// Bytes of a module's variables in workgroup memory, counted from the words alone.
uint32_t sharedBytesOf(const std::vector<uint32_t> &words);

/// Assembly text of a module, for --dump-spirv; empty for modules that multiply matrices.
std::string disassemble(const std::vector<uint32_t> &words);

} // namespace gantry::codegen
