// The two searches of order.h over one part of a graph: exact, and by a beam. Internal to the room.
#pragma once

#include "engine/plan/order.h"

namespace gantry::plan {

/// The problem with what the searches ask of it: who writes and who reads each value. Values that
/// no operator writes are left out.
class OrderGraph {
public:
  explicit OrderGraph(const OrderProblem &problem); // which is valid and outlives the graph

  struct Value {
    uint64_t sizeBytes = 0;
    uint32_t writer = 0;
    std::vector<uint32_t> readers; // distinct
    bool kept = false;
  };
  struct Operator {
    std::vector<uint32_t> reads, writes, mayTake; // written values only, distinct
    std::vector<uint32_t> before, after;          // operators, distinct
  };
  const std::vector<Value> &values() const { return values_; }
  const std::vector<Operator> &operators() const { return operators_; }

  /// What the operator needs by itself: no order has a lower peak than the largest of these.
  uint64_t workingSet(uint32_t op) const;

  struct Walk {
    uint64_t peakBytes = 0;
    uint32_t peakAt = 0;                        // the first position that reaches it
    std::vector<uint64_t> beforeBytes, atBytes; // alive before and while each position runs
  };
  Walk walk(const std::vector<uint32_t> &order) const; // of all operators

private:
  std::vector<Value> values_;
  std::vector<Operator> operators_;
};

/// A stretch of an order: the operators at `first` and the `count - 1` positions after it. All
/// before it have run.
struct OrderPart {
  const std::vector<uint32_t> *order = nullptr;
  const std::vector<uint32_t> *positions = nullptr; // of each operator in `order`
  uint32_t first = 0, count = 0;
  uint64_t aliveBefore = 0; // bytes alive before the first of them runs
};

struct PartResult {
  std::vector<uint32_t> operators;
  uint64_t peakBytes = 0;
  bool found = false;     // an order below `belowBytes`
  bool exhausted = false; // nothing better exists (or nothing below belowBytes, if not found)
};

/// The best order of at most 64 operators with a peak below belowBytes; one of enoughBytes or less
/// ends the search. Takes the states that it looks at from `work`.
PartResult searchPartExactly(const OrderGraph &graph, const OrderPart &part, uint64_t belowBytes,
                             uint64_t enoughBytes, uint64_t maxStates, uint64_t &work);

/// A good order of any number of operators: `width` sets are kept after each.
PartResult searchPartByBeam(const OrderGraph &graph, const OrderPart &part, uint64_t enoughBytes,
                            unsigned width, uint64_t &work);

} // namespace gantry::plan
