#include "codegen/tiling/emitter/guards.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

namespace gantry::codegen {

using namespace mlir;

int32_t Guards::with(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, bool &never) {
  std::vector<IndexExpr> added;
  for (const IndexExpr &condition : conditions) {
    if (space_.isNeverNegative(condition))
      continue;
    if (space_.range(condition).high < 0)
      never = true;
    added.push_back(condition);
  }
  if (added.empty())
    return guard;
  std::vector<IndexExpr> all = conditions_[guard];
  all.insert(all.end(), added.begin(), added.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  auto [found, inserted] = ids_.try_emplace(all, static_cast<int32_t>(conditions_.size()));
  if (inserted)
    conditions_.push_back(all);
  return found->second;
}

int32_t Guards::withPartial(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, bool &never) {
  const int32_t result = with(guard, conditions, never);
  if (result != guard)
    ofVectors_[result] = ofVector(guard);
  return result;
}

int32_t Guards::ofVector(int32_t guard) const {
  const auto found = ofVectors_.find(guard);
  return found == ofVectors_.end() ? guard : found->second;
}

int32_t Guards::ofOperand(int32_t guard, llvm::ArrayRef<IndexExpr> index) {
  if (guard == 0 || ofVectors_.count(guard))
    return guard;
  const std::vector<IndexExpr> all = conditions_[guard];
  std::vector<IndexExpr> kept;
  for (const IndexExpr &condition : all)
    if (condition.isConstant() || llvm::any_of(index, [&](const IndexExpr &each) {
          return space_.shareVariables(condition, each);
        }))
      kept.push_back(condition);
  bool never = false;
  return kept.size() == all.size() ? guard : with(/*guard=*/0, kept, never);
}

Value Guards::test(int32_t guard) {
  // Later passes merge equal tests and hoist them out of the loops that they do not depend on, so
  // the sink counts a test once.
  if (counted_.insert(guard).second)
    for (const IndexExpr &condition : conditions_[guard])
      sink_.countHoisted(2 * space_.weight(condition));
  return sink_.build([&](OpBuilder &builder, Location loc) {
    Value result;
    Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
    for (const IndexExpr &condition : conditions_[guard]) {
      Value holds = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge,
                                                  sink_.index(condition), zero);
      result = result ? builder.create<arith::AndIOp>(loc, result, holds).getResult() : holds;
    }
    return result;
  });
}

bool Guards::isUniform(int32_t guard) const {
  return llvm::all_of(conditions_[guard],
                      [&](const IndexExpr &condition) { return space_.isUniform(condition); });
}

IndexExpr Guards::testedIndex(IndexExpr index, const IndexExpr &extent) const {
  if (space_.divisor(extent) % 4 == 0 && space_.baseDivisor(index) % 4 == 0 && !index.isConstant())
    index.constant &= ~int64_t(3);
  return index;
}

} // namespace gantry::codegen
