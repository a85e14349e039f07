// Makes the contents of an artifact from the lowered module.
//
// Dispatches of the program's function become commands, and its tensors become values with
// lifetimes. Kernels are serialised to SPIR-V. The memory of a static program is planned by
// engine/plan, and the plan and the barriers are checked by independent validators before anything
// is written.
//
// Thread safety: one emission at a time per module. It serialises kernels on the context's thread
// pool.
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
  std::string profile;   // The device profile that it was compiled for.
  std::string options;   // Options of `gantry compile`, as the artifact stores them.
  std::string dumpSpirv; // Folder for .spv and .spvasm files, or empty.
  bool planForBounds =
      false; // Plan a dynamic program for its dimensions' upper limits, if all have one.
  std::function<void(size_t done, size_t total)> kernelDone; // Called under a lock; may be empty.
};

/// An artifact before it is written.
struct Emission {
  artifact::ProgramT program;
  std::vector<artifact::ConstantData> constants;
  std::vector<std::vector<uint8_t>>
      ownedBytes; // The bytes of constants that the module does not store.
};

/// Returns the artifact of a module that the whole pipeline has lowered. The module must outlive
/// the emission, whose constants refer to its bytes.
Result<std::unique_ptr<Emission>> emitProgram(mlir::ModuleOp module, const EmitOptions &options);

} // namespace gantry::codegen
