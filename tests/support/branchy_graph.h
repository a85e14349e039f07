// Graphs of branchy networks for tests and benchmarks of the order search, by family and seed:
// the kinds of network in which the order decides what is alive together. The order that they come
// in is the one in which such a model is written down: cell by cell, and in a cell node by node.
#pragma once

#include "engine/plan/order.h"

#include <string>
#include <vector>

namespace gantry::test {

struct BranchyGraph {
  std::string name;
  plan::OrderProblem problem;
};

/// Randomly wired cells (as Xie et al. 2019), cells of searched networks (DARTS, NASNet),
/// inception blocks, multi-scale networks with exchange between the scales, U-Nets with dense
/// skips, ensembles of towers.
std::vector<BranchyGraph> branchyGraphs(unsigned seed);

/// A directed acyclic graph without any plan, of 1 to `most` operators.
plan::OrderProblem randomGraph(unsigned seed, unsigned most);

} // namespace gantry::test
