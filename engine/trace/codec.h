// Events as columns: what a frame holds before it is compressed.
//
// Each event is one byte of type in the first column and varints (LEB128; signed ones zigzagged) in
// the others: the time since the event before, then what differs from a prediction. Most events are
// predicted in most of their fields, so that columns are short and repetitive, which is what the
// compressor behind them (LZ4 for streams, Zstandard for files) is good at.
//
// Blocks are predicted from the last block of the same slot (the low half of a block's id): a heap
// that reuses a slot gives the same place, and often the same size, with the next generation (the
// high half). A small table, direct-mapped by slot, remembers them; encoder and decoder keep it
// alike. Other events are predicted field by field from the last event of their type (schema.h).
// Nothing is remembered from one chunk to the next, so each decodes by itself.
//
// Layout of a chunk: for each column, in order, its length as a varint and its bytes.
//
// Threads: an object is used by one thread at a time. Memory: the encoder takes what a chunk of
// `capacity` events can need at most when it is made, and none afterwards.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/schema.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace gantry::trace {

inline constexpr uint32_t kMaxChunkEvents = 1U << 20;

/// The columns; the fields of schema.h have those from kFirstField on.
enum Column : uint32_t {
  kOpColumn,
  kTimeColumn,
  kThreadColumn,
  kModeColumn,
  kSlotColumn,
  kSizeColumn,
  kSlabColumn,
  kOffsetColumn,
  kNameColumn,
  kGenerationColumn,
  kSequenceColumn,
  kRareColumn, // up to kRareFields values an event
  kFirstField,
  kColumns = kFirstField + kMaxFields,
};

inline constexpr uint32_t kPredictedSlots = 4096;

/// What the last block event of a slot said.
struct SlotState {
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
  uint32_t slot = 0;
  uint32_t generation = 0;
  uint32_t slab = 0;
  uint32_t name = 0;
  uint32_t chunk = 0; // in which it was set; others are void
  uint16_t heap = 0;
};

/// What encoder and decoder both remember of a chunk.
struct Predictions {
  void beginChunk();
  SlotState &slotState(uint32_t slot) { return slots[(slot ^ (slot >> 12)) % kPredictedSlots]; }
  uint64_t &sequence(uint16_t heap) { return sequences[heap % sequences.size()]; }

  std::vector<SlotState> slots = std::vector<SlotState>(kPredictedSlots);
  uint32_t chunk = 0;
  uint64_t timeNs = 0;
  uint32_t thread = 0;
  std::array<uint64_t, 16> sequences{};
  SlotState last; // the last block event of all
  uint32_t span = 0;
  uint8_t kind = 0;
  std::array<Event, kEventTypes> lastOfType{};
};

class ChunkEncoder {
public:
  /// Takes the memory of a full chunk; isReady() is false where the host has none.
  explicit ChunkEncoder(uint32_t capacity);
  ~ChunkEncoder();
  bool isReady() const { return storage_ != nullptr && packed_ != nullptr; }
  ChunkEncoder(const ChunkEncoder &) = delete;
  ChunkEncoder &operator=(const ChunkEncoder &) = delete;

  uint32_t count() const { return count_; }
  bool isFull() const { return count_ == capacity_; }
  uint64_t firstTimeNs() const { return firstTimeNs_; }
  uint64_t lastTimeNs() const { return lastTimeNs_; }

  /// The event at `event`, of a known type, of as many bytes as its type has. Not when full, and
  /// only when ready.
  void add(const EventHeader *event);
  /// The chunk's bytes, valid until the next call; the encoder is empty again.
  std::span<const uint8_t> finish();

private:
  void addBlock(const BlockEvent &event);
  void addRelease(const ReleaseEvent &event);
  void addFields(const EventHeader *event, const EventLayout &layout);
  void put(uint32_t column, uint64_t value);
  void putSigned(uint32_t column, int64_t value);

  uint32_t capacity_;
  uint32_t count_ = 0;
  uint64_t firstTimeNs_ = 0;
  uint64_t lastTimeNs_ = 0;
  Predictions predictions_;
  std::unique_ptr<uint8_t[]> storage_;
  std::array<uint8_t *, kColumns> begin_;
  std::array<uint8_t *, kColumns> at_;
  std::unique_ptr<uint8_t[]> packed_;
};

class ChunkDecoder {
public:
  /// Appends the `count` events of a chunk. kDataLoss where the bytes are none.
  Status decode(std::span<const uint8_t> chunk, uint32_t count, std::vector<Event> &events);

private:
  struct Cursor {
    const uint8_t *at = nullptr;
    const uint8_t *end = nullptr;
  };
  Status openColumns(std::span<const uint8_t> chunk);
  uint64_t get(uint32_t column);
  int64_t getSigned(uint32_t column);
  void decodeBlock(BlockEvent &event);
  void decodeRelease(ReleaseEvent &event);
  void decodeFields(Event &event, const EventLayout &layout);

  Predictions predictions_;
  std::array<Cursor, kColumns> columns_;
  bool damaged_ = false;
};

} // namespace gantry::trace
