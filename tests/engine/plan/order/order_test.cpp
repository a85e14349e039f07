// Tests the order search (order.h): against brute force on small graphs, and against the given
// order on branchy networks (branchy_graph.h).
#include "engine/plan/order/order.h"

#include "engine/plan/order/order_graph.h"
#include "tests/support/branchy_graph.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace gantry::plan {
namespace {

/// Bytes alive during and after an operator.
struct Alive {
  uint64_t during = 0;
  uint64_t after = 0;
};

/// Returns the bytes alive when `op` runs after the operators of the bit set `done`. Implements the
/// definition in order.h and shares no code with the search.
Alive aliveAt(const OrderProblem &problem, uint32_t done, uint32_t op) {
  auto writerOf = [&](uint32_t value) {
    for (uint32_t i = 0; i < problem.operators.size(); ++i)
      for (uint32_t written : problem.operators[i].writes)
        if (written == value)
          return static_cast<int>(i);
    return -1;
  };
  auto neededBeyond = [&](uint32_t value, uint32_t set) {
    if (problem.values[value].kept)
      return true;
    for (uint32_t i = 0; i < problem.operators.size(); ++i)
      if (!(set >> i & 1))
        for (uint32_t read : problem.operators[i].reads)
          if (read == value)
            return true;
    return false;
  };
  const uint32_t with = done | 1u << op;
  std::vector<int> storageOf(problem.values.size(), -1);
  for (size_t s = 0; s < problem.storages.size(); ++s)
    for (uint32_t value : problem.storages[s].values)
      storageOf[value] = static_cast<int>(s);
  Alive alive;
  for (uint32_t value = 0; value < problem.values.size(); ++value) {
    const int writer = writerOf(value);
    if (writer < 0 || !(with >> writer & 1) || storageOf[value] >= 0)
      continue;
    const uint64_t size = problem.values[value].sizeBytes;
    if (writer == static_cast<int>(op) || neededBeyond(value, done))
      alive.during += size;
    if (neededBeyond(value, with))
      alive.after += size;
  }
  for (const OrderProblem::Storage &storage : problem.storages) {
    bool begun = false, writtenNow = false, neededBefore = false, neededAfter = false;
    for (uint32_t value : storage.values) {
      const int writer = writerOf(value);
      begun |= (with >> writer & 1) != 0;
      writtenNow |= writer == static_cast<int>(op);
      neededBefore |= !(done >> writer & 1) || neededBeyond(value, done);
      neededAfter |= !(with >> writer & 1) || neededBeyond(value, with);
    }
    if (begun && (writtenNow || neededBefore))
      alive.during += storage.sizeBytes;
    if (begun && neededAfter)
      alive.after += storage.sizeBytes;
  }
  const OrderProblem::Operator &step = problem.operators[op];
  for (uint32_t value : step.mayTake)
    if (writerOf(value) >= 0 && !neededBeyond(value, with) &&
        problem.values[value].sizeBytes == problem.values[step.writes[0]].sizeBytes) {
      alive.during -= problem.values[value].sizeBytes;
      break;
    }
  return alive;
}

/// Returns whether every operator that writes an operand of `op` is in the bit set `done`.
bool canRun(const OrderProblem &problem, uint32_t done, uint32_t op) {
  for (uint32_t read : problem.operators[op].reads)
    for (uint32_t i = 0; i < problem.operators.size(); ++i)
      for (uint32_t written : problem.operators[i].writes)
        if (written == read && !(done >> i & 1))
          return false;
  return true;
}

/// Returns the minimum peak of all orders, by dynamic programming over all sets of operators.
uint64_t bruteForce(const OrderProblem &problem) {
  const auto count = static_cast<uint32_t>(problem.operators.size());
  std::vector<uint64_t> best(size_t{1} << count, UINT64_MAX);
  best[0] = 0;
  for (uint32_t set = 0; set + 1 < 1u << count; ++set) {
    if (best[set] == UINT64_MAX)
      continue;
    for (uint32_t op = 0; op < count; ++op)
      if (!(set >> op & 1) && canRun(problem, set, op)) {
        uint64_t &to = best[set | 1u << op];
        to = std::min(to, std::max(best[set], aliveAt(problem, set, op).during));
      }
  }
  return best.back();
}

/// Returns the peak of one order and checks that the order is executable.
uint64_t simulatedPeak(const OrderProblem &problem, const std::vector<uint32_t> &order) {
  uint32_t done = 0;
  uint64_t peak = 0;
  for (uint32_t op : order) {
    EXPECT_FALSE(done >> op & 1);
    EXPECT_TRUE(canRun(problem, done, op));
    peak = std::max(peak, aliveAt(problem, done, op).during);
    done |= 1u << op;
  }
  return peak;
}

/// Searches an order and checks it against brute force. The order may have any number of stages
/// (groups of operators that can run at the same time, OrderOptions::maxStageGrowth).
void expectOptimal(const OrderProblem &problem, unsigned seed) {
  OrderOptions free;
  free.maxStageGrowth = 1e9;
  auto found = searchOrder(problem, free);
  ASSERT_TRUE(found.isOk()) << found.status().message();
  ASSERT_EQ(found->operators.size(), problem.operators.size());
  EXPECT_TRUE(found->optimal) << seed;
  EXPECT_EQ(found->peakBytes, bruteForce(problem)) << seed;
  EXPECT_EQ(found->peakBytes, simulatedPeak(problem, found->operators)) << seed;
  std::vector<uint32_t> given(problem.operators.size());
  std::iota(given.begin(), given.end(), 0);
  EXPECT_EQ(found->givenPeakBytes, simulatedPeak(problem, given)) << seed;
}

TEST(Order, EqualsBruteForceUpToSixteenOperators) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    OrderProblem problem = test::randomGraph(seed, seed % 20 == 0 ? 16 : 10);
    expectOptimal(problem, seed);
  }
}

/// Puts some of the graph's written values into storages (OrderProblem::Storage) of two to four
/// values.
void shareStorages(OrderProblem &problem, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> values;
  for (const auto &op : problem.operators)
    values.insert(values.end(), op.writes.begin(), op.writes.end());
  std::shuffle(values.begin(), values.end(), random);
  std::vector<bool> shares(problem.values.size(), false);
  for (size_t next = 0; next + 2 <= values.size() && problem.storages.size() < 3;) {
    OrderProblem::Storage storage;
    for (size_t count = std::min(2 + random() % 3, values.size() - next); count > 0; --count) {
      storage.values.push_back(values[next]);
      storage.sizeBytes += problem.values[values[next]].sizeBytes;
      shares[values[next++]] = true;
    }
    problem.storages.push_back(storage);
  }
  for (auto &op : problem.operators)
    std::erase_if(op.mayTake,
                  [&](uint32_t value) { return shares[value] || shares[op.writes[0]]; });
}

TEST(Order, StoragesOfSeveralValuesEqualBruteForce) {
  int graphs = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    OrderProblem problem = test::randomGraph(seed, seed % 20 == 0 ? 15 : 10);
    shareStorages(problem, seed);
    graphs += !problem.storages.empty();
    expectOptimal(problem, seed);
  }
  EXPECT_GT(graphs, 300);
}

/// The second result of the last operator lies in a storage whose first value precedes the first
/// result. The first result takes the bytes of the operand nevertheless.
TEST(Order, TheFirstResultTakesAnOperandBesideAResultInAStorage) {
  OrderProblem problem;
  problem.values = {{100}, {10}, {100, /*kept=*/true}, {10}};
  problem.operators = {{{}, {0}, {}}, {{}, {1}, {}}, {{0}, {2, 3}, {0}}};
  problem.storages = {{20, {1, 3}}};
  expectOptimal(problem, 0);
  EXPECT_EQ(searchOrder(problem, {})->peakBytes, 120u);
}

void expectExecutable(const OrderProblem &problem, const std::vector<uint32_t> &order) {
  std::vector<bool> written(problem.values.size(), true), ran(order.size(), false);
  for (const auto &op : problem.operators)
    for (uint32_t value : op.writes)
      written[value] = false;
  for (uint32_t op : order) {
    EXPECT_FALSE(ran[op]);
    ran[op] = true;
    for (uint32_t value : problem.operators[op].reads)
      EXPECT_TRUE(written[value]);
    for (uint32_t value : problem.operators[op].writes)
      written[value] = true;
  }
  EXPECT_EQ(std::count(ran.begin(), ran.end(), true), std::ptrdiff_t(order.size()));
}

TEST(Order, LowersBranchyNetworksByAFifth) {
  double logSum = 0;
  int count = 0;
  for (unsigned seed = 1; seed <= 10; ++seed)
    for (const test::BranchyGraph &graph : test::branchyGraphs(seed)) {
      auto found = searchOrder(graph.problem);
      ASSERT_TRUE(found.isOk()) << graph.name;
      expectExecutable(graph.problem, found->operators);
      EXPECT_EQ(found->peakBytes, OrderGraph(graph.problem).walk(found->operators).peakBytes);
      EXPECT_LE(found->peakBytes, found->givenPeakBytes) << graph.name << " " << seed;
      EXPECT_LE(found->stages, 5 * found->givenStages) << graph.name << " " << seed;
      const double ratio = double(found->peakBytes) / double(found->givenPeakBytes);
      logSum += std::log(ratio);
      ++count;
      if (seed == 1)
        std::printf(
            "%-18s %3zu operators: %6.1f%% of the given order's peak, %u stages (given order: "
            "%u), %s\n",
            graph.name.c_str(), graph.problem.operators.size(), 100 * ratio, found->stages,
            found->givenStages, found->optimal ? "optimal" : "best found");
    }
  const double mean = std::exp(logSum / count);
  std::printf("geometric mean over %d graphs: %.3f\n", count, mean);
  EXPECT_LE(mean, 0.80);
}

TEST(Order, IsDeterministic) {
  for (const test::BranchyGraph &graph : test::branchyGraphs(77))
    EXPECT_EQ(searchOrder(graph.problem)->operators, searchOrder(graph.problem)->operators);
}

TEST(Order, KeepsTheLimitOfStages) {
  OrderOptions tight;
  tight.maxStageGrowth = 0;
  for (unsigned seed = 1; seed <= 10; ++seed)
    for (const test::BranchyGraph &graph : test::branchyGraphs(seed)) {
      auto found = searchOrder(graph.problem, tight);
      ASSERT_TRUE(found.isOk());
      EXPECT_LE(found->stages, found->givenStages) << graph.name;
      EXPECT_LE(found->peakBytes, found->givenPeakBytes) << graph.name;
    }
}

TEST(Order, LargeGraphsTakeBoundedWork) {
  // The graph consists of twenty independent networks; the given order alternates between them.
  OrderProblem all;
  std::vector<OrderProblem> parts;
  for (unsigned seed = 0; seed < 20; ++seed)
    parts.push_back(test::branchyGraphs(seed)[seed % 6].problem);
  std::vector<uint32_t> base;
  for (const OrderProblem &part : parts) {
    base.push_back(static_cast<uint32_t>(all.values.size()));
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  }
  for (size_t i = 0; i < 200; ++i)
    for (size_t p = 0; p < parts.size(); ++p)
      if (i < parts[p].operators.size()) {
        OrderProblem::Operator op = parts[p].operators[i];
        for (auto *list : {&op.reads, &op.writes, &op.mayTake})
          for (uint32_t &value : *list)
            value += base[p];
        all.operators.push_back(op);
      }
  OrderOptions free;
  free.maxStageGrowth = 1e9;
  auto found = searchOrder(all, free);
  ASSERT_TRUE(found.isOk());
  expectExecutable(all, found->operators);
  EXPECT_LT(found->peakBytes, found->givenPeakBytes / 2);
}

TEST(Order, RefusesInvalidGraphs) {
  OrderProblem outside{{{1, false}}, {{{3}, {0}, {}}}};
  EXPECT_EQ(searchOrder(outside).status().code(), StatusCode::kInvalidArgument);
  OrderProblem twice{{{1, false}}, {{{}, {0}, {}}, {{}, {0}, {}}}};
  EXPECT_EQ(searchOrder(twice).status().code(), StatusCode::kInvalidArgument);
  OrderProblem early{{{1, false}, {1, false}}, {{{0}, {1}, {}}, {{}, {0}, {}}}};
  EXPECT_EQ(searchOrder(early).status().code(), StatusCode::kInvalidArgument);
  OrderProblem huge{{{UINT64_MAX, false}, {1, false}}, {{{}, {0}, {}}, {{}, {1}, {}}}};
  EXPECT_EQ(searchOrder(huge).status().code(), StatusCode::kInvalidArgument);
  OrderProblem takes{{{1, false}, {1, false}}, {{{}, {0}, {}}, {{}, {1}, {0}}}};
  EXPECT_EQ(searchOrder(takes).status().code(), StatusCode::kInvalidArgument);
  OrderProblem unwritten{{{1, false}, {1, false}}, {{{}, {0}, {}}}, {{2, {0, 1}}}};
  EXPECT_EQ(searchOrder(unwritten).status().code(), StatusCode::kInvalidArgument);
  OrderProblem listedTwice{{{1, false}}, {{{}, {0}, {}}}, {{2, {0, 0}}}};
  EXPECT_EQ(searchOrder(listedTwice).status().code(), StatusCode::kInvalidArgument);
  OrderProblem sharesAndTakes{
      {{1, false}, {1, false}}, {{{}, {0}, {}}, {{0}, {1}, {0}}}, {{2, {0, 1}}}};
  EXPECT_EQ(searchOrder(sharesAndTakes).status().code(), StatusCode::kInvalidArgument);
  auto none = searchOrder({});
  ASSERT_TRUE(none.isOk());
  EXPECT_TRUE(none->operators.empty());
}

} // namespace
} // namespace gantry::plan
