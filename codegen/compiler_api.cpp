// Implements the C API, gantry/compiler.h, on pipeline.h.
#include "gantry/compiler.h"

#include "codegen/compiler_threads.h"
#include "codegen/import/import.h"
#include "codegen/import/tensor_proto.h"
#include "codegen/pipeline.h"
#include "engine/base/device_profile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

using namespace gantry;

namespace {

std::string joined(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

/// The caller's function for diagnostics.
struct Reporter {
  gantry_diagnostic_fn function;
  void *user;
  void error(const char *message) const {
    if (function)
      function(user, 0, message);
  }
};

/// Calls body() and returns its result. Reports an exception as a diagnostic and returns INTERNAL,
/// because no exception may leave the library.
template <typename Body>
gantry_compile_result_t guarded(const char *function, const Reporter &reporter, Body &&body) {
  char message[512];
  try {
    return body();
  } catch (const std::bad_alloc &) {
    std::snprintf(message, sizeof(message), "%s: the host has no memory left; nothing was written",
                  function);
  } catch (const std::exception &error) {
    std::snprintf(message, sizeof(message), "%s: %s", function, error.what());
  } catch (...) {
    std::snprintf(message, sizeof(message), "%s: an unknown exception", function);
  }
  reporter.error(message);
  return GANTRY_COMPILE_INTERNAL;
}

gantry_compile_result_t refuseNull(const char *function, const Reporter &reporter,
                                   const char *argument) {
  char message[128];
  std::snprintf(message, sizeof(message), "%s: %s must not be NULL", function, argument);
  reporter.error(message);
  return GANTRY_COMPILE_BAD_INPUT;
}

/// Converts the caller's options and compiles. `known` has the caller's options if `given` is true;
/// otherwise the defaults of CompileOptions apply.
gantry_compile_result_t compile(const char *model, const char *output, const bool given,
                                const gantry_compile_options_t &known) {
  codegen::CompileOptions native;
  if (const gantry_compile_options_t *options = given ? &known : nullptr) {
    auto text = [](const char *value) { return std::string(value ? value : ""); };
    if (options->profile)
      native.profiles = {options->profile};
    if (options->profiles && options->profile_count > 0) {
      native.profiles.clear();
      for (size_t i = 0; i < options->profile_count; ++i)
        native.profiles.push_back(text(options->profiles[i]));
    }
    native.keepAllOutputs = options->keep_all_outputs != 0;
    native.keepOrder = options->keep_order != 0;
    native.strips = options->no_strips == 0;
    native.shareKernels = options->separate_kernels == 0;
    native.halfPrecision = options->half_precision != 0;
    native.memoryBudget = options->memory_budget_bytes;
    native.sharedMemory = options->shared_memory_bytes;
    for (size_t i = 0; options->dims && i < options->dim_count; ++i)
      native.dims.push_back(
          {text(options->dims[i].name), options->dims[i].min, options->dims[i].max});
    for (size_t i = 0; options->donated_inputs && i < options->donated_count; ++i)
      native.donatedInputs.push_back(text(options->donated_inputs[i]));
    for (size_t i = 0; options->states && i < options->state_count; ++i)
      native.states.push_back({text(options->states[i].input), text(options->states[i].output)});
    native.training = options->training != 0;
    native.tuning = text(options->tuning);
    native.builtInTuning = options->no_built_in_tuning == 0;
    native.tileCandidate = options->tile_candidate;
    native.dumpNative = text(options->dump_native);
    for (size_t i = 0; options->native_chips && i < options->native_chip_count; ++i)
      native.nativeChips.push_back(text(options->native_chips[i]));
    native.dumpIr = text(options->dump_ir);
    native.dumpIrPass = text(options->dump_ir_pass);
    native.dumpSpirv = text(options->dump_spirv);
    native.reproducer = text(options->reproducer);
    if (options->diagnostic)
      native.diagnostic = [options = known](int severity, const std::string &message) {
        options.diagnostic(options.user, severity, message.c_str());
      };
    if (options->progress)
      native.progress = [options = known](const char *stage, size_t done, size_t total) {
        options.progress(options.user, stage, done, total);
      };
    if (options->file_read)
      native.fileRead = [options = known](const std::string &location) {
        options.file_read(options.user, location.c_str());
      };
  }
  const codegen::OutOfMemoryHandlers handlers;
  return static_cast<gantry_compile_result_t>(codegen::compileModel(model, output, native));
}

gantry_compile_result_t readTensorProto(const char *path, int32_t *type, uint32_t *rank,
                                        int64_t *dims, void **data, size_t *sizeBytes, char **name,
                                        const Reporter &reporter) {
  constexpr size_t kMaxRank = 8;
  auto fail = [&](const std::string &message, importer::ImportFailure kind) {
    reporter.error(message.c_str());
    return kind == importer::ImportFailure::kUnsupported ? GANTRY_COMPILE_UNSUPPORTED
                                                         : GANTRY_COMPILE_BAD_INPUT;
  };
  importer::Constant tensor;
  importer::ImportError error{importer::ImportFailure::kBadInput, ""};
  if (!importer::readTensorProto(path, tensor, error))
    return fail(error.message, error.kind);
  if (tensor->dims.size() > kMaxRank)
    return fail(std::string(path) + ": rank " + std::to_string(tensor->dims.size()) +
                    "; at most 8 is supported",
                importer::ImportFailure::kUnsupported);
  size_t each = importer::dtypeSize(tensor->type), count = tensor->elementCount();
  auto *bytes = static_cast<uint8_t *>(std::malloc(std::max<size_t>(1, count * each)));
  char *copy = name ? strdup(tensor->name.c_str()) : nullptr;
  if (!bytes || (name && !copy)) {
    std::free(bytes);
    std::free(copy);
    throw std::bad_alloc();
  }
  if (tensor->splat)
    for (size_t i = 0; i < count; ++i)
      std::memcpy(bytes + i * each, tensor->bytes.data(), each);
  else
    std::memcpy(bytes, tensor->bytes.data(), count * each);
  *type = static_cast<int32_t>(tensor->type);
  *rank = tensor->dims.size();
  std::copy(tensor->dims.begin(), tensor->dims.end(), dims);
  *data = bytes;
  *sizeBytes = count * each;
  if (name)
    *name = copy;
  return GANTRY_COMPILE_OK;
}

/// Returns the text that make() returns, or "" if it throws because the host has no memory.
template <typename Make> const char *listOrEmpty(Make &&make) {
  try {
    return make();
  } catch (const std::exception &) {
    return "";
  }
}

} // namespace

gantry_compile_result_t gantry_compile(const char *model, const char *output,
                                       const gantry_compile_options_t *given) {
  // A caller that was built with older headers has a shorter struct. The fields that it lacks are
  // 0.
  gantry_compile_options_t known{};
  if (given)
    std::memcpy(&known, given, std::min(given->struct_size, sizeof known));
  const Reporter reporter{known.diagnostic, known.user};
  if (!model || !output)
    return refuseNull("gantry_compile", reporter, model ? "output" : "model");
  return guarded("gantry_compile", reporter,
                 [&] { return compile(model, output, given != nullptr, known); });
}

const char *gantry_compile_profiles(void) {
  return listOrEmpty([]() -> const char * {
    static const std::string kText = joined(profileNames());
    return kText.c_str();
  });
}

const char *gantry_compile_operators(void) {
  return listOrEmpty([]() -> const char * {
    static const std::string kText = joined(importer::supportedOnnxOperators());
    return kText.c_str();
  });
}

gantry_compile_result_t gantry_read_tensor_proto(const char *path, int32_t *type, uint32_t *rank,
                                                 int64_t *dims, void **data, size_t *sizeBytes,
                                                 char **name, gantry_diagnostic_fn diagnostic,
                                                 void *user) {
  const Reporter reporter{diagnostic, user};
  const std::pair<const char *, const void *> needed[] = {
      {"path", path}, {"type", type}, {"rank", rank},
      {"dims", dims}, {"data", data}, {"size_bytes", sizeBytes}};
  for (const auto &[argument, value] : needed)
    if (!value)
      return refuseNull("gantry_read_tensor_proto", reporter, argument);
  return guarded("gantry_read_tensor_proto", reporter, [&] {
    const codegen::OutOfMemoryHandlers handlers;
    return readTensorProto(path, type, rank, dims, data, sizeBytes, name, reporter);
  });
}
