// Turns a path on the command line into a loaded program. An artifact, which is a compiled model (a
// .gantry file), is loaded. A model (.onnx, .mlir) is first found in the user's cache
// (cache/model_cache.h) or compiled. This file also has RAII handles over the runtime's C API, and
// functions that turn errors of the runtime's and the compiler's C APIs into ToolError.
//
// Threads: one thread at a time.
#pragma once

#include "tools/gantry/io/description.h"
#include "tools/gantry/error.h"
#include "tools/gantry/io/inputs.h"
#include "tools/gantry/io/tensor.h"
#include "tools/gantry/report/terminal.h"

#include <cstdint>
#include <filesystem>
#include <gantry/compiler.h>
#include <gantry/gantry.h>
#include <memory>
#include <string>
#include <vector>

namespace gantry::tool {

template <auto kRelease> struct Releaser {
  template <typename T> void operator()(T *object) const { kRelease(object); }
};
using DeviceHandle = std::unique_ptr<gantry_device_t, Releaser<gantry_device_release>>;
using ProgramHandle = std::unique_ptr<gantry_program_t, Releaser<gantry_program_release>>;
using StateHandle = std::unique_ptr<gantry_state_t, Releaser<gantry_state_release>>;
using SessionHandle = std::unique_ptr<gantry_session_t, Releaser<gantry_session_release>>;

/// Throws ToolError with gantry_last_error() and the exit code of the status, unless it is OK.
void check(gantry_status_t status);

/// Opens a device: the one that --device names, else GANTRY_DEVICE, else the first in preferred
/// order.
DeviceHandle openDevice(const std::string &selector);

struct CompileRequest {
  std::vector<std::string> profiles;    // The first is the baseline; empty: vulkan:generic.
  bool useCache = true;                 // Whether loadModel() looks into the cache.
  bool keepAllOutputs = false;          // Whether every operator's result becomes an output.
  bool keepOrder = false;               // Whether operators run in the model's order.
  bool strips = true;                   // Whether chains of operators may run in strips of rows.
  bool shareKernels = true;             // Whether kernels that differ only in sizes may be one.
  uint32_t sharedMemory = 0;            // Limit per workgroup in bytes; 0: the profile's.
  uint64_t memoryBudget = 0;            // Limit for intermediate tensors in bytes; 0: none.
  std::string tuning;                   // Path of a table of measured tiles; empty: none.
  bool builtInTuning = true;            // Whether the compiler's own table is used.
  uint32_t tileCandidate = 0;           // Rank of each kernel's tile by predicted time; 0: fastest.
  bool halfPrecision = false;           // Whether f32 values are stored as f16.
  std::vector<DimRange> dims;           // Ranges of dynamic dimensions.
  std::vector<std::string> donated;     // Names of inputs whose memory a run may reuse.
  std::vector<std::string> states;      // "INPUT=OUTPUT" or "INPUT": ports that share a buffer.
  bool training = false;                // Whether the model's training step is compiled.
  std::vector<std::string> nativeChips; // Chips that dumpNative writes assembly for.
  std::string dumpNative;               // Folder; empty: none.
  std::string dumpIr, dumpSpirv;        // Folders; empty: none.
  std::string dumpIrPass;               // The only pass to dump; empty: all.
  std::string reproducer;               // Path of the MLIR reproducer; empty: none.
};

/// The results of a compilation other than the artifact.
struct CompileReport {
  std::vector<std::string> warnings;
  std::vector<std::string> dataFiles; // External data files, relative to the model's folder.
};

/// Compiles the model at one path to an artifact at another. Shows a progress bar, and prints
/// warnings after a success. Throws ToolError.
CompileReport compileModel(const std::string &model, const std::string &output,
                           const CompileRequest &request);

/// Throws ToolError if `output` is a folder, is the model itself, or is in no existing folder.
/// Callers check this before they begin long work.
void checkOutput(const std::filesystem::path &model, const std::filesystem::path &output);

/// A loaded program and its origin.
struct LoadedModel {
  ProgramHandle program;
  bool compiled = false;     // Whether the path was that of a model; else it was an artifact's.
  bool cached = false;       // Whether the program came from the cache.
  double compileSeconds = 0; // 0 for an artifact or a program from the cache.
};

/// Returns the text that commands print for a model from the cache.
std::string cacheText();

/// Returns whether the path is treated as an artifact: the file begins like one, or its extension
/// is neither .onnx nor .mlir.
bool isArtifact(const std::string &path);

/// Throws ToolError if --profile is given for an artifact or --variant for a model.
void checkChoice(const std::string &model, const std::string &profile, const std::string &variant);

/// Loads an artifact, or compiles a model. An artifact may contain several variants, programs that
/// were compiled for different device profiles. `variant` is the profile of the variant to load; if
/// it is empty, sessions choose the variant that fits their device.
LoadedModel loadModel(const std::string &path, const CompileRequest &request = {},
                      const std::string &variant = "");

std::vector<Port> inputPorts(const gantry_program_t *program);
std::vector<Port> outputPorts(const gantry_program_t *program);

/// Returns the program's description, and sets *json to its JSON. `dims` ("batch" -> 3) has the
/// sizes of all dynamic dimensions, or is empty. If it is empty, a dynamic program is described
/// with expressions, or with its max sizes if it was planned for these. Throws ToolError(kBadInput)
/// for an unknown name or if some sizes are missing.
Description describe(const gantry_program_t *program, const std::map<std::string, int64_t> &dims,
                     std::string *json = nullptr);

/// Reads a tensor from a .npy file or an ONNX TensorProto (.pb). Throws ToolError.
Tensor readTensor(const std::string &path);

} // namespace gantry::tool
