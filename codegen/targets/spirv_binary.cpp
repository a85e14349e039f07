// Implements serializeKernel() and disassemble() of spirv.h.
#include "codegen/targets/spirv.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "spirv-tools/libspirv.hpp"
#include "spirv-tools/optimizer.hpp"

namespace gantry::codegen {

using namespace mlir;

/// Returns the name of the device feature that a capability needs, or null if every device has it.
static const char *featureOf(spirv::Capability capability) {
  switch (capability) {
  case spirv::Capability::Int8:
    return "shaderInt8";
  case spirv::Capability::Int16:
    return "shaderInt16";
  case spirv::Capability::Int64:
    return "shaderInt64";
  case spirv::Capability::Float16:
    return "shaderFloat16";
  case spirv::Capability::Float64:
    return "shaderFloat64";
  case spirv::Capability::StorageBuffer8BitAccess:
    return "storageBuffer8BitAccess";
  case spirv::Capability::StorageBuffer16BitAccess:
    return "storageBuffer16BitAccess";
  case spirv::Capability::PhysicalStorageBufferAddresses:
    return "bufferDeviceAddress";
  case spirv::Capability::GroupNonUniformShuffle:
    return "subgroupShuffle";
  case spirv::Capability::DotProduct:
    return "integerDotProduct";
  default:
    return nullptr;
  }
}

/// Returns whether SPIR-V 1.5 includes the extension, so that a module need not declare it.
static bool isPartOfSpirv15(spirv::Extension extension) {
  switch (extension) {
  case spirv::Extension::SPV_KHR_storage_buffer_storage_class:
  case spirv::Extension::SPV_KHR_8bit_storage:
  case spirv::Extension::SPV_KHR_16bit_storage:
  case spirv::Extension::SPV_EXT_physical_storage_buffer:
  case spirv::Extension::SPV_KHR_physical_storage_buffer:
  case spirv::Extension::SPV_KHR_vulkan_memory_model:
    return true;
  default:
    return false;
  }
}

/// Sets the version, the capabilities and the extensions that the module declares.
static void declareRequirements(spirv::ModuleOp module) {
  // Every module has version 1.5, the version of Vulkan 1.2, because bind-buffers lists all
  // variables in the interface of the entry point, which is only valid from version 1.4 on.
  // Extensions that are part of 1.5 are not declared: MLIR would declare
  // SPV_EXT_physical_storage_buffer, whose device extension a Vulkan 1.2 device may lack.
  if (auto triple = module.getVceTriple()) {
    SmallVector<spirv::Extension> extensions = llvm::to_vector(triple->getExtensions());
    llvm::erase_if(extensions, isPartOfSpirv15);
    // MLIR collects the capabilities of operations, but not those of built-in variables.
    SmallVector<spirv::Capability> capabilities = llvm::to_vector(triple->getCapabilities());
    for (auto global : module.getOps<spirv::GlobalVariableOp>())
      if (auto builtin = global->getAttrOfType<StringAttr>("built_in");
          builtin && builtin.getValue().starts_with("Subgroup") &&
          !llvm::is_contained(capabilities, spirv::Capability::GroupNonUniform))
        capabilities.push_back(spirv::Capability::GroupNonUniform);
    module->setAttr("vce_triple", spirv::VerCapExtAttr::get(spirv::Version::V_1_5, capabilities,
                                                            extensions, module.getContext()));
  }
}

/// Returns whether SPIRV-Tools' simplification may make the module invalid. The simplification
/// folds a cast of a constant vector of f16 as if each element had 32 bits (version 2023.1,
/// BitCastScalarOrVector). The operand of a cast may become a constant during the optimisation, so
/// any cast of a vector of f16 counts.
static bool castsHalves(spirv::ModuleOp module) {
  const WalkResult result = module.walk([](spirv::BitcastOp cast) {
    const auto from = dyn_cast<VectorType>(cast.getOperand().getType());
    return from && from.getElementType().isF16() ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Optimises the words and validates the result. Returns the optimised words. simplify: whether to
/// simplify instructions, see castsHalves().
static Result<std::vector<uint32_t>> optimize(const std::vector<uint32_t> &words, bool simplify) {
  std::string messages;
  auto collect = [&](spv_message_level_t level, const char *, const spv_position_t &position,
                     const char *message) {
    if (level <= SPV_MSG_ERROR)
      messages += (messages.empty() ? "" : "; ") + std::string(message) + " (word " +
                  std::to_string(position.index) + ")";
  };
  constexpr spv_target_env kEnv = SPV_ENV_VULKAN_1_2;
  spvtools::SpirvTools tools(kEnv);
  tools.SetMessageConsumer(collect);
  spvtools::ValidatorOptions validator;
  validator.SetScalarBlockLayout(true);
  validator.SetFriendlyNames(false); // Naming all ids takes a third of the validation's time.
  const auto isValid = [&](const std::vector<uint32_t> &module) {
    return tools.Validate(module.data(), module.size(), validator);
  };

  spvtools::Optimizer optimizer(kEnv);
  optimizer.SetMessageConsumer(collect);
  optimizer.RegisterPass(spvtools::CreateEliminateDeadFunctionsPass())
      .RegisterPass(spvtools::CreateLocalMultiStoreElimPass())
      .RegisterPass(spvtools::CreateCCPPass());
  if (simplify)
    optimizer.RegisterPass(spvtools::CreateSimplificationPass());
  optimizer.RegisterPass(spvtools::CreateLocalRedundancyEliminationPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateCompactIdsPass());
  spvtools::OptimizerOptions run;
  run.set_run_validator(false); // This function runs the validator itself.
  std::vector<uint32_t> optimized;
#ifndef NDEBUG // Release builds trust the code generation, whose tests run in debug builds too.
  if (!isValid(words))
    return Status(StatusCode::kInternal, "generated SPIR-V is not valid: " + messages);
#endif
  if (!optimizer.Run(words.data(), words.size(), &optimized, run))
    return Status(StatusCode::kInternal, "SPIR-V could not be optimised: " + messages);
  if (!isValid(optimized))
    return Status(StatusCode::kInternal, "optimised SPIR-V is not valid: " + messages);
  return optimized;
}

Result<SpirvBinary> serializeKernel(spirv::ModuleOp module) {
  declareRequirements(module);
  llvm::SmallVector<uint32_t, 0> serialized;
  spirv::SerializationOptions options;
  options.emitSymbolName = true;
  options.emitDebugInfo = false;
  if (failed(spirv::serialize(module, serialized, options)))
    return Status(StatusCode::kInternal, "a kernel could not be serialised to SPIR-V");
  SpirvBinary binary;
  if (auto triple = module.getVceTriple())
    for (spirv::Capability capability : triple->getCapabilities())
      if (const char *feature = featureOf(capability))
        binary.features.push_back(feature);

  // SPIRV-Tools 2023 does not know the types and instructions of cooperative matrices.
  if (const StringAttr feature = attributeOf<LaunchAttr>(module).getMatrixFeature()) {
    binary.features.push_back(feature.str());
    binary.words.assign(serialized.begin(), serialized.end());
    binary.sharedBytes = sharedBytesOf(binary.words);
    return binary;
  }

  GANTRY_ASSIGN_OR_RETURN(
      binary.words,
      optimize(fetchTexels({serialized.begin(), serialized.end()}), !castsHalves(module)));
  binary.sharedBytes = sharedBytesOf(binary.words);
  return binary;
}

std::string disassemble(const std::vector<uint32_t> &words) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
  std::string text;
  if (!tools.Disassemble(words, &text,
                         SPV_BINARY_TO_TEXT_OPTION_INDENT |
                             SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES))
    text.clear();
  return text;
}

} // namespace gantry::codegen
