// The machinery of ValleySearch for one width of numbers: see valley_search.h for the algorithm.
//
// The search is a loop over an explicit stack, since its depth grows with the number of items. A
// node is a choice (some alternative must succeed) or a split (every part must succeed). The
// floors, loads and item lists of nodes lie in pools that grow and shrink with the stack.
//
// Threads: one at a time.
#pragma once

#include "engine/plan/failed_states.h"
#include "engine/plan/item_table.h"
#include "engine/plan/valley_pockets.h"
#include "engine/plan/valley_search.h"

#include <limits>
#include <vector>

namespace gantry::plan {

template <typename Unit> class ValleyEngine {
public:
  ValleyEngine(const Problem &problem, uint64_t unit);

  /// capacity in units.
  SearchResult run(Unit capacity, const SearchStyle &style, uint64_t nodeLimit, WorkMeter &meter);
  Unit offsetOf(uint32_t item) const { return offset_[item]; }

private:
  static constexpr Unit kWall = std::numeric_limits<Unit>::max();
  static constexpr uint32_t kGap = UINT32_MAX; // the choice of leaving a gap

  /// An item that is still to be placed, and the lowest offset it can have.
  struct Waiting {
    uint32_t item;
    Unit low;
  };
  /// A span of steps with what is left to place in it. Its floors and loads are at `steps` of their
  /// pools, its items at `waiting`, by descending low.
  struct Part {
    uint32_t begin = 0;
    uint32_t end = 0;
    size_t steps = 0;
    size_t waiting = 0;
    uint32_t waitingCount = 0;
    uint64_t hash = 0;
  };
  struct Choice {
    uint32_t item; // or kGap
    Unit offset;   // where the item goes; what the floor rises to
  };
  struct PoolSizes {
    size_t steps = 0;
    size_t waiting = 0;
    size_t choices = 0;
    size_t parts = 0;
  };
  struct Node {
    bool isSplit = false;
    Part part;          // a split's: all of its parts together
    size_t first = 0;   // of its choices or parts
    uint32_t count = 0; // of them
    uint32_t next = 0;  // the one to be tried next
    uint32_t step = 0;  // where it was decided
    PoolSizes sizes;    // to return to when it is popped
  };
  enum class Outcome { kSolved, kFailed, kOpened };

  void begin(const SearchStyle &style);
  Outcome enterRoot();
  /// Makes the part that follows from a choice of the node on top, infers, and opens it.
  Outcome enterChoice(const Choice &choice);
  Outcome tryNext();
  Outcome childEnded(Outcome outcome);
  /// Recomputes loads and floors of the steps [begin, end) from the items of the part.
  bool infer(const Part &part, uint32_t begin, uint32_t end);
  /// Whether what fixed items leave of the steps [begin, end) can hold the items of the part.
  bool pocketsFit(const Part &part, uint32_t begin, uint32_t end);
  void append(const Part &parent, const Choice &choice, Part &part, uint32_t &affectedBegin,
              uint32_t &affectedEnd, bool &fits);
  Outcome openParts(const Part &whole, const PoolSizes &sizes);
  Outcome openChoice(const Part &part, const PoolSizes &sizes);
  Outcome stepOut(Outcome outcome);

  // valley_choice.cpp
  /// Fills the choices of the best step; false where a step has none.
  bool choose(const Part &part, Node &node);
  void findValleys(const Part &part);
  bool rests(const Part &part, uint32_t item, Unit &level) const;
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
  ValleyPockets<Unit> pockets_;
  FailedStates<Unit> failed_;
  bool segmented_ = false; // some item has several covers
  std::vector<uint64_t> itemHash_;
  std::vector<uint64_t> keyWords_;

  Unit capacity_ = 0;
  SearchStyle style_;
  std::vector<double> weight_;
  std::vector<Unit> offset_;
  std::vector<uint8_t> placed_;
  std::vector<Unit> total_; // per step: the sizes of the free items that are not placed

  size_t mostDepth_ = 0; // gaps in tiny units could go deeper than is of use
  std::vector<Node> stack_;
  std::vector<Unit> floors_;
  std::vector<Unit> loads_; // the height that a step needs at least
  std::vector<Waiting> waiting_;
  std::vector<Choice> choices_;
  std::vector<Part> parts_;

  // Scratch, per step.
  std::vector<Unit> sum_;
  std::vector<Unit> least_;
  std::vector<int32_t> crossing_;
  std::vector<uint32_t> valleyEnd_; // at the steps of a valley: its end; else 0
  std::vector<int32_t> resting_;    // how many items can rest there
  std::vector<Unit> topByEnd_;      // the lowest top of those that end there
  std::vector<Unit> topByBegin_;
  std::vector<double> choiceWeight_;
  std::vector<std::vector<typename ValleyPockets<Unit>::Candidate>> candidates_;
  Unit lowestTop_ = 0;
};

extern template class ValleyEngine<int32_t>;
extern template class ValleyEngine<int64_t>;

} // namespace gantry::plan
