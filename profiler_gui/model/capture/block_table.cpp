// Implements BlockTable and the names of block kinds and hues.
#include "profiler_gui/model/capture/block_table.h"

#include <algorithm>
#include <utility>

namespace gantry::profiler {

const char *blockKindName(BlockKind kind) {
  switch (kind) {
  case BlockKind::kConstant:
    return "constant";
  case BlockKind::kInput:
    return "input";
  case BlockKind::kOutput:
    return "output";
  case BlockKind::kTransient:
    return "transient";
  case BlockKind::kArena:
    return "arena";
  case BlockKind::kCache:
    return "cache";
  case BlockKind::kOther:
    return "other";
  }
  return "other";
}

std::string blockHueName(BlockHue hue) {
  std::string name = blockKindName(hue.kind());
  if (hue.isTransient())
    name += std::string(" · ") + opKindName(hue.writer());
  return name;
}

uint32_t BlockTable::append(const Block &block) {
  const uint32_t row = size();
  begin_.push_back(block.beginNs);
  end_.push_back(block.endNs);
  offset_.push_back(block.offset);
  size_.push_back(block.sizeBytes);
  name_.push_back(block.name);
  op_.push_back(block.op);
  if (block.entry != 0 || !entry_.empty()) {
    entry_.resize(row); // Earlier blocks get entry 0, which means none.
    entry_.push_back(block.entry);
  }
  hue_.push_back(block.hue);
  firstNs_ = std::min(firstNs_, block.beginNs);
  usedBytes_ = std::max(usedBytes_, block.endOffset());
  return row;
}

void BlockTable::reserve(size_t rows) {
  begin_.reserve(rows);
  end_.reserve(rows);
  offset_.reserve(rows);
  size_.reserve(rows);
  name_.reserve(rows);
  op_.reserve(rows);
  hue_.reserve(rows);
}

void BlockTable::identify(uint32_t row, BlockHue hue, uint32_t name, uint32_t op, uint32_t entry) {
  hue_[row] = hue;
  name_[row] = name;
  op_[row] = op;
  if (entry != 0 && entry_.empty())
    entry_.resize(begin_.size());
  if (!entry_.empty())
    entry_[row] = entry;
}

Block BlockTable::at(uint32_t row) const {
  return {begin_[row], end_[row], offset_[row], size_[row],
          name_[row],  op_[row],  entry(row),   hue_[row]};
}

namespace {
template <typename T> void reorder(GrowingList<T> &column, std::span<const uint32_t> order) {
  GrowingList<T> sorted;
  sorted.reserve(order.size());
  for (const uint32_t row : order)
    sorted.push_back(column[row]);
  column = std::move(sorted);
}

template <typename T> uint64_t heldBytes(const GrowingList<T> &column) {
  return column.capacity() * sizeof(T);
}
} // namespace

void BlockTable::permute(std::span<const uint32_t> order) {
  reorder(begin_, order);
  reorder(end_, order);
  reorder(offset_, order);
  reorder(size_, order);
  reorder(name_, order);
  reorder(op_, order);
  if (!entry_.empty())
    reorder(entry_, order);
  reorder(hue_, order);
}

uint64_t BlockTable::memoryBytes() const {
  return heldBytes(begin_) + heldBytes(end_) + heldBytes(offset_) + heldBytes(size_) +
         heldBytes(name_) + heldBytes(op_) + heldBytes(entry_) + heldBytes(hue_);
}

} // namespace gantry::profiler
