// Implements the pass convert-kernels-to-spirv, which converts the functions of a kernel to the
// SPIR-V dialect (passes/Passes.td).
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/targets/accurate_math.h"
#include "codegen/targets/exact_arithmetic.h"
#include "codegen/targets/float_emitter.h"
#include "codegen/targets/spirv.h"
#include "codegen/targets/spirv_loops.h"
#include "codegen/targets/spirv_matrices.h"
#include "codegen/targets/spirv_remainder.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/FuncToSPIRV/FuncToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/MemRefToSPIRV/MemRefToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/VectorToSPIRV/VectorToSPIRV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_CONVERTKERNELSTOSPIRV
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

spirv::TargetEnvAttr spirvTargetEnv(MLIRContext *context) {
  // These lists have everything that a kernel may use. The pass spirv-update-vce later reduces them
  // to what the kernel uses.
  spirv::Capability capabilities[] = {
      spirv::Capability::Shader,
      spirv::Capability::Int8,
      spirv::Capability::Int16,
      spirv::Capability::Int64,
      spirv::Capability::Float16,
      spirv::Capability::Float64,
      spirv::Capability::StorageBuffer8BitAccess,
      spirv::Capability::StorageBuffer16BitAccess,
      spirv::Capability::PhysicalStorageBufferAddresses,
      spirv::Capability::SampledBuffer,
      spirv::Capability::GroupNonUniform,
      spirv::Capability::GroupNonUniformShuffle,
      spirv::Capability::VulkanMemoryModel,
      spirv::Capability::DotProduct,
      spirv::Capability::DotProductInput4x8BitPacked,
      spirv::Capability::CooperativeMatrixKHR,
  };
  spirv::Extension extensions[] = {
      spirv::Extension::SPV_KHR_storage_buffer_storage_class,
      spirv::Extension::SPV_KHR_8bit_storage,
      spirv::Extension::SPV_KHR_16bit_storage,
      spirv::Extension::SPV_KHR_physical_storage_buffer,
      spirv::Extension::SPV_KHR_vulkan_memory_model,
      spirv::Extension::SPV_KHR_cooperative_matrix,
      spirv::Extension::SPV_KHR_integer_dot_product,
  };
  auto triple = spirv::VerCapExtAttr::get(spirv::Version::V_1_6, capabilities, extensions, context);
  return spirv::TargetEnvAttr::get(
      triple, spirv::getDefaultResourceLimits(context), spirv::ClientAPI::Vulkan,
      spirv::Vendor::Unknown, spirv::DeviceType::Unknown, spirv::TargetEnvAttr::kUnknownDeviceID);
}

namespace {

/// Converts float arithmetic with kNoContraction (float_emitter.h). Keeps this attribute, which
/// MLIR's patterns drop.
template <typename From, typename To> struct KeptFloats : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;

  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Attribute kept = op->getAttr(kNoContraction);
    if (!kept)
      return failure();
    auto made = rewriter.create<To>(op.getLoc(), adaptor.getLhs(), adaptor.getRhs());
    made->setAttr(kNoContraction, kept);
    rewriter.replaceOp(op, made);
    return success();
  }
};

/// Returns whether the operation is part of a multiply-add inside a loop. Drivers are
/// allowed to fuse multiply-adds.
bool isMultiplyAdd(Operation *op) {
  auto isProduct = [](Value value) { return value.getDefiningOp<arith::MulFOp>() != nullptr; };
  if (!op->getParentOfType<scf::ForOp>())
    return false;
  if (isa<arith::AddFOp>(op))
    return llvm::any_of(op->getOperands(), isProduct);
  return isa<arith::MulFOp>(op) && llvm::all_of(op->getUsers(), llvm::IsaPred<arith::AddFOp>);
}

struct ConvertKernelsToSPIRVPass : impl::ConvertKernelsToSPIRVBase<ConvertKernelsToSPIRVPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isKernelModule(module))
      return;
    MLIRContext *context = &getContext();
    keepArithmetic(module);
    spirv::TargetEnvAttr env = spirvTargetEnv(context);
    module->setAttr(spirv::getTargetEnvAttrName(), env);

    RewritePatternSet expansions(context);
    arith::populateCeilFloorDivExpandOpsPatterns(expansions);
    populateExpandExp2FPattern(expansions);
    populateExactRemainderPatterns(expansions);
    populateAccurateMathPatterns(expansions);
    populateExactArithmeticPatterns(expansions);
    if (failed(applyPatternsAndFoldGreedily(module, std::move(expansions))))
      return signalPassFailure();

    auto target = SPIRVConversionTarget::get(env);
    SPIRVConversionOptions options;
    options.emulateLT32BitScalarTypes = false;
    SPIRVTypeConverter converter(env, options);
    ScfToSPIRVContext scfContext;
    RewritePatternSet patterns(context);
    arith::populateArithToSPIRVPatterns(converter, patterns);
    patterns
        .add<KeptFloats<arith::AddFOp, spirv::FAddOp>, KeptFloats<arith::SubFOp, spirv::FSubOp>,
             KeptFloats<arith::MulFOp, spirv::FMulOp>, KeptFloats<arith::DivFOp, spirv::FDivOp>>(
            converter, context, /*benefit=*/2);
    populateMathToSPIRVPatterns(converter, patterns);
    populateMemRefToSPIRVPatterns(converter, patterns);
    populateVectorToSPIRVPatterns(converter, patterns);
    populateMatrixPatterns(converter, patterns);
    populateLoopPatterns(converter, patterns);
    populateSCFToSPIRVPatterns(converter, scfContext, patterns);
    populateFuncToSPIRVPatterns(converter, patterns);
    populateBuiltinFuncToSPIRVPatterns(converter, patterns);
    target->addLegalOp<ModuleOp>();
    llvm::SmallVector<Operation *> functions;
    for (auto function : module.getOps<func::FuncOp>())
      functions.push_back(function);
    if (failed(applyFullConversion(functions, *target, std::move(patterns))))
      return signalPassFailure();
    keepRounding(module);
  }

  /// Sets kNoContraction on float arithmetic. Without it, drivers may simplify the arithmetic as if
  /// numbers were finite and -0 were 0. Multiply-adds inside of loops do not get it, so that a GPU
  /// may fuse them.
  static void keepArithmetic(ModuleOp module) {
    module.walk([&](Operation *op) {
      if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op) && !isMultiplyAdd(op))
        op->setAttr(kNoContraction, UnitAttr::get(op->getContext()));
    });
  }

  /// Sets kNoContraction on arithmetic whose result is rounded to an integer, also inside of loops.
  /// The exact result may lie halfway between two integers. A driver that computes x * a / b as
  /// x * (a / b) could then round to the other integer.
  static void keepRounding(ModuleOp module) {
    llvm::SmallVector<Value> rest;
    module.walk([&](spirv::GLRoundEvenOp op) { rest.push_back(op.getOperand()); });
    while (!rest.empty()) {
      Operation *op = rest.pop_back_val().getDefiningOp();
      if (!isa_and_nonnull<spirv::FMulOp, spirv::FDivOp, spirv::FAddOp, spirv::FSubOp>(op) ||
          op->hasAttr(kNoContraction))
        continue;
      op->setAttr(kNoContraction, UnitAttr::get(op->getContext()));
      rest.append(op->operand_begin(), op->operand_end());
    }
  }
};

} // namespace
} // namespace gantry::codegen
