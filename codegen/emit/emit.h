// Builds the contents of an artifact (the file with a compiled model) from a module that all passes
// have lowered.
//
// The module has a function with the whole program, and a module for each kernel. The dispatches of
// the function, which are kernel launches, become commands, and its tensors become values with
// lifetimes. Kernels are serialised to SPIR-V. engine/plan plans the memory of a static program
// (all sizes are known), and of a dynamic one if EmitOptions::planForBounds is set and all dynamic
// sizes have upper limits. Validators that share no code with the planner check the plan and the
// barriers (plan::validateSlots(), hazards::checkHazards()).
//
// Errors: a Status with the operator's or the tensor's name. Thread safety: one emission at a time
// per module. The kernels are serialised on the context's thread pool.
#pragma once

#include "engine/artifact/artifact.h"
#include "engine/base/status.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace gantry::codegen {

struct EmitOptions {
  std::string name;      // The program's name.
  std::string source;    // The model's file name.
  std::string profile;   // The device profile that the module was compiled for.
  std::string options;   // Arguments of `gantry compile`, which the artifact stores.
  std::string dumpSpirv; // Folder for .spv and .spvasm files, or empty.
  /// Whether to plan the memory of a dynamic program for the upper limits of its dimensions, if all
  /// dynamic dimensions have one.
  bool planForBounds = false;
  /// Called after each kernel from any thread, one call at a time. May be empty.
  std::function<void(size_t done, size_t total)> kernelDone;
};

/// An artifact before it is written.
struct Emission {
  artifact::ProgramT program;
  /// The constants, in the order of their offsets. Their bytes belong to the module or to
  /// ownedBytes.
  std::vector<artifact::ConstantData> constants;
  std::vector<std::vector<uint8_t>> ownedBytes;
};

/// Returns the artifact of a module that all passes have lowered. The module must outlive the
/// emission.
Result<std::unique_ptr<Emission>> emitProgram(mlir::ModuleOp module, const EmitOptions &options);

} // namespace gantry::codegen
