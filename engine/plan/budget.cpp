#include "engine/plan/budget.h"

#include "engine/plan/order_search.h"

#include <algorithm>
#include <numeric>

namespace gantry::plan {

namespace {

struct Gap {
  uint32_t value, writer; // of the problem
  uint32_t after, before; // positions of the two uses
  uint64_t sizeBytes;
  bool canRecompute;
  double recomputeCost;
};

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
    std::vector<uint64_t> least = load_;
    for (const Gap &gap : gaps_)
      for (uint32_t p = gap.after + 1; p < gap.before; ++p)
        least[p] -= gap.sizeBytes;
    plan.leastPeakBytes = peakOf(least);
    plan.leastAt =
        uint32_t(std::find(least.begin(), least.end(), plan.leastPeakBytes) - least.begin());
    if (plan.leastPeakBytes > budget_)
      return plan;
    plan.fits = true;
    choose();
    dropNeedless();
    report(plan);
    return plan;
  }

private:
  static uint64_t peakOf(const std::vector<uint64_t> &load) {
    return load.empty() ? 0 : *std::max_element(load.begin(), load.end());
  }

  void findGaps() {
    std::vector<uint32_t> numbers; // of the problem, by number of the graph
    std::vector<bool> written(problem_.graph.values.size(), false);
    for (const auto &op : problem_.graph.operators)
      for (uint32_t value : op.writes)
        written[value] = true;
    for (uint32_t v = 0; v < written.size(); ++v)
      if (written[v])
        numbers.push_back(v);
    for (uint32_t v = 0; v < graph_.values().size(); ++v) {
      const OrderGraph::Value &value = graph_.values()[v];
      uint32_t last = value.writer;
      for (uint32_t reader : value.readers) { // ascending
        if (reader > last + 1 && value.sizeBytes > 0)
          gaps_.push_back({numbers[v], value.writer, last, reader, value.sizeBytes,
                           canRecompute(value.writer, reader),
                           problem_.recomputeCost[value.writer]});
        last = reader;
      }
    }
  }

  /// Whether the operator's operands lie in memory before position `at`, or come from outside.
  bool canRecompute(uint32_t op, uint32_t at) const {
    if (problem_.recomputeCost[op] < 0 || graph_.operators()[op].writes.size() != 1)
      return false;
    return std::all_of(
        graph_.operators()[op].reads.begin(), graph_.operators()[op].reads.end(), [&](uint32_t v) {
          const OrderGraph::Value &value = graph_.values()[v];
          return value.kept || (!value.readers.empty() && value.readers.back() >= at);
        });
  }

  /// A value that is computed again needs its operands in memory: they may not be away then.
  bool operandsStay(const Gap &gap) const {
    for (size_t g = 0; g < gaps_.size(); ++g)
      if (chosen_[g] != 0 && gaps_[g].after < gap.before && gap.before <= gaps_[g].before &&
          reads(gap.writer, gaps_[g].value))
        return false;
    return true;
  }
  bool neededByRecomputation(const Gap &gap) const {
    for (size_t g = 0; g < gaps_.size(); ++g)
      if (chosen_[g] == 1 && gap.after < gaps_[g].before && gaps_[g].before <= gap.before &&
          reads(gaps_[g].writer, gap.value))
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
      stored = stored || (chosen_[g] == 2 && gaps_[g].value == gap.value && &gaps_[g] != &gap);
    return problem_.hostByteCost * static_cast<double>(gap.sizeBytes) * (stored ? 1 : 2);
  }

  /// The bytes that a gap takes away where there are too many.
  uint64_t helpOf(const Gap &gap) const {
    uint64_t help = 0;
    for (uint32_t p = gap.after + 1; p < gap.before; ++p)
      if (load_[p] > budget_)
        help += std::min(gap.sizeBytes, load_[p] - budget_);
    return help;
  }

  void apply(size_t g, uint8_t how) {
    for (uint32_t p = gaps_[g].after + 1; p < gaps_[g].before; ++p)
      load_[p] += how == 0 ? gaps_[g].sizeBytes : -gaps_[g].sizeBytes;
    chosen_[g] = how;
  }

  void choose() {
    chosen_.assign(gaps_.size(), 0);
    while (peakOf(load_) > budget_) {
      size_t best = gaps_.size();
      uint8_t how = 0;
      double bestRate = -1;
      for (size_t g = 0; g < gaps_.size(); ++g) {
        if (chosen_[g] != 0)
          continue;
        const auto help = static_cast<double>(helpOf(gaps_[g]));
        if (help == 0)
          continue;
        auto offer = [&](double cost, uint8_t kind) {
          const double rate = help / std::max(cost, 1e-9);
          if (rate > bestRate) {
            bestRate = rate;
            best = g;
            how = kind;
          }
        };
        if (neededByRecomputation(gaps_[g]))
          continue;
        if (gaps_[g].canRecompute && operandsStay(gaps_[g]))
          offer(gaps_[g].recomputeCost, 1);
        offer(moveCost(gaps_[g]), 2);
      }
      if (best == gaps_.size()) { // recomputations hold on to what is needed: move them instead
        for (size_t g = 0; g < gaps_.size(); ++g)
          if (chosen_[g] == 1)
            chosen_[g] = 2;
        continue;
      }
      apply(best, how);
    }
  }

  /// What others made needless, from the dearest on.
  void dropNeedless() {
    std::vector<size_t> taken;
    for (size_t g = 0; g < gaps_.size(); ++g)
      if (chosen_[g] != 0)
        taken.push_back(g);
    auto cost = [&](size_t g) {
      return chosen_[g] == 1 ? gaps_[g].recomputeCost : moveCost(gaps_[g]);
    };
    std::stable_sort(taken.begin(), taken.end(),
                     [&](size_t a, size_t b) { return cost(a) > cost(b); });
    for (size_t g : taken) {
      const uint8_t how = chosen_[g];
      apply(g, 0);
      if (peakOf(load_) > budget_)
        apply(g, how);
    }
  }

  void report(BudgetPlan &plan) const {
    std::vector<uint64_t> recomputed = load_;
    std::vector<bool> stored(problem_.graph.values.size(), false);
    for (size_t g = 0; g < gaps_.size(); ++g) { // by value, and in time for each
      if (chosen_[g] == 0)
        continue;
      const Gap &gap = gaps_[g];
      const bool moves = chosen_[g] == 2;
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
  std::vector<uint64_t> load_; // per position
  std::vector<Gap> gaps_;
  std::vector<uint8_t> chosen_; // per gap: 0 no, 1 recompute, 2 move
};

} // namespace

Result<BudgetPlan> fitBudget(const BudgetProblem &problem, uint64_t budgetBytes) {
  if (problem.recomputeCost.size() != problem.graph.operators.size())
    return statusf(StatusCode::kInvalidArgument, "%zu costs for %zu operators",
                   problem.recomputeCost.size(), problem.graph.operators.size());
  GANTRY_RETURN_IF_ERROR(checkOrderProblem(problem.graph));
  return Fitter(problem, budgetBytes).run();
}

} // namespace gantry::plan
