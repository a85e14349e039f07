#include "tests/support/branchy_graph.h"

#include <algorithm>
#include <random>

namespace gantry::test {

namespace {

class Builder {
public:
  explicit Builder(unsigned seed) : random_(seed) {}

  uint32_t pick(uint32_t min, uint32_t max) {
    return std::uniform_int_distribution<uint32_t>(min, max)(random_);
  }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }

  /// Adds an operator with one result of this size in bytes, and returns the result. An elementwise
  /// operator may reuse the storage of an operand of the same size.
  uint32_t op(const std::vector<uint32_t> &reads, uint64_t bytes, bool elementwise = false) {
    const auto value = static_cast<uint32_t>(problem.values.size());
    problem.values.push_back({bytes, false});
    plan::OrderProblem::Operator op;
    op.reads = reads;
    op.writes = {value};
    if (elementwise)
      for (uint32_t read : reads)
        if (problem.values[read].sizeBytes == bytes)
          op.mayTake.push_back(read);
    problem.operators.push_back(op);
    return value;
  }
  uint32_t input(uint64_t bytes) {
    problem.values.push_back({bytes, false});
    return static_cast<uint32_t>(problem.values.size() - 1);
  }
  uint64_t sizeOf(uint32_t value) const { return problem.values[value].sizeBytes; }

  plan::OrderProblem problem;

private:
  std::mt19937 random_;
};

constexpr uint64_t kUnit = 4096;

// A chain of three cells. Each node of a cell reads random earlier nodes. At the end of a cell, one
// operator reads all nodes that no other node reads.
plan::OrderProblem randomlyWired(unsigned seed) {
  Builder b(seed);
  uint32_t x = b.op({b.input(16 * kUnit)}, 32 * kUnit);
  for (uint32_t cell = 0; cell < 3; ++cell) {
    const uint64_t unit = (8 >> cell) * kUnit;
    const uint32_t count = b.pick(10, 24);
    std::vector<uint32_t> nodes, used(count, 0);
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<uint32_t> reads;
      for (uint32_t j = i < 5 ? 0 : i - 5; j < i; ++j)
        if (b.chance(0.4)) {
          reads.push_back(nodes[j]);
          used[j] = 1;
        }
      if (reads.empty())
        reads.push_back(x);
      nodes.push_back(b.op(reads, unit * b.pick(1, 4)));
    }
    std::vector<uint32_t> ends;
    for (uint32_t i = 0; i < count; ++i)
      if (!used[i])
        ends.push_back(nodes[i]);
    x = b.op(ends, 2 * unit);
  }
  b.problem.values[x].kept = true;
  return b.problem;
}

// A chain of four cells. Each node of a cell adds two branches of two operators on earlier nodes.
plan::OrderProblem searchedCells(unsigned seed) {
  Builder b(seed);
  uint32_t previous = b.op({b.input(4 * kUnit)}, 16 * kUnit), x = previous;
  for (uint32_t cell = 0; cell < 4; ++cell) {
    const uint64_t unit = (16 >> (cell / 2)) * kUnit;
    std::vector<uint32_t> nodes = {b.op({previous}, unit), b.op({x}, unit)};
    for (uint32_t node = 0; node < 5; ++node) {
      uint32_t sides[2];
      for (uint32_t &side : sides) {
        const uint32_t from = nodes[b.pick(0, static_cast<uint32_t>(nodes.size()) - 1)];
        side = b.op({from}, unit * b.pick(1, 3)); // A depthwise convolution that adds channels.
        side = b.op({side}, unit);                // A pointwise convolution.
      }
      nodes.push_back(b.op({sides[0], sides[1]}, unit, true));
    }
    previous = x;
    x = b.op({nodes.begin() + 2, nodes.end()}, unit * 2);
  }
  b.problem.values[x].kept = true;
  return b.problem;
}

// Blocks of parallel branches whose inner layers are larger than their last layer. The given order
// runs the first layers of all branches, then all second layers, and so on.
plan::OrderProblem inceptionBlocks(unsigned seed) {
  Builder b(seed);
  uint32_t x = b.op({b.input(4 * kUnit)}, 24 * kUnit);
  for (uint32_t block = 0; block < 5; ++block) {
    const uint32_t branches = b.pick(3, 7);
    std::vector<uint32_t> heads(branches, x), depths;
    for (uint32_t i = 0; i < branches; ++i)
      depths.push_back(b.pick(1, 4));
    for (uint32_t layer = 0; layer < 4; ++layer)
      for (uint32_t i = 0; i < branches; ++i)
        if (layer < depths[i]) {
          const bool last = layer + 1 == depths[i];
          heads[i] = b.op({heads[i]}, (last ? b.pick(1, 3) : b.pick(6, 20)) * kUnit);
        }
    x = b.op(heads, 12 * kUnit);
  }
  b.problem.values[x].kept = true;
  return b.problem;
}

// Up to four scales in parallel. After each stage, every scale adds all others, resampled to its
// size.
plan::OrderProblem multiScale(unsigned seed) {
  Builder b(seed);
  std::vector<uint32_t> scales = {b.op({b.input(4 * kUnit)}, 16 * kUnit)};
  for (uint32_t stage = 0; stage < 4; ++stage) {
    if (scales.size() < 4)
      scales.push_back(b.op({scales.back()}, b.sizeOf(scales.back()) / 2));
    for (uint32_t &scale : scales)
      for (uint32_t i = 0; i < b.pick(1, 2); ++i) {
        const uint64_t size = b.sizeOf(scale);
        scale = b.op({b.op({scale}, size * b.pick(1, 3))}, size);
      }
    std::vector<std::vector<uint32_t>> parts(scales.size());
    for (size_t to = 0; to < scales.size(); ++to)
      for (size_t from = 0; from < scales.size(); ++from)
        parts[to].push_back(from == to ? scales[to] : b.op({scales[from]}, b.sizeOf(scales[to])));
    for (size_t to = 0; to < scales.size(); ++to)
      scales[to] = b.op(parts[to], b.sizeOf(scales[to]), true);
  }
  const uint32_t out = b.op(scales, 4 * kUnit);
  b.problem.values[out].kept = true;
  return b.problem;
}

// A U-Net whose skip connections contain nodes (U-Net++). The given order runs column by column.
plan::OrderProblem denseSkips(unsigned seed) {
  Builder b(seed);
  const uint32_t levels = b.pick(4, 5);
  std::vector<std::vector<uint32_t>> rows(levels);
  uint32_t x = b.input(4 * kUnit);
  for (uint32_t level = 0; level < levels; ++level) {
    const uint64_t size = (uint64_t{32} >> level) * kUnit;
    x = b.op({b.op({x}, size * b.pick(1, 2))}, size);
    rows[level].push_back(x);
  }
  for (uint32_t column = 1; column < levels; ++column)
    for (uint32_t level = 0; level + column < levels; ++level) {
      const uint64_t size = (uint64_t{32} >> level) * kUnit;
      std::vector<uint32_t> reads = rows[level];
      reads.push_back(b.op({rows[level + 1][column - 1]}, size)); // Upsamples the lower level.
      rows[level].push_back(b.op({b.op(reads, size * b.pick(1, 2))}, size));
    }
  b.problem.values[rows[0].back()].kept = true;
  return b.problem;
}

// An ensemble of towers that read one input; the last operator averages their results. The given
// order runs layer by layer.
plan::OrderProblem towers(unsigned seed) {
  Builder b(seed);
  const uint32_t count = b.pick(3, 6), depth = b.pick(4, 9);
  std::vector<uint32_t> heads(count, b.op({b.input(8 * kUnit)}, 8 * kUnit));
  for (uint32_t layer = 0; layer < depth; ++layer)
    for (uint32_t &head : heads)
      head = b.op({head}, (layer + 1 == depth ? 1 : b.pick(4, 16)) * kUnit);
  const uint32_t out = b.op(heads, kUnit, true);
  b.problem.values[out].kept = true;
  return b.problem;
}

} // namespace

std::vector<BranchyGraph> branchyGraphs(unsigned seed) {
  return {{"randomly wired", randomlyWired(seed)},     {"searched cells", searchedCells(seed)},
          {"inception blocks", inceptionBlocks(seed)}, {"multi-scale", multiScale(seed)},
          {"dense skips", denseSkips(seed)},           {"towers", towers(seed)}};
}

plan::OrderProblem randomGraph(unsigned seed, unsigned maxOperators) {
  Builder b(seed);
  const uint32_t count = b.pick(1, maxOperators), external = b.pick(0, 2);
  for (uint32_t i = 0; i < external; ++i)
    b.input(b.pick(0, 20));
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<uint32_t> reads;
    const auto known = static_cast<uint32_t>(b.problem.values.size());
    for (uint32_t k = b.pick(0, 3); k > 0 && known > 0; --k)
      reads.push_back(b.pick(known > 6 && b.chance(0.7) ? known - 6 : 0, known - 1));
    const uint32_t value = b.op(reads, b.pick(0, 12), b.chance(0.5));
    b.problem.values[value].kept = b.chance(0.1);
    if (b.chance(0.15)) { // Adds a second result to the operator.
      b.problem.values.push_back({b.pick(0, 12), b.chance(0.2)});
      b.problem.operators.back().writes.push_back(value + 1);
    }
  }
  return b.problem;
}

} // namespace gantry::test
