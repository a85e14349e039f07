// Implements spirv_loops.h.
#include "codegen/targets/spirv_loops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/Transforms/DialectConversion.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

struct LoopPattern : OpConversionPattern<scf::ForOp> {
  LoopPattern(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(scf::ForOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    llvm::SmallVector<Value> variables;
    for (Value initial : adaptor.getInitArgs()) {
      auto type = spirv::PointerType::get(initial.getType(), spirv::StorageClass::Function);
      variables.push_back(rewriter.create<spirv::VariableOp>(
          loc, type, spirv::StorageClass::Function, /*initializer=*/nullptr));
      rewriter.create<spirv::StoreOp>(loc, variables.back(), initial);
    }
    auto loop = rewriter.create<spirv::LoopOp>(loc, spirv::LoopControl::None);
    loop.addEntryAndMergeBlock(rewriter);
    Region &blocks = loop.getBody();
    Block *merge = loop.getMergeBlock();
    const Value lower = adaptor.getLowerBound();
    Block *header = rewriter.createBlock(merge, lower.getType(), loc);
    const Value index = header->getArgument(0);
    rewriter.setInsertionPointToEnd(&blocks.front());
    rewriter.create<spirv::BranchOp>(loc, header, lower);

    rewriter.setInsertionPointToEnd(header);
    TypeConverter::SignatureConversion arguments(op.getBody()->getNumArguments());
    arguments.remapInput(0, index);
    for (auto [i, variable] : llvm::enumerate(variables))
      arguments.remapInput(i + 1, rewriter.create<spirv::LoadOp>(loc, variable).getResult());
    const Value goesOn = rewriter.create<spirv::SLessThanOp>(loc, rewriter.getI1Type(), index,
                                                             adaptor.getUpperBound());

    Block *body = rewriter.applySignatureConversion(op.getBody(), arguments);
    rewriter.inlineRegionBefore(op.getRegion(), merge);
    rewriter.createBlock(merge); // The continue block.
    const Value step =
        rewriter.create<spirv::IAddOp>(loc, index.getType(), index, adaptor.getStep());
    rewriter.create<spirv::BranchOp>(loc, header, step);

    rewriter.setInsertionPointToEnd(header);
    rewriter.create<spirv::BranchConditionalOp>(loc, goesOn, body, ValueRange(), merge,
                                                ValueRange());
    rewriter.setInsertionPointAfter(loop);
    llvm::SmallVector<Value> results;
    for (Value variable : variables)
      results.push_back(rewriter.create<spirv::LoadOp>(loc, variable));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Converts the end of a loop's body. Writes the carried values to the variables that the loop's
/// header reads.
struct YieldPattern : OpConversionPattern<scf::YieldOp> {
  YieldPattern(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(scf::YieldOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto loop = dyn_cast<spirv::LoopOp>(op->getParentOp());
    if (!loop)
      return failure();
    auto reads = loop.getHeaderBlock()->getOps<spirv::LoadOp>();
    for (auto [read, value] : llvm::zip_equal(reads, adaptor.getOperands()))
      rewriter.create<spirv::StoreOp>(op.getLoc(), read.getPtr(), value);
    rewriter.replaceOpWithNewOp<spirv::BranchOp>(op, loop.getContinueBlock());
    return success();
  }
};

} // namespace

void populateLoopPatterns(const SPIRVTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LoopPattern, YieldPattern>(converter, patterns.getContext());
}

} // namespace gantry::codegen
