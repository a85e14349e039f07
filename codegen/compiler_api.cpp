// The C API over pipeline.h.
#include "gantry/compiler.h"

#include "codegen/import/import.h"
#include "codegen/import/tensor_proto.h"
#include "codegen/pipeline.h"
#include "engine/base/device_profile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace gantry;

static std::string joined(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

gantry_compile_result_t gantry_compile(const char *model, const char *output,
                                       const gantry_compile_options_t *given) {
  codegen::CompileOptions native;
  gantry_compile_options_t known{}; // a caller of an older version has a shorter one
  if (given)
    std::memcpy(&known, given, std::min(given->struct_size, sizeof known));
  if (const gantry_compile_options_t *options = given ? &known : nullptr) {
    auto text = [](const char *value) { return std::string(value ? value : ""); };
    if (options->profile)
      native.profile = options->profile;
    native.keepAllOutputs = options->keep_all_outputs != 0;
    native.keepOrder = options->keep_order != 0;
    native.halfPrecision = options->half_precision != 0;
    native.memoryBudget = options->memory_budget_bytes;
    native.sharedMemory = options->shared_memory_bytes;
    for (size_t i = 0; options->dims && i < options->dim_count; ++i)
      native.dims.push_back(
          {text(options->dims[i].name), options->dims[i].least, options->dims[i].most});
    for (size_t i = 0; options->donated_inputs && i < options->donated_count; ++i)
      native.donatedInputs.push_back(text(options->donated_inputs[i]));
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
  }
  return static_cast<gantry_compile_result_t>(codegen::compileModel(model, output, native));
}

const char *gantry_compile_profiles(void) {
  static const std::string text = joined(profileNames());
  return text.c_str();
}

const char *gantry_compile_operators(void) {
  static const std::string text = joined(importer::supportedOnnxOperators());
  return text.c_str();
}

gantry_compile_result_t gantry_read_tensor_proto(const char *path, int32_t *type, uint32_t *rank,
                                                 int64_t *dims, void **data, size_t *size_bytes,
                                                 char **name, gantry_diagnostic_fn diagnostic,
                                                 void *user) {
  constexpr size_t kMaxRank = 8;
  auto fail = [&](const std::string &message, importer::ImportKind kind) {
    if (diagnostic)
      diagnostic(user, 0, message.c_str());
    return kind == importer::ImportKind::unsupported ? GANTRY_COMPILE_UNSUPPORTED
                                                     : GANTRY_COMPILE_BAD_INPUT;
  };
  importer::Constant tensor;
  importer::ImportError error{importer::ImportKind::badInput, ""};
  if (!importer::readTensorProto(path, tensor, error))
    return fail(error.message, error.kind);
  if (tensor->dims.size() > kMaxRank)
    return fail(std::string(path) + ": rank " + std::to_string(tensor->dims.size()) +
                    "; at most 8 is supported",
                importer::ImportKind::unsupported);
  size_t each = importer::dtypeSize(tensor->type), count = tensor->elementCount();
  auto *bytes = static_cast<uint8_t *>(std::malloc(std::max<size_t>(1, count * each)));
  char *copy = name ? strdup(tensor->name.c_str()) : nullptr;
  if (!bytes || (name && !copy)) {
    std::free(bytes);
    std::free(copy);
    return fail(std::string(path) + ": not enough memory for " + std::to_string(count * each) +
                    " bytes",
                importer::ImportKind::badInput);
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
  *size_bytes = count * each;
  if (name)
    *name = copy;
  return GANTRY_COMPILE_OK;
}
