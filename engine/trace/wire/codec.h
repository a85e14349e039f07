// The column encoding of events: the contents of a kEvents frame before compression.
//
// An event is one byte in the first column, which contains the type, and variable-length integers
// (varint.h) in the other columns: the time since the previous event, then the values that differ
// from a prediction. In most events most fields are predicted correctly, so the columns are short
// and repetitive, and the general compressor that follows (LZ4 for streams, Zstandard for files)
// compresses them well.
//
// Prediction of blocks (buffers of a heap, BlockEvent): the low 32 bits of a block's id are its
// slot in the heap's table, the high 32 bits the slot's generation. When a heap reuses a slot, the
// new block often has the same place and size as the old block, and the next generation. The
// encoder and the decoder keep equal direct-mapped tables of the last block of each slot and
// predict from them. Other events are predicted field by field from the previous event of their
// type (schema.h). No prediction uses an earlier chunk, so each chunk can be decoded alone.
//
// Layout of a chunk: for each column in order, its length as a varint and its bytes.
//
// Thread safety: one thread at a time per object. Memory: the encoder's constructor allocates the
// largest possible size of a chunk of `capacity` events; the encoder allocates nothing later.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/wire/schema.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace gantry::trace {

/// Upper limit for the number of events in one chunk.
inline constexpr uint32_t kMaxChunkEvents = 1U << 20;

/// The columns of a chunk. Field i of an event's layout (schema.h) is in column kFirstField + i.
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
  /// Values of block and release events that seldom differ from their predictions: the heap, the
  /// span, the memory kind, and an offset's remainder modulo 256 bytes, the alignment of blocks.
  kRareColumn,
  kFirstField,
  kColumns = kFirstField + kMaxFields,
};

/// Number of entries of the slot table.
inline constexpr uint32_t kPredictedSlots = 4096;

/// The contents of the last block event of a slot.
struct SlotState {
  uint64_t offsetBytes = 0;
  uint64_t sizeBytes = 0;
  uint32_t slot = 0;
  uint32_t generation = 0;
  uint32_t slab = 0;
  uint32_t name = 0;
  uint32_t chunk = 0; // Number of the chunk that set this entry; other chunks ignore the entry.
  uint16_t heap = 0;
};

/// The state that the predictions of a chunk depend on. Encoder and decoder update it in the same
/// way.
struct Predictions {
  void beginChunk();
  SlotState &slotState(uint32_t slot) { return slots[(slot ^ (slot >> 12)) % kPredictedSlots]; }
  uint64_t &sequence(uint16_t heap) { return sequences[heap % sequences.size()]; }

  std::vector<SlotState> slots = std::vector<SlotState>(kPredictedSlots);
  uint32_t chunk = 0;
  uint64_t timeNs = 0;
  uint32_t thread = 0;
  std::array<uint64_t, 16> sequences{};
  SlotState last; // The last block event of any slot.
  uint32_t span = 0;
  uint8_t kind = 0;
  std::array<Event, kEventTypes> lastOfType{};
};

class ChunkEncoder {
public:
  /// Allocates the memory for a chunk of `capacity` events (1 to kMaxChunkEvents). isReady()
  /// returns false if the host had too little memory; add() must not be called then.
  explicit ChunkEncoder(uint32_t capacity);
  ~ChunkEncoder();
  bool isReady() const { return storage_ != nullptr && packed_ != nullptr; }
  ChunkEncoder(const ChunkEncoder &) = delete;
  ChunkEncoder &operator=(const ChunkEncoder &) = delete;

  uint32_t count() const { return count_; }
  bool isFull() const { return count_ == capacity_; }
  /// Smallest and largest time of the events in the chunk.
  uint64_t firstTimeNs() const { return firstTimeNs_; }
  uint64_t lastTimeNs() const { return lastTimeNs_; }

  /// Appends one event. Its type must be assigned and its size must be that of its type. The
  /// encoder must be ready and not full.
  void add(const EventHeader *event);
  /// Returns the encoded chunk, which stays valid until the next call, and empties the encoder.
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
  /// Appends the `count` events of a chunk to `events`. Returns kDataLoss, and leaves `events`
  /// unchanged, if the bytes are not a valid chunk.
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
