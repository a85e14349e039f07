// Implements cached_model.h.
#include "tools/gantry/runtime/cached_model.h"

#include "tools/gantry/cache/model_cache.h"
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/runtime/compiler_library.h"

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>

namespace gantry::tool {
namespace {

constexpr uint64_t kDefaultCacheBytes = uint64_t{4} << 30;

/// Returns the options of a request that change the artifact, as readable text. The text is part of
/// the key in the cache; a table of tiles is included with its content.
std::string textOf(const CompileRequest &request) {
  std::string text;
  for (const std::string &profile : request.profiles)
    text += fmt::format("-p {} ", profile);
  for (const DimRange &range : request.dims)
    text += fmt::format("--dim {}={}..{} ", range.name, range.min, range.max);
  for (const std::string &name : request.donated)
    text += fmt::format("--donate {} ", name);
  for (const std::string &state : request.states)
    text += fmt::format("--state {} ", state);
  if (request.training)
    text += "--training ";
  if (request.keepAllOutputs)
    text += "--trace-layers ";
  if (request.keepOrder)
    text += "--keep-order ";
  if (!request.strips)
    text += "--no-strips ";
  if (!request.shareKernels)
    text += "--separate-kernels ";
  if (request.halfPrecision)
    text += "--precision f16 ";
  if (request.memoryBudget)
    text += fmt::format("--memory-budget {} ", request.memoryBudget);
  if (request.sharedMemory)
    text += fmt::format("--shared-memory {} ", request.sharedMemory);
  if (!request.builtInTuning)
    text += "--no-built-in-tuning ";
  if (!request.tuning.empty()) {
    const std::vector<uint8_t> table = readFile(request.tuning);
    text += "--tuning " + std::string(table.begin(), table.end()) + " ";
  }
  return text;
}

/// Returns whether the request may use the cache: --no-cache was not given, the compiler knows its
/// identity, and the compilation only makes an artifact that a later command may ask for again (no
/// dumps, and no candidate tiles, which only `gantry tune` compiles).
bool isCacheable(const CompileRequest &request) {
  return request.useCache && request.tileCandidate == 0 && request.dumpIr.empty() &&
         request.dumpSpirv.empty() && request.dumpNative.empty() && request.reproducer.empty() &&
         *compiler().identity() != '\0';
}

void note(const std::string &why) {
  printNote(fmt::format("{}; the model is compiled, and the result not kept", why));
}

int64_t systemNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Loads the first variant of an artifact (the program for one device profile). The file may be
/// deleted afterwards.
ProgramHandle load(const std::filesystem::path &path) {
  gantry_program_t *program = nullptr;
  check(gantry_program_load(path.c_str(), &program));
  const ProgramHandle whole(program);
  gantry_program_t *only = nullptr; // A model is compiled for one profile here.
  check(gantry_program_variant(whole.get(), 0, &only));
  return ProgramHandle(only);
}

/// Loads the artifact of a cache hit and prints its warnings. If the artifact is damaged, removes
/// it and returns null.
ProgramHandle loadHit(const ModelCache &cache, const ModelCache::Hit &hit) {
  try {
    ProgramHandle program = load(hit.artifact);
    check(gantry_program_verify(program.get()));
    for (const std::string &warning : hit.warnings)
      printWarning(warning);
    return program;
  } catch (const ToolError &error) {
    cache.drop(hit);
    printNote(
        fmt::format("the cache had a damaged artifact, which is compiled again: {}", error.what()));
    return nullptr;
  }
}

LoadedModel compileTo(const UnnamedFile &file, const std::string &model,
                      const CompileRequest &request, CompileReport &report) {
  LoadedModel result;
  const auto start = std::chrono::steady_clock::now();
  report = compileModel(model, file.path(), request);
  result.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.compiled = true;
  result.program = load(file.path());
  return result;
}

LoadedModel compileOnly(const std::string &model, const CompileRequest &request) {
  auto file = UnnamedFile::temporary();
  if (!file.isOk())
    throw ToolError(ExitCode::kIo, file.status().message());
  CompileReport report;
  return compileTo(*file, model, request, report);
}

/// Compiles into the cache. If the cache's folder is full or cannot be written, prints a note and
/// returns nothing.
std::optional<LoadedModel> compileAndKeep(const ModelCache &cache, const std::string &key,
                                          const ModelCache::Request &wanted,
                                          const CompileRequest &request) {
  auto file = cache.newArtifact();
  if (!file.isOk()) {
    note(file.status().message());
    return std::nullopt;
  }
  ModelCache::Made made;
  made.startNs = systemNs();
  CompileReport report;
  std::optional<LoadedModel> result;
  try {
    result = compileTo(*file, wanted.model, request, report);
  } catch (const ToolError &error) {
    if (error.code() != ExitCode::kIo)
      throw;
    note(fmt::format("cannot write to the cache's folder {} ({})", cache.folder().string(),
                     error.what()));
    return std::nullopt;
  }
  made.dataFiles = std::move(report.dataFiles);
  made.warnings = std::move(report.warnings);
  if (const Status kept = cache.keep(key, wanted, *file, made); !kept.isOk())
    printNote(fmt::format("the artifact is not kept in the cache: {}", kept.message()));
  return result;
}

} // namespace

uint64_t cacheLimit() {
  const char *text = std::getenv("GANTRY_CACHE_SIZE");
  if (!text || !*text)
    return kDefaultCacheBytes;
  return std::string_view(text) == "0" ? 0 : parseBytes(text, "GANTRY_CACHE_SIZE");
}

LoadedModel compileOrFind(const std::string &model, const CompileRequest &request) {
  const uint64_t limit = cacheLimit();
  if (!isCacheable(request) || limit == 0)
    return compileOnly(model, request);
  const ModelCache::Request wanted{model, textOf(request), compiler().identity()};
  const auto cache = ModelCache::open(limit);
  const auto key = ModelCache::keyOf(wanted);
  if (!cache.isOk())
    note(cache.status().message());
  if (!cache.isOk() || !key.isOk()) // The compiler reports an unreadable model.
    return compileOnly(model, request);
  bool isDamaged = false;
  const auto hit = cache->find(*key, wanted, &isDamaged);
  if (isDamaged)
    printNote("the cache had a damaged entry of this model, which is compiled again");
  if (hit) {
    LoadedModel result;
    result.program = loadHit(*cache, *hit);
    result.compiled = result.cached = true;
    if (result.program)
      return result;
  }
  auto compiled = compileAndKeep(*cache, *key, wanted, request);
  return compiled ? std::move(*compiled) : compileOnly(model, request);
}

std::string cacheText() { return "compiled by an earlier command; --no-cache compiles it again"; }

} // namespace gantry::tool
