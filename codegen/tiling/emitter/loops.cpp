// Implements loops.h.
#include "codegen/tiling/emitter/loops.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

// The extent that the cost model assumes for a dynamic dimension of a reduction.
constexpr int64_t kTypicalExtent = 64;

} // namespace

void Loops::noteDims(const IndexExpr &trips) {
  for (unsigned dim = 0; dim < shapes_.dimCount(); ++dim)
    if (const IndexExpr extent = shapes_.dim(dim);
        !extent.isConstant() && space_.dependsOn(trips, extent.terms.front().first))
      dims_.insert(dim);
}

void Loops::forTrips(const IndexExpr &trips, Values &carried, Body body, int64_t steps) {
  const bool isKnown = trips.isConstant();
  const double repeats = isKnown ? static_cast<double>(trips.constant)
                                 : static_cast<double>(kTypicalExtent) / static_cast<double>(steps);
  const double outer = around_, outerWeight = space_.loopWeight();
  if (isKnown)
    around_ *= repeats;
  rounds_ += around_;
  if (!isKnown)
    noteDims(trips);
  space_.setLoopWeight(outerWeight * repeats);
  sink_.loop(trips, repeats, carried, [&](Value counter, Values &inside) {
    body(space_.addVariableBelow(counter, trips), inside);
  });
  space_.setLoopWeight(outerWeight);
  around_ = outer;
}

void Loops::forChunks(int64_t chunks, Values &carried, Body body) {
  rounds_ += static_cast<double>(chunks);
  sink_.loop(IndexExpr(chunks), static_cast<double>(chunks), carried,
             [&](Value counter, Values &inside) {
               body(space_.addVariable(counter, 0, chunks - 1), inside);
             });
}

void Loops::forCopies(int64_t rounds, llvm::function_ref<void(const IndexExpr &)> body) {
  rounds_ += around_ * static_cast<double>(rounds);
  Values none;
  sink_.loop(IndexExpr(rounds), static_cast<double>(rounds), none,
             [&](Value counter, Values &) { body(space_.addVariable(counter, 0, rounds - 1)); });
}

} // namespace gantry::codegen
