// Graphs of branchy networks, for tests and benchmarks of the order search
// (engine/plan/order/order.h).
//
// In these networks the order of the operators decides which tensors are alive together. The given
// order is one that a model file could have, for example cell by cell or layer by layer. The same
// seed gives the same graphs with the same compiler and standard library.
#pragma once

#include "engine/plan/order/order.h"

#include <string>
#include <vector>

namespace gantry::test {

struct BranchyGraph {
  std::string name;
  plan::OrderProblem problem;
};

/// Returns one graph of each family: randomly wired cells (Xie et al., 2019), cells from
/// architecture search (DARTS, NASNet), inception blocks, multi-scale networks whose scales
/// exchange results, U-Nets with dense skips, and ensembles of towers.
std::vector<BranchyGraph> branchyGraphs(unsigned seed);

/// Returns a random directed acyclic graph of 1 to maxOperators operators.
plan::OrderProblem randomGraph(unsigned seed, unsigned maxOperators);

} // namespace gantry::test
