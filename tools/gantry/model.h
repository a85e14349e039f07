// From a path on the command line to a loaded program: an artifact is loaded, a model is compiled
// to a file without a name first, or found in the user's cache (cache/model_cache.h). Also the RAII
// handles over both C APIs, and their errors as ToolError.
//
// One thread.
#pragma once

#include "tools/gantry/description.h"
#include "tools/gantry/error.h"
#include "tools/gantry/inputs.h"
#include "tools/gantry/tensor.h"
#include "tools/gantry/terminal.h"

#include <cstdint>
#include <filesystem>
#include <gantry/compiler.h>
#include <gantry/gantry.h>
#include <memory>
#include <string>
#include <vector>

namespace gantry::tool {

template <auto release> struct Releaser {
  template <typename T> void operator()(T *object) const { release(object); }
};
using DeviceHandle = std::unique_ptr<gantry_device_t, Releaser<gantry_device_release>>;
using ProgramHandle = std::unique_ptr<gantry_program_t, Releaser<gantry_program_release>>;
using SessionHandle = std::unique_ptr<gantry_session_t, Releaser<gantry_session_release>>;

/// Throws ToolError with gantry_last_error() and the exit code of the status.
void check(gantry_status_t status);

/// Opens the device that --device, GANTRY_DEVICE or the preferred order choose.
DeviceHandle openDevice(const std::string &selector);

struct CompileRequest {
  std::vector<std::string> profiles; // the first is the baseline; none: vulkan:generic
  bool useCache = true;              // loadModel looks into the cache.
  bool keepAllOutputs = false;
  bool keepOrder = false;
  uint32_t sharedMemory = 0;                             // bytes of a workgroup; 0: the profile's
  uint64_t memoryBudget = 0;                             // bytes; 0: none
  std::string tuning;                                    // table of measured tiles; "": none
  bool builtInTuning = true;                             // and those of the compiler
  uint32_t tileCandidate = 0;                            // tiles that kernels pass over
  bool halfPrecision = false;                            // f32 is kept as f16
  std::vector<DimRange> dims;                            // of dynamic dimensions
  std::vector<std::string> donated;                      // inputs
  std::vector<std::string> nativeChips;                  // of dumpNative
  std::string dumpNative;                                // folder; "": none
  std::string dumpIr, dumpIrPass, dumpSpirv, reproducer; // "" for none
};

/// What a compilation told besides the artifact.
struct CompileReport {
  std::vector<std::string> warnings;
  std::vector<std::string> dataFiles; // read besides the model, relative to its folder
};

/// Compiles with a progress bar; warnings are printed once it has succeeded.
CompileReport compileModel(const std::string &model, const std::string &output,
                           const CompileRequest &request);

/// Fails before a long piece of work where its output could not be written after it.
void checkOutput(const std::filesystem::path &model, const std::filesystem::path &output);

struct LoadedModel {
  ProgramHandle program;
  bool compiled = false; // here, from a model; else it was an artifact
  bool cached = false;   // compiled by an earlier command; then compileSeconds is 0
  double compileSeconds = 0;
};

/// "compiled before (...)": what a command says of a model that came from the cache.
std::string cacheText();

/// Whether the file is an artifact (by its first bytes) rather than a model.
bool isArtifact(const std::string &path);

/// Refuses --profile for an artifact, which is compiled already, and --variant for a model.
void checkChoice(const std::string &model, const std::string &profile, const std::string &variant);

/// Loads an artifact, or compiles a model. variant: the one of the artifact's to take, by its
/// profile; "": sessions choose.
LoadedModel loadModel(const std::string &path, const CompileRequest &request = {},
                      const std::string &variant = "");

std::vector<Port> inputPorts(const gantry_program_t *program);
std::vector<Port> outputPorts(const gantry_program_t *program);

/// The program's description. dims ("batch" -> 3) are the sizes of a dynamic program: all of them,
/// or none to have it described with expressions, or at its bounds where it is planned for these.
/// Throws ToolError(kBadInput) for a name that the program does not have, and where some are
/// missing.
Description describe(const gantry_program_t *program, const std::map<std::string, int64_t> &dims,
                     std::string *json = nullptr);

/// .npy, or an ONNX TensorProto (.pb).
Tensor readTensor(const std::string &path);

} // namespace gantry::tool
