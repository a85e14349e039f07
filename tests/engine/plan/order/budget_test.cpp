// Tests fitBudget(), which lowers the peak to a budget by actions: it moves values to host memory
// and back, or recomputes them. A replay of the operators and actions checks that every value is in
// memory when an operator reads it, and measures the peak independently of fitBudget().
#include "engine/plan/order/budget.h"
#include "tests/support/branchy_graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace gantry::plan {
namespace {

/// Returns the graph as a problem in which recomputing any operator has this cost.
BudgetProblem withCosts(OrderProblem graph, double recompute) {
  BudgetProblem problem;
  problem.recomputeCost.assign(graph.operators.size(), recompute);
  problem.graph = std::move(graph);
  return problem;
}

/// Simulates the operators and the actions on the set of values in memory. A value leaves the set
/// after its last use, and after the operator at which an action removes it. Returns the max number
/// of bytes in memory during one operator. Fails the test if an operator reads a value that is not
/// in memory.
uint64_t replay(const BudgetProblem &problem, const BudgetPlan &plan) {
  const OrderProblem &graph = problem.graph;
  std::map<uint32_t, uint32_t> writer;
  std::map<uint32_t, std::set<uint32_t>> uses;
  for (uint32_t i = 0; i < graph.operators.size(); ++i) {
    for (uint32_t v : graph.operators[i].writes)
      writer[v] = i;
    for (uint32_t v : graph.operators[i].reads)
      uses[v].insert(i);
  }
  std::set<uint32_t> there, onHost;
  auto bytes = [&] {
    uint64_t sum = 0;
    for (uint32_t v : there)
      sum += graph.values[v].sizeBytes;
    return sum;
  };
  uint64_t peak = 0;
  for (uint32_t p = 0; p < graph.operators.size(); ++p) {
    const auto &op = graph.operators[p];
    for (const BudgetAction &action : plan.actions) {
      if (action.before != p)
        continue;
      EXPECT_FALSE(there.count(action.value));
      if (action.kind == BudgetAction::Kind::kMove) {
        EXPECT_TRUE(onHost.count(action.value)) << "moved back before it was moved away";
      } else {
        for (uint32_t v : graph.operators[writer[action.value]].reads) {
          EXPECT_TRUE(!writer.count(v) || there.count(v)) << "an operand is not in memory";
        }
      }
      there.insert(action.value);
    }
    for (uint32_t v : op.reads) {
      EXPECT_TRUE(!writer.count(v) || there.count(v)) << "operator " << p << " misses value " << v;
    }
    for (uint32_t v : op.writes)
      there.insert(v);
    uint64_t now = bytes();
    for (uint32_t v : op.mayTake) {
      if (!writer.count(v) || graph.values[v].kept || *uses[v].rbegin() != p ||
          graph.values[v].sizeBytes != graph.values[op.writes[0]].sizeBytes)
        continue;
      now -= graph.values[v].sizeBytes;
      break;
    }
    peak = std::max(peak, now);
    for (const BudgetAction &action : plan.actions)
      if (action.after == p) {
        if (action.kind == BudgetAction::Kind::kMove && action.store)
          onHost.insert(action.value);
        there.erase(action.value);
      }
    for (auto at = there.begin(); at != there.end();) {
      const bool used = graph.values[*at].kept || (!uses[*at].empty() && *uses[*at].rbegin() > p);
      at = used ? std::next(at) : there.erase(at);
    }
  }
  return peak;
}

TEST(Budget, MeetsEveryBudgetDownToTheLargestOperator) {
  int recomputed = 0, moved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    // Recomputation is cheap for odd seeds and expensive for even ones.
    BudgetProblem problem = withCosts(test::randomGraph(seed, 40), seed % 2 ? 1 : 1000);
    auto whole = fitBudget(problem, UINT64_MAX);
    ASSERT_TRUE(whole.isOk());
    EXPECT_TRUE(whole->fits);
    EXPECT_TRUE(whole->actions.empty());
    EXPECT_EQ(whole->peakBytes, replay(problem, *whole)) << seed;
    for (uint64_t budget = whole->minPeakBytes; budget <= whole->givenPeakBytes; ++budget) {
      auto plan = fitBudget(problem, budget);
      ASSERT_TRUE(plan.isOk());
      ASSERT_TRUE(plan->fits) << seed;
      EXPECT_LE(plan->peakBytes, budget) << seed;
      EXPECT_EQ(plan->peakBytes, replay(problem, *plan)) << seed << " at " << budget;
      for (const BudgetAction &action : plan->actions)
        (action.kind == BudgetAction::Kind::kMove ? moved : recomputed) += 1;
    }
    if (whole->minPeakBytes > 0) {
      EXPECT_FALSE(fitBudget(problem, whole->minPeakBytes - 1)->fits);
    }
  }
  EXPECT_GT(recomputed, 100);
  EXPECT_GT(moved, 100);
}

TEST(Budget, MeetsSixtyPercentOfThePeakOfBranchyNetworks) {
  for (unsigned seed = 1; seed <= 5; ++seed)
    for (const test::BranchyGraph &graph : test::branchyGraphs(seed)) {
      BudgetProblem problem = withCosts(graph.problem, 1e5);
      auto whole = fitBudget(problem, UINT64_MAX);
      ASSERT_TRUE(whole.isOk());
      const uint64_t budget = std::max(whole->givenPeakBytes * 6 / 10, whole->minPeakBytes);
      auto plan = fitBudget(problem, budget);
      ASSERT_TRUE(plan.isOk());
      EXPECT_TRUE(plan->fits) << graph.name;
      EXPECT_LE(replay(problem, *plan), budget) << graph.name;
    }
}

TEST(Budget, ValuesThatMayNotLeaveStay) {
  // In the first graph, the last operator reads all values, so none of them can leave memory. In
  // the second graph, values 0 and 1 can leave while value 2 is alive, unless mayLeave is false.
  OrderProblem graph;
  graph.values = {{100, false}, {50, false}, {100, false}};
  graph.operators = {{{}, {0}, {}}, {{}, {1}, {}}, {{}, {2}, {}}, {{0, 1, 2}, {}, {}}};
  EXPECT_EQ(fitBudget(withCosts(graph, -1), UINT64_MAX)->minPeakBytes, 250u);
  graph.operators = {{{}, {0}, {}}, {{}, {1}, {}}, {{}, {2}, {}}, {{2}, {}, {}}, {{0, 1}, {}, {}}};
  EXPECT_EQ(fitBudget(withCosts(graph, -1), UINT64_MAX)->minPeakBytes, 150u);
  graph.values[0].mayLeave = false;
  const auto plan = fitBudget(withCosts(graph, -1), 200);
  ASSERT_TRUE(plan.isOk() && plan->fits);
  EXPECT_EQ(plan->minPeakBytes, 200u);
  for (const BudgetAction &action : plan->actions)
    EXPECT_NE(action.value, 0u);
}

TEST(Budget, RecomputesCheapValuesAndMovesOthers) {
  // Value 0 is written first and read last. Value 1 has the same size; it is written and read while
  // value 0 is alive.
  OrderProblem graph;
  graph.values = {{100, false}, {100, false}, {1, false}, {1, true}};
  graph.operators = {
      {{}, {0}, {}}, {{0}, {2}, {}}, {{}, {1}, {}}, {{1, 2}, {3}, {}}, {{0, 3}, {}, {}}};
  auto cheap = fitBudget(withCosts(graph, 1), 150);
  ASSERT_TRUE(cheap.isOk() && cheap->fits);
  ASSERT_EQ(cheap->actions.size(), 1u);
  EXPECT_EQ(cheap->actions[0].kind, BudgetAction::Kind::kRecompute);
  EXPECT_EQ(cheap->actions[0].after, 1u);
  EXPECT_EQ(cheap->actions[0].before, 4u);
  auto expensive = fitBudget(withCosts(graph, 1e9), 150);
  ASSERT_TRUE(expensive.isOk() && expensive->fits);
  ASSERT_EQ(expensive->actions.size(), 1u);
  EXPECT_EQ(expensive->actions[0].kind, BudgetAction::Kind::kMove);
  EXPECT_TRUE(expensive->actions[0].store);
  auto never = fitBudget(withCosts(graph, -1), 150);
  ASSERT_TRUE(never.isOk() && never->fits);
  EXPECT_EQ(never->actions[0].kind, BudgetAction::Kind::kMove);
}

TEST(Budget, RefusesInvalidGraphs) {
  BudgetProblem costs;
  costs.graph.operators.resize(1);
  EXPECT_EQ(fitBudget(costs, 1).status().code(), StatusCode::kInvalidArgument);
  BudgetProblem outside = withCosts({{{1, false}}, {{{3}, {0}, {}}}}, 1);
  EXPECT_EQ(fitBudget(outside, 1).status().code(), StatusCode::kInvalidArgument);
}

} // namespace
} // namespace gantry::plan
