// Loops of a kernel, and how many rounds they run.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_shapes.h"

#include <set>

namespace gantry::codegen {

class Loops {
public:
  Loops(IndexSpace &space, KernelSink &sink, KernelShapes &shapes)
      : space_(space), sink_(sink), shapes_(shapes) {}

  using Body = llvm::function_ref<void(const IndexExpr &counter, Values &carried)>;
  /// A loop of a reduction. `carried` goes through the body and holds the results after it.
  void forTrips(const IndexExpr &trips, Values &carried, Body body);
  /// A loop over the chunks of a row.
  void forChunks(int64_t chunks, Values &carried, Body body);
  /// A loop that copies to or from shared memory and carries nothing.
  void forCopies(int64_t rounds, llvm::function_ref<void(const IndexExpr &)> body);

  /// The rounds of all loops together. A loop of unknown extent counts as one round.
  double rounds() const { return rounds_; }
  /// The kernel's sizes (by their place among its dims) that loops of unknown extent depend on.
  const std::set<unsigned> &dims() const { return dims_; }

private:
  void noteDims(const IndexExpr &trips);

  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  double rounds_ = 0;
  double around_ = 1; // Rounds of the loops around, without those of unknown extent.
  std::set<unsigned> dims_;
};

} // namespace gantry::codegen
