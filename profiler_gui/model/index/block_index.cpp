// Implements BlockIndex: sorting along the Z-order curve, building and merging trees.
#include "profiler_gui/model/index/block_index.h"

#include <array>
#include <bit>
#include <utility>

namespace gantry::profiler {
namespace {

/// Moves bit i of a 16-bit number to bit 4 i, so that three zero bits lie between two of its bits.
uint64_t spread(uint64_t bits) {
  bits = (bits | (bits << 24)) & 0x000000ff000000ffu;
  bits = (bits | (bits << 12)) & 0x000f000f000f000fu;
  bits = (bits | (bits << 6)) & 0x0303030303030303u;
  bits = (bits | (bits << 3)) & 0x1111111111111111u;
  return bits;
}

struct Keyed {
  uint64_t key;
  uint32_t row;
};

/// Stable least-significant-digit radix sort by the key, with digits of 11 bits.
void radixSort(std::vector<Keyed> &items) {
  constexpr uint32_t kDigit = 11;
  std::vector<Keyed> other(items.size());
  for (uint32_t shift = 0; shift < 64; shift += kDigit) {
    std::array<uint32_t, (1u << kDigit) + 1> starts{};
    const uint64_t mask = (1u << kDigit) - 1;
    for (const Keyed &item : items)
      ++starts[((item.key >> shift) & mask) + 1];
    if (std::any_of(starts.begin(), starts.end(),
                    [&](uint32_t count) { return count == items.size(); }))
      continue; // All items have the same digit.
    for (size_t i = 1; i < starts.size(); ++i)
      starts[i] += starts[i - 1];
    for (const Keyed &item : items)
      other[starts[(item.key >> shift) & mask]++] = item;
    items.swap(other);
  }
}

/// Sorts the rows along the Z-order curve. A live block counts as ending at the latest known time.
std::vector<uint32_t> curveOrder(const BlockTable &table, std::vector<uint32_t> rows) {
  uint64_t lastNs = 0;
  uint64_t highest = 0;
  for (const uint32_t row : rows) {
    lastNs = std::max(lastNs, table.beginNs(row));
    if (table.endNs(row) != kStillHeld)
      lastNs = std::max(lastNs, table.endNs(row));
    highest = std::max(highest, table.offset(row) + table.sizeBytes(row));
  }
  const int timeBits = std::max(16, static_cast<int>(std::bit_width(lastNs))) - 16;
  const int addressBits = std::max(16, static_cast<int>(std::bit_width(highest))) - 16;
  std::vector<Keyed> keyed(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t row = rows[i];
    const uint64_t end = std::min(table.endNs(row), lastNs);
    keyed[i].key = (spread(end >> timeBits) << 3) | (spread(table.beginNs(row) >> timeBits) << 2) |
                   (spread((table.offset(row) + table.sizeBytes(row) - 1) >> addressBits) << 1) |
                   spread(table.offset(row) >> addressBits);
    keyed[i].row = row;
  }
  radixSort(keyed);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = keyed[i].row;
  return rows;
}

BlockIndex::Node emptyNode() { return {UINT64_MAX, 0, UINT64_MAX, 0, 0, 0, 0.0, 0, 0}; }

void include(BlockIndex::Node &node, const BlockIndex::Node &child) {
  node.beginNs = std::min(node.beginNs, child.beginNs);
  node.endNs = std::max(node.endNs, child.endNs);
  node.lowAddress = std::min(node.lowAddress, child.lowAddress);
  node.highAddress = std::max(node.highAddress, child.highAddress);
  node.longestNs = std::max(node.longestNs, child.longestNs);
  node.largestBytes = std::max(node.largestBytes, child.largestBytes);
  node.byteNs += child.byteNs;
  node.rowCount += child.rowCount;
}

BlockIndex::Node nodeOf(const BlockTable &table, uint32_t row) {
  const uint64_t begin = table.beginNs(row);
  const uint64_t end = table.endNs(row);
  const uint64_t size = table.sizeBytes(row);
  const uint64_t life = end > begin ? end - begin : 0;
  return {begin,
          end,
          table.offset(row),
          table.offset(row) + size,
          life,
          size,
          static_cast<double>(life) * static_cast<double>(size),
          0,
          1};
}

void buildLevels(const BlockTable &table, BlockIndex::Run &run) {
  run.levels.clear();
  std::vector<BlockIndex::Node> leaves;
  leaves.reserve(run.rowCount / BlockIndex::kLeafBlocks + 1);
  for (uint32_t first = 0; first < run.rowCount; first += BlockIndex::kLeafBlocks) {
    BlockIndex::Node leaf = emptyNode();
    leaf.firstRow = first;
    const uint32_t last = std::min(first + BlockIndex::kLeafBlocks, run.rowCount);
    for (uint32_t position = first; position < last; ++position)
      include(leaf, nodeOf(table, run.row(position)));
    leaves.push_back(leaf);
  }
  run.levels.push_back(std::move(leaves));
  while (run.levels.back().size() > 1) {
    const std::vector<BlockIndex::Node> &below = run.levels.back();
    std::vector<BlockIndex::Node> level;
    level.reserve(below.size() / BlockIndex::kFanout + 1);
    for (size_t first = 0; first < below.size(); first += BlockIndex::kFanout) {
      BlockIndex::Node node = emptyNode();
      node.firstRow = below[first].firstRow;
      for (size_t i = first; i < std::min(first + BlockIndex::kFanout, below.size()); ++i)
        include(node, below[i]);
      level.push_back(node);
    }
    run.levels.push_back(std::move(level));
  }
}

BlockIndex::Run buildRun(const BlockTable &table, uint32_t firstRow, uint32_t rowCount) {
  BlockIndex::Run run;
  run.firstRow = firstRow;
  run.rowCount = rowCount;
  std::vector<uint32_t> rows(rowCount);
  for (uint32_t i = 0; i < rowCount; ++i)
    rows[i] = firstRow + i;
  run.order = curveOrder(table, std::move(rows));
  buildLevels(table, run);
  return run;
}

struct PointVisitor {
  const BlockTable &table;
  std::vector<uint32_t> rows;
  bool enter(const BlockIndex::Node &) const { return true; }
  void block(uint32_t row) { rows.push_back(row); }
};

} // namespace

void BlockIndex::rebuild(BlockTable &table) {
  runs_.clear();
  indexed_ = table.size();
  if (indexed_ == 0)
    return;
  std::vector<uint32_t> rows(indexed_);
  for (uint32_t row = 0; row < indexed_; ++row)
    rows[row] = row;
  table.permute(curveOrder(table, std::move(rows)));
  Run run;
  run.rowCount = indexed_;
  buildLevels(table, run);
  runs_.push_back(std::move(run));
}

void BlockIndex::update(const BlockTable &table) {
  while (table.size() - indexed_ >= kRunBlocks) {
    uint32_t first = indexed_;
    uint32_t count = kRunBlocks;
    indexed_ += kRunBlocks;
    while (!runs_.empty() && runs_.back().rowCount <= count) {
      first = runs_.back().firstRow;
      count += runs_.back().rowCount;
      runs_.pop_back();
    }
    runs_.push_back(buildRun(table, first, count));
  }
}

std::vector<uint32_t> BlockIndex::at(const BlockTable &table, uint64_t timeNs,
                                     uint64_t address) const {
  PointVisitor visitor{table, {}};
  visit(table, {timeNs, timeNs + 1, address, address + 1}, visitor);
  std::sort(visitor.rows.begin(), visitor.rows.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(table.beginNs(a), a) > std::pair(table.beginNs(b), b);
  });
  return std::move(visitor.rows);
}

uint64_t BlockIndex::memoryBytes() const {
  uint64_t bytes = runs_.capacity() * sizeof(Run);
  for (const Run &run : runs_) {
    bytes += run.order.capacity() * sizeof(uint32_t);
    for (const std::vector<Node> &level : run.levels)
      bytes += level.capacity() * sizeof(Node);
  }
  return bytes;
}

} // namespace gantry::profiler
