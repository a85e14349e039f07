// Implements searchPartByBeam().
#include "engine/plan/order/part_search.h"
#include "engine/plan/random.h"

#include <tuple>
#include <unordered_set>

namespace gantry::plan {

namespace {

constexpr uint32_t kNoTrail = UINT32_MAX;

/// Extends the best sets of operators by one operator at a time.
class BeamSearch {
public:
  BeamSearch(const OrderGraph &graph, const OrderPart &part, uint64_t enoughBytes, unsigned width,
             uint64_t &work)
      : part_(part), graph_(graph, part), width_(width), work_(work), beam_(1) {
    State &empty = beam_.front();
    empty.set.assign((part.count + 63) / 64, 0);
    empty.peakBytes = enoughBytes;
    empty.aliveBytes = part.aliveBefore;
    for (uint32_t i = 0; i < part.count; ++i)
      if (graph_.operators[i].before.empty())
        empty.ready.push_back(i);
  }

  PartResult run() {
    for (uint32_t step = 0; step < part_.count; ++step) {
      const std::vector<Candidate> candidates = listCandidates();
      std::vector<State> next;
      std::unordered_set<uint64_t> seen; // Among equal sets, the first one has the lowest peak.
      const size_t maxStates = work_ == 0 ? 1 : width_;
      for (const Candidate &candidate : candidates) {
        if (next.size() == maxStates)
          break;
        if (seen.insert(candidate.hash).second)
          next.push_back(follow(candidate));
      }
      beam_ = std::move(next);
    }
    std::vector<uint32_t> order;
    for (uint32_t at = beam_[0].trail; at != kNoTrail; at = trails_[at].previous)
      order.push_back(trails_[at].op);
    std::reverse(order.begin(), order.end());
    PartResult result;
    result.operators = graphOperators(part_, order);
    result.peakBytes = beam_[0].peakBytes;
    result.found = true;
    return result;
  }

private:
  struct State {
    std::vector<uint64_t> set;   // The operators that have run, one bit each.
    std::vector<uint32_t> ready; // The operators that can run next.
    uint64_t peakBytes = 0;
    uint64_t aliveBytes = 0;
    uint64_t hash = 0;         // Hash of the set.
    uint32_t trail = kNoTrail; // Index in trails_ of the entry of the last operator.

    bool hasRun(uint32_t i) const { return (set[i / 64] >> (i % 64) & 1) != 0; }
  };
  /// An entry of the linked lists of operators that have run, the last operator first. States share
  /// the entries of the operators that ran first.
  struct Trail {
    uint32_t previous;
    uint32_t op;
  };
  struct Candidate {
    uint64_t peakBytes;
    uint64_t aliveBytes;
    uint64_t hash;
    uint32_t from; // Index of a state in beam_.
    uint32_t op;
  };

  /// Returns the candidates, the best first: each extends a state of the beam by one operator. If a
  /// state has an operator that raises neither the peak nor the bytes alive after it, that operator
  /// is the state's only candidate.
  std::vector<Candidate> listCandidates() {
    std::vector<Candidate> candidates;
    for (uint32_t s = 0; s < beam_.size(); ++s) {
      const State &state = beam_[s];
      const size_t first = candidates.size();
      for (const uint32_t op : state.ready) {
        const PartGraph::Step next =
            graph_.run(op, state.aliveBytes, [&](uint32_t i) { return state.hasRun(i); });
        const bool isFree = next.during <= state.peakBytes && next.after <= state.aliveBytes;
        work_ -= std::min<uint64_t>(work_, 1);
        if (isFree)
          candidates.resize(first);
        candidates.push_back({std::max(state.peakBytes, next.during), next.after,
                              state.hash ^ Random(op).next(), s, op});
        if (isFree)
          break;
      }
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
      return std::tie(a.peakBytes, a.aliveBytes, a.hash, a.from) <
             std::tie(b.peakBytes, b.aliveBytes, b.hash, b.from);
    });
    return candidates;
  }

  State follow(const Candidate &candidate) {
    State state = beam_[candidate.from];
    trails_.push_back({state.trail, candidate.op});
    state.trail = static_cast<uint32_t>(trails_.size() - 1);
    state.peakBytes = candidate.peakBytes;
    state.aliveBytes = candidate.aliveBytes;
    state.hash = candidate.hash;
    state.set[candidate.op / 64] |= uint64_t{1} << (candidate.op % 64);
    std::erase(state.ready, candidate.op);
    for (const uint32_t later : graph_.operators[candidate.op].after) {
      const std::vector<uint32_t> &needs = graph_.operators[later].before;
      if (std::all_of(needs.begin(), needs.end(), [&](uint32_t i) { return state.hasRun(i); }))
        state.ready.push_back(later);
    }
    return state;
  }

  const OrderPart &part_;
  const PartGraph graph_;
  unsigned width_;
  uint64_t &work_;
  std::vector<State> beam_;
  std::vector<Trail> trails_;
};

} // namespace

PartResult searchPartByBeam(const OrderGraph &graph, const OrderPart &part, uint64_t enoughBytes,
                            unsigned width, uint64_t &work) {
  return BeamSearch(graph, part, enoughBytes, width, work).run();
}

} // namespace gantry::plan
