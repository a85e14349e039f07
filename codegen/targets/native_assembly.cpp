// Implements parseNativeTarget(), registerNativeDialects() and assembleNative() of native.h.
// assembleNative() translates the LLVM dialect to LLVM IR, optimises the IR, and writes assembly.
#include "codegen/targets/native.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <mutex>

namespace gantry::codegen {
namespace {

using Backend = NativeTarget::Backend;

/// The PTX version of CUDA 11.0, which every driver since 2020 accepts.
constexpr const char *kPtxVersion = "+ptx70";

const char *tripleOf(Backend backend) {
  return backend == Backend::kNvptx ? "nvptx64-nvidia-cuda" : "amdgcn-amd-amdhsa";
}

const llvm::Target *backendFor(Backend backend) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
  std::string error;
  return llvm::TargetRegistry::lookupTarget(tripleOf(backend), error);
}

/// Returns the number of lanes in a subgroup: 64 for AMD chips before gfx10, otherwise 32. For
/// gfx10 and later, which support both sizes, LLVM compiles for 32 by default.
uint32_t subgroupSizeOf(Backend backend, std::string_view chip) {
  const bool before10 = chip.size() == 6; // For example gfx906, gfx90a and gfx942.
  return backend == Backend::kAmdgpu && before10 ? 64 : 32;
}

/// Lists the chips that LLVM knows and whose names start with `beginning`: "sm_20, sm_21, ...".
std::string knownChips(const llvm::MCSubtargetInfo &info, llvm::StringRef beginning) {
  std::string list;
  for (const llvm::SubtargetSubTypeKV &chip : info.getAllProcessorDescriptions())
    if (llvm::StringRef(chip.Key).starts_with(beginning))
      list += (list.empty() ? "" : ", ") + std::string(chip.Key);
  return list;
}

} // namespace

Result<NativeTarget> parseNativeTarget(std::string_view chip) {
  NativeTarget target;
  target.chip = chip;
  const bool nvptx = chip.starts_with("sm_");
  if (!nvptx && !chip.starts_with("gfx"))
    return statusf(StatusCode::kInvalidArgument,
                   "'%s' is no native target; write sm_NN for an NVIDIA or gfxNNN for an AMD GPU",
                   target.chip.c_str());
  target.backend = nvptx ? Backend::kNvptx : Backend::kAmdgpu;
  target.subgroupSize = subgroupSizeOf(target.backend, chip);
  const llvm::Target *backend = backendFor(target.backend);
  if (backend == nullptr)
    return statusf(StatusCode::kUnsupported, "this LLVM was built without the back end for %s",
                   tripleOf(target.backend));
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      backend->createMCSubtargetInfo(tripleOf(target.backend), "", ""));
  if (!info->isCPUStringValid(target.chip))
    return statusf(StatusCode::kInvalidArgument, "LLVM %s knows no chip '%s'; it knows %s",
                   LLVM_VERSION_STRING, target.chip.c_str(),
                   knownChips(*info, nvptx ? "sm_" : "gfx").c_str());
  return target;
}

void registerNativeDialects(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
}

Result<std::string> assembleNative(mlir::ModuleOp module, const NativeTarget &target) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> translated = mlir::translateModuleToLLVMIR(module, context);
  if (!translated)
    return Status(StatusCode::kInternal, "the kernel cannot be translated to LLVM IR");
  const std::unique_ptr<llvm::TargetMachine> machine(
      backendFor(target.backend)
          ->createTargetMachine(tripleOf(target.backend), target.chip,
                                target.backend == Backend::kNvptx ? kPtxVersion : "", {},
                                llvm::Reloc::PIC_, {}, llvm::CodeGenOptLevel::Default));
  translated->setTargetTriple(tripleOf(target.backend));
  translated->setDataLayout(machine->createDataLayout());

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(machine.get());
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*translated, modules);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return statusf(StatusCode::kUnsupported, "LLVM writes no assembly for %s", target.chip.c_str());
  emission.run(*translated);
  return text.str().str();
}

} // namespace gantry::codegen
