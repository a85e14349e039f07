// Implements vector_groups.h.
#include "codegen/tiling/emitter/memory/vector_groups.h"

#include <bit>

namespace gantry::codegen {

std::map<Group, Members> alignedGroups(const IndexSpace &space, llvm::ArrayRef<IndexExpr> addresses,
                                       llvm::ArrayRef<int32_t> guards, unsigned minElements) {
  std::map<Group, Members> groups;
  for (unsigned i = 0; i < addresses.size(); ++i) {
    if (space.baseDivisor(addresses[i]) % kVectorWidth != 0)
      continue;
    Group group{guards[i], addresses[i]};
    const int64_t lane = remainderInVector(addresses[i].constant);
    group.start.constant -= lane;
    groups[group].push_back({i, lane});
  }
  for (auto it = groups.begin(); it != groups.end();) {
    unsigned lanes = 0;
    for (auto [i, lane] : it->second)
      lanes |= 1u << lane;
    it = static_cast<unsigned>(std::popcount(lanes)) < minElements ? groups.erase(it) : ++it;
  }
  return groups;
}

double vectorCost(const KernelContext &context, const IndexExpr &index) {
  const TileShape &tile = context.tile;
  const IndexExpr &lane = context.invocation.lane;
  bool scattered = false;
  if (tile.lanes > 1) {
    // Variables that differ among the lanes are the lane's number and indices computed from it. If
    // one occurs, with the factor 1, neighbouring lanes access neighbouring vectors.
    const auto terms = context.space.splitUniform(index).second.terms;
    scattered = terms.size() > 1 || (terms.size() == 1 && terms.front().second != 1);
  } else if (tile.reduction.empty() && !lane.isConstant()) {
    // Neighbouring invocations compute neighbouring tiles along the last dimension. If the vectors
    // of each invocation are contiguous, those of neighbouring invocations are contiguous together.
    const int64_t run = std::max<int64_t>(1, tile.result.back() / kVectorWidth);
    for (const auto &[variable, coefficient] : index.terms)
      if (variable == lane.terms.front().first)
        scattered = coefficient != 1 && coefficient != run;
  }
  return scattered ? kScatteredCost : 1;
}

} // namespace gantry::codegen
