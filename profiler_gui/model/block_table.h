// The blocks of one address space: rectangles in time × address, as columns.
//
// A block is a range of addresses that somebody held from one moment to another: a suballocation of
// a slab, a value of an arena. An address space is a slab or an arena; its addresses start at 0.
// Times are nanoseconds from the capture's start.
//
// A block costs 41 bytes here, 45 where blocks are entries of a plan, and about 2 in the index
// (block_index.h), which is under the 64 bytes per event that a capture may take, since a block has
// two events.
//
// Rows are named by their number. Rows keep their number while blocks are added; permute()
// renumbers them once, when a whole capture has been read (see BlockIndex::rebuild).
//
// Threads: none of its own; one writer, or several readers.
#pragma once

#include "engine/op_kind/op_kind.h"
#include "profiler_gui/model/growing_list.h"

#include <cstdint>
#include <span>
#include <string>

namespace gantry::profiler {

/// What a block is for; its hue on the screen.
enum class BlockKind : uint8_t {
  kConstant = 0, // weights
  kInput = 1,
  kOutput = 2,
  kTransient = 3, // planned values of an arena
  kArena = 4,     // the range of a heap that holds an arena
  kCache = 5,     // held for later use: pools, spill, staging
  kOther = 6,     // the application's own
};
inline constexpr uint32_t kBlockKinds = 7;
const char *blockKindName(BlockKind kind); // "constant"

/// What colours a block: its kind or, for a transient, the kind of the operator that writes it.
class BlockHue {
public:
  static constexpr uint32_t kCount = kBlockKinds + kOpKindCount;

  constexpr BlockHue() = default;
  /// Transients without a known operator count as written by one of OpKind::kOther.
  constexpr BlockHue(BlockKind kind)
      : index_(kind == BlockKind::kTransient ? indexOf(OpKind::kOther)
                                             : static_cast<uint8_t>(kind)) {}
  constexpr BlockHue(OpKind writer) : index_(indexOf(writer)) {}
  /// All hues, for loops: index below kCount.
  static constexpr BlockHue at(uint32_t index) {
    BlockHue hue;
    hue.index_ = static_cast<uint8_t>(index);
    return hue;
  }

  constexpr uint32_t index() const { return index_; } // Less than kCount.
  constexpr bool isTransient() const { return index_ >= kBlockKinds; }
  constexpr BlockKind kind() const {
    return isTransient() ? BlockKind::kTransient : static_cast<BlockKind>(index_);
  }
  constexpr OpKind writer() const { // Valid for transients alone.
    return isTransient() ? static_cast<OpKind>(index_ - kBlockKinds) : OpKind::kOther;
  }
  constexpr bool operator==(const BlockHue &) const = default;

private:
  static constexpr uint8_t indexOf(OpKind writer) {
    return static_cast<uint8_t>(kBlockKinds + static_cast<uint32_t>(writer));
  }
  uint8_t index_ = static_cast<uint8_t>(BlockKind::kOther);
};
std::string blockHueName(BlockHue hue); // "constant", "transient · pooling"

/// The end of a block that is still held.
inline constexpr uint64_t kStillHeld = UINT64_MAX;

struct Block {
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld; // exclusive
  uint64_t offset = 0;
  uint64_t sizeBytes = 0; // not 0
  uint32_t name = 0;      // index in the capture's names; 0: none
  uint32_t op = 0;        // the operator or span that asked for it, in the same names; 0: none
  uint32_t entry = 0;     // 1 + the plan entry that it is (capture_model.h); 0: none
  BlockHue hue;

  BlockKind kind() const { return hue.kind(); }
  uint64_t endOffset() const { return offset + sizeBytes; }
};

class BlockTable {
public:
  /// Returns the row. Blocks may come in any order.
  uint32_t append(const Block &block);
  void reserve(size_t rows);
  /// The block's last moment, when it becomes known.
  void close(uint32_t row, uint64_t endNs) { end_[row] = endNs; }
  /// What it is for, when that becomes known.
  void identify(uint32_t row, BlockHue hue, uint32_t name, uint32_t op, uint32_t entry);

  /// The end of the highest address that a block ever had; 0 while there was none.
  uint64_t usedBytes() const { return usedBytes_; }

  uint32_t size() const { return static_cast<uint32_t>(begin_.size()); }
  Block at(uint32_t row) const;
  uint64_t beginNs(uint32_t row) const { return begin_[row]; }
  uint64_t endNs(uint32_t row) const { return end_[row]; }
  uint64_t offset(uint32_t row) const { return offset_[row]; }
  uint64_t sizeBytes(uint32_t row) const { return size_[row]; }
  uint32_t name(uint32_t row) const { return name_[row]; }
  uint32_t op(uint32_t row) const { return op_[row]; }
  uint32_t entry(uint32_t row) const { return entry_.empty() ? 0 : entry_[row]; }
  BlockKind kind(uint32_t row) const { return hue_[row].kind(); }
  BlockHue hue(uint32_t row) const { return hue_[row]; }

  /// Row i becomes what row order[i] was; order is a permutation of all rows.
  void permute(std::span<const uint32_t> order);

  uint64_t memoryBytes() const;

private:
  GrowingList<uint64_t> begin_, end_, offset_, size_;
  GrowingList<uint32_t> name_, op_;
  GrowingList<uint32_t> entry_; // empty where no block has one
  GrowingList<BlockHue> hue_;
  uint64_t usedBytes_ = 0;
};

} // namespace gantry::profiler
