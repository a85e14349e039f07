// The blocks of one address space, stored as a column-oriented table with one row per block.
//
// A block is a range of addresses that was allocated during a range of time: a suballocation of a
// slab, or a value in an arena. A slab is an allocation that a Gantry heap has made from the
// driver. An arena is the memory of a session, a compiled program that is bound to a device. A
// plan, made before the program runs, gives each transient (a value that exists only during a run)
// an offset in the arena. Slabs and arenas are the address spaces; the addresses of each start at
// 0. Times are nanoseconds from the capture's start, offsets and sizes are bytes.
//
// A block takes 41 bytes in the table, or 45 if any block of the table has a plan entry, the plan's
// record of a value (PlanEntry in plans.h). It takes about 2 bytes in the index (block_index.h).
// The profiler's memory budget is 64 bytes per event, and a block has two events: its allocation
// and its release.
//
// A row number identifies a block. Appending keeps row numbers; permute() changes all of them once,
// when a whole capture has been read (BlockIndex::rebuild). Row arguments must be below size().
//
// Threads: one writer, or several readers.
#pragma once

#include "engine/op_kind/op_kind.h"
#include "profiler_gui/model/capture/growing_list.h"

#include <cstdint>
#include <span>
#include <string>

namespace gantry::profiler {

/// The purpose of a block. It decides the block's hue on the screen.
enum class BlockKind : uint8_t {
  kConstant = 0, // Weights.
  kInput = 1,
  kOutput = 2,
  kTransient = 3, // A planned value inside an arena.
  kArena = 4,     // A heap's block in which an arena lies.
  kCache = 5,     // Any other block of a session, such as values that it keeps on the host.
  kOther = 6,     // Any other block, such as the application's own.
};
inline constexpr uint32_t kBlockKinds = 7;
/// The kind in lower case, for example "constant".
const char *blockKindName(BlockKind kind);

/// Selects a block's colour: the block's kind or, for a transient, the kind of the operator that
/// writes it. Themes map hues to colours (panels/theme.h).
class BlockHue {
public:
  static constexpr uint32_t kCount = kBlockKinds + kOpKindCount;

  constexpr BlockHue() = default;
  /// A transient without a known operator gets the hue of OpKind::kOther.
  constexpr BlockHue(BlockKind kind)
      : index_(kind == BlockKind::kTransient ? indexOf(OpKind::kOther)
                                             : static_cast<uint8_t>(kind)) {}
  constexpr BlockHue(OpKind writer) : index_(indexOf(writer)) {}
  /// The hue with this index, which must be below kCount. Loops over all hues use this function.
  static constexpr BlockHue at(uint32_t index) {
    BlockHue hue;
    hue.index_ = static_cast<uint8_t>(index);
    return hue;
  }

  constexpr uint32_t index() const { return index_; } // Below kCount.
  constexpr bool isTransient() const { return index_ >= kBlockKinds; }
  constexpr BlockKind kind() const {
    return isTransient() ? BlockKind::kTransient : static_cast<BlockKind>(index_);
  }
  /// OpKind::kOther for blocks that are not transients.
  constexpr OpKind writer() const {
    return isTransient() ? static_cast<OpKind>(index_ - kBlockKinds) : OpKind::kOther;
  }
  constexpr bool operator==(const BlockHue &) const = default;

private:
  static constexpr uint8_t indexOf(OpKind writer) {
    return static_cast<uint8_t>(kBlockKinds + static_cast<uint32_t>(writer));
  }
  uint8_t index_ = static_cast<uint8_t>(BlockKind::kOther);
};
/// The hue as text, for example "constant" or "transient · pooling".
std::string blockHueName(BlockHue hue);

/// The end time of a block that is not released yet.
inline constexpr uint64_t kStillHeld = UINT64_MAX;

struct Block {
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld; // Exclusive.
  uint64_t offset = 0;         // Bytes from the start of the address space.
  uint64_t sizeBytes = 0;      // Never 0.
  uint32_t name = 0;           // Id in the capture's name table; 0: none.
  /// In an arena: name id of the operator that writes the value. In a slab: name id of the host
  /// span (a named interval of a thread's work) in which the block was allocated. 0: none.
  uint32_t op = 0;
  uint32_t entry = 0; // 1 + index in CaptureModel::planEntries(); 0: none.
  BlockHue hue;

  BlockKind kind() const { return hue.kind(); }
  uint64_t endOffset() const { return offset + sizeBytes; }
};

class BlockTable {
public:
  /// Returns the new block's row. Blocks may be appended in any order.
  uint32_t append(const Block &block);
  void reserve(size_t rows);
  /// Sets the block's end time.
  void close(uint32_t row, uint64_t endNs) { end_[row] = endNs; }
  /// Sets the block's hue, name, operator and plan entry. An `entry` of 0 clears the plan entry.
  void identify(uint32_t row, BlockHue hue, uint32_t name, uint32_t op, uint32_t entry);

  /// The earliest begin of any block; UINT64_MAX without blocks.
  uint64_t firstNs() const { return firstNs_; }
  /// The highest end offset that any block has had, in bytes; 0 without blocks.
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

  /// Reorders the rows: the new row i is the old row order[i]. `order` is a permutation of all
  /// rows.
  void permute(std::span<const uint32_t> order);

  /// Bytes allocated for the columns.
  uint64_t memoryBytes() const;

private:
  GrowingList<uint64_t> begin_, end_, offset_, size_;
  GrowingList<uint32_t> name_, op_;
  GrowingList<uint32_t> entry_; // Empty if no block has a plan entry.
  GrowingList<BlockHue> hue_;
  uint64_t firstNs_ = UINT64_MAX;
  uint64_t usedBytes_ = 0;
};

} // namespace gantry::profiler
