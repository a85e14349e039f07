// Implements searchPartExactly().
#include "engine/plan/order/part_search.h"

#include <bit>
#include <queue>
#include <unordered_map>

namespace gantry::plan {

namespace {

/// A best-first search (Dijkstra's, with the maximum in place of the sum) over sets of operators
/// that have run. The set determines the bytes that are alive. The peak of a set is the lowest peak
/// of all known orders of its operators; peaks up to enoughBytes count as equal.
class ExactSearch {
public:
  ExactSearch(const OrderGraph &graph, const OrderPart &part, uint64_t belowBytes,
              uint64_t enoughBytes)
      : part_(part), graph_(graph, part), belowBytes_(belowBytes),
        all_(part.count == 64 ? ~uint64_t{0} : (uint64_t{1} << part.count) - 1),
        before_(part.count, 0) {
    for (uint32_t i = 0; i < part.count; ++i)
      for (const uint32_t other : graph_.operators[i].before)
        before_[i] |= uint64_t{1} << other;
    states_[0] = {enoughBytes, part.aliveBefore, 0, false};
    queue_.push({enoughBytes, 0});
  }

  PartResult run(uint64_t maxStates, uint64_t &work) {
    PartResult result;
    for (uint64_t looked = 0; !queue_.empty();) {
      const Entry top = queue_.top();
      queue_.pop();
      State &state = states_[top.set];
      if (state.closed || top.peakBytes != state.peakBytes)
        continue;
      state.closed = true;
      if (top.set == all_) {
        result.operators = graphOperators(part_, orderOf());
        result.peakBytes = state.peakBytes;
        result.found = result.exhausted = true;
        return result;
      }
      if (++looked > maxStates || work == 0)
        return result;
      --work;
      expand(top.set, state);
    }
    result.exhausted = true;
    return result;
  }

private:
  struct State {
    uint64_t peakBytes = 0;
    uint64_t aliveBytes = 0;
    uint8_t last = 0; // The operator that ran last.
    bool closed = false;
  };
  struct Entry {
    uint64_t peakBytes;
    uint64_t set;
    /// The top of the queue is the largest entry: the entry with the lowest peak; among equal
    /// peaks, the entry with the most operators; then the smallest bit pattern.
    bool operator<(const Entry &other) const {
      if (peakBytes != other.peakBytes)
        return peakBytes > other.peakBytes;
      const int own = std::popcount(set);
      const int others = std::popcount(other.set);
      return own != others ? own < others : set > other.set;
    }
  };

  /// Adds the sets with one operator more. An operator is free if running it does not raise the
  /// peak and leaves no more bytes alive than before. Running a free operator first is never worse
  /// than running it later, so if there is one, the others are not tried.
  void expand(uint64_t set, State state) {
    const auto done = [&](uint32_t i) { return (set >> i & 1) != 0; };
    steps_.clear();
    for (uint32_t i = 0; i < part_.count; ++i) {
      if (done(i) || (before_[i] & ~set) != 0)
        continue;
      const PartGraph::Step step = graph_.run(i, state.aliveBytes, done);
      const bool isFree = step.during <= state.peakBytes && step.after <= state.aliveBytes;
      if (isFree)
        steps_.clear();
      steps_.emplace_back(i, step);
      if (isFree)
        break;
    }
    for (const auto &[i, step] : steps_)
      reach(set | uint64_t{1} << i, i, std::max(state.peakBytes, step.during), step.after);
  }

  void reach(uint64_t set, uint32_t last, uint64_t peakBytes, uint64_t aliveBytes) {
    if (peakBytes >= belowBytes_)
      return;
    const auto [at, added] =
        states_.try_emplace(set, State{peakBytes, aliveBytes, static_cast<uint8_t>(last), false});
    if (!added) {
      if (peakBytes >= at->second.peakBytes)
        return;
      at->second.peakBytes = peakBytes;
      at->second.last = static_cast<uint8_t>(last);
    }
    queue_.push({peakBytes, set});
  }

  /// Returns the operators of the part in the order that was found.
  std::vector<uint32_t> orderOf() {
    std::vector<uint32_t> order;
    for (uint64_t set = all_; set != 0; set &= ~(uint64_t{1} << states_[set].last))
      order.push_back(states_[set].last);
    std::reverse(order.begin(), order.end());
    return order;
  }

  const OrderPart &part_;
  const PartGraph graph_;
  uint64_t belowBytes_;
  uint64_t all_;                 // The set of all operators.
  std::vector<uint64_t> before_; // Per operator, the set of operators that must run earlier.
  std::unordered_map<uint64_t, State> states_;
  std::priority_queue<Entry> queue_;
  std::vector<std::pair<uint32_t, PartGraph::Step>> steps_; // Scratch space of expand().
};

} // namespace

PartResult searchPartExactly(const OrderGraph &graph, const OrderPart &part, uint64_t belowBytes,
                             uint64_t enoughBytes, uint64_t maxStates, uint64_t &work) {
  return ExactSearch(graph, part, belowBytes, enoughBytes).run(maxStates, work);
}

} // namespace gantry::plan
