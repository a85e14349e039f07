// Implements pipeline.h. buildPipeline() lists the passes. The class Compilation runs the import,
// then the passes and the emission (emit/emit.h) for each device profile.
#include "codegen/pipeline.h"

#include "codegen/compile_command.h"
#include "codegen/compiler_threads.h"
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/emit/merge_variants.h"
#include "codegen/import/import.h"
#include "codegen/passes/passes.h"
#include "codegen/reports.h"
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
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Assumed size of the last-level cache if the profile does not state it.
constexpr uint64_t kDefaultCacheBytes = uint64_t{4} << 20;

/// The time of a dispatch on the software device and on a GPU, divided by the time to copy one f32
/// element there (place-pads).
constexpr double kSoftwareDispatch = 7000, kGpuDispatch = 500000;

/// The folders of one variant's dumps. An empty path means that nothing of this kind is dumped.
struct Folders {
  std::string ir, spirv, native;
};

/// Adds the passes that change the importer's linalg operators, before dispatches are formed.
void addOperatorPasses(OpPassManager &program, const CompileOptions &options,
                       const DeviceProfile &profile) {
  const bool hasDotProducts = profile.features.integerDotProduct;
  program.addPass(createCSEPass());
  program.addPass(createOrderStates());
  program.addPass(createSumIntegers());
  if (hasDotProducts)
    program.addPass(createCenterZeroPoints());
  // split-reductions divides sums into partial sums until this number of invocations has work. The
  // partial sums take memory. With a memory budget the number is therefore 0: the pass then divides
  // only very long reductions.
  const int64_t invocations =
      options.memoryBudget == 0 ? int64_t{profile.computeUnits} * profile.invocationsPerUnit : 0;
  program.addPass(createSplitReductions(SplitReductionsOptions{invocations}));
  program.addPass(createPadSizes(PadSizesOptions{profile.preferTexelLoads}));
  program.addPass(
      createPackConstants(PackConstantsOptions{profile.preferTexelLoads, hasDotProducts}));
  program.addPass(createFoldReshapes());
  program.addPass(createDistributeElementwise());
}

/// Returns the largest number of buffers that a dispatch may bind, its result included: the
/// profile's limit, but at least 3 and at most 8.
unsigned maxBuffersOf(const DeviceProfile &profile) {
  return std::max(3u, std::min(8u, profile.maxStorageBuffersPerStage));
}

/// Adds the pass `strips`, which computes chains of operators one range of rows after another.
/// `storagePasses` is the textual pipeline of the storage passes; `strips` runs them on a clone of
/// the function to measure how much memory a proposal takes.
void addStrips(OpPassManager &program, const CompileOptions &options, const DeviceProfile &profile,
               const std::string &storagePasses) {
  StripsOptions strips;
  strips.passes = storagePasses;
  strips.budgetBytes = options.memoryBudget;
  strips.keepOrder = options.keepOrder;
  strips.maxBuffers = maxBuffersOf(profile);
  program.addPass(createStrips(strips));
}

/// Adds the storage passes, which decide which tensors are stored, and how.
void addStoragePasses(OpPassManager &program, const CompileOptions &options,
                      const DeviceProfile &profile) {
  // An attention (codegen/tiling/attention.h) becomes one kernel only if its scores, the results of
  // its first matmul, have at least `scoreBytes` bytes. For a profile that prefers texel loads the
  // limit is 0, because the lanes of a subgroup can compute a tile of a kernel with texel loads
  // together. On other devices a fused attention is slower than separate kernels, unless the scores
  // are too large for the cache.
  const uint64_t scoreBytes = profile.preferTexelLoads ? 0
                              : profile.lastCacheBytes ? profile.lastCacheBytes
                                                       : kDefaultCacheBytes;
  const bool hasDotProducts = profile.features.integerDotProduct;
  program.addPass(createPlacePads(
      PlacePadsOptions{profile.preferTexelLoads ? kSoftwareDispatch : kGpuDispatch}));
  program.addPass(
      createPlaceConcats(PlaceConcatsOptions{profile.preferTexelLoads || hasDotProducts}));
  program.addPass(createPlaceScatters());
  program.addPass(createFormDispatches(FormDispatchesOptions{maxBuffersOf(profile), scoreBytes}));
  if (options.halfPrecision)
    program.addPass(createNarrowFloats());
  if (profile.preferTexelLoads || hasDotProducts)
    program.addPass(createChooseLayouts(ChooseLayoutsOptions{!profile.preferTexelLoads}));
}

/// Adds the passes on the whole program, which turn the importer's output into dispatches in their
/// final order.
void addProgramPasses(OpPassManager &program, const CompileOptions &options,
                      const DeviceProfile &profile) {
  addOperatorPasses(program, options, profile);
  if (options.strips) {
    OpPassManager storage(func::FuncOp::getOperationName());
    addStoragePasses(storage, options, profile);
    std::string text;
    llvm::raw_string_ostream stream(text);
    storage.printAsTextualPipeline(stream);
    addStrips(program, options, profile, text);
  }
  addStoragePasses(program, options, profile);
  if (!options.keepOrder)
    program.addPass(
        createOrderDispatches(OrderDispatchesOptions{.wholeStorages = options.memoryBudget > 0}));
  program.addPass(createFitBudget(FitBudgetOptions{options.memoryBudget}));
  // Buffers are bound at multiples of the alignment that assign-storage gets. It is at least 16
  // bytes, because kernels load vectors of 16 bytes from device addresses.
  const uint64_t texels = profile.maxTexelBufferElements > 0 ? profile.texelBufferAlignment : 16;
  program.addPass(createAssignStorage(
      AssignStorageOptions{std::max({uint64_t{16}, profile.storageBufferAlignment, texels})}));
}

/// Adds the passes that turn the dispatches' regions into kernels, which are functions on buffers.
void addKernelPasses(OpPassManager &module, const CompileOptions &options,
                     const DeviceProfile &profile) {
  module.addPass(createOutlineKernels());
  module.addPass(createCollapseDims());
  module.addPass(
      createApplyTuning(ApplyTuningOptions{profile.name, options.tuning, options.builtInTuning}));
  module.nest<ModuleOp>().addPass(createEmitKernels(
      EmitKernelsOptions{profile.name, options.sharedMemory, options.tileCandidate}));
  // share-kernels compares kernels that may differ in constants. It runs before CSE, because CSE
  // merges expressions whose constants are equal by chance in one kernel and not in another.
  if (options.shareKernels)
    module.addPass(createShareKernels());
}

/// Adds the passes on the module of one kernel, which lower functions on buffers to SPIR-V modules.
void addTargetPasses(OpPassManager &kernel, const CompileOptions &options, const Folders &folders) {
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  kernel.addPass(createCSEPass());
  if (!folders.native.empty())
    kernel.addPass(createEmitNative(EmitNativeOptions{folders.native, options.nativeChips}));
  kernel.addPass(createConvertKernelsToSPIRV());
  kernel.addPass(createBindBuffers());
  kernel.nest<spirv::ModuleOp>().addPass(spirv::createSPIRVUpdateVCEPass());
}

/// Adds all passes, which lower the importer's output to dispatches and SPIR-V modules.
void buildPipeline(PassManager &manager, const CompileOptions &options, const Folders &folders,
                   const DeviceProfile &profile) {
  addProgramPasses(manager.nest<func::FuncOp>(), options, profile);
  addKernelPasses(manager, options, profile);
  addTargetPasses(manager.nest<ModuleOp>(), options, folders);
}

/// Marks the inputs `names` as donated: a run may reuse their memory. The error for an unknown name
/// lists the model's inputs.
Status donateInputs(ModuleOp module, const std::vector<std::string> &names) {
  if (names.empty())
    return {};
  auto function = *module.getOps<func::FuncOp>().begin();
  llvm::StringMap<unsigned> inputs;
  std::string known;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const StringRef name = argumentAttribute<PortAttr>(function, i).getName().getValue();
    inputs[name] = i;
    known += (known.empty() ? "'" : ", '") + name.str() + "'";
  }
  for (const std::string &name : names) {
    const auto found = inputs.find(name);
    if (found == inputs.end())
      return Status(StatusCode::kInvalidArgument, "no input is called '" + name +
                                                      "', so it cannot be donated; the model has " +
                                                      (known.empty() ? "no inputs" : known));
    const auto port = argumentAttribute<PortAttr>(function, found->second);
    function.setArgAttr(found->second, PortAttr::name,
                        PortAttr::get(module.getContext(), port.getName(), port.getDims(),
                                      port.getIsUnsigned(), /*donated=*/true));
  }
  return {};
}

/// Returns the index of each argument of a function, or of each result if `inputs` is false, by the
/// name of its port. Sets `known` to the list of all names.
llvm::StringMap<unsigned> portsOf(func::FuncOp function, bool inputs, std::string &known) {
  llvm::StringMap<unsigned> ports;
  const unsigned count = inputs ? function.getNumArguments() : function.getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    const PortAttr port =
        inputs ? argumentAttribute<PortAttr>(function, i) : resultAttribute<PortAttr>(function, i);
    ports[port.getName().getValue()] = i;
    known += (known.empty() ? "'" : ", '") + port.getName().str() + "'";
  }
  if (known.empty())
    known = "none";
  return ports;
}

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Adds a pair to `expanded` for each name of an input that matches `pair.input`, a pattern with
/// one star. In the output's name, the star of `pair.output` is replaced by the text that the star
/// of `pair.input` matched.
Status expandPattern(const StatePair &pair, const llvm::StringMap<unsigned> &inputs,
                     const std::string &inputNames, std::vector<StatePair> &expanded) {
  const auto refuse = [&](const std::string &why) {
    return Status(StatusCode::kInvalidArgument, "state '" + pair.input + "': " + why);
  };
  if (llvm::StringRef(pair.input).count('*') > 1 || llvm::StringRef(pair.output).count('*') > 1)
    return refuse("more than one star");
  if (!pair.output.empty() && pair.output.find('*') == std::string::npos)
    return refuse("the output '" + pair.output + "' needs a star, too");
  const auto [outputBefore, outputAfter] = llvm::StringRef(pair.output).split('*');
  const size_t known = expanded.size();
  for (const auto &input : inputs)
    if (const auto text = importer::textOfStar(pair.input, input.getKey()))
      expanded.push_back({input.getKey().str(),
                          pair.output.empty() ? "" : (outputBefore + *text + outputAfter).str()});
  if (expanded.size() == known)
    return refuse("no input matches '" + pair.input + "'; the model's inputs are " + inputNames);
  return {};
}

/// Sets `gantry.state` on the arguments that `states` names. The error for an unknown name lists
/// the model's inputs or outputs.
Status declareStates(ModuleOp module, const std::vector<StatePair> &states) {
  auto function = *module.getOps<func::FuncOp>().begin();
  std::string inputNames, outputNames;
  const llvm::StringMap<unsigned> inputs = portsOf(function, true, inputNames);
  const llvm::StringMap<unsigned> outputs = portsOf(function, false, outputNames);
  std::vector<StatePair> expanded;
  for (const StatePair &pair : states)
    if (pair.input.find('*') == std::string::npos)
      expanded.push_back(pair);
    else
      GANTRY_RETURN_IF_ERROR(expandPattern(pair, inputs, inputNames, expanded));
  for (const StatePair &pair : expanded) {
    const std::string place = "state '" + pair.input + "': ";
    const auto refuse = [&](const std::string &why) {
      return Status(StatusCode::kInvalidArgument, place + why);
    };
    const auto input = inputs.find(pair.input);
    if (input == inputs.end())
      return refuse("the model has no such input or initializer; its inputs are " + inputNames);
    const unsigned argument = input->second;
    const auto known = argumentAttribute<StateAttr>(function, argument);
    if (known && known.getResult() >= 0)
      return refuse("it has an output already");
    int64_t result = -1;
    if (!pair.output.empty()) {
      const auto output = outputs.find(pair.output);
      if (output == outputs.end())
        return refuse("the model has no output '" + pair.output + "'; its outputs are " +
                      outputNames);
      result = output->second;
      const Type before = function.getArgumentTypes()[argument];
      const Type after = function.getResultTypes()[result];
      if (cast<ShapedType>(before).getElementType() != cast<ShapedType>(after).getElementType() ||
          argumentAttribute<PortAttr>(function, argument).getIsUnsigned() !=
              resultAttribute<PortAttr>(function, result).getIsUnsigned() ||
          failed(verifyCompatibleShape(before, after)))
        return refuse("the input is " + typeText(before) + ", but the output '" + pair.output +
                      "' is " + typeText(after));
    }
    function.setArgAttr(argument, StateAttr::name,
                        StateAttr::get(module.getContext(), result,
                                       known ? known.getInitial() : ElementsAttr(),
                                       known ? known.getOrder() : llvm::ArrayRef<int64_t>()));
  }
  return {};
}

/// Fails if an output belongs to two states, or if an input is a state and donated.
Status checkStates(ModuleOp module) {
  auto function = *module.getOps<func::FuncOp>().begin();
  std::map<int64_t, std::string> stateOfResult;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const auto state = argumentAttribute<StateAttr>(function, i);
    if (!state)
      continue;
    const auto port = argumentAttribute<PortAttr>(function, i);
    const std::string name = port.getName().str();
    if (port.getDonated())
      return Status(StatusCode::kInvalidArgument,
                    "input '" + name + "' is a state, so it cannot be donated too");
    if (state.getResult() < 0)
      continue;
    const auto [other, inserted] = stateOfResult.try_emplace(state.getResult(), name);
    if (!inserted)
      return Status(StatusCode::kInvalidArgument,
                    "the states '" + other->second + "' and '" + name + "' have the same output");
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
    return CompileResult::kIo;
  case StatusCode::kUnsupported:
    return CompileResult::kUnsupported;
  case StatusCode::kInvalidArgument:
  case StatusCode::kNotFound:
  case StatusCode::kVersionMismatch:
    return CompileResult::kBadInput;
  default:
    return CompileResult::kInternal;
  }
}

/// Fails if the host cannot allocate the memory that compiling a model takes at least. Without this
/// check, LLVM would end the process later, without a helpful message.
Status checkHostHasMemory(const std::string &model) {
  constexpr size_t kMinBytes = size_t{64} << 20;
  uint64_t modelBytes = 0;
  if (llvm::sys::fs::file_size(model, modelBytes))
    modelBytes = 0; // The importer reports what is wrong with the file.
  const size_t wanted = kMinBytes + 2 * modelBytes; // The file, and a copy of its constants.
  void *probe = ::operator new(wanted, std::nothrow);
  ::operator delete(probe);
  if (probe != nullptr)
    return {};
  return statusf(StatusCode::kOutOfMemory,
                 "the host has too little memory to compile %s, which takes at least %zu MiB",
                 model.c_str(), wanted >> 20);
}

/// Returns the profiles that the options name, without duplicates and in the same order.
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

/// Creates the folders of one variant's dumps. If there are several profiles, each has a subfolder.
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

/// The compilation of one model. The caller calls import(), then addVariant() for each profile,
/// then write(), and stops at the first failure. Each function reports its own failure.
class Compilation {
public:
  Compilation(MLIRContext &context, const std::string &model, const CompileOptions &options)
      : context_(context), model_(model), options_(options), diagnostics_(context, options) {}

  CompileResult import() {
    progress("import", 0, 1);
    importer::ImportFailure failure = importer::ImportFailure::kBadInput;
    importer::ImportOptions import{
        options_.keepAllOutputs,   options_.dims,    {}, options_.training,
        options_.memoryBudget > 0, options_.fileRead};
    for (const StatePair &pair : options_.states)
      import.states.push_back(pair.input);
    imported_ = importer::importModel(context_, model_, import, failure);
    if (!imported_)
      return fail(failure == importer::ImportFailure::kUnsupported ? CompileResult::kUnsupported
                                                                   : CompileResult::kBadInput,
                  model_ + ": cannot be imported");
    Status declared = donateInputs(*imported_, options_.donatedInputs);
    if (declared.isOk())
      declared = declareStates(*imported_, options_.states);
    return check(declared.isOk() ? checkStates(*imported_) : declared);
  }

  /// Compiles the imported model for one profile. The call with `last` set consumes the model;
  /// others copy it.
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
    if (failed(manager.run(module)))
      return failedPass(module);
    if (!dumped.isOk())
      return check(dumped);
    return emit(module, profile, folders);
  }

  CompileResult write(const std::string &output) {
    progress("write", 0, 1);
    const std::unique_ptr<Emission> whole = mergeVariants(std::move(emissions_));
    if (CompileResult result = check(artifact::write(output, whole->program, whole->constants));
        result != CompileResult::kOk)
      return result;
    progress("write", 1, 1);
    return CompileResult::kOk;
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
                  CompileResult::kInternal);
    emissions_.push_back(emission.take());
    return CompileResult::kOk;
  }

  /// Returns the result of a failed pass. A pass that fails because of the model or the options
  /// sets `gantry.failure` on the function; any other failure is internal.
  CompileResult failedPass(ModuleOp module) {
    CompileResult result = CompileResult::kInternal;
    module->walk([&](func::FuncOp function) {
      if (auto failure = attributeOf<FailureAttr>(function))
        result = failure.getCause() == FailureCause::kInput ? CompileResult::kBadInput
                                                            : CompileResult::kUnsupported;
    });
    return fail(result, model_ + ": a pass failed");
  }

  /// If no error has been reported yet, reports `message` and returns `result`. Otherwise reports
  /// nothing and returns `resultIfReported`, or `result` if `resultIfReported` is not given.
  CompileResult fail(CompileResult result, const std::string &message,
                     std::optional<CompileResult> resultIfReported = std::nullopt) {
    return diagnostics_.sawError() ? resultIfReported.value_or(result)
                                   : report(options_, result, message);
  }
  CompileResult check(const Status &status) {
    return status.isOk() ? CompileResult::kOk
                         : report(options_, resultOf(status), status.message());
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
  /// The module of each variant. The emissions refer to bytes of their constants.
  std::vector<OwningOpRef<ModuleOp>> modules_;
  std::vector<std::unique_ptr<Emission>> emissions_;
};

/// Leaks the context and the compilation if an exception leaves the scope. MLIR is built without
/// exceptions, so an exception that passes through its functions does not run their destructors
/// and may leave MLIR's objects half changed. Destroying such objects could crash.
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
  // The tuning table is read here only to report its errors before the model is read. apply-tuning
  // reads it again.
  if (!options.tuning.empty())
    for (const DeviceProfile &profile : *profiles)
      if (const auto table = TuningTable::read(options.tuning, profile.name); !table.isOk())
        return refuse(table.status());
  for (const std::string &chip : options.nativeChips)
    if (const auto target = parseNativeTarget(chip); !target.isOk())
      return report(options, CompileResult::kBadInput, target.status().message());
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
  static const bool kHasPasses = (registerGantryPasses(), true); // `strips` parses pass names.
  (void)kHasPasses;
  // The import runs on one thread, so that it can fail without ending the process when memory runs
  // out (compiler_threads.h). The passes and the emission use all threads.
  CompilerThreads threads;
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  std::unique_ptr<Compilation> compilation;
  const KeepOnException keep(context, compilation);
  context->loadAllAvailableDialects();
  compilation = std::make_unique<Compilation>(*context, model, options);
  CompileResult result = compilation->import();
  if (threads.count() > 0)
    context->setThreadPool(threads);
  for (size_t i = 0; result == CompileResult::kOk && i < profiles->size(); ++i)
    result = compilation->addVariant((*profiles)[i], folders[i], i + 1 == profiles->size());
  return result == CompileResult::kOk ? compilation->write(output) : result;
}

} // namespace gantry::codegen
