// Finds equal items of a list, so that an element that several points of a tile share is evaluated
// once. A point is one element of a tensor (sink/point.h).
//
// Speed matters: the choice of a kernel's tile evaluates thousands of points to predict costs.
//
// Threads: the functions keep no state.
#pragma once

#include "codegen/tiling/sink/point.h"

#include <bit>

namespace gantry::codegen {

/// The distinct items of a list.
struct DistinctItems {
  llvm::SmallVector<unsigned> first;    // By distinct item: the position of the first equal item.
  llvm::SmallVector<unsigned> position; // By item: the position in `first` of the equal item.

  /// Returns the value of each item of the list. values: those of the distinct items.
  Values spread(llvm::ArrayRef<mlir::Value> values) const {
    Values result;
    result.reserve(position.size());
    for (unsigned i : position)
      result.push_back(values[i]);
    return result;
  }
};

/// Finds the distinct items among the items 0 to count - 1, with a hash table with open addressing.
/// hash(i): the hash of an item. equal(i, j): whether two items are equal.
template <typename Hash, typename Equal>
DistinctItems distinctItems(size_t count, const Hash &hash, const Equal &equal) {
  constexpr unsigned kFree = ~0u;
  DistinctItems result;
  const size_t mask = std::bit_ceil(2 * count + 1) - 1;
  llvm::SmallVector<unsigned, 128> table(mask + 1, kFree); // Positions in result.first.
  result.position.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    size_t slot = hash(i) & mask;
    while (table[slot] != kFree && !equal(result.first[table[slot]], i))
      slot = (slot + 1) & mask;
    if (table[slot] == kFree) {
      table[slot] = result.first.size();
      result.first.push_back(i);
    }
    result.position.push_back(table[slot]);
  }
  return result;
}

/// The hash of a guard (guards.h) and of index expressions of one IndexSpace.
class IndexHash {
public:
  explicit IndexHash(int32_t guard) : hash_(static_cast<uint32_t>(guard)) {}
  void add(const IndexExpr &index) {
    hash_ = (hash_ ^ reinterpret_cast<uintptr_t>(index.terms.data())) * kFactor;
    hash_ = (hash_ ^ (hash_ >> 32) ^ static_cast<uint64_t>(index.constant)) * kFactor;
  }
  size_t value() const { return hash_ ^ (hash_ >> 32); }

private:
  static constexpr size_t kFactor = 0x9e3779b97f4a7c15;
  size_t hash_;
};

} // namespace gantry::codegen
