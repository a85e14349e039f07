// Finds the blocks of a BlockTable in a window of time × address, and prunes what a pixel cannot
// show.
//
// What it is: a forest of packed R-trees (Kamel & Faloutsos 1993: sort along a space-filling curve,
// cut into leaves). The curve is Z-order over four dimensions (begin, end, first and last address,
// each quantised to 16 bits), so that long-lived and short-lived blocks, large and small ones, fall
// into different leaves and do not widen each other's boxes. Leaves hold 32 blocks, inner nodes 8
// children. A node knows its box, the longest life and the largest size below it, and the exact sum
// of bytes × time, so that a picture may take a node for one pixel's worth.
//
// A capture from a file is one tree, and its blocks are renumbered into the tree's order, so that a
// scan is sequential. Live, blocks are added in runs of 4096, and neighbouring runs of like size
// are merged (the logarithmic method, Bentley & Saxe 1980). A block still held lies in the tree
// with its end at infinity; when it ends, boxes stay too wide until the next merge, which costs
// time and never an answer.
//
// Threads: none of its own; one writer, or several readers.
#pragma once

#include "profiler_gui/model/block_table.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// Half-open in both directions.
struct Window {
  uint64_t beginNs = 0;
  uint64_t endNs = UINT64_MAX;
  uint64_t lowAddress = 0;
  uint64_t highAddress = UINT64_MAX;
};

class BlockIndex {
public:
  static constexpr uint32_t kLeafBlocks = 32;
  static constexpr uint32_t kFanout = 8;
  static constexpr uint32_t kRunBlocks = 4096;

  struct Node {
    uint64_t beginNs, endNs;          // endNs is kStillHeld where a block below is still held
    uint64_t lowAddress, highAddress; // half-open
    uint64_t longestNs, largestBytes;
    double byteNs; // sum of size × life; meaningless where a block below is still held
    uint32_t firstRow, rowCount; // in the run's order
  };

  /// Renumbers the rows of the table into one tree's order. Rows held elsewhere become invalid.
  void rebuild(BlockTable &table);

  /// Takes in the rows that were appended since the last call; the table's numbering stays.
  void update(const BlockTable &table);

  /// Calls visitor.enter(node) for each node that meets the window: true to look inside. Calls
  /// visitor.block(row) for each block that meets it. Order is that of the trees.
  template <typename Visitor>
  void visit(const BlockTable &table, const Window &window, Visitor &visitor) const;

  /// The rows alive at a moment that hold an address, latest begun first.
  std::vector<uint32_t> at(const BlockTable &table, uint64_t timeNs, uint64_t address) const;

  uint64_t memoryBytes() const;

  /// One tree: levels from the leaves up, level[i] groups kFanout nodes of level[i - 1].
  struct Run {
    uint32_t firstRow = 0;
    uint32_t rowCount = 0;
    std::vector<uint32_t> order;           // empty: rows lie in the tree's order
    std::vector<std::vector<Node>> levels; // the last has one node
    uint32_t row(uint32_t position) const {
      return order.empty() ? firstRow + position : order[position];
    }
  };
  const std::vector<Run> &runs() const { return runs_; }
  /// Rows from here on are in no run yet.
  uint32_t indexedRows() const { return indexed_; }

  static bool meets(const BlockTable &table, uint32_t row, const Window &window) {
    return table.beginNs(row) < window.endNs && table.endNs(row) > window.beginNs &&
           table.offset(row) < window.highAddress &&
           table.offset(row) + table.sizeBytes(row) > window.lowAddress;
  }
  static bool meets(const Node &node, const Window &window) {
    return node.beginNs < window.endNs && node.endNs > window.beginNs &&
           node.lowAddress < window.highAddress && node.highAddress > window.lowAddress;
  }

private:
  template <typename Visitor>
  static void visitNode(const BlockTable &table, const Run &run, size_t level, size_t index,
                        const Window &window, Visitor &visitor);

  std::vector<Run> runs_;
  uint32_t indexed_ = 0;
};

template <typename Visitor>
void BlockIndex::visitNode(const BlockTable &table, const Run &run, size_t level, size_t index,
                           const Window &window, Visitor &visitor) {
  const Node &node = run.levels[level][index];
  if (!meets(node, window) || !visitor.enter(node))
    return;
  if (level == 0) {
    for (uint32_t i = 0; i < node.rowCount; ++i) {
      const uint32_t row = run.row(node.firstRow + i);
      if (meets(table, row, window))
        visitor.block(row);
    }
    return;
  }
  const size_t first = index * kFanout;
  const size_t last = std::min(first + kFanout, run.levels[level - 1].size());
  for (size_t child = first; child < last; ++child)
    visitNode(table, run, level - 1, child, window, visitor);
}

template <typename Visitor>
void BlockIndex::visit(const BlockTable &table, const Window &window, Visitor &visitor) const {
  for (const Run &run : runs_) {
    if (!run.levels.empty())
      visitNode(table, run, run.levels.size() - 1, 0, window, visitor);
  }
  for (uint32_t row = indexed_; row < table.size(); ++row) {
    if (meets(table, row, window))
      visitor.block(row);
  }
}

} // namespace gantry::profiler
