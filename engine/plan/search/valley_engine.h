// The machinery of ValleySearch for one width of numbers. valley_search.h explains the algorithm.
//
// The search is a loop over an explicit stack, because its depth grows with the number of items. A
// node is a choice, where some alternative must succeed, or a split, where every part must succeed.
// The floors, loads and item lists of all nodes lie in pools that grow and shrink with the stack.
// valley_engine.cpp walks the tree; valley_choice.cpp finds the choices of a node.
//
// Threads: one at a time.
#pragma once

#include "engine/plan/search/failed_states.h"
#include "engine/plan/search/item_table.h"
#include "engine/plan/search/valley_search.h"

#include <limits>
#include <vector>

namespace gantry::plan {

template <typename Unit> class ValleyEngine {
public:
  ValleyEngine(const Problem &problem, uint64_t unitBytes);

  /// The capacity is in units of unitBytes.
  SearchResult run(Unit capacity, const SearchStyle &style, uint64_t nodeLimit, WorkMeter &meter);
  Unit offsetOf(uint32_t item) const { return offset_[item]; }

private:
  static constexpr Unit kWall = std::numeric_limits<Unit>::max();
  static constexpr uint32_t kGap = UINT32_MAX; // The choice of leaving a gap.

  /// An item that is still to be placed, and the lowest offset that it can have.
  struct Waiting {
    uint32_t item;
    Unit low;
  };
  /// A span of steps and the items left to place in it. Its floors and loads begin at index `steps`
  /// of their pools, its items at index `waiting` of theirs, by descending `low`.
  struct Part {
    uint32_t begin = 0;
    uint32_t end = 0;
    size_t steps = 0;
    size_t waiting = 0;
    uint32_t waitingCount = 0;
    uint64_t hash = 0;
  };
  struct Choice {
    uint32_t item; // Or kGap.
    Unit offset;   // The item's offset; for a gap, the new floor.
  };
  struct PoolSizes {
    size_t steps = 0;
    size_t waiting = 0;
    size_t choices = 0;
    size_t parts = 0;
  };
  struct Node {
    bool isSplit = false;
    Part part;          // For a split, all of its parts together.
    size_t first = 0;   // Index of the first choice or part in its pool.
    uint32_t count = 0; // Number of choices or parts.
    uint32_t next = 0;  // The choice or part to try next.
    uint32_t step = 0;  // The step of a choice.
    PoolSizes sizes;    // The pools are shrunk to these sizes when the node is popped.
  };
  enum class Outcome { kSolved, kFailed, kOpened };

  void begin(const SearchStyle &style);
  Outcome enterRoot();
  /// Makes the part that follows from a choice of the top node, infers, and opens it.
  Outcome enterChoice(const Choice &choice);
  Outcome tryNext();
  Outcome childEnded(Outcome outcome);
  /// Recomputes loads and floors of the steps [begin, end) from the items of the part. Returns
  /// false where a load exceeds the capacity.
  bool infer(const Part &part, uint32_t begin, uint32_t end);
  /// Appends the part that follows from a choice of the parent. Extends [affectedBegin,
  /// affectedEnd) by the steps to infer again. Returns false where some item no longer fits.
  bool append(const Part &parent, const Choice &choice, Part &part, uint32_t &affectedBegin,
              uint32_t &affectedEnd);
  Outcome openParts(const Part &whole, const PoolSizes &sizes);
  Outcome openChoice(const Part &part, const PoolSizes &sizes);
  Outcome stepOut(Outcome outcome);

  // Implemented in valley_choice.cpp.
  /// Lists the choices of the best step. Returns false where some step has none.
  bool choose(const Part &part, Node &node);
  void findValleys(const Part &part);
  bool listSpanningItem(const Part &part);
  bool rests(const Item<Unit> &item) const;
  void countChoices(const Part &part);
  Unit gapAbove(const Part &part, uint32_t step, uint32_t valleyBegin, uint32_t valleyEnd) const;
  void listChoices(const Part &part, Node &node, uint32_t step, uint32_t valleyBegin,
                   uint32_t valleyEnd, Unit gapTo);
  double weightIn(const Part &part, uint32_t item, Unit offset, uint32_t valleyBegin,
                  uint32_t valleyEnd) const;

  void place(uint32_t item, Unit offset);
  void unplace(uint32_t item);
  bool isBlockedByTwin(uint32_t item) const {
    const int32_t twin = table_.items[item].twin;
    return twin >= 0 && !placed_[static_cast<uint32_t>(twin)];
  }
  uint64_t hashOf(const Part &part) const;
  typename FailedStates<Unit>::Key keyOf(const Part &part);
  PoolSizes poolSizes() const;
  void shrinkTo(const PoolSizes &sizes);

  ItemTable<Unit> table_;
  FailedStates<Unit> failed_;
  std::vector<uint64_t> itemHash_;
  std::vector<uint64_t> keyWords_;

  Unit capacity_ = 0;
  SearchStyle style_;
  std::vector<double> weight_;
  std::vector<Unit> offset_;
  std::vector<uint8_t> placed_;
  std::vector<Unit> total_; // Per step, the sum of the sizes of all free items not yet placed.

  size_t maxDepth_ = 0; // Gaps in tiny units could lead deeper than is useful.
  std::vector<Node> stack_;
  std::vector<Unit> floors_;
  std::vector<Unit> loads_; // A lower bound on the height of each step.
  std::vector<Waiting> waiting_;
  std::vector<Choice> choices_;
  std::vector<Part> parts_;

  // Scratch space, one entry per step.
  std::vector<Unit> sum_;
  std::vector<Unit> lowest_; // The lowest next offset of any item in the step.
  std::vector<int32_t> crossing_;
  std::vector<uint32_t> valleyEnd_; // For the steps of a valley, its end; otherwise 0.
  std::vector<int32_t> resting_;    // The number of items that can rest there, as differences.
  std::vector<Unit> topByEnd_;      // The lowest top of the resting items that end there.
  std::vector<Unit> topByBegin_;    // The lowest top of the resting items that begin there.
  // Scratch space, one entry per item.
  std::vector<double> choiceWeight_;
};

extern template class ValleyEngine<int32_t>;
extern template class ValleyEngine<int64_t>;

} // namespace gantry::plan
