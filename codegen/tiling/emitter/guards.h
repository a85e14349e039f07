// Guards: the conditions under which points lie inside their tensors.
//
// A guard is a number that names a set of conditions, each "expression >= 0". Equal sets have equal
// numbers, so points can be compared by their guards. Guard 0 is the empty set and always holds.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/sink/kernel_sink.h"

#include <set>

namespace gantry::codegen {

class Guards {
public:
  Guards(IndexSpace &space, KernelSink &sink) : space_(space), sink_(sink) {}

  /// The guard with more conditions. Conditions that always hold are left out. Sets `never` if one
  /// of them cannot hold, and leaves it as it is otherwise.
  int32_t with(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, bool &never);
  /// Whether the guard holds, as an i1. guard: not 0.
  mlir::Value test(int32_t guard);
  /// Whether all lanes of a subgroup agree on the guard.
  bool isUniform(int32_t guard) const;

  /// The index to test instead of `index` against 0 and an extent. Neighbours within one aligned
  /// group of four lie inside together if the extent is a multiple of four, so testing the start of
  /// the group lets them share one test and one vector load.
  IndexExpr testedIndex(IndexExpr index, const IndexExpr &extent) const;

private:
  IndexSpace &space_;
  KernelSink &sink_;
  std::vector<std::vector<IndexExpr>> conditions_{{}}; // By guard; sorted.
  std::map<std::vector<IndexExpr>, int32_t> ids_{{{}, 0}};
  std::set<int32_t> counted_; // Guards whose tests have been counted.
};

} // namespace gantry::codegen
