// ValleyEngine implements ValleySearch for one integer type of sizes and offsets, `Unit`.
// valley_search.h explains the algorithm and its terms: floor, valley, gap.
//
// The search is a loop over an explicit stack, because its depth grows with the number of items. A
// node is of one of two kinds. A choice node succeeds if one of its choices leads to a placement. A
// split node succeeds if all of its independent parts do. The floors, loads and item lists of all
// nodes lie in pools that grow and shrink with the stack. valley_engine.cpp walks the tree;
// valley_choice.cpp finds the choices of a node.
//
// Threads: one at a time per object.
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

  /// Searches like ValleySearch::run(); the capacity is in units of unitBytes.
  SearchResult run(Unit capacity, const SearchStyle &style, uint64_t nodeLimit, WorkMeter &meter);
  /// Returns an item's offset in units of unitBytes, after run() returned kFound.
  Unit offsetOf(uint32_t item) const { return offset_[item]; }

private:
  /// The floor of a step in which no item is still to be placed; also "no such offset".
  static constexpr Unit kWall = std::numeric_limits<Unit>::max();
  static constexpr uint32_t kGap = UINT32_MAX; // The choice that raises the floor by a gap.

  /// An item that is still to be placed, and the lowest offset that it can have.
  struct Waiting {
    uint32_t item;
    Unit low;
  };
  /// A span of steps and the items still to place in it. The part's floors and loads begin at index
  /// `steps` of floors_ and loads_. The part's items begin at index `waiting` of waiting_, sorted
  /// by descending `low`.
  struct Part {
    uint32_t begin = 0;
    uint32_t end = 0;
    size_t steps = 0;
    size_t waiting = 0;
    uint32_t waitingCount = 0;
    uint64_t hash = 0;
  };
  struct Choice {
    uint32_t item; // The item's index, or kGap.
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
    Part part;          // For a split node, all of its parts together.
    size_t first = 0;   // Index of the first choice or part in its pool.
    uint32_t count = 0; // Number of choices or parts.
    uint32_t next = 0;  // The choice or part to try next.
    uint32_t step = 0;  // For a choice node, the step that it decides.
    PoolSizes sizes;    // The pools are shrunk to these sizes when the node is popped.
  };
  /// kOpened: a node was pushed, or the top node has more to try.
  enum class Outcome { kSolved, kFailed, kOpened };

  void begin(const SearchStyle &style);
  Outcome enterRoot();
  /// Makes the part that results from a choice of the top node, runs infer() on it, and opens it.
  Outcome enterChoice(const Choice &choice);
  Outcome tryNext();
  Outcome childEnded(Outcome outcome);
  /// Recomputes the loads and floors of the steps [begin, end) from the items of the part. Returns
  /// false if a load exceeds the capacity.
  bool infer(const Part &part, uint32_t begin, uint32_t end);
  /// Fills `part` with the part that results from a choice of the parent, and appends its floors,
  /// loads and items to the pools. Extends [affectedBegin, affectedEnd) by the steps whose loads
  /// and floors change. Returns false if some item no longer fits.
  bool append(const Part &parent, const Choice &choice, Part &part, uint32_t &affectedBegin,
              uint32_t &affectedEnd);
  Outcome openParts(const Part &whole, const PoolSizes &sizes);
  Outcome openChoice(const Part &part, const PoolSizes &sizes);
  Outcome stepOut(Outcome outcome);

  // Implemented in valley_choice.cpp.
  /// Chooses the next step to decide (a step with one choice, else the one that the style prefers)
  /// and lists its choices. Returns false if some step has none.
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
  std::vector<double> weight_; // Per item, the weight of the style's item rule.
  std::vector<Unit> offset_;
  std::vector<uint8_t> placed_;
  std::vector<Unit> total_; // Per step, the sum of the sizes of all items not yet placed.

  size_t maxDepth_ = 0; // Largest size of stack_. Many small gaps could make it uselessly deep.
  std::vector<Node> stack_;
  std::vector<Unit> floors_;
  std::vector<Unit> loads_; // A lower bound on the height of each step.
  std::vector<Waiting> waiting_;
  std::vector<Choice> choices_;
  std::vector<Part> parts_;

  // Scratch space, one entry per step.
  std::vector<Unit> sum_;
  // In infer(): the lowest `low` of the waiting items. In choose(): the lowest offset above the
  // floor that an item can have without a waiting item below it (countChoices()).
  std::vector<Unit> lowest_;
  std::vector<int32_t> crossing_;
  std::vector<uint32_t> valleyEnd_; // Per step: the end of its valley, or 0 if it lies in none.
  std::vector<int32_t> resting_;    // Number of items that can rest, minus that of the step before.
  std::vector<Unit> topByEnd_;      // The lowest top of the resting items whose `end` is the step.
  std::vector<Unit> topByBegin_;    // The lowest top of the resting items that begin at the step.
  // Scratch space, one entry per item.
  std::vector<double> choiceWeight_;
};

extern template class ValleyEngine<int32_t>;
extern template class ValleyEngine<int64_t>;

} // namespace gantry::plan
