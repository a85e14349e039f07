// Implements spirv_matrices.h.
#include "codegen/targets/spirv_matrices.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/Transforms/DialectConversion.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Returns the stride as SPIR-V counts it, in elements of the pool, the workgroup's shared memory:
/// vectors of 16 bytes.
Value strideOf(OpBuilder &builder, Location loc, uint64_t vectors) {
  return builder.create<spirv::ConstantOp>(
      loc, builder.getI32Type(), builder.getI32IntegerAttr(static_cast<int32_t>(vectors)));
}

/// Returns a pointer to vector `at` of the pool.
template <typename Op>
Value pointerOf(const TypeConverter *converter, Op op, typename Op::Adaptor adaptor,
                OpBuilder &builder) {
  return spirv::getElementPtr(*static_cast<const SPIRVTypeConverter *>(converter),
                              cast<MemRefType>(op.getPool().getType()), adaptor.getPool(),
                              adaptor.getAt(), op.getLoc(), builder);
}

struct LoadPattern : OpConversionPattern<LoadMatrixOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LoadMatrixOp load, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const auto layout = load.getColumns() ? spirv::CooperativeMatrixLayoutKHR::ColumnMajor
                                          : spirv::CooperativeMatrixLayoutKHR::RowMajor;
    rewriter.replaceOpWithNewOp<spirv::KHRCooperativeMatrixLoadOp>(
        load, load.getMatrix().getType(), pointerOf(getTypeConverter(), load, adaptor, rewriter),
        layout, strideOf(rewriter, load.getLoc(), load.getStride()), spirv::MemoryAccessAttr());
    return success();
  }
};

struct StorePattern : OpConversionPattern<StoreMatrixOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StoreMatrixOp store, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<spirv::KHRCooperativeMatrixStoreOp>(
        store, pointerOf(getTypeConverter(), store, adaptor, rewriter), adaptor.getMatrix(),
        spirv::CooperativeMatrixLayoutKHR::RowMajor,
        strideOf(rewriter, store.getLoc(), store.getStride()), spirv::MemoryAccessAttr());
    return success();
  }
};

} // namespace

void populateMatrixPatterns(const SPIRVTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LoadPattern, StorePattern>(converter, patterns.getContext());
}

void useVulkanMemoryModel(spirv::ModuleOp module) {
  MLIRContext *context = module.getContext();
  const auto shared = spirv::MemoryAccessAttr::get(context, spirv::MemoryAccess::NonPrivatePointer);
  auto isShared = [](Value pointer) {
    return cast<spirv::PointerType>(pointer.getType()).getStorageClass() ==
           spirv::StorageClass::Workgroup;
  };
  module.walk([&](Operation *op) {
    if (auto load = dyn_cast<spirv::LoadOp>(op); load && isShared(load.getPtr()))
      load.setMemoryAccessAttr(shared);
    else if (auto store = dyn_cast<spirv::StoreOp>(op); store && isShared(store.getPtr()))
      store.setMemoryAccessAttr(shared);
    else if (auto matrix = dyn_cast<spirv::KHRCooperativeMatrixLoadOp>(op))
      matrix.setMemoryOperandAttr(shared);
    else if (auto sum = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op))
      sum.setMemoryOperandAttr(shared);
    else if (auto barrier = dyn_cast<spirv::ControlBarrierOp>(op))
      barrier.setMemorySemantics(barrier.getMemorySemantics() |
                                 spirv::MemorySemantics::MakeAvailable |
                                 spirv::MemorySemantics::MakeVisible);
  });
}

} // namespace gantry::codegen
