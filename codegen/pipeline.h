// compileModel() compiles a model file into an artifact, the file that Gantry's runtime executes.
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
/// output that a run leaves in this buffer. The output is empty if runs only read the buffer. The
/// names may have a star, which stands for any text (gantry_state_pair_t in gantry/compiler.h).
struct StatePair {
  std::string input, output;
};

/// The options of a compilation. Words: a dispatch is one kernel launch; a transient is a tensor
/// that only dispatches of the same run read; a tile is the part of a kernel's result that one
/// invocation, subgroup or workgroup computes, and a table of measured tiles
/// (tuning/tuning_table.h) has the fastest tile of each kernel on a device.
struct CompileOptions {
  /// Names of device profiles, the descriptions of devices to compile for
  /// (engine/base/device_profile.h). The artifact has a variant for each; the first is its
  /// baseline. Repeated names are ignored.
  std::vector<std::string> profiles = {"vulkan:generic"};
  bool keepAllOutputs = false; // Whether the result of every operator becomes an output.
  bool keepOrder = false;      // Whether the dispatches run in the model's own order.
  /// Whether to compute chains of operators in strips, one range of rows after another, where that
  /// saves memory.
  bool strips = true;
  bool shareKernels = true;   // Whether kernels that differ only in sizes become one kernel.
  uint32_t sharedMemory = 0;  // Limit of a workgroup's shared memory in bytes; 0: the profile's.
  bool halfPrecision = false; // Whether to store f32 constants and transients as f16.
  std::string tuning;         // Path of a table of measured tiles, or empty.
  bool builtInTuning = true;  // Whether to use the built-in table of measured tiles too.
  /// Rank, in ascending order of predicted cost, of the tile that each kernel without a measured
  /// tile takes; 0: the tile with the lowest predicted cost.
  uint32_t tileCandidate = 0;
  uint64_t memoryBudget = 0; // Limit in bytes of the memory of all transients; 0: none.
  /// Ranges of dynamic dimensions. If every dynamic dimension has an upper limit, memory is planned
  /// once for all sizes.
  std::vector<importer::DimRange> dims;
  std::vector<std::string> donatedInputs; // Inputs whose memory a run may reuse.
  std::vector<StatePair> states;          // Inputs and outputs that share a buffer.
  bool training = false; // Whether to compile a step of the model's training (import/import.h).
  /// Folder for the IR after passes, or empty. With several profiles, each profile writes its dumps
  /// (dumpIr, dumpNative, dumpSpirv) to a subfolder that is named after it, such as "lavapipe".
  std::string dumpIr;
  std::string dumpIrPass;               // The only pass to dump the IR after; empty: all.
  std::string dumpNative;               // Folder for the kernels as assembly, or empty.
  std::vector<std::string> nativeChips; // GPUs of this assembly, such as "sm_80" and "gfx1100".
  std::string dumpSpirv;                // Folder for the SPIR-V of the kernels, or empty.
  std::string reproducer;               // Path of MLIR's reproducer of a failed pass, or empty.
  /// Receives one line of text. severity: 0 error, 1 warning, 2 note. May be empty.
  std::function<void(int severity, const std::string &message)> diagnostic;
  /// Receives the name of a stage of the compilation, the number of its finished steps, and the
  /// number of all its steps. May be empty.
  std::function<void(const char *stage, size_t done, size_t total)> progress;
  /// Receives the path, relative to the model's folder, of each file that is read besides the
  /// model. May be empty.
  std::function<void(const std::string &location)> fileRead;
};

/// The values equal those of gantry_compile_result_t, which gantry/compiler.h describes.
enum class CompileResult { kOk, kBadInput, kUnsupported, kIo, kInternal };

/// Compiles the file `model` and writes the artifact atomically to the file `output`. Reports a
/// failure through options.diagnostic as exactly one error. If the host's memory runs out, throws
/// std::bad_alloc where the compiler can recover, and ends the process elsewhere
/// (compiler_threads.h).
CompileResult compileModel(const std::string &model, const std::string &output,
                           const CompileOptions &options);

} // namespace gantry::codegen
