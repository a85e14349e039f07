// Implements checkOrderProblem() and searchOrder().
#include "engine/plan/order/order.h"

#include "engine/plan/order/part_search.h"

#include <algorithm>
#include <numeric>

namespace gantry::plan {

namespace {

/// Upper limits on the number of sets of operators that one exact search examines: in a whole part
/// of the graph, and in a window (order.h).
constexpr uint64_t kMaxExactStates = uint64_t{1} << 18;
constexpr uint64_t kMaxWindowStates = uint64_t{1} << 14;
constexpr unsigned kBeamWidths[] = {4, 32};

Status checkValueNumbers(const OrderProblem &problem) {
  for (size_t i = 0; i < problem.operators.size(); ++i) {
    const OrderProblem::Operator &op = problem.operators[i];
    for (const std::vector<uint32_t> *list : {&op.reads, &op.writes, &op.mayTake})
      for (const uint32_t value : *list)
        if (value >= problem.values.size())
          return statusf(StatusCode::kInvalidArgument,
                         "operator %zu names value %u; there are %zu values", i, value,
                         problem.values.size());
    for (const uint32_t value : op.mayTake)
      if (op.writes.empty() || std::find(op.reads.begin(), op.reads.end(), value) == op.reads.end())
        return statusf(StatusCode::kInvalidArgument,
                       "operator %zu lists value %u in mayTake, but does not read it or writes "
                       "no value",
                       i, value);
  }
  return Status::ok();
}

Status checkStorages(const OrderProblem &problem) {
  std::vector<bool> written(problem.values.size(), false);
  std::vector<bool> shares(problem.values.size(), false);
  for (const OrderProblem::Operator &op : problem.operators)
    for (const uint32_t value : op.writes)
      written[value] = true;
  for (size_t s = 0; s < problem.storages.size(); ++s)
    for (const uint32_t value : problem.storages[s].values) {
      if (value >= problem.values.size() || !written[value])
        return statusf(StatusCode::kInvalidArgument,
                       "storage %zu has value %u, which no operator writes", s, value);
      if (shares[value])
        return statusf(StatusCode::kInvalidArgument, "value %u is listed twice in storages", value);
      shares[value] = true;
    }
  for (size_t i = 0; i < problem.operators.size(); ++i)
    for (const uint32_t value : problem.operators[i].mayTake)
      if (shares[value] || shares[problem.operators[i].writes[0]])
        return statusf(
            StatusCode::kInvalidArgument,
            "operator %zu lists value %u in mayTake, but it or the result is in a storage", i,
            value);
  return Status::ok();
}

} // namespace

Status checkOrderProblem(const OrderProblem &problem) {
  GANTRY_RETURN_IF_ERROR(checkValueNumbers(problem));
  GANTRY_RETURN_IF_ERROR(checkStorages(problem));
  enum class State : uint8_t { kUnwritten, kWritten, kReadUnwritten };
  std::vector<State> states(problem.values.size(), State::kUnwritten);
  for (size_t i = 0; i < problem.operators.size(); ++i) {
    const OrderProblem::Operator &op = problem.operators[i];
    for (const uint32_t value : op.reads)
      if (states[value] == State::kUnwritten)
        states[value] = State::kReadUnwritten;
    for (const uint32_t value : op.writes) {
      if (states[value] == State::kWritten)
        return statusf(StatusCode::kInvalidArgument, "value %u is written twice", value);
      if (states[value] == State::kReadUnwritten)
        return statusf(StatusCode::kInvalidArgument,
                       "value %u is read before operator %zu writes it", value, i);
      states[value] = State::kWritten;
    }
  }
  uint64_t total = 0;
  for (const OrderProblem::Value &value : problem.values)
    if (__builtin_add_overflow(total, value.sizeBytes, &total))
      return Status(StatusCode::kInvalidArgument, "the values' sizes overflow 64 bits");
  for (const OrderProblem::Storage &storage : problem.storages)
    if (__builtin_add_overflow(total, storage.sizeBytes, &total))
      return Status(StatusCode::kInvalidArgument, "the storages' sizes overflow 64 bits");
  return Status::ok();
}

namespace {

/// Returns the number of stages of an order (OrderOptions::maxStageGrowth says what a stage is).
uint32_t countStages(const OrderGraph &graph, const std::vector<uint32_t> &order) {
  std::vector<uint32_t> stageOf(order.size(), 0);
  uint32_t stage = order.empty() ? 0 : 1;
  for (uint32_t op : order) {
    for (uint32_t before : graph.operators()[op].before)
      if (stageOf[before] == stage) {
        ++stage;
        break;
      }
    stageOf[op] = stage;
  }
  return stage;
}

/// Returns the positions after which the given order may be cut. Every other operator must precede
/// or must follow the operator at such a position. In every order, the same operators are therefore
/// before that operator, and the same operators are after it.
std::vector<uint32_t> findCuts(const OrderGraph &graph) {
  const auto count = static_cast<uint32_t>(graph.operators().size());
  // reach[i]: every operator before position i has a successor (an operator that must run later) at
  // a position of at most reach[i]; `count` if one has no successor. need[i]: every operator from
  // position i on has a predecessor at position need[i] - 1 or later; 0 if one has none. If
  // reach[i] <= i < need[i+1], chains of successors lead from all operators before i to i, and from
  // i to all after it.
  std::vector<uint32_t> reach(count + 1, 0);
  std::vector<uint32_t> need(count + 1, count);
  for (uint32_t i = 0; i < count; ++i) {
    const auto &after = graph.operators()[i].after;
    const uint32_t firstAfter =
        after.empty() ? count : *std::min_element(after.begin(), after.end());
    reach[i + 1] = std::max(reach[i], firstAfter);
  }
  for (uint32_t i = count; i-- > 0;) {
    const auto &before = graph.operators()[i].before;
    const uint32_t lastBefore =
        before.empty() ? 0 : *std::max_element(before.begin(), before.end()) + 1;
    need[i] = std::min(need[i + 1], lastBefore);
  }
  std::vector<uint32_t> cuts;
  for (uint32_t i = 0; i < count; ++i)
    if (reach[i] <= i && need[i + 1] > i)
      cuts.push_back(i);
  return cuts;
}

/// Improves the given order part by part.
class OrderSearch {
public:
  OrderSearch(const OrderProblem &problem, const OrderOptions &options)
      : graph_(problem), options_(options), work_(options.work) {}

  Order run() {
    const auto count = static_cast<uint32_t>(graph_.operators().size());
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0);
    const std::vector<uint32_t> given = order_;
    const OrderGraph::Walk before = graph_.walk(order_);
    Order result;
    result.givenPeakBytes = before.peakBytes;
    result.givenStages = countStages(graph_, order_);
    for (uint32_t op = 0; op < count; ++op)
      floor_ = std::max(floor_, graph_.workingSet(op));

    std::vector<Part> parts = makeParts(before);
    // The part with the highest peak comes first. The others may then use as many bytes as that
    // part still needs after its improvement (floor_).
    std::vector<size_t> byPeak(parts.size());
    std::iota(byPeak.begin(), byPeak.end(), 0);
    std::stable_sort(byPeak.begin(), byPeak.end(),
                     [&](size_t a, size_t b) { return parts[a].peak > parts[b].peak; });
    const double maxStages = result.givenStages * (1 + options_.maxStageGrowth);
    bool provenAll = true;
    for (size_t at : byPeak) {
      if (parts[at].peak <= floor_)
        break; // The peaks of this part and of all further parts are at most floor_.
      const std::vector<uint32_t> kept = order_;
      const uint64_t old = parts[at].peak;
      const bool proven = improve(parts[at]);
      if (order_ != kept && countStages(graph_, order_) > maxStages) {
        order_ = kept;
        parts[at].peak = old;
        provenAll = false;
      } else {
        provenAll = provenAll && proven;
      }
      floor_ = std::max(floor_, parts[at].peak);
    }
    result.operators = order_;
    result.peakBytes = graph_.walk(order_).peakBytes;
    result.stages = countStages(graph_, order_);
    result.optimal = provenAll;
    return result;
  }

private:
  struct Part {
    uint32_t first; // Position.
    uint32_t count;
    uint64_t peak; // Bytes.
  };

  std::vector<Part> makeParts(const OrderGraph::Walk &walk) const {
    std::vector<Part> parts;
    uint32_t first = 0;
    std::vector<uint32_t> cuts = findCuts(graph_);
    if (cuts.empty() || cuts.back() + 1 < order_.size())
      cuts.push_back(static_cast<uint32_t>(order_.size()) - 1);
    for (uint32_t cut : cuts) {
      const auto begin = walk.atBytes.begin();
      if (!order_.empty())
        parts.push_back(
            {first, cut + 1 - first, *std::max_element(begin + first, begin + cut + 1)});
      first = cut + 1;
    }
    return parts;
  }

  OrderPart partAt(uint32_t first, uint32_t count, const OrderGraph::Walk &walk) {
    positions_.resize(order_.size());
    for (uint32_t p = 0; p < order_.size(); ++p)
      positions_[order_[p]] = p;
    return {&order_, &positions_, first, count, walk.beforeBytes[first]};
  }

  void place(uint32_t first, const std::vector<uint32_t> &operators) {
    std::copy(operators.begin(), operators.end(), order_.begin() + first);
  }

  /// Tries to lower a part's peak. Returns true if no search could help any more: the peak is at
  /// most floor_, or an exact search has proven that no order of the part has a lower peak.
  bool improve(Part &part) {
    const OrderGraph::Walk walk = graph_.walk(order_);
    if (part.count <= kMaxExactOperators) {
      PartResult exact = searchPartExactly(graph_, partAt(part.first, part.count, walk), part.peak,
                                           floor_, kMaxExactStates, work_);
      if (exact.found) {
        place(part.first, exact.operators);
        part.peak = exact.peakBytes;
      }
      if (exact.exhausted)
        return true;
    }
    for (unsigned width : kBeamWidths) {
      if (work_ == 0 || part.peak <= floor_)
        break;
      PartResult beam =
          searchPartByBeam(graph_, partAt(part.first, part.count, walk), floor_, width, work_);
      if (beam.peakBytes < part.peak) {
        place(part.first, beam.operators);
        part.peak = beam.peakBytes;
      }
    }
    while (part.peak > floor_ && work_ > 0 && improveAroundPeak(part)) {
    }
    return part.peak <= floor_;
  }

  /// Runs the exact search on windows of several widths and positions around the part's peak, until
  /// a search lowers the peak inside its window. Returns whether one did.
  bool improveAroundPeak(Part &part) {
    const OrderGraph::Walk walk = graph_.walk(order_);
    uint32_t peakAt = part.first;
    uint64_t peak = 0;
    for (uint32_t p = part.first; p < part.first + part.count; ++p)
      if (walk.atBytes[p] > peak) {
        peak = walk.atBytes[p];
        peakAt = p;
      }
    const uint32_t end = part.first + part.count;
    for (uint32_t width : {16u, 32u, kMaxExactOperators})
      for (uint32_t share : {2u, 1u, 3u}) { // Quarters of the window that lie before the peak.
        const uint32_t before = std::min(width * share / 4, peakAt - part.first);
        const uint32_t first = peakAt - before, count = std::min(width, end - first);
        PartResult exact = searchPartExactly(graph_, partAt(first, count, walk), peak, floor_,
                                             kMaxWindowStates, work_);
        if (!exact.found)
          continue;
        place(first, exact.operators);
        part.peak = 0;
        const OrderGraph::Walk now = graph_.walk(order_);
        for (uint32_t p = part.first; p < end; ++p)
          part.peak = std::max(part.peak, now.atBytes[p]);
        return true;
      }
    return false;
  }

  const OrderGraph graph_;
  const OrderOptions options_;
  uint64_t work_;
  /// Either no order has a peak below this number of bytes, or a part that was searched earlier has
  /// this peak. Lowering a part's peak further therefore does not help.
  uint64_t floor_ = 0;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> positions_; // The position of each operator in order_.
};

} // namespace

Result<Order> searchOrder(const OrderProblem &problem, const OrderOptions &options) {
  GANTRY_RETURN_IF_ERROR(checkOrderProblem(problem));
  return OrderSearch(problem, options).run();
}

} // namespace gantry::plan
