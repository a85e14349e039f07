// Implements fitBudget().
#include "engine/plan/order/budget.h"

#include "engine/plan/order/order_graph.h"

#include <algorithm>
#include <numeric>

namespace gantry::plan {

namespace {

struct Gap {
  uint32_t value;  // A value of the problem.
  uint32_t writer; // The operator that writes it.
  uint32_t after;  // The position of the use before the gap.
  uint32_t before; // The position of the use after the gap.
  uint64_t sizeBytes;
  bool canRecompute;
  double recomputeCost;
};

enum class Choice : uint8_t { kStay, kRecompute, kMove };

class Fitter {
public:
  Fitter(const BudgetProblem &problem, uint64_t budgetBytes)
      : problem_(problem), graph_(problem.graph), budget_(budgetBytes) {}

  BudgetPlan run() {
    BudgetPlan plan;
    std::vector<uint32_t> order(graph_.operators().size());
    std::iota(order.begin(), order.end(), 0);
    const OrderGraph::Walk walk = graph_.walk(order);
    load_ = walk.atBytes;
    plan.givenPeakBytes = plan.recomputedPeakBytes = plan.peakBytes = walk.peakBytes;
    findGaps();
    // The live bytes at each position if every value left memory during all of its gaps.
    std::vector<uint64_t> minLoad = load_;
    for (const Gap &gap : gaps_)
      for (uint32_t p = gap.after + 1; p < gap.before; ++p)
        minLoad[p] -= gap.sizeBytes;
    plan.minPeakBytes = peakOf(minLoad);
    plan.minPeakAt = static_cast<uint32_t>(
        std::find(minLoad.begin(), minLoad.end(), plan.minPeakBytes) - minLoad.begin());
    plan.givenBytes = load_;
    plan.minBytes = minLoad;
    if (plan.minPeakBytes > budget_)
      return plan;
    plan.fits = true;
    choose();
    undoUnnecessary();
    report(plan);
    return plan;
  }

private:
  static uint64_t peakOf(const std::vector<uint64_t> &load) {
    return load.empty() ? 0 : *std::max_element(load.begin(), load.end());
  }

  void findGaps() {
    for (const OrderGraph::Value &value : graph_.values()) {
      if (!value.mayLeave)
        continue;
      const uint32_t writer = value.writers.front();
      uint32_t last = writer;
      for (uint32_t reader : value.readers) { // Readers are ascending.
        if (reader > last + 1 && value.sizeBytes > 0)
          gaps_.push_back({value.number, writer, last, reader, value.sizeBytes,
                           canRecompute(writer, reader), problem_.recomputeCost[writer]});
        last = reader;
      }
    }
  }

  /// Returns whether the operator may run again before position `at`: the caller allows it, the
  /// operator has one result, and each operand is an input of the graph or still alive at `at`.
  bool canRecompute(uint32_t op, uint32_t at) const {
    if (problem_.recomputeCost[op] < 0 || graph_.operators()[op].writes.size() != 1)
      return false;
    return std::all_of(
        graph_.operators()[op].reads.begin(), graph_.operators()[op].reads.end(), [&](uint32_t v) {
          const OrderGraph::Value &value = graph_.values()[v];
          return value.kept || (!value.readers.empty() && value.readers.back() >= at);
        });
  }

  /// Returns whether the value of the gap could be recomputed at the end of the gap: no chosen gap
  /// takes an operand of the recomputation out of memory then.
  bool operandsStay(const Gap &gap) const {
    for (size_t g = 0; g < gaps_.size(); ++g)
      if (chosen_[g] != Choice::kStay && gaps_[g].after < gap.before &&
          gap.before <= gaps_[g].before && reads(gap.writer, gaps_[g].value))
        return false;
    return true;
  }
  /// Returns whether a chosen recomputation reads the value during the gap.
  bool neededByRecomputation(const Gap &gap) const {
    for (size_t g = 0; g < gaps_.size(); ++g)
      if (chosen_[g] == Choice::kRecompute && gap.after < gaps_[g].before &&
          gaps_[g].before <= gap.before && reads(gaps_[g].writer, gap.value))
        return true;
    return false;
  }
  bool reads(uint32_t op, uint32_t value) const {
    const auto &list = problem_.graph.operators[op].reads;
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  double moveCost(const Gap &gap) const {
    bool stored = false;
    for (size_t g = 0; g < gaps_.size(); ++g)
      stored = stored ||
               (chosen_[g] == Choice::kMove && gaps_[g].value == gap.value && &gaps_[g] != &gap);
    return problem_.hostByteCost * static_cast<double>(gap.sizeBytes) * (stored ? 1 : 2);
  }

  /// Returns how much a gap helps: at each position inside the gap, the bytes above the budget, but
  /// at most the bytes of the gap's value; summed over the positions.
  uint64_t helpOf(const Gap &gap) const {
    uint64_t help = 0;
    for (uint32_t p = gap.after + 1; p < gap.before; ++p)
      if (load_[p] > budget_)
        help += std::min(gap.sizeBytes, load_[p] - budget_);
    return help;
  }

  void apply(size_t g, Choice choice) {
    for (uint32_t p = gaps_[g].after + 1; p < gaps_[g].before; ++p)
      load_[p] += choice == Choice::kStay ? gaps_[g].sizeBytes : -gaps_[g].sizeBytes;
    chosen_[g] = choice;
  }

  /// Applies the choice with the most useful bytes (helpOf()) per cost. Returns false if none
  /// helps.
  bool applyBest() {
    size_t best = gaps_.size();
    Choice bestChoice = Choice::kStay;
    double bestRate = -1;
    for (size_t g = 0; g < gaps_.size(); ++g) {
      const Gap &gap = gaps_[g];
      if (chosen_[g] != Choice::kStay)
        continue;
      const auto help = static_cast<double>(helpOf(gap));
      if (help == 0 || neededByRecomputation(gap))
        continue;
      const auto offer = [&](double cost, Choice choice) {
        const double rate = help / std::max(cost, 1e-9);
        if (rate > bestRate) {
          bestRate = rate;
          best = g;
          bestChoice = choice;
        }
      };
      if (gap.canRecompute && operandsStay(gap))
        offer(gap.recomputeCost, Choice::kRecompute);
      offer(moveCost(gap), Choice::kMove);
    }
    if (best == gaps_.size())
      return false;
    apply(best, bestChoice);
    return true;
  }

  void choose() {
    chosen_.assign(gaps_.size(), Choice::kStay);
    while (peakOf(load_) > budget_)
      // The operands of chosen recomputations must stay in memory. If no other gap helps, all
      // recomputations become moves, which need no operands.
      if (!applyBest())
        std::replace(chosen_.begin(), chosen_.end(), Choice::kRecompute, Choice::kMove);
  }

  /// Undoes choices without which the budget is still met, the most expensive first.
  void undoUnnecessary() {
    std::vector<size_t> taken;
    for (size_t g = 0; g < gaps_.size(); ++g)
      if (chosen_[g] != Choice::kStay)
        taken.push_back(g);
    const auto cost = [&](size_t g) {
      return chosen_[g] == Choice::kRecompute ? gaps_[g].recomputeCost : moveCost(gaps_[g]);
    };
    std::stable_sort(taken.begin(), taken.end(),
                     [&](size_t a, size_t b) { return cost(a) > cost(b); });
    for (const size_t g : taken) {
      const Choice choice = chosen_[g];
      apply(g, Choice::kStay);
      if (peakOf(load_) > budget_)
        apply(g, choice);
    }
  }

  void report(BudgetPlan &plan) const {
    std::vector<uint64_t> recomputed = load_;
    std::vector<bool> stored(problem_.graph.values.size(), false);
    for (size_t g = 0; g < gaps_.size(); ++g) { // Gaps are sorted by value, then by time.
      if (chosen_[g] == Choice::kStay)
        continue;
      const Gap &gap = gaps_[g];
      const bool moves = chosen_[g] == Choice::kMove;
      if (moves)
        for (uint32_t p = gap.after + 1; p < gap.before; ++p)
          recomputed[p] += gap.sizeBytes;
      const bool store = moves && !stored[gap.value];
      if (moves)
        stored[gap.value] = true;
      plan.actions.push_back(
          {moves ? BudgetAction::Kind::kMove : BudgetAction::Kind::kRecompute, gap.value, gap.after,
           gap.before, store,
           moves ? problem_.hostByteCost * static_cast<double>(gap.sizeBytes) * (store ? 2 : 1)
                 : gap.recomputeCost});
    }
    std::stable_sort(
        plan.actions.begin(), plan.actions.end(),
        [](const BudgetAction &a, const BudgetAction &b) { return a.before < b.before; });
    plan.recomputedPeakBytes = peakOf(recomputed);
    plan.peakBytes = peakOf(load_);
  }

  const BudgetProblem &problem_;
  const OrderGraph graph_;
  const uint64_t budget_;
  std::vector<uint64_t> load_; // Bytes alive at each position.
  std::vector<Gap> gaps_;
  std::vector<Choice> chosen_; // One per gap.
};

} // namespace

Result<BudgetPlan> fitBudget(const BudgetProblem &problem, uint64_t budgetBytes) {
  if (problem.recomputeCost.size() != problem.graph.operators.size())
    return statusf(StatusCode::kInvalidArgument,
                   "recomputeCost has %zu entries; %zu operators need one each",
                   problem.recomputeCost.size(), problem.graph.operators.size());
  GANTRY_RETURN_IF_ERROR(checkOrderProblem(problem.graph));
  return Fitter(problem, budgetBytes).run();
}

} // namespace gantry::plan
