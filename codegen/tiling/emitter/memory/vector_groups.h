// Finds accesses to memory that one vector access can replace: sorts addresses into aligned groups
// of four elements, and states the cost of a vector access.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"
#include "codegen/tiling/emitter/memory/vector_views.h"

#include <map>

namespace gantry::codegen {

/// Returns the remainder of an address, which may be negative, modulo kVectorWidth: 0 to 3.
constexpr int64_t remainderInVector(int64_t address) {
  return ((address % kVectorWidth) + kVectorWidth) % kVectorWidth;
}

/// An aligned group of four elements, accessed under a guard: the number of a set of conditions
/// (guards.h).
struct Group {
  int32_t guard;
  IndexExpr start; // The address of the first element, in elements.
  bool operator<(const Group &other) const {
    return guard != other.guard ? guard < other.guard : start < other.start;
  }
};

/// The points (elements of a tensor) in a group: the index of each in the list of addresses that
/// was divided into groups, and its element in the group (0 to 3).
using Members = llvm::SmallVector<std::pair<unsigned, int64_t>>;

/// Sorts addresses into aligned groups. Leaves out addresses whose variable part (IndexExpr::base)
/// is not always a multiple of four, and groups with fewer than `minElements` distinct elements.
/// guards: the guard of each address.
std::map<Group, Members> alignedGroups(const IndexSpace &space, llvm::ArrayRef<IndexExpr> addresses,
                                       llvm::ArrayRef<int32_t> guards, unsigned minElements);

// The cost of a vector access in which each lane (invocation of a subgroup) touches another cache
// line, relative to one in which neighbouring lanes access neighbouring vectors.
constexpr double kScatteredCost = 2;

/// Returns the cost of a vector access, relative to an access in which neighbouring invocations
/// access the same vector or neighbouring ones. If no lanes share a tile, that is, compute a part
/// of the result together, the cost is 1 in a kernel with a reduction: such a kernel reads most
/// operands from caches. index: the number of the vector in its buffer.
double vectorCost(const KernelContext &context, const IndexExpr &index);

} // namespace gantry::codegen
