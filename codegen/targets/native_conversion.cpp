// Implements convertToLlvmDialect() of native.h, which converts kernels on buffers to the LLVM
// dialect with NVVM's or ROCDL's operations.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/targets/accurate_math.h"
#include "codegen/targets/native.h"
#include "codegen/targets/spirv_remainder.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

// The numbers of the address spaces of global and of shared memory, in both back ends.
constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kSharedSpace = 3;
constexpr uint64_t kSharedAlignment = 16;
constexpr uint32_t kWarpMask = 0x1f;
constexpr uint32_t kLaneBytes = 4;

unsigned spaceOf(MemRefType type) {
  const auto storage = dyn_cast_or_null<spirv::StorageClassAttr>(type.getMemorySpace());
  return storage && storage.getValue() == spirv::StorageClass::Workgroup ? kSharedSpace
                                                                         : kGlobalSpace;
}

// ---- Functions ---------------------------------------------------------------------------------

/// Returns the id that the argument with this role receives. If the lanes of a subgroup share a
/// tile, the workgroup is one subgroup, so the invocation's id serves as the lane's id. The
/// subgroup's id does not occur, because only texel kernels and kernels with cooperative matrices
/// use it, and these are not converted.
Value readId(OpBuilder &builder, Location loc, ArgumentRole role, const NativeTarget &target) {
  const bool nvptx = target.backend == NativeTarget::Backend::kNvptx;
  const Type word = builder.getI32Type();
  if (role == ArgumentRole::kWorkgroupX)
    return nvptx ? builder.create<NVVM::BlockIdXOp>(loc, word).getResult()
                 : builder.create<ROCDL::BlockIdXOp>(loc, word).getResult();
  if (role == ArgumentRole::kWorkgroupY)
    return nvptx ? builder.create<NVVM::BlockIdYOp>(loc, word).getResult()
                 : builder.create<ROCDL::BlockIdYOp>(loc, word).getResult();
  return nvptx ? builder.create<NVVM::ThreadIdXOp>(loc, word).getResult()
               : builder.create<ROCDL::ThreadIdXOp>(loc, word).getResult();
}

void markKernel(LLVM::LLVMFuncOp kernel, int32_t workgroupSize, const NativeTarget &target) {
  Builder builder(kernel);
  if (target.backend == NativeTarget::Backend::kNvptx) {
    kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    kernel->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    builder.getDenseI32ArrayAttr({workgroupSize, 1, 1}));
    return;
  }
  kernel->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  kernel->setAttr("rocdl.reqd_work_group_size",
                  builder.getDenseI32ArrayAttr({workgroupSize, 1, 1}));
}

/// Converts the signature of a kernel. All arguments for one buffer, such as its elements and its
/// vectors of four, become one pointer. The ids of the workgroup and the invocation are no longer
/// arguments and are read from special registers.
void convertFunction(func::FuncOp function, const NativeTarget &target) {
  OpBuilder builder(function);
  const Location loc = function.getLoc();
  Block &entry = function.getBody().front();
  const auto launch = attributeOf<LaunchAttr>(function);

  llvm::SmallVector<Type> types;
  llvm::SmallVector<Location> places;
  auto newArgument = [&](Type type) {
    types.push_back(type);
    places.push_back(loc);
    return types.size() - 1;
  };
  const auto pointer = LLVM::LLVMPointerType::get(function.getContext(), kGlobalSpace);
  for (int64_t i = 0; i < launch.getBuffers(); ++i)
    newArgument(pointer);
  for (int64_t i = 0; i < launch.getDims(); ++i)
    newArgument(builder.getI32Type());

  auto kernel = builder.create<LLVM::LLVMFuncOp>(
      loc, function.getName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(function.getContext()), types));
  markKernel(kernel, static_cast<int32_t>(launch.getWorkgroupSize()), target);
  Block *front = builder.createBlock(&kernel.getBody(), {}, types, places);
  for (auto [i, argument] : llvm::enumerate(entry.getArguments())) {
    Value value;
    auto binding = argumentAttribute<BindingAttr>(function, static_cast<unsigned>(i));
    if (binding.getRole() == ArgumentRole::kBuffer)
      value = front->getArgument(static_cast<unsigned>(binding.getIndex()));
    else if (binding.getRole() == ArgumentRole::kDim)
      value = front->getArgument(static_cast<unsigned>(launch.getBuffers() + binding.getIndex()));
    else
      value = readId(builder, loc, binding.getRole(), target);
    argument.replaceAllUsesWith(
        builder.create<UnrealizedConversionCastOp>(loc, argument.getType(), value).getResult(0));
  }
  entry.eraseArguments(0, entry.getNumArguments());
  front->getOperations().splice(front->end(), entry.getOperations());
  function.erase();
}

// ---- Operations --------------------------------------------------------------------------------

/// Returns the address that a memref.load or memref.store accesses.
template <typename Op>
Value addressOf(ConversionPatternRewriter &rewriter, Op access, typename Op::Adaptor adaptor) {
  const Value base = adaptor.getMemref();
  return rewriter.create<LLVM::GEPOp>(access.getLoc(), base.getType(),
                                      access.getMemRefType().getElementType(), base,
                                      adaptor.getIndices(), /*inbounds=*/true);
}

/// Returns the size of an element or vector in bytes, which is also its alignment.
unsigned alignmentOf(Type element) {
  const auto vector = dyn_cast<VectorType>(element);
  const unsigned bits =
      vector ? vector.getElementTypeBitWidth() * static_cast<unsigned>(vector.getNumElements())
             : element.getIntOrFloatBitWidth();
  return std::max(1u, bits / 8);
}

struct LoadLowering : ConvertOpToLLVMPattern<memref::LoadOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(memref::LoadOp load, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Type element = load.getMemRefType().getElementType();
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(load, element, addressOf(rewriter, load, adaptor),
                                              alignmentOf(element));
    return success();
  }
};

struct StoreLowering : ConvertOpToLLVMPattern<memref::StoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(memref::StoreOp store, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(store, adaptor.getValue(),
                                               addressOf(rewriter, store, adaptor),
                                               alignmentOf(store.getMemRefType().getElementType()));
    return success();
  }
};

/// Converts the allocation of the workgroup's shared memory to a variable of the module.
struct AllocLowering : ConvertOpToLLVMPattern<memref::AllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(memref::AllocOp alloc, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const MemRefType type = alloc.getType();
    auto kernel = alloc->getParentOfType<LLVM::LLVMFuncOp>();
    LLVM::GlobalOp pool;
    {
      const OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(kernel);
      pool = rewriter.create<LLVM::GlobalOp>(
          alloc.getLoc(), LLVM::LLVMArrayType::get(type.getElementType(), type.getNumElements()),
          /*isConstant=*/false, LLVM::Linkage::Internal, kernel.getName().str() + "_shared",
          Attribute(), kSharedAlignment, kSharedSpace);
    }
    rewriter.replaceOpWithNewOp<LLVM::AddressOfOp>(alloc, pool);
    return success();
  }
};

struct ConstantLowering : ConvertOpToLLVMPattern<spirv::ConstantOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(spirv::ConstantOp constant, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(constant, constant.getType(),
                                                  constant.getValue());
    return success();
  }
};

/// Converts the exchange of a 32-bit value between lanes.
template <typename Op> struct ShuffleLowering : ConvertOpToLLVMPattern<Op> {
  ShuffleLowering(const LLVMTypeConverter &converter, const NativeTarget &target)
      : ConvertOpToLLVMPattern<Op>(converter), target_(target) {}

  LogicalResult matchAndRewrite(Op shuffle, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Location loc = shuffle.getLoc();
    const Type type = shuffle.getType();
    const Type word = rewriter.getI32Type();
    const unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
    if (bits != 32)
      return rewriter.notifyMatchFailure(shuffle, "not a value of 32 bits");
    const auto kernel = shuffle->template getParentOfType<LLVM::LLVMFuncOp>();
    Value value = adaptor.getOperands()[0];
    if (type != word)
      value = rewriter.create<LLVM::BitcastOp>(loc, word, value);
    value = exchange(rewriter, loc, value, adaptor.getOperands()[1], kernel);
    if (type != word)
      value = rewriter.create<LLVM::BitcastOp>(loc, type, value);
    rewriter.replaceOp(shuffle, value);
    return success();
  }

private:
  static constexpr bool kIsXor = std::is_same_v<Op, spirv::GroupNonUniformShuffleXorOp>;

  Value exchange(ConversionPatternRewriter &rewriter, Location loc, Value value, Value lane,
                 LLVM::LLVMFuncOp kernel) const {
    const Type word = rewriter.getI32Type();
    const auto constant = [&](uint32_t number) -> Value {
      return rewriter.create<LLVM::ConstantOp>(
          loc, word, rewriter.getI32IntegerAttr(static_cast<int32_t>(number)));
    };
    if (target_.backend == NativeTarget::Backend::kNvptx) {
      const auto threads =
          kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getMaxntidAttrName())[0];
      const uint32_t members =
          threads >= 32 ? ~0u : (1u << threads) - 1; // Only existing lanes may take part.
      return rewriter.create<NVVM::ShflOp>(
          loc, word, constant(members), value, lane, constant(kWarpMask),
          kIsXor ? NVVM::ShflKind::bfly : NVVM::ShflKind::idx, UnitAttr());
    }
    if constexpr (kIsXor)
      lane =
          rewriter.create<LLVM::XOrOp>(loc, rewriter.create<ROCDL::ThreadIdXOp>(loc, word), lane);
    const Value place = rewriter.create<LLVM::MulOp>(loc, lane, constant(kLaneBytes));
    return rewriter.create<ROCDL::DsBpermuteOp>(loc, word, place, value);
  }
  const NativeTarget &target_;
};

/// Converts a dot product of the signed bytes of two words.
struct DotLowering : ConvertOpToLLVMPattern<spirv::SDotOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(spirv::SDotOp dot, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Location loc = dot.getLoc();
    const auto constant = [&](int32_t number) -> Value {
      return rewriter.create<LLVM::ConstantOp>(loc, rewriter.getI32Type(),
                                               rewriter.getI32IntegerAttr(number));
    };
    Value sum;
    for (int32_t byte = 0; byte < 4; ++byte) {
      const auto extended = [&](Value word) -> Value {
        word = rewriter.create<LLVM::ShlOp>(loc, word, constant(24 - 8 * byte));
        return rewriter.create<LLVM::AShrOp>(loc, word, constant(24));
      };
      const Value product = rewriter.create<LLVM::MulOp>(loc, extended(adaptor.getVector1()),
                                                         extended(adaptor.getVector2()));
      sum = sum ? rewriter.create<LLVM::AddOp>(loc, sum, product).getResult() : product;
    }
    rewriter.replaceOp(dot, sum);
    return success();
  }
};

struct BarrierLowering : ConvertOpToLLVMPattern<spirv::ControlBarrierOp> {
  BarrierLowering(const LLVMTypeConverter &converter, const NativeTarget &target)
      : ConvertOpToLLVMPattern(converter), target_(target) {}
  LogicalResult matchAndRewrite(spirv::ControlBarrierOp barrier, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (target_.backend == NativeTarget::Backend::kNvptx)
      rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(barrier);
    else
      rewriter.replaceOpWithNewOp<ROCDL::BarrierOp>(
          barrier); // ROCDL's barrier includes the memory fences.
    return success();
  }

private:
  const NativeTarget &target_;
};

/// Converts the types of block arguments, which hold the values that are carried by loops.
struct BlockArgumentLowering : ConvertOpToLLVMPattern<LLVM::LLVMFuncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(LLVM::LLVMFuncOp kernel, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.startOpModification(kernel);
    if (failed(rewriter.convertRegionTypes(&kernel.getBody(), *getTypeConverter()))) {
      rewriter.cancelOpModification(kernel);
      return failure();
    }
    rewriter.finalizeOpModification(kernel);
    return success();
  }
};

struct ReturnLowering : ConvertOpToLLVMPattern<func::ReturnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(func::ReturnOp end, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(end, ValueRange{});
    return success();
  }
};

/// Expands math functions to arithmetic, because neither back end comes with a math library.
LogicalResult expandMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  populateExpandExp2FPattern(patterns);
  populateExpandRsqrtPattern(patterns);
  populateExactRemainderPatterns(patterns);
  populateAccurateMathPatterns(patterns);
  // MLIR's approximations are used for the remaining functions, such as log2 and cbrt.
  populateMathPolynomialApproximationPatterns(patterns);
  return applyPatternsAndFoldGreedily(module, std::move(patterns));
}

/// Removes pairs of casts to a type and back. Emits an error for any other cast that is used.
LogicalResult reconcileCasts(ModuleOp module) {
  llvm::SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  for (UnrealizedConversionCastOp cast : casts)
    if (auto before = cast.getInputs().front().getDefiningOp<UnrealizedConversionCastOp>();
        before && before.getInputs().front().getType() == cast.getType(0))
      cast.getResult(0).replaceAllUsesWith(before.getInputs().front());
  for (UnrealizedConversionCastOp cast : llvm::reverse(casts)) {
    if (!cast.use_empty())
      return cast.emitError("this value cannot be converted to a type of LLVM");
    cast.erase();
  }
  return success();
}

} // namespace

LogicalResult convertToLlvmDialect(ModuleOp module, const NativeTarget &target) {
  MLIRContext *context = module.getContext();
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    const auto tile = attributeOf<TileAttr>(function);
    if (!tile)
      continue;
    if (tile.getKind() == TileKind::kTexel || tile.getKind() == TileKind::kMatrices)
      function.erase();
    else if (tile.getLanes() > target.subgroupSize)
      return function.emitError()
             << "the kernel needs subgroups of " << tile.getLanes() << " lanes, but " << target.chip
             << " has " << target.subgroupSize
             << "; compile with --profile for a device with the subgroups of this chip";
  }
  if (failed(expandMath(module)))
    return failure();

  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(32); // Indices have 32 bits, as in SPIR-V.
  LLVMTypeConverter converter(context, options);
  converter.addConversion(
      [](MemRefType type) { return LLVM::LLVMPointerType::get(type.getContext(), spaceOf(type)); });
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    convertFunction(function, target);

  RewritePatternSet control(context);
  populateSCFToControlFlowConversionPatterns(control);
  ConversionTarget flat(*context);
  flat.addIllegalDialect<scf::SCFDialect>();
  flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, flat, std::move(control))))
    return failure();

  RewritePatternSet patterns(context);
  patterns.add<BlockArgumentLowering, LoadLowering, StoreLowering, AllocLowering, ConstantLowering,
               DotLowering, ReturnLowering>(converter);
  patterns.add<ShuffleLowering<spirv::GroupNonUniformShuffleOp>,
               ShuffleLowering<spirv::GroupNonUniformShuffleXorOp>, BarrierLowering>(converter,
                                                                                     target);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget legal(*context);
  legal.addLegalDialect<NVVM::NVVMDialect, ROCDL::ROCDLDialect>();
  legal.addLegalOp<ModuleOp>();
  legal.addDynamicallyLegalOp<LLVM::LLVMFuncOp>(
      [&](LLVM::LLVMFuncOp kernel) { return converter.isLegal(&kernel.getBody()); });
  legal.addIllegalDialect<spirv::SPIRVDialect, memref::MemRefDialect, arith::ArithDialect,
                          math::MathDialect, vector::VectorDialect, func::FuncDialect>();
  if (failed(applyPartialConversion(module, legal, std::move(patterns))))
    return failure();
  return reconcileCasts(module);
}

} // namespace gantry::codegen
