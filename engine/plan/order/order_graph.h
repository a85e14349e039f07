// The graph of a valid OrderProblem (operators that read and write values, order.h): the relations
// that the order search and the budget (budget.h) need, which are the writers and the readers of
// each value, and the dependencies between operators. Internal to engine/plan/order.
//
// The values that lie in one storage become one value of the graph, with several writers. Values
// that no operator writes (inputs, constants) count no bytes and are left out; the others are
// renumbered in the same order. In an OrderGraph, lists of writers, readers and dependencies are
// ascending and without repetitions.
//
// Threads: a graph does not change once it is built, so threads may share it. Units: bytes.
#pragma once

#include "engine/plan/order/order.h"

#include <algorithm>

namespace gantry::plan {

class OrderGraph {
public:
  /// The problem must be valid (checkOrderProblem).
  explicit OrderGraph(const OrderProblem &problem);

  struct Value {
    uint64_t sizeBytes = 0;
    // The number of this value in the problem. If the value stands for a storage, the lowest
    // number of a value that lies in it.
    uint32_t number = 0;
    std::vector<uint32_t> writers; // One operator; for a storage, those of all its values.
    std::vector<uint32_t> readers;
    bool kept = false;
    // Whether fitBudget() (budget.h) may take it out of memory between two uses. False for
    // storages.
    bool mayLeave = true;
  };
  struct Operator {
    std::vector<uint32_t> reads, writes, mayTake; // Values of the graph.
    std::vector<uint32_t> before;                 // Operators that must run earlier.
    std::vector<uint32_t> after;                  // Operators that must run later.
  };
  const std::vector<Value> &values() const { return values_; }
  const std::vector<Operator> &operators() const { return operators_; }

  /// Returns the bytes of the operator's operands and results, less an operand whose storage the
  /// first result may take. No order has a lower peak than the largest working set of any operator.
  uint64_t workingSet(uint32_t op) const;

  struct Walk {
    uint64_t peakBytes = 0;
    std::vector<uint64_t> beforeBytes; // Per position, bytes alive before its operator runs.
    std::vector<uint64_t> atBytes;     // Per position, bytes alive while its operator runs.
  };
  /// Computes the bytes alive along this order, which must contain each operator once.
  Walk walk(const std::vector<uint32_t> &order) const;

private:
  std::vector<uint32_t> addValues(const OrderProblem &problem);

  std::vector<Value> values_;
  std::vector<Operator> operators_;
};

/// A contiguous range of positions of an order. All operators before the range have run.
struct OrderPart {
  const std::vector<uint32_t> *order = nullptr;
  const std::vector<uint32_t> *positions = nullptr; // The position of each operator in the order.
  uint32_t first = 0;                               // The first position.
  uint32_t count = 0;
  uint64_t aliveBefore = 0; // Bytes alive before the first operator of the part runs.
};

/// The graph of one part. The operators are numbered by their position in the part, and the values
/// in the order in which the operators first name them.
struct PartGraph {
  struct Value {
    uint64_t sizeBytes = 0;
    std::vector<uint32_t> writers; // Operators of the part.
    std::vector<uint32_t> readers; // Operators of the part.
    bool begun = false;            // An operator before the part writes it.
    bool survives = false;         // Kept, or an operator after the part reads or writes it.
  };
  std::vector<Value> values;
  std::vector<OrderGraph::Operator> operators; // Dependencies outside of the part are left out.

  PartGraph(const OrderGraph &graph, const OrderPart &part);

  /// The bytes alive while an operator runs, and those alive after it has run.
  struct Step {
    uint64_t during;
    uint64_t after;
  };
  /// Computes the step of operator `op` if aliveBytes are alive before it. done(i) returns whether
  /// operator i has run.
  template <typename Done> Step run(uint32_t op, uint64_t aliveBytes, Done done) const;
};

template <typename Done>
PartGraph::Step PartGraph::run(uint32_t at, uint64_t aliveBytes, Done done) const {
  const OrderGraph::Operator &op = operators[at];
  const auto hasRun = [&](uint32_t other) { return other == at || done(other); };
  const auto diesHere = [&](const Value &value) {
    return !value.survives && std::all_of(value.readers.begin(), value.readers.end(), hasRun) &&
           std::all_of(value.writers.begin(), value.writers.end(), hasRun);
  };
  Step step{aliveBytes, aliveBytes};
  for (const uint32_t value : op.writes)
    if (!values[value].begun &&
        std::none_of(values[value].writers.begin(), values[value].writers.end(), done))
      step.during += values[value].sizeBytes;
  step.after = step.during;
  for (const uint32_t value : op.mayTake)
    if (values[value].sizeBytes == values[op.writes[0]].sizeBytes && diesHere(values[value])) {
      step.during -= values[value].sizeBytes;
      break;
    }
  for (const uint32_t value : op.reads)
    if (diesHere(values[value]))
      step.after -= values[value].sizeBytes;
  // A written value dies here if nothing reads it later. An operator may both read and write a
  // storage; the loop above has then subtracted it already.
  for (const uint32_t value : op.writes)
    if (diesHere(values[value]) &&
        std::find(op.reads.begin(), op.reads.end(), value) == op.reads.end())
      step.after -= values[value].sizeBytes;
  return step;
}

} // namespace gantry::plan
