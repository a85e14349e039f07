// Guards: sets of conditions under which points lie inside their tensors. A point is one element of
// a tensor, given by its index along each dimension (sink/point.h).
//
// A guard is the number of a set of conditions of the form "expression >= 0". It holds if all of
// them hold. Guard 0 is the empty set and always holds. Some conditions may be ignored by a vector
// load, which loads the aligned group of four elements that contains a point. Two sets have the
// same number if they have the same conditions and vector loads may ignore the same ones, so points
// can be compared by their guards.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/sink/kernel_sink.h"

#include <set>

namespace gantry::codegen {

class Guards {
public:
  Guards(IndexSpace &space, KernelSink &sink) : space_(space), sink_(sink) {}

  /// Returns the guard that has the conditions of `guard` and `conditions`, except those that
  /// always hold. Sets `never` to true if one of `conditions` can never hold; otherwise does not
  /// change `never`.
  int32_t with(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, bool &never);
  /// Says when the vector that contains a point is known to exist in memory, whether or not the
  /// conditions that are passed to withPartial() hold.
  enum class Partial : uint8_t {
    kElement, // If another element of the vector is read whose guard lacks the conditions.
    kVector,  // If the guard's other conditions hold. ofOperand() then returns the guard as it is.
  };
  /// Like with(), for conditions that the load of an aligned vector may ignore. `partial` says when
  /// the vector exists in memory without them.
  int32_t withPartial(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, Partial partial,
                      bool &never);
  /// Returns the guard without the conditions that withPartial() has added.
  int32_t ofVector(int32_t guard) const { return ofVectors_[guard]; }
  /// Returns whether the vector of a point with this guard exists wherever ofVector(guard) holds,
  /// even if no other element of it is read.
  bool hasVector(int32_t guard) const {
    return guard == ofVector(guard) || withVector_.count(guard) > 0;
  }
  /// Returns the guard with the conditions that both guards have.
  int32_t common(int32_t a, int32_t b);
  /// Returns the guard that holds if both guards hold.
  int32_t both(int32_t a, int32_t b);
  /// Returns the guard of an operand that is read at `index` for a point with this guard: without
  /// the conditions on variables that do not occur in the index, because such an index is valid
  /// whether these conditions hold or not. An element that many points share thus has one guard.
  int32_t ofOperand(int32_t guard, llvm::ArrayRef<IndexExpr> index);
  /// Returns the conditions of a guard, in ascending order.
  const std::vector<IndexExpr> &conditionsOf(int32_t guard) const { return conditions_[guard]; }
  /// Emits the test of a guard other than 0 and returns its result, an i1.
  mlir::Value test(int32_t guard);
  /// Returns whether the guard has the same result in all invocations of a subgroup.
  bool isUniform(int32_t guard) const;

  /// Returns the index to use in the conditions that `index` is in [0, extent). If the extent is a
  /// multiple of four, an aligned group of four neighbours lies inside as a whole or not at all.
  /// The start of the group is then used for all four, so that they share one guard and one vector
  /// load.
  IndexExpr testedIndex(IndexExpr index, const IndexExpr &extent) const;

private:
  static constexpr int32_t kPlain = -1; // For numberOf(): a vector load ignores no condition.
  /// Returns the guard with these conditions, which must be sorted. vectors: the guard that
  /// ofVector() then returns for it, or kPlain if that is the guard itself.
  int32_t numberOf(const std::vector<IndexExpr> &conditions, int32_t vectors);
  std::vector<IndexExpr> joined(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, bool &never);

  IndexSpace &space_;
  KernelSink &sink_;
  std::vector<std::vector<IndexExpr>> conditions_{{}}; // By guard; sorted.
  std::vector<int32_t> ofVectors_{0};                  // By guard.
  // Guards by the arguments of numberOf(). The conditions alone do not determine the guard: a
  // vector load may ignore a condition at the end of a tensor, but not the same condition for a
  // pad.
  std::map<std::pair<std::vector<IndexExpr>, int32_t>, int32_t> ids_;
  std::set<int32_t> withVector_; // The guards with conditions of the kind kVector.
  // Guards whose tests the sink has counted, for the kernel's predicted cost.
  std::set<int32_t> counted_;
};

} // namespace gantry::codegen
