// The order search: in which order to run operators so that the most bytes alive at one moment are
// few. No operator is added, dropped or run twice.
//
// An operator reads and writes values. A value takes its bytes from the operator that writes it to
// the last that reads it; values that no operator writes (a model's inputs, its constants) take
// none, and a value that is kept stays to the end. While an operator runs, what it reads and what
// it writes are alive together, except that its result may take the storage of one of its
// `mayTake` operands which nobody reads afterwards.
//
// Algorithm: the graph is cut at operators that are ordered against all others (the joints of a
// network), each part is solved exactly by a best-first search over the sets of operators done
// (Ahn et al. 2020, "Ordering Chaos", SERENITY, searches the same states), in which an operator
// that costs no bytes now is run at once; a part too wide for that gets a beam search, and then
// its peak's surroundings are solved exactly, again and again. The better of the result and the
// given order is returned, so the peak never rises. Work is bounded by counts and not by a clock:
// equal problems give equal orders.
//
// Threads: pure functions, any thread. Units: bytes.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <vector>

namespace gantry::plan {

struct OrderProblem {
  struct Value {
    uint64_t sizeBytes = 0;
    bool kept = false; // alive to the end once written
  };
  struct Operator {
    std::vector<uint32_t> reads;   // values; repeats are allowed
    std::vector<uint32_t> writes;  // values; a value is written by one operator at the most
    std::vector<uint32_t> mayTake; // of `reads`: whose storage the first written value may take
  };
  std::vector<Value> values;
  std::vector<Operator> operators; // in the given order, which must be executable
};

struct OrderOptions {
  /// Sets of operators that may be looked at, over all parts.
  uint64_t work = uint64_t{1} << 21;
  /// Operators next to each other without a dependency among them can run at once, between two
  /// barriers: a stage. The number of stages is the critical path of a device that runs commands
  /// in order; it is at most the given order's times (1 + this). Branches that stood side by side
  /// and now stand one after the other lengthen it, by their number at the most.
  double maxStageGrowth = 4.0;
};

struct Order {
  std::vector<uint32_t> operators; // positions in OrderProblem::operators
  uint64_t peakBytes = 0;
  uint64_t givenPeakBytes = 0; // of the given order
  uint32_t stages = 0, givenStages = 0;
  bool optimal = false; // no order has a lower peak
};

/// kInvalidArgument where an index is outside of the values, a value is written twice, or read
/// before it is written, or where sizes overflow 64 bits.
Status checkOrderProblem(const OrderProblem &problem);

/// Fails as checkOrderProblem does.
Result<Order> searchOrder(const OrderProblem &problem, const OrderOptions &options = {});

/// The most bytes alive at one moment when the operators run in this order (all of them, once).
uint64_t peakOfOrder(const OrderProblem &problem, const std::vector<uint32_t> &order);

} // namespace gantry::plan
