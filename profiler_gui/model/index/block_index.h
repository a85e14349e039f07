// A spatial index that finds the blocks of a BlockTable (address ranges that were allocated for a
// while) in a window of time × address. The caller can skip subtrees whose blocks are too small to
// be seen.
//
// Data structure: packed R-trees (Kamel and Faloutsos, "On packing R-trees", 1993): blocks are
// sorted along a space-filling curve and cut into leaves. The curve is Z-order over four dimensions
// (begin time, end time, first address, last address, each quantised to 16 bits), so that
// long-lived and short-lived blocks, and large and small ones, fall into different leaves and do
// not widen each other's boxes. Leaves hold 32 blocks, inner nodes 8 children. A node stores the
// bounding box of its blocks, their longest lifetime and largest size, and their exact sum of bytes
// × time, so that a node inside one raster cell can be drawn without visiting its blocks.
//
// rebuild() makes one tree of a complete capture and reorders the table's rows to the tree's order,
// so that scans are sequential. update() serves live captures: blocks are added as trees ("runs")
// of 4096 blocks, and adjacent runs are merged when the older one is not larger (the logarithmic
// method, Bentley and Saxe, 1980). In the tree, a live block ends at kStillHeld. After its release,
// the boxes of its nodes stay too wide until the next merge; queries are then slower, but correct.
//
// Threads: one writer, or several readers.
#pragma once

#include "profiler_gui/model/capture/block_table.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// A window of time × address, half-open in both directions.
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
    uint64_t beginNs, endNs;          // Half-open; endNs is kStillHeld if a block below is live.
    uint64_t lowAddress, highAddress; // Half-open.
    uint64_t longestNs, largestBytes; // Max lifetime and max size of the blocks below.
    double byteNs;               // Sum of size × lifetime; meaningless if a block below is live.
    uint32_t firstRow, rowCount; // The blocks below, as a range of positions for Run::row().
  };

  /// Indexes all blocks in one tree, and reorders the table's rows to the tree's order. Row numbers
  /// stored elsewhere become invalid.
  void rebuild(BlockTable &table);

  /// Indexes the rows that were appended since the last call, in whole runs of kRunBlocks. Row
  /// numbers do not change. visit() and at() find the remaining rows by a linear scan.
  void update(const BlockTable &table);

  /// Calls visitor.enter(node) for each node whose box intersects the window; the visitor returns
  /// whether to visit the node's children. Calls visitor.block(row) for each block that intersects
  /// the window: first the indexed ones in the order of the trees, then the others in order of row.
  template <typename Visitor>
  void visit(const BlockTable &table, const Window &window, Visitor &visitor) const;

  /// The rows of the blocks that contain an address at a time, in descending order of begin time.
  std::vector<uint32_t> at(const BlockTable &table, uint64_t timeNs, uint64_t address) const;

  /// Bytes allocated by the index.
  uint64_t memoryBytes() const;

  /// One tree. levels[0] are the leaves; a node of levels[i] groups kFanout nodes of levels[i - 1].
  struct Run {
    uint32_t firstRow = 0;
    uint32_t rowCount = 0;
    std::vector<uint32_t> order; // Rows in the tree's order; empty if they are consecutive.
    std::vector<std::vector<Node>> levels; // The last level has one node.
    /// The row at a position of the tree's order.
    uint32_t row(uint32_t position) const {
      return order.empty() ? firstRow + position : order[position];
    }
  };
  const std::vector<Run> &runs() const { return runs_; }
  /// The number of rows that are in a run; later rows are not indexed yet.
  uint32_t indexedRows() const { return indexed_; }

  /// Whether a block, or the box of a node, intersects the window.
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
