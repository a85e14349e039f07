// Implements building_sink.h.
#include "codegen/tiling/sink/building_sink.h"

#include "codegen/dialect/rounding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/IRMapping.h"

namespace gantry::codegen {

using namespace mlir;

// ---- operations ---------------------------------------------------------------------------------

/// If `narrow` was made by truncating a wide value in this kernel, returns the result of
/// `extension` computed directly from the wide value. Null if no such value has the result's type,
/// or if the model itself contains the truncation (rounding.h). For floats the result is the wide
/// value itself: 16-bit floats are only a storage format, so nothing is rounded between two
/// operations of one kernel unless the model does so. For integers it is a mask or two shifts of
/// the wide value, which avoids 8-bit arithmetic.
Value BuildingSink::widened(Operation &extension, Value narrow) {
  if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(extension) || !narrow)
    return {};
  Operation *truncation = narrow.getDefiningOp();
  if (!storedFloat(truncation) && !isa_and_nonnull<arith::TruncIOp>(truncation))
    return {};
  if (truncation->getOperand(0).getType() != extension.getResult(0).getType())
    return {};
  Value wide = truncation->getOperand(0);
  if (isa<arith::ExtFOp>(extension))
    return wide;
  const int64_t bits = wide.getType().getIntOrFloatBitWidth();
  const int64_t kept = narrow.getType().getIntOrFloatBitWidth();
  auto constant = [&](int64_t value) -> Value {
    return builder_.create<arith::ConstantIntOp>(loc_, value, static_cast<unsigned>(bits));
  };
  if (isa<arith::ExtUIOp>(extension))
    return builder_.create<arith::AndIOp>(loc_, wide, constant((int64_t(1) << kept) - 1));
  Value high = builder_.create<arith::ShLIOp>(loc_, wide, constant(bits - kept));
  return builder_.create<arith::ShRSIOp>(loc_, high, constant(bits - kept));
}

Values BuildingSink::clone(Operation &op, llvm::function_ref<Value(Value)> operandOf) {
  IRMapping mapping;
  std::vector<const void *> operands;
  for (Value operand : op.getOperands()) {
    Value value = operandOf(operand);
    if (!value) {
      fail(&op);
      return Values(op.getNumResults());
    }
    mapping.map(operand, value);
    operands.push_back(value.getAsOpaquePointer());
  }
  // The key contains the original operation instead of its name, attributes and types, because
  // all points clone the same operation.
  auto [found, inserted] = clones_.try_emplace({{&op, block()}, operands});
  if (!inserted)
    return found->second;
  Value wide;
  if (op.getNumOperands() == 1)
    wide = widened(op, mapping.lookup(op.getOperand(0)));
  if (wide)
    found->second.push_back(wide);
  else
    llvm::append_range(found->second, builder_.clone(op, mapping)->getResults());
  return found->second;
}

// ---- addresses ----------------------------------------------------------------------------------

Value BuildingSink::index(const IndexExpr &expr) {
  outermostUsed_ |= space_.dependsOn(expr, outermost_);
  return space_.materialize(expr, builder_, loc_);
}

/// Also records, for slices(), by how many elements of the buffer one step of the outermost tile
/// coordinate advances, and whether the access forbids slices.
Value BuildingSink::address(unsigned buffer, const IndexExpr &expr, int64_t elements) {
  const auto [rest, step] = space_.withoutVariable(expr, outermost_);
  const IndexRange bounds = space_.range(rest);
  outermostUsed_ |= space_.dependsOn(rest, outermost_) || step < 0 ||
                    (step > 0 && (bounds.low < 0 || bounds.high >= step));
  const auto [known, isNew] = advances_.try_emplace(buffer, step * elements);
  outermostUsed_ |= known->second != step * elements;
  return space_.materialize(expr, builder_, loc_);
}

std::optional<llvm::SmallVector<int64_t>> BuildingSink::slices() const {
  if (outermost_ < 0 || outermostUsed_)
    return std::nullopt;
  llvm::SmallVector<int64_t> steps(buffers_.size(), 0);
  for (const auto &[buffer, step] : advances_)
    steps[buffer] = step;
  return steps;
}

// ---- memory -------------------------------------------------------------------------------------

Value BuildingSink::loadElement(unsigned buffer, Value address) {
  return builder_.create<memref::LoadOp>(loc_, buffers_[buffer].scalar, address);
}

Value BuildingSink::loadVector(unsigned buffer, Value address) {
  return builder_.create<memref::LoadOp>(loc_, buffers_[buffer].vector, address);
}

void BuildingSink::storeElement(unsigned buffer, Value value, Value address) {
  builder_.create<memref::StoreOp>(loc_, value, buffers_[buffer].scalar, address);
}

void BuildingSink::storeVector(unsigned buffer, Value value, Value address, int64_t skipped) {
  const Buffer &views = buffers_[buffer];
  const Value view = skipped == 0 ? views.vector : views.skipping[skipped - 1];
  builder_.create<memref::StoreOp>(loc_, value, view, address);
}

// ---- lanes --------------------------------------------------------------------------------------

Value BuildingSink::shuffle(Value value, int64_t lane) {
  auto scope = spirv::ScopeAttr::get(builder_.getContext(), spirv::Scope::Subgroup);
  Value id = builder_.create<spirv::ConstantOp>(
      loc_, builder_.getI32Type(), builder_.getI32IntegerAttr(static_cast<int32_t>(lane)));
  Value shuffled =
      builder_.create<spirv::GroupNonUniformShuffleOp>(loc_, value.getType(), scope, value, id);
  shuffles_.push_back(shuffled.getDefiningOp());
  return shuffled;
}

Value BuildingSink::shuffleXor(Value value, int64_t mask) {
  auto scope = spirv::ScopeAttr::get(builder_.getContext(), spirv::Scope::Subgroup);
  Value bits = builder_.create<spirv::ConstantOp>(
      loc_, builder_.getI32Type(), builder_.getI32IntegerAttr(static_cast<int32_t>(mask)));
  return builder_.create<spirv::GroupNonUniformShuffleXorOp>(loc_, value.getType(), scope, value,
                                                             bits);
}

void BuildingSink::sinkShuffles() {
  for (Operation *shuffle : shuffles_) {
    Operation *first = nullptr;
    for (Operation *user : shuffle->getUsers())
      if (user->getBlock() == shuffle->getBlock() && (!first || user->isBeforeInBlock(first)))
        first = user;
    if (first)
      shuffle->moveBefore(first);
  }
  shuffles_.clear();
}

void BuildingSink::barrier(spirv::Scope scope) {
  builder_.create<spirv::ControlBarrierOp>(loc_, scope, scope,
                                           spirv::MemorySemantics::WorkgroupMemory |
                                               spirv::MemorySemantics::AcquireRelease);
}

// ---- control flow -------------------------------------------------------------------------------

void BuildingSink::loop(const IndexExpr &trips, double, Values &carried, LoopBody body) {
  Value zero = builder_.create<arith::ConstantIndexOp>(loc_, 0);
  Value one = builder_.create<arith::ConstantIndexOp>(loc_, 1);
  Value bound = index(trips);
  auto loop = builder_.create<scf::ForOp>(loc_, zero, bound, one, carried);
  OpBuilder::InsertionGuard restore(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Values inside(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  body(loop.getInductionVar(), inside);
  if (!carried.empty())
    builder_.create<scf::YieldOp>(loc_, inside);
  carried.assign(loop.getResults().begin(), loop.getResults().end());
}

void BuildingSink::ifTrue(Value condition, llvm::function_ref<void()> body) {
  auto guarded = builder_.create<scf::IfOp>(loc_, condition);
  OpBuilder::InsertionGuard restore(builder_);
  builder_.setInsertionPoint(guarded.thenBlock()->getTerminator());
  body();
}

void BuildingSink::ifGuard(GuardedBlocks &blocks, int32_t guard, llvm::function_ref<Value()> test,
                           llvm::function_ref<void()> body) {
  auto [found, inserted] = blocks.try_emplace(guard, nullptr);
  if (inserted)
    found->second = builder_.create<scf::IfOp>(loc_, test()).thenBlock();
  OpBuilder::InsertionGuard restore(builder_);
  builder_.setInsertionPoint(found->second->getTerminator());
  body();
}

} // namespace gantry::codegen
