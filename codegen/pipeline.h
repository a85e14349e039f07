// The compiler as one call: a model file becomes an artifact file.
//
// pipeline.cpp lists the passes; gantry/compiler.h is the C API over this header.
//
// Thread safety: calls are independent of each other. One compilation uses several threads itself,
// and calls the functions of its options from the calling thread, except that `progress` may come
// from others, under a lock.
#pragma once

#include "codegen/emit/emit.h"
#include "codegen/import/import.h"

#include <functional>
#include <string>

namespace gantry::codegen {

struct CompileOptions {
  /// Device profiles. The artifact has a variant for each; the first is its baseline. A name that
  /// occurs twice counts once.
  std::vector<std::string> profiles = {"vulkan:generic"};
  bool keepAllOutputs = false;
  bool keepOrder = false;     // Run the dispatches in the model's own order.
  uint32_t sharedMemory = 0;  // Limit in bytes per workgroup; 0: the profile's.
  bool halfPrecision = false; // Store f32 constants and transients as f16.
  std::string tuning;         // Path of a table of measured tiles, or empty.
  bool builtInTuning = true;  // Also use the built-in table of measured tiles.
  uint32_t tileCandidate = 0; // Number of cheaper tiles that each kernel skips.
  uint64_t memoryBudget = 0;  // Limit of the arena in bytes; 0: none.
  std::vector<importer::DimRange>
      dims; // Ranges of dynamic dimensions, for which memory is planned.
  std::vector<std::string> donatedInputs; // Inputs whose memory a run may reuse.
  /// Folders of dumps, or empty. With several profiles, each has its own folder below ("lavapipe").
  std::string dumpIr;
  std::string dumpIrPass;               // Dump after this pass only; empty: after each.
  std::string dumpNative;               // Folder for the assembly of nativeChips.
  std::vector<std::string> nativeChips; // For example "sm_80" and "gfx1100".
  std::string dumpSpirv;
  std::string reproducer; // Path of a crash reproducer, or empty.
  std::function<void(int severity, const std::string &message)> diagnostic;
  std::function<void(const char *stage, size_t done, size_t total)> progress;
  /// Called with every file besides the model that is read, relative to the model's folder.
  std::function<void(const std::string &location)> fileRead;
};

enum class CompileResult { kOk, kBadInput, kUnsupported, kIo, kInternal };

/// Compiles the file `model` and writes the artifact to `output`, which is written atomically. A
/// failure has been reported through options.diagnostic as exactly one error.
CompileResult compileModel(const std::string &model, const std::string &output,
                           const CompileOptions &options);

} // namespace gantry::codegen
