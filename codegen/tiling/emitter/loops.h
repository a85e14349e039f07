// Emits the loops of a kernel and counts their rounds. A round is one execution of a loop's body.
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
  /// Emits a loop of a reduction with `trips` rounds. The body receives the carried values and
  /// replaces them with those of the next round; afterwards `carried` holds the loop's results.
  /// steps: the number of steps of the reduction that one round executes (unrolled).
  void forTrips(const IndexExpr &trips, Values &carried, Body body, int64_t steps = 1);
  /// Emits a loop over the chunks of a row, the parts that the invocations hold at a time
  /// (row_kernel.h); `carried` as in forTrips. A loop over chunks must
  /// not be inside another loop, and its body must not emit loops: rounds() would count too few.
  void forChunks(int64_t chunks, Values &carried, Body body);
  /// Emits a loop that copies to or from shared memory and carries no values.
  void forCopies(int64_t rounds, llvm::function_ref<void(const IndexExpr &)> body);

  /// Returns the number of rounds of all loops of one invocation, where a loop whose extent is
  /// known only at run time counts as one round for each round of the loops around it. The
  /// attribute `gantry.loops` states this number times the product of the sizes at the positions
  /// dims(), as an upper limit.
  double rounds() const { return rounds_; }
  /// Returns the positions of the size arguments that the extents of dynamic loops depend on.
  const std::set<unsigned> &dims() const { return dims_; }

private:
  void noteDims(const IndexExpr &trips);

  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  double rounds_ = 0;
  /// The product of the rounds of the enclosing loops of static extent, without loops over chunks.
  double around_ = 1;
  std::set<unsigned> dims_;
};

} // namespace gantry::codegen
