// The whole compiler, top to bottom.
#include "codegen/pipeline.h"

#include "codegen/compile_command.h"
#include "codegen/compiler_threads.h"
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/emit/merge_variants.h"
#include "codegen/import/import.h"
#include "codegen/passes/passes.h"
#include "codegen/targets/native.h"
#include "codegen/tuning/tuning_table.h"
#include "engine/base/device_profile.h"
#include "engine/base/file.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr uint64_t kUnknownCache = uint64_t{4} << 20; // bytes, of devices that do not say

/// Where one variant's dumps go; empty where there are none.
struct Folders {
  std::string ir, spirv, native;
};

/// From the importer's form to SPIR-V modules, one step a line.
void buildPipeline(PassManager &manager, const CompileOptions &options, const Folders &folders,
                   const DeviceProfile &profile) {
  // One storage-buffer binding stays free for what a backend may add.
  const unsigned maxBuffers = std::max(3u, std::min(8u, profile.maxStorageBuffersPerStage));
  // Without lanes that share its tile the kernel of an attention is slower than its parts, until
  // the scores leave the cache.
  const uint64_t scoreBytes = profile.preferTexelLoads ? 0
                              : profile.lastCacheBytes ? profile.lastCacheBytes
                                                       : kUnknownCache;
  OpPassManager &program = manager.nest<func::FuncOp>();
  program.addPass(createCSEPass());
  program.addPass(createSumIntegers());
  const bool dots = profile.features.integerDotProduct;
  if (dots)
    program.addPass(createCenterZeroPoints());
  program.addPass(createSplitReductions());
  program.addPass(createPackConstants(PackConstantsOptions{profile.preferTexelLoads, dots}));
  program.addPass(createFormDispatches(FormDispatchesOptions{maxBuffers, scoreBytes}));
  if (options.halfPrecision)
    program.addPass(createNarrowFloats());
  if (profile.preferTexelLoads || dots)
    program.addPass(createChooseLayouts(ChooseLayoutsOptions{!profile.preferTexelLoads}));
  if (!options.keepOrder)
    program.addPass(createOrderDispatches());
  program.addPass(createFitBudget(FitBudgetOptions{options.memoryBudget}));
  program.addPass(createPlaceInPlace());
  manager.addPass(createOutlineKernels());
  manager.addPass(
      createApplyTuning(ApplyTuningOptions{profile.name, options.tuning, options.builtInTuning}));

  OpPassManager &kernel = manager.nest<ModuleOp>();
  kernel.addPass(createEmitKernels(
      EmitKernelsOptions{profile.name, options.sharedMemory, options.tileCandidate}));
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  kernel.addPass(createCSEPass());
  if (!folders.native.empty())
    kernel.addPass(createEmitNative(EmitNativeOptions{folders.native, options.nativeChips}));
  kernel.addPass(createConvertKernelsToSPIRV());
  kernel.addPass(createBindBuffers());
  kernel.nest<spirv::ModuleOp>().addPass(spirv::createSPIRVUpdateVCEPass());
}

/// Writes the module after each pass that is asked for, numbered in order. A file that cannot be
/// written is left out, and the first such failure goes to `status`.
class IrDumper : public PassInstrumentation {
public:
  IrDumper(std::string folder, std::string only, Status &status)
      : folder_(std::move(folder)), only_(std::move(only)), status_(status) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    StringRef name = pass->getArgument();
    if (name.empty() || (!only_.empty() && name != only_))
      return;
    std::string where;
    if (auto module = dyn_cast<ModuleOp>(op); module && module.getName())
      where = "." + module.getName()->str();
    // Local scope, and not verified again: other kernels are being changed by other threads
    // meanwhile, and verification would use the same threads.
    std::string text;
    llvm::raw_string_ostream stream(text);
    op->print(stream, OpPrintingFlags()
                          .assumeVerified()
                          .useLocalScope()
                          .elideLargeElementsAttrs(32)
                          .elideLargeResourceString(32));
    stream << '\n';
    char number[16];
    {
      std::lock_guard<std::mutex> lock(mutex_);
      std::snprintf(number, sizeof number, "%03u-", count_++);
    }
    Status written =
        writeFileAtomically(folder_ + "/" + number + name.str() + where + ".mlir", stream.str());
    std::lock_guard<std::mutex> lock(mutex_);
    if (status_.isOk())
      status_ = std::move(written);
  }

private:
  std::mutex mutex_;
  std::string folder_, only_;
  Status &status_; // guarded by mutex_
  unsigned count_ = 0;
};

/// Where in the model the operation of the pass that runs on this thread comes from. A diagnostic
/// about code that a pass has made often has no place of its own.
thread_local std::optional<Location> placeOfPass;

class PlaceKeeper : public PassInstrumentation {
public:
  void runBeforePass(Pass *, Operation *op) override { placeOfPass = op->getLoc(); }
  void runAfterPass(Pass *, Operation *) override { placeOfPass.reset(); }
  void runAfterPassFailed(Pass *, Operation *) override { placeOfPass.reset(); }
};

/// Whether a text is one of MLIR's verifier on an operation: "'spirv.GL.UMin' op operand #0 must".
bool isVerifierText(StringRef text) {
  return text.starts_with("'") && text.drop_front().split('\'').second.starts_with(" op ");
}

/// Sends diagnostics to the caller, each as one line with its place in the model. Only the first
/// error is reported as such: what follows from it is noise.
class DiagnosticForwarder {
public:
  DiagnosticForwarder(MLIRContext &context, const CompileOptions &options)
      : handler_(&context, [this](Diagnostic &diagnostic) { return forward(diagnostic); }),
        options_(options) {}
  bool sawError() const { return sawError_; }

private:
  LogicalResult forward(Diagnostic &diagnostic) {
    std::lock_guard<std::mutex> lock(mutex_);
    int severity = diagnostic.getSeverity() == DiagnosticSeverity::Error     ? 0
                   : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? 1
                                                                             : 2;
    if (severity == 0 && sawError_)
      return success();
    sawError_ |= severity == 0;
    std::string text = diagnostic.str(), place = placeOf(diagnostic.getLocation());
    if (placeOfPass && place.empty())
      place = placeOf(*placeOfPass);
    // Not the user's mistake: the model was verified when it was imported.
    if (placeOfPass && severity == 0 && isVerifierText(text))
      text = "the compiler made code that it does not accept itself, a defect in Gantry; please "
             "report it with the model: " +
             text;
    for (char &c : text)
      if (c == '\n')
        c = ' ';
    if (options_.diagnostic)
      options_.diagnostic(severity, place.empty() ? text : place + ": " + text);
    return success();
  }

  static std::string placeOf(Location loc) {
    std::string file, name;
    loc->walk([&](Location inner) {
      if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
        name = named.getName().str();
      if (auto line = dyn_cast<FileLineColLoc>(inner); line && file.empty())
        file = line.getFilename().str() +
               (line.getLine() ? ":" + std::to_string(line.getLine()) : std::string());
      return WalkResult::advance();
    });
    if (!name.empty())
      file += (file.empty() ? "" : " ") + ("(" + name + ")");
    return file;
  }

  std::mutex mutex_;
  ScopedDiagnosticHandler handler_;
  const CompileOptions &options_;
  bool sawError_ = false;
};

/// Marks the inputs that are donated (gantry.donated); an error names those that there are.
Status donateInputs(ModuleOp module, const std::vector<std::string> &names) {
  if (names.empty())
    return {};
  auto function = *module.getOps<func::FuncOp>().begin();
  llvm::StringMap<unsigned> inputs;
  std::string known;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const StringRef name = function.getArgAttrOfType<StringAttr>(i, "gantry.name").getValue();
    inputs[name] = i;
    known += (known.empty() ? "'" : ", '") + name.str() + "'";
  }
  for (const std::string &name : names) {
    const auto found = inputs.find(name);
    if (found == inputs.end())
      return Status(StatusCode::kInvalidArgument, "no input is called '" + name +
                                                      "' that could be donated; the model has " +
                                                      (known.empty() ? "none" : known));
    function.setArgAttr(found->second, "gantry.donated", UnitAttr::get(module.getContext()));
  }
  return {};
}

CompileResult report(const CompileOptions &options, CompileResult result,
                     const std::string &message) {
  if (options.diagnostic)
    options.diagnostic(0, message);
  return result;
}

CompileResult resultOf(const Status &status) {
  switch (status.code()) {
  case StatusCode::kIo:
    return CompileResult::io;
  case StatusCode::kUnsupported:
    return CompileResult::unsupported;
  case StatusCode::kInvalidArgument:
  case StatusCode::kNotFound:
  case StatusCode::kVersionMismatch:
    return CompileResult::badInput;
  default:
    return CompileResult::internal;
  }
}

/// Refuses where the host lacks even the memory that small models need: within MLIR and LLVM, which
/// often end the process then, it is too late for a message of ours.
Status checkHostHasMemory(const std::string &model) {
  constexpr size_t kLeastBytes = size_t{64} << 20;
  uint64_t modelBytes = 0;
  if (llvm::sys::fs::file_size(model, modelBytes))
    modelBytes = 0; // the importer says what is wrong with the file
  const size_t wanted = kLeastBytes + 2 * modelBytes; // the file, and its constants
  void *probe = ::operator new(wanted, std::nothrow);
  ::operator delete(probe);
  if (probe != nullptr)
    return {};
  return statusf(StatusCode::kOutOfMemory,
                 "the host has no memory to compile %s: it takes %zu MiB at least", model.c_str(),
                 wanted >> 20);
}

/// The profiles by their names, each once.
Result<std::vector<DeviceProfile>> readProfiles(const CompileOptions &options) {
  std::vector<DeviceProfile> profiles;
  llvm::StringSet<> seen;
  for (const std::string &name : options.profiles) {
    GANTRY_ASSIGN_OR_RETURN(DeviceProfile profile, namedProfile(name));
    if (seen.insert(name).second)
      profiles.push_back(std::move(profile));
  }
  if (profiles.empty())
    return Status(StatusCode::kInvalidArgument, "no device profile to compile for");
  return profiles;
}

/// Makes the folders of one variant's dumps.
Result<Folders> makeFolders(const CompileOptions &options, const DeviceProfile &profile,
                            bool several) {
  Folders folders{options.dumpIr, options.dumpSpirv, options.dumpNative};
  for (std::string *folder : {&folders.ir, &folders.spirv, &folders.native}) {
    if (folder->empty())
      continue;
    if (several)
      *folder += "/" + profile.name.substr(profile.name.find(':') + 1);
    if (std::error_code error = llvm::sys::fs::create_directories(*folder))
      return Status(StatusCode::kIo,
                    "cannot create the folder '" + *folder + "': " + error.message());
  }
  return folders;
}

/// One model on its way to an artifact. Every function reports its failure.
class Compilation {
public:
  Compilation(MLIRContext &context, const std::string &model, const CompileOptions &options)
      : context_(context), model_(model), options_(options), diagnostics_(context, options) {}

  CompileResult import() {
    progress("import", 0, 1);
    importer::ImportKind failure = importer::ImportKind::badInput;
    imported_ = importer::importModel(
        context_, model_, {options_.keepAllOutputs, options_.dims, options_.fileRead}, failure);
    if (!imported_)
      return fail(failure == importer::ImportKind::unsupported ? CompileResult::unsupported
                                                               : CompileResult::badInput,
                  model_ + ": cannot be imported");
    return check(donateInputs(*imported_, options_.donatedInputs));
  }

  /// Compiles the imported model for one profile; the last one may take it without a copy.
  CompileResult addVariant(const DeviceProfile &profile, const Folders &folders, bool last) {
    modules_.push_back(last ? std::move(imported_) : OwningOpRef<ModuleOp>(imported_->clone()));
    ModuleOp module = *modules_.back();
    progress("passes", 0, 1);
    PassManager manager(&context_);
    manager.enableVerifier(true);
    manager.addInstrumentation(std::make_unique<PlaceKeeper>());
    Status dumped;
    if (!folders.ir.empty())
      manager.addInstrumentation(
          std::make_unique<IrDumper>(folders.ir, options_.dumpIrPass, dumped));
    if (!options_.reproducer.empty())
      manager.enableCrashReproducerGeneration(options_.reproducer);
    buildPipeline(manager, options_, folders, profile);
    if (runShared([&] { return failed(manager.run(module)); }))
      return failedPass(module);
    if (!dumped.isOk())
      return check(dumped);
    return emit(module, profile, folders);
  }

  CompileResult write(const std::string &output) {
    progress("write", 0, 1);
    const std::unique_ptr<Emission> whole = mergeVariants(std::move(emissions_));
    if (CompileResult result = check(artifact::write(output, whole->program, whole->constants));
        result != CompileResult::ok)
      return result;
    progress("write", 1, 1);
    return CompileResult::ok;
  }

private:
  CompileResult emit(ModuleOp module, const DeviceProfile &profile, const Folders &folders) {
    EmitOptions emit;
    emit.name = llvm::sys::path::stem(model_).str();
    emit.source = llvm::sys::path::filename(model_).str();
    emit.profile = profile.name;
    emit.options = commandOptions(options_);
    emit.dumpSpirv = folders.spirv;
    emit.planForBounds = !options_.dims.empty();
    const std::string stage =
        options_.profiles.size() > 1 ? "kernels for " + profile.name : "kernels";
    emit.kernelDone = [&](size_t done, size_t total) { progress(stage.c_str(), done, total); };
    auto emission = emitProgram(module, emit);
    if (!emission.isOk())
      return fail(resultOf(emission.status()), emission.status().message(),
                  CompileResult::internal);
    emissions_.push_back(emission.take());
    return CompileResult::ok;
  }

  /// A pass that has something to keep to says so: fit-budget, form-dispatches.
  CompileResult failedPass(ModuleOp module) {
    CompileResult result = CompileResult::internal;
    module->walk([&](func::FuncOp function) {
      if (function->hasAttr("gantry.refused"))
        result = CompileResult::badInput;
      if (function->hasAttr("gantry.unsupported"))
        result = CompileResult::unsupported;
    });
    return fail(result, model_ + ": a pass failed");
  }

  /// The message is for failures of which no diagnostic told; said: the result where one did.
  CompileResult fail(CompileResult result, const std::string &message,
                     std::optional<CompileResult> said = std::nullopt) {
    return diagnostics_.sawError() ? said.value_or(result) : report(options_, result, message);
  }
  CompileResult check(const Status &status) {
    return status.isOk() ? CompileResult::ok : report(options_, resultOf(status), status.message());
  }
  void progress(const char *stage, size_t done, size_t total) {
    if (options_.progress)
      options_.progress(stage, done, total);
  }

  MLIRContext &context_;
  const std::string &model_;
  const CompileOptions &options_;
  DiagnosticForwarder diagnostics_;
  OwningOpRef<ModuleOp> imported_;
  std::vector<OwningOpRef<ModuleOp>> modules_; // one per variant; emissions use their constants
  std::vector<std::unique_ptr<Emission>> emissions_;
};

/// An exception that passes through MLIR's frames leaves its objects half changed, because MLIR is
/// built without exceptions. They are leaked then instead of destroyed.
class KeepOnException {
public:
  KeepOnException(std::unique_ptr<MLIRContext> &context, std::unique_ptr<Compilation> &compilation)
      : context_(context), compilation_(compilation) {}
  ~KeepOnException() {
    if (std::uncaught_exceptions() == exceptions_)
      return;
    (void)compilation_.release();
    (void)context_.release();
  }
  KeepOnException(const KeepOnException &) = delete;
  KeepOnException &operator=(const KeepOnException &) = delete;

private:
  const int exceptions_ = std::uncaught_exceptions();
  std::unique_ptr<MLIRContext> &context_;
  std::unique_ptr<Compilation> &compilation_;
};

} // namespace

CompileResult compileModel(const std::string &model, const std::string &output,
                           const CompileOptions &options) {
  auto refuse = [&](const Status &status) {
    return report(options, resultOf(status), status.message());
  };
  if (const Status memory = checkHostHasMemory(model); !memory.isOk())
    return refuse(memory);
  auto profiles = readProfiles(options);
  if (!profiles.isOk())
    return refuse(profiles.status());
  if (!options.tuning.empty()) // before the model is read: apply-tuning reads it again
    for (const DeviceProfile &profile : *profiles)
      if (const auto table = TuningTable::read(options.tuning, profile.name); !table.isOk())
        return refuse(table.status());
  for (const std::string &chip : options.nativeChips)
    if (const auto target = parseNativeTarget(chip); !target.isOk())
      return report(options, CompileResult::badInput, target.status().message());
  std::vector<Folders> folders;
  for (const DeviceProfile &profile : *profiles) {
    auto made = makeFolders(options, profile, profiles->size() > 1);
    if (!made.isOk())
      return refuse(made.status());
    folders.push_back(made.take());
  }

  DialectRegistry registry;
  importer::registerImportDialects(registry);
  registry.insert<GantryDialect, memref::MemRefDialect, scf::SCFDialect, spirv::SPIRVDialect,
                  vector::VectorDialect>();
  // One thread imports, so that no other thread depends on it when memory is missing there; the
  // passes and the emission share the work.
  CompilerThreads threads;
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  std::unique_ptr<Compilation> compilation;
  const KeepOnException keep(context, compilation);
  context->loadAllAvailableDialects();
  compilation = std::make_unique<Compilation>(*context, model, options);
  CompileResult result = compilation->import();
  if (threads.count() > 0)
    context->setThreadPool(threads);
  for (size_t i = 0; result == CompileResult::ok && i < profiles->size(); ++i)
    result = compilation->addVariant((*profiles)[i], folders[i], i + 1 == profiles->size());
  return result == CompileResult::ok ? compilation->write(output) : result;
}

} // namespace gantry::codegen
