// Implements guards.h.
#include "codegen/tiling/emitter/guards.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

namespace gantry::codegen {

using namespace mlir;

int32_t Guards::numberOf(const std::vector<IndexExpr> &conditions, int32_t vectors) {
  if (vectors >= 0 && conditions == conditions_[vectors])
    return vectors;
  auto [found, inserted] =
      ids_.try_emplace({conditions, vectors}, static_cast<int32_t>(conditions_.size()));
  if (inserted) {
    conditions_.push_back(conditions);
    ofVectors_.push_back(vectors >= 0 ? vectors : found->second);
  }
  return found->second;
}

/// Returns the conditions of `guard` and `conditions`, sorted, without those that always hold. Sets
/// `never` as with() does.
std::vector<IndexExpr> Guards::joined(int32_t guard, llvm::ArrayRef<IndexExpr> conditions,
                                      bool &never) {
  std::vector<IndexExpr> all = conditions_[guard];
  for (const IndexExpr &condition : conditions) {
    if (space_.isNeverNegative(condition))
      continue;
    if (space_.range(condition).high < 0)
      never = true;
    all.push_back(condition);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

int32_t Guards::with(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, bool &never) {
  const std::vector<IndexExpr> all = joined(guard, conditions, never);
  if (all.size() == conditions_[guard].size())
    return guard;
  const int32_t vectors = ofVector(guard);
  const int32_t result =
      numberOf(all, vectors == guard ? kPlain : with(vectors, conditions, never));
  if (withVector_.count(guard))
    withVector_.insert(result);
  return result;
}

int32_t Guards::withPartial(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, Partial partial,
                            bool &never) {
  const std::vector<IndexExpr> all = joined(guard, conditions, never);
  if (all.size() == conditions_[guard].size())
    return guard;
  const int32_t result = numberOf(all, ofVector(guard));
  if (partial == Partial::kVector || withVector_.count(guard))
    withVector_.insert(result);
  return result;
}

int32_t Guards::common(int32_t a, int32_t b) {
  std::vector<IndexExpr> both;
  std::set_intersection(conditions_[a].begin(), conditions_[a].end(), conditions_[b].begin(),
                        conditions_[b].end(), std::back_inserter(both));
  return both.empty() ? 0 : numberOf(both, kPlain);
}

int32_t Guards::both(int32_t a, int32_t b) {
  const std::vector<IndexExpr> added = conditions_[b];
  bool never = false;
  return with(a, added, never);
}

int32_t Guards::ofOperand(int32_t guard, llvm::ArrayRef<IndexExpr> index) {
  if (guard == 0 || withVector_.count(guard))
    return guard;
  const std::vector<IndexExpr> all = conditions_[guard];
  std::vector<IndexExpr> kept;
  for (const IndexExpr &condition : all)
    if (condition.isConstant() || llvm::any_of(index, [&](const IndexExpr &each) {
          return space_.shareVariables(condition, each);
        }))
      kept.push_back(condition);
  if (kept.size() == all.size())
    return guard;
  const int32_t vectors = ofVector(guard);
  return kept.empty() ? 0 : numberOf(kept, vectors == guard ? kPlain : ofOperand(vectors, index));
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
