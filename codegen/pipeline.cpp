// The whole compiler, top to bottom.
#include "codegen/pipeline.h"

#include "codegen/dialect/gantry_dialect.h"
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
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <mutex>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr uint64_t kUnknownCache = uint64_t{4} << 20; // bytes, of devices that do not say

/// From the importer's form to SPIR-V modules, one step a line.
void buildPipeline(PassManager &manager, const CompileOptions &options,
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
  manager.addPass(createApplyTuning(
      ApplyTuningOptions{options.profile, options.tuning, options.builtInTuning}));

  OpPassManager &kernel = manager.nest<ModuleOp>();
  kernel.addPass(createEmitKernels(
      EmitKernelsOptions{options.profile, options.sharedMemory, options.tileCandidate}));
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  kernel.addPass(createCSEPass());
  if (!options.dumpNative.empty())
    kernel.addPass(createEmitNative(EmitNativeOptions{options.dumpNative, options.nativeChips}));
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

} // namespace

CompileResult compileModel(const std::string &model, const std::string &output,
                           const CompileOptions &options) {
  auto progress = [&](const char *stage, size_t done, size_t total) {
    if (options.progress)
      options.progress(stage, done, total);
  };
  Result<DeviceProfile> profile = namedProfile(options.profile);
  if (!profile.isOk())
    return report(options, CompileResult::badInput, profile.status().message());
  if (!options.tuning.empty()) // before the model is read: apply-tuning reads it again
    if (const auto table = TuningTable::read(options.tuning, options.profile); !table.isOk())
      return report(options, resultOf(table.status()), table.status().message());
  for (const std::string &folder : {options.dumpIr, options.dumpSpirv, options.dumpNative})
    if (!folder.empty())
      if (std::error_code error = llvm::sys::fs::create_directories(folder))
        return report(options, CompileResult::io,
                      "cannot create the folder '" + folder + "': " + error.message());

  DialectRegistry registry;
  importer::registerImportDialects(registry);
  registry.insert<GantryDialect, memref::MemRefDialect, scf::SCFDialect, spirv::SPIRVDialect,
                  vector::VectorDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  DiagnosticForwarder diagnostics(context, options);

  for (const std::string &chip : options.nativeChips)
    if (const auto target = parseNativeTarget(chip); !target.isOk())
      return report(options, CompileResult::badInput, target.status().message());

  progress("import", 0, 1);
  importer::ImportKind failure = importer::ImportKind::badInput;
  OwningOpRef<ModuleOp> module =
      importer::importModel(context, model, {options.keepAllOutputs, options.dims}, failure);
  if (!module) {
    CompileResult result = failure == importer::ImportKind::unsupported ? CompileResult::unsupported
                                                                        : CompileResult::badInput;
    return diagnostics.sawError() ? result
                                  : report(options, result, model + ": cannot be imported");
  }

  if (Status donated = donateInputs(*module, options.donatedInputs); !donated.isOk())
    return report(options, resultOf(donated), donated.message());

  progress("passes", 0, 1);
  PassManager manager(&context);
  manager.enableVerifier(true);
  Status dumped;
  if (!options.dumpIr.empty())
    manager.addInstrumentation(
        std::make_unique<IrDumper>(options.dumpIr, options.dumpIrPass, dumped));
  if (!options.reproducer.empty())
    manager.enableCrashReproducerGeneration(options.reproducer);
  buildPipeline(manager, options, *profile);
  if (failed(manager.run(*module))) {
    // A pass that has something to keep to says so: fit-budget, form-dispatches.
    CompileResult result = CompileResult::internal;
    module->walk([&](func::FuncOp function) {
      if (function->hasAttr("gantry.refused"))
        result = CompileResult::badInput;
      if (function->hasAttr("gantry.unsupported"))
        result = CompileResult::unsupported;
    });
    return diagnostics.sawError() ? result : report(options, result, model + ": a pass failed");
  }
  if (!dumped.isOk())
    return report(options, resultOf(dumped), dumped.message());

  EmitOptions emit;
  emit.name = llvm::sys::path::stem(model).str();
  emit.source = llvm::sys::path::filename(model).str();
  emit.profile = options.profile;
  emit.dumpSpirv = options.dumpSpirv;
  emit.planForBounds = !options.dims.empty();
  emit.kernelDone = [&](size_t done, size_t total) { progress("kernels", done, total); };
  auto emission = emitProgram(*module, emit);
  if (!emission.isOk())
    return diagnostics.sawError()
               ? CompileResult::internal
               : report(options, resultOf(emission.status()), emission.status().message());

  progress("write", 0, 1);
  Status written = artifact::write(output, (*emission)->program, (*emission)->constants);
  if (!written.isOk())
    return report(options, resultOf(written), written.message());
  progress("write", 1, 1);
  return CompileResult::ok;
}

} // namespace gantry::codegen
