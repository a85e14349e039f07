// The compiler as one call. pipeline.cpp is the list of its steps; gantry/compiler.h its C API.
#pragma once

#include "codegen/emit/emit.h"
#include "codegen/import/import.h"

#include <functional>
#include <string>

namespace gantry::codegen {

struct CompileOptions {
  /// Device profiles; the artifact has a variant for each, the first as its baseline. A name given
  /// twice counts once.
  std::vector<std::string> profiles = {"vulkan:generic"};
  bool keepAllOutputs = false;
  bool keepOrder = false;                 // run the dispatches in the model's own order
  uint32_t sharedMemory = 0;              // bytes that a workgroup may have; 0: the profile's
  bool halfPrecision = false;             // f32 tensors of the program's own are f16 in memory
  std::string tuning;                     // table of measured tiles, or empty
  bool builtInTuning = true;              // take also those that come with the compiler
  uint32_t tileCandidate = 0;             // kernels pass over so many cheaper tiles
  uint64_t memoryBudget = 0;              // bytes that the arena may have; 0: no budget
  std::vector<importer::DimRange> dims;   // sizes of dynamic dimensions: then the plan is for these
  std::vector<std::string> donatedInputs; // whose memory a run may reuse
  /// Folders, or empty. Where there are several profiles, each has a folder in it ("lavapipe").
  std::string dumpIr;
  std::string dumpIrPass;               // only after this pass, or empty for all
  std::string dumpNative;               // folder for nativeChips
  std::vector<std::string> nativeChips; // "sm_80", "gfx1100"
  std::string dumpSpirv;
  std::string reproducer; // file, or empty
  std::function<void(int severity, const std::string &message)> diagnostic;
  std::function<void(const char *stage, size_t done, size_t total)> progress;
  /// Told of each file besides the model that is read, relative to the model's folder.
  std::function<void(const std::string &location)> fileRead;
};

enum class CompileResult { ok = 0, badInput = 1, unsupported = 2, io = 3, internal = 4 };

/// Compiles the model at `model` into an artifact at `output`, which appears complete or not at
/// all. Every failure was reported through options.diagnostic, as one error.
CompileResult compileModel(const std::string &model, const std::string &output,
                           const CompileOptions &options);

} // namespace gantry::codegen
