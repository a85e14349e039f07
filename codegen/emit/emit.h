// From the lowered module to an artifact.
//
// The function's dispatches become commands, its tensors values with lifetimes; kernels are
// serialised in parallel; static programs are planned (engine/plan) and the plan and the barriers
// are judged by their checkers before anything is written.
//
// Threads: one emission at a time per module; it uses the context's thread pool itself.
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
  std::string name;           // of the program
  std::string source;         // the model's file name
  std::string profile;        // device profile it was compiled for
  std::string options;        // Options of `gantry compile`, as the artifact stores them.
  std::string dumpSpirv;      // folder for .spv and .spvasm files, or empty
  bool planForBounds = false; // where every dynamic dimension has a bound, the plan is for these
  std::function<void(size_t done, size_t total)> kernelDone;
};

struct Emission {
  artifact::ProgramT program;
  std::vector<artifact::ConstantData> constants;
  std::vector<std::vector<uint8_t>> ownedBytes; // behind some of the constants
};

/// The module must stay alive while the emission is used: constants refer to its bytes.
Result<std::unique_ptr<Emission>> emitProgram(mlir::ModuleOp module, const EmitOptions &options);

} // namespace gantry::codegen
