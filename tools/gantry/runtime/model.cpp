// Implements model.h.
#include "tools/gantry/runtime/model.h"

#include "tools/gantry/runtime/cached_model.h"
#include "tools/gantry/runtime/compiler_library.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/io/npy.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

namespace fs = std::filesystem;

namespace gantry::tool {
namespace {

ExitCode exitCodeOf(gantry_status_t status) {
  switch (status) {
  case GANTRY_STATUS_OK:
    return ExitCode::kOk;
  case GANTRY_STATUS_INVALID_ARGUMENT:
  case GANTRY_STATUS_NOT_FOUND:
  case GANTRY_STATUS_DATA_LOSS:
  case GANTRY_STATUS_VERSION_MISMATCH:
    return ExitCode::kBadInput;
  case GANTRY_STATUS_UNSUPPORTED:
    return ExitCode::kUnsupported;
  case GANTRY_STATUS_IO:
    return ExitCode::kIo;
  case GANTRY_STATUS_OUT_OF_MEMORY:
  case GANTRY_STATUS_DEVICE_LOST:
  case GANTRY_STATUS_FAILED_PRECONDITION:
  case GANTRY_STATUS_INTERNAL:
    return ExitCode::kInternal;
  }
  return ExitCode::kInternal;
}

/// Collects the diagnostics of a compilation. After a failure only the first error is reported, and
/// after a success only the warnings.
struct Diagnostics {
  std::string error;
  CompileReport report;
  Progress progress;

  static void tell(void *user, int severity, const char *message) {
    auto *self = static_cast<Diagnostics *>(user);
    if (severity == 0 && self->error.empty())
      self->error = message;
    else if (severity == 1)
      self->report.warnings.push_back(message);
  }
  static void advance(void *user, const char *stage, size_t done, size_t total) {
    static_cast<Diagnostics *>(user)->progress.update(stage, done, total);
  }
  static void read(void *user, const char *location) {
    static_cast<Diagnostics *>(user)->report.dataFiles.push_back(location);
  }
  void checkResult(gantry_compile_result_t result, const std::string &path) {
    progress.clear();
    if (result == GANTRY_COMPILE_OK)
      return;
    if (error.empty())
      error = fmt::format("'{}' cannot be read, and the compiler gave no reason", path);
    // The numbers of gantry_compile_result_t are the exit codes.
    throw ToolError(static_cast<ExitCode>(result), error);
  }
};

const char *orNull(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

std::vector<Port> readPorts(const gantry_program_t *program, size_t count,
                            gantry_status_t (*get)(const gantry_program_t *, size_t,
                                                   gantry_port_info_t *)) {
  std::vector<Port> ports;
  for (size_t i = 0; i < count; ++i) {
    gantry_port_info_t info{};
    check(get(program, i, &info));
    Port port{info.name, info.type, {info.dims, info.dims + info.rank}, {}, false, ""};
    for (uint32_t d = 0; d < info.rank; ++d)
      port.dimNames.push_back(info.dim_names[d] ? info.dim_names[d] : "");
    port.donated = info.donated != 0;
    ports.push_back(std::move(port));
  }
  return ports;
}

/// Sets Port::state of the inputs or of the outputs.
void nameStates(const gantry_program_t *program, std::vector<Port> &ports, bool inputs) {
  for (size_t i = 0; i < gantry_program_state_count(program); ++i) {
    gantry_state_port_t state{};
    state.struct_size = sizeof(state);
    check(gantry_program_state(program, i, &state));
    if (const size_t port = inputs ? state.input : state.output; port != GANTRY_NO_OUTPUT)
      ports[port].state = state.name;
  }
}

std::string describeJson(const gantry_program_t *program, const std::vector<int64_t> &symbols) {
  char *json = nullptr;
  check(gantry_program_describe(program, symbols.empty() ? nullptr : symbols.data(), symbols.size(),
                                &json));
  std::string text(json);
  gantry_free(json);
  return text;
}

} // namespace

void check(gantry_status_t status) {
  if (status == GANTRY_STATUS_OK)
    return;
  std::string message = gantry_last_error();
  throw ToolError(exitCodeOf(status), message.empty() ? gantry_status_name(status) : message);
}

DeviceHandle openDevice(const std::string &selector) {
  size_t count = 0;
  // Exit code 4 if the machine has no device at all, 1 if --device is wrong.
  if (gantry_devices(nullptr, &count) != GANTRY_STATUS_OK)
    throw ToolError(ExitCode::kInternal, gantry_last_error());
  gantry_device_t *device = nullptr;
  check(gantry_device_create(orNull(selector), &device));
  return DeviceHandle(device);
}

CompileReport compileModel(const std::string &model, const std::string &output,
                           const CompileRequest &request) {
  Diagnostics diagnostics;
  gantry_compile_options_t options{};
  options.struct_size = sizeof(options);
  std::vector<const char *> profiles;
  for (const std::string &profile : request.profiles)
    profiles.push_back(profile.c_str());
  options.profiles = profiles.data();
  options.profile_count = profiles.size();
  options.file_read = Diagnostics::read;
  options.keep_all_outputs = request.keepAllOutputs;
  options.keep_order = request.keepOrder;
  options.no_strips = !request.strips;
  options.separate_kernels = !request.shareKernels;
  options.memory_budget_bytes = request.memoryBudget;
  options.shared_memory_bytes = request.sharedMemory;
  options.half_precision = request.halfPrecision ? 1 : 0;
  options.tuning = orNull(request.tuning);
  options.no_built_in_tuning = request.builtInTuning ? 0 : 1;
  options.tile_candidate = request.tileCandidate;
  std::vector<gantry_dim_range_t> dims;
  for (const DimRange &range : request.dims)
    dims.push_back({range.name.c_str(), range.min, range.max});
  options.dims = dims.data();
  options.dim_count = dims.size();
  std::vector<const char *> donated;
  for (const std::string &name : request.donated)
    donated.push_back(name.c_str());
  options.donated_inputs = donated.data();
  options.donated_count = donated.size();
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string &text : request.states)
    names.push_back(splitAssignment(text, {}).value_or(std::pair(text, std::string())));
  std::vector<gantry_state_pair_t> states;
  for (const auto &[input, output] : names)
    states.push_back({input.c_str(), orNull(output)});
  options.states = states.data();
  options.state_count = states.size();
  options.training = request.training ? 1 : 0;
  std::vector<const char *> chips;
  for (const std::string &chip : request.nativeChips)
    chips.push_back(chip.c_str());
  options.native_chips = chips.data();
  options.native_chip_count = chips.size();
  options.dump_native = orNull(request.dumpNative);
  options.dump_ir = orNull(request.dumpIr);
  options.dump_ir_pass = orNull(request.dumpIrPass);
  options.dump_spirv = orNull(request.dumpSpirv);
  options.reproducer = orNull(request.reproducer);
  options.diagnostic = Diagnostics::tell;
  options.progress = Diagnostics::advance;
  options.user = &diagnostics;
  diagnostics.checkResult(compiler().compile(model.c_str(), output.c_str(), &options), model);
  for (const std::string &warning : diagnostics.report.warnings)
    printWarning(warning);
  return std::move(diagnostics.report);
}

bool isArtifact(const std::string &path) {
  constexpr std::string_view kMagic = "GANTRY";
  std::ifstream file(path, std::ios::binary);
  char start[kMagic.size()] = {};
  file.read(start, sizeof(start));
  if (file.gcount() == sizeof(start) && std::memcmp(start, kMagic.data(), sizeof(start)) == 0)
    return true;
  std::string extension = fs::path(path).extension();
  return extension != ".onnx" && extension != ".mlir";
}

void checkChoice(const std::string &model, const std::string &profile, const std::string &variant) {
  if (!profile.empty() && isArtifact(model))
    throw ToolError(
        ExitCode::kBadInput,
        fmt::format("--profile {0}: '{1}' is compiled already; take one of its variants with "
                    "--variant (`gantry inspect` lists them), or compile its model with -p {0}",
                    profile, model));
  if (!variant.empty() && !isArtifact(model))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("--variant {0}: '{1}' is a model, not an artifact; compile it for "
                                "this profile with -p {0}",
                                variant, model));
}

void checkOutput(const fs::path &model, const fs::path &output) {
  std::error_code error;
  if (fs::is_directory(output, error))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("the output '{}' is a folder; name a file", output.string()));
  if (fs::exists(output, error) && fs::equivalent(model, output, error))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("the output '{}' is the model itself; name another file with -o",
                                output.string()));
  fs::path folder = output.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw ToolError(ExitCode::kIo, fmt::format("cannot write '{}': there is no folder '{}'",
                                               output.string(), folder.string()));
}

namespace {

gantry_program_t *variantOf(const gantry_program_t *program, const std::string &path,
                            const std::string &profile) {
  std::string names;
  gantry_program_t *variant = nullptr;
  for (size_t i = 0; i < gantry_program_variant_count(program); ++i) {
    const std::string name = gantry_program_variant_profile(program, i);
    if (name == profile) {
      check(gantry_program_variant(program, i, &variant));
      return variant;
    }
    names += (names.empty() ? "" : ", ") + name;
  }
  throw ToolError(ExitCode::kBadInput,
                  fmt::format("--variant {}: '{}' has the variants {}", profile, path, names));
}

} // namespace

LoadedModel loadModel(const std::string &path, const CompileRequest &request,
                      const std::string &variant) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw ToolError(ExitCode::kBadInput, fmt::format("cannot open '{}': no such file", path));
  if (fs::is_directory(path, error))
    throw ToolError(ExitCode::kBadInput, fmt::format("'{}' is a folder, not a model", path));
  if (!isArtifact(path))
    return compileOrFind(path, request);
  LoadedModel model;
  gantry_program_t *program = nullptr;
  check(gantry_program_load(path.c_str(), &program));
  model.program.reset(program);
  if (!variant.empty())
    model.program.reset(variantOf(program, path, variant));
  return model;
}

std::vector<Port> inputPorts(const gantry_program_t *program) {
  auto ports = readPorts(program, gantry_program_input_count(program), gantry_program_input);
  nameStates(program, ports, true);
  return ports;
}

std::vector<Port> outputPorts(const gantry_program_t *program) {
  auto ports = readPorts(program, gantry_program_output_count(program), gantry_program_output);
  nameStates(program, ports, false);
  return ports;
}

Description describe(const gantry_program_t *program, const std::map<std::string, int64_t> &dims,
                     std::string *json) {
  std::string text = describeJson(program, {});
  Description description = parseDescription(text);
  std::vector<int64_t> sizes;
  std::string names;
  for (const SymbolInfo &symbol : description.symbols) {
    auto at = dims.find(symbol.name);
    if (at != dims.end())
      sizes.push_back(at->second);
    else if (dims.empty() && description.bounded)
      sizes.push_back(symbol.max);
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", symbol.name);
  }
  for (const auto &[name, size] : dims) {
    bool known = false;
    for (const SymbolInfo &symbol : description.symbols)
      known |= symbol.name == name;
    if (!known)
      throw ToolError(
          ExitCode::kBadInput,
          fmt::format("--dim {}={}: the model has {}", name, size,
                      names.empty() ? "no dynamic dimensions" : "the dynamic dimensions " + names));
  }
  if (!sizes.empty() && sizes.size() == description.symbols.size()) {
    try {
      text = describeJson(program, sizes);
      description = parseDescription(text);
    } catch (const ToolError &) {
      // If --dim was not given, the max sizes of the dimensions were tried. If the model does not
      // accept all of them at once, the description keeps its expressions.
      if (!dims.empty())
        throw;
    }
  } else if (!sizes.empty()) {
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("the plan needs a size for each of {}; give --dim NAME=SIZE for "
                                "each",
                                names));
  }
  if (json)
    *json = std::move(text);
  return description;
}

Tensor readTensor(const std::string &path) {
  if (fs::path(path).extension() != ".pb")
    return parseNpy(readFile(path), path);
  Diagnostics diagnostics;
  int32_t type = 0;
  uint32_t rank = 0;
  int64_t dims[GANTRY_MAX_RANK] = {};
  void *data = nullptr;
  size_t sizeBytes = 0;
  char *name = nullptr;
  diagnostics.checkResult(compiler().readTensorProto(path.c_str(), &type, &rank, dims, &data,
                                                     &sizeBytes, &name, Diagnostics::tell,
                                                     &diagnostics),
                          path);
  Tensor tensor{static_cast<gantry_type_t>(type), {dims, dims + rank}, {}};
  const auto *bytes = static_cast<const uint8_t *>(data);
  tensor.bytes.assign(bytes, bytes + sizeBytes);
  std::free(data);
  std::free(name);
  return tensor;
}

} // namespace gantry::tool
