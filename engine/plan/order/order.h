// The order search: finds an order of operators in which few bytes are alive at the same time. It
// adds no operator, drops none, and runs none twice.
//
// An operator reads and writes values. A value is alive from the operator that writes it until the
// last operator that reads it; a kept value is alive until the end. A value that no operator
// writes, such as an input or a constant of the model, counts no bytes. While an operator runs, its
// operands and its results are alive together, with one exception: the first result may take the
// storage of one of the operator's `mayTake` operands, if that operand is not kept, no later
// operator reads it, and both have the same size. The peak of an order is the largest number of
// bytes that are alive while one of its operators runs.
//
// Several values may lie in one storage, such as the parts of a concatenation. The storage is alive
// from the first operator that writes one of its values until all of them are written and the last
// operator that reads one of them has run; it is kept if one of its values is.
//
// Algorithm: an operator that every other operator must precede or follow divides the graph; the
// graph is cut into parts after such operators. Each part is solved exactly by a best-first search
// over the sets of operators that have run. Ahn et al. 2020, "Ordering Chaos" (SERENITY), search
// the same states; in addition, this search runs an operator at once when that raises neither the
// peak nor the live bytes. A part that has too many operators for the exact search, or too many
// sets, gets a beam search, and then exact searches of windows, which are ranges of the order
// around the operator with the most live bytes, until these find nothing better. A part keeps its
// given order unless a search lowers its peak, so the peak never rises. Work is limited by counts
// and not by a clock: equal problems give equal orders.
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
    bool kept = false; // Alive until the end once it is written.
    // Whether fitBudget() (budget.h) may take the value out of memory between two uses.
    bool mayLeave = true;
  };
  struct Operator {
    std::vector<uint32_t> reads;   // Values; repetitions are allowed.
    std::vector<uint32_t> writes;  // Values; at most one operator writes a value.
    std::vector<uint32_t> mayTake; // A subset of `reads`; the top of this file explains it.
  };
  /// A storage of several values. The sizes of these values do not count, only that of the storage.
  struct Storage {
    uint64_t sizeBytes = 0;
    std::vector<uint32_t> values; // Written by operators; each is in at most one storage.
  };
  std::vector<Value> values;
  std::vector<Operator> operators; // In the given order, which must be executable.
  std::vector<Storage> storages = {};
};

struct OrderOptions {
  /// Upper limit on the number of sets of operators that the exact searches examine, plus the
  /// number of candidates of the beam searches, over all parts. A beam search that has begun always
  /// ends with an order, so the limit may be exceeded slightly.
  uint64_t work = uint64_t{1} << 21;
  /// Consecutive operators without a dependency among them form a stage: they can run at the same
  /// time, between two barriers. A device needs at least as many steps, one after another, as the
  /// order has stages. The result has at most (1 + maxStageGrowth) times as many
  /// stages as the given order. An order that runs parallel branches one after the other can
  /// multiply the number of stages by the number of branches.
  double maxStageGrowth = 4.0;
};

struct Order {
  std::vector<uint32_t> operators; // Positions in OrderProblem::operators.
  uint64_t peakBytes = 0;
  uint64_t givenPeakBytes = 0; // The peak of the given order.
  uint32_t stages = 0;
  uint32_t givenStages = 0; // The stages of the given order.
  bool optimal = false;     // Proven: no order has a lower peak.
};

/// Returns kInvalidArgument where
///  - a value number is out of range, or the sizes overflow 64 bits;
///  - a value is written twice, or is read before it is written;
///  - `mayTake` names a value that the operator does not read;
///  - an operator without results has a `mayTake` that is not empty;
///  - a storage lists a value that no operator writes, or storages list a value twice;
///  - an operator's `mayTake` is not empty, and it or the first result names a value of a storage.
Status checkOrderProblem(const OrderProblem &problem);

/// Searches for an order with a low peak. Returns checkOrderProblem()'s error, if there is one.
Result<Order> searchOrder(const OrderProblem &problem, const OrderOptions &options = {});

} // namespace gantry::plan
