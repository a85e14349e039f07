// compileModel() compiles a model file into an artifact file.
//
// pipeline.cpp lists the passes; gantry/compiler.h is the C API over this header.
//
// Thread safety: calls are independent of each other. One compilation uses several threads. It
// calls the functions `diagnostic` and `fileRead` of its options from the calling thread, and
// `progress` from any of its threads, one call at a time.
#pragma once

#include "codegen/emit/emit.h"
#include "codegen/import/import.h"

#include <functional>
#include <string>

namespace gantry::codegen {

/// A state: an input or an initializer of the model that keeps its buffer from run to run, and the
/// output that a run leaves in this buffer. The output is empty if runs only read the buffer.
struct StatePair {
  std::string input, output;
};

struct CompileOptions {
  /// Device profiles. The artifact has a variant for each; the first is its baseline. Repeated
  /// names are ignored.
  std::vector<std::string> profiles = {"vulkan:generic"};
  bool keepAllOutputs = false;
  bool keepOrder = false;     // Run the dispatches in the model's own order.
  bool strips = true;         // Compute chains of operators in strips where that saves memory.
  bool shareKernels = true;   // Let kernels that differ only in sizes be one.
  uint32_t sharedMemory = 0;  // Limit in bytes per workgroup; 0: the profile's.
  bool halfPrecision = false; // Store f32 constants and transients as f16.
  std::string tuning;         // Path of a table of measured tiles, or empty.
  bool builtInTuning = true;  // Also use the built-in table of measured tiles.
  /// Rank, in the order of predicted cost, of the tile that each kernel without a measured tile
  /// takes; 0: the tile with the lowest predicted cost.
  uint32_t tileCandidate = 0;
  uint64_t memoryBudget = 0; // Limit of the arena in bytes; 0: none.
  std::vector<importer::DimRange>
      dims; // Ranges of dynamic dimensions, for which memory is planned.
  std::vector<std::string> donatedInputs; // Inputs whose memory a run may reuse.
  std::vector<StatePair> states;          // Ports that share one buffer across runs.
  bool training = false; // Compile the model's training step (ImportOptions::training).
  /// Folder for the IR after passes, or empty. With several profiles, each profile writes its dumps
  /// (dumpIr, dumpNative, dumpSpirv) to a subfolder that is named after it, such as "lavapipe".
  std::string dumpIr;
  std::string dumpIrPass;               // Dump after this pass only; empty: after each.
  std::string dumpNative;               // Folder for the assembly of nativeChips, or empty.
  std::vector<std::string> nativeChips; // For example "sm_80" and "gfx1100".
  std::string dumpSpirv;                // Folder for the SPIR-V of the kernels, or empty.
  std::string reproducer;               // Path of a crash reproducer, or empty.
  /// Receives one line of text. severity: 0 error, 1 warning, 2 note. May be empty.
  std::function<void(int severity, const std::string &message)> diagnostic;
  /// Receives the name of a stage of the compilation, the number of its finished steps, and the
  /// number of all its steps. May be empty.
  std::function<void(const char *stage, size_t done, size_t total)> progress;
  /// Receives the path, relative to the model's folder, of each file that is read besides the
  /// model. May be empty.
  std::function<void(const std::string &location)> fileRead;
};

/// gantry/compiler.h describes the values of gantry_compile_result_t, which are the same.
enum class CompileResult { kOk, kBadInput, kUnsupported, kIo, kInternal };

/// Compiles the file `model` and writes the artifact atomically to the file `output`. Reports a
/// failure through options.diagnostic as exactly one error. Throws std::bad_alloc where the host's
/// memory runs out and the compiler can recover (compiler_threads.h).
CompileResult compileModel(const std::string &model, const std::string &output,
                           const CompileOptions &options);

} // namespace gantry::codegen
