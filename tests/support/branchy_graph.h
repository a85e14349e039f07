// Graphs of branchy networks, for tests and benchmarks of the order search.
//
// In these networks the order of the operators decides which tensors are alive together. The
// operators come in the order in which such a model is usually written: cell by cell, and within a
// cell node by node. The same seed gives the same graphs on every machine.
#pragma once

#include "engine/plan/order/order.h"

#include <string>
#include <vector>

namespace gantry::test {

struct BranchyGraph {
  std::string name;
  plan::OrderProblem problem;
};

/// Returns graphs of every family: randomly wired cells (Xie et al., 2019), cells from architecture
/// search (DARTS, NASNet), inception blocks, multi-scale networks that exchange between their
/// scales, U-Nets with dense skips, and ensembles of towers.
std::vector<BranchyGraph> branchyGraphs(unsigned seed);

/// Returns a random directed acyclic graph of 1 to maxOperators operators.
plan::OrderProblem randomGraph(unsigned seed, unsigned maxOperators);

} // namespace gantry::test
