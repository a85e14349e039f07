// Encoder and decoder of event chunks.
#include "engine/trace/wire/codec.h"

#include "engine/trace/wire/varint.h"

#include <bit>
#include <cassert>
#include <new>

namespace gantry::trace {
namespace {

// The first column holds one byte for each event: the type in the low 6 bits and two flags.
// kOtherThread: the thread is not the previous event's thread. kTimeStepsBack: the time is earlier
// than the previous event's time.
constexpr uint8_t kTypeMask = kEventTypes - 1;
constexpr uint8_t kOtherThread = 0x40;
constexpr uint8_t kTimeStepsBack = 0x80;

// The mode of a block event: one bit for each value that differs from its prediction. The frequent
// bits are the low bits, so that most modes are varints of one byte.
constexpr uint32_t kOtherSize = 1;
constexpr uint32_t kOtherPlace = 2;
constexpr uint32_t kOtherGeneration = 4;
constexpr uint32_t kOtherName = 8;
constexpr uint32_t kOtherSlab = 16;
constexpr uint32_t kOtherSequence = 32;
constexpr uint32_t kOtherHeap = 64;
constexpr uint32_t kOtherSpan = 128;
constexpr uint32_t kOtherKind = 256;
constexpr uint32_t kOddOffset = 512; // The offset is not a multiple of kGranule.
constexpr uint32_t kAllModes = 1023;

constexpr uint64_t kRareFields = 4; // Upper limit of values in kRareColumn for one event.
constexpr uint64_t kGranule = 256;  // Alignment of blocks in a heap, in bytes.

/// Returns the largest size of a column in bytes.
uint64_t columnCapacity(uint32_t column, uint32_t events) {
  if (column == kOpColumn)
    return events;
  return uint64_t{events} * kMaxVarintBytes * (column == kRareColumn ? kRareFields : 1);
}

uint64_t loadField(const void *event, const Field &field) {
  uint64_t value = 0; // The code assumes a little-endian host.
  std::memcpy(&value, static_cast<const uint8_t *>(event) + field.offset, field.bytes);
  return value;
}
uint64_t loadPredictor(const void *event, const Field &field) {
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const uint8_t *>(event) + field.predictor, field.bytes);
  return value;
}
/// Returns the difference of two fields of `bytes` bytes, sign-extended to 64 bits.
int64_t narrow(uint64_t difference, uint8_t bytes) {
  const uint32_t unused = 64 - 8 * bytes;
  return static_cast<int64_t>(difference << unused) >> unused;
}

uint32_t slotOf(uint64_t block) { return static_cast<uint32_t>(block); }
uint32_t generationOf(uint64_t block) { return static_cast<uint32_t>(block >> 32); }

/// Returns the offset that directly follows the given block, rounded up to the granule.
uint64_t offsetBehind(const SlotState &last) {
  return (last.offsetBytes + last.sizeBytes + kGranule - 1) / kGranule * kGranule;
}

/// Predicts a new block of the slot. If this chunk has a block of the slot, the prediction is the
/// slot's last block with the next generation. Otherwise it is the last block of any slot, moved to
/// the offset after that block.
SlotState expectBlock(Predictions &predictions, uint32_t slot) {
  const SlotState &known = predictions.slotState(slot);
  SlotState expected = predictions.last;
  if (known.chunk == predictions.chunk && known.slot == slot) {
    expected = known;
    expected.generation += 1;
  } else {
    expected.offsetBytes = offsetBehind(predictions.last);
  }
  return expected;
}

/// Predicts the sequence number of an event: the next number of its heap, or the same number for
/// the next block of a snapshot.
uint64_t expectSequence(Predictions &predictions, EventType type, uint16_t heap) {
  return predictions.sequence(heap) + (type == EventType::kLiveBlock ? 0 : 1);
}

/// Stores the event as the basis of the next predictions.
void remember(Predictions &predictions, const BlockEvent &event) {
  SlotState &state = predictions.slotState(slotOf(event.block));
  state = {event.offsetBytes, event.sizeBytes, slotOf(event.block), generationOf(event.block),
           event.slab,        event.name,      predictions.chunk,   event.header.heap};
  predictions.last = state;
  predictions.span = event.span;
  predictions.kind = event.kind;
  predictions.sequence(event.header.heap) = event.sequence;
}

} // namespace

void Predictions::beginChunk() {
  if (++chunk == 0) { // The counter wrapped: old entries could have a current number.
    slots.assign(slots.size(), {});
    chunk = 1;
  }
  timeNs = 0;
  thread = 0;
  sequences = {};
  last = {};
  span = 0;
  kind = 0;
  lastOfType = {};
}

// ---- encoder -----------------------------------------------------------------------------------

ChunkEncoder::ChunkEncoder(uint32_t capacity) : capacity_(capacity) {
  assert(capacity > 0 && capacity <= kMaxChunkEvents);
  uint64_t total = 0;
  for (uint32_t column = 0; column < kColumns; ++column)
    total += columnCapacity(column, capacity);
  storage_.reset(new (std::nothrow) uint8_t[total]); // Untouched memory has no physical pages.
  packed_.reset(new (std::nothrow) uint8_t[total + uint64_t{kColumns} * kMaxVarintBytes]);
  uint8_t *at = storage_.get();
  for (uint32_t column = 0; column < kColumns; ++column) {
    begin_[column] = at;
    at += columnCapacity(column, capacity);
  }
  at_ = begin_;
  predictions_.beginChunk();
}

ChunkEncoder::~ChunkEncoder() = default;

inline void ChunkEncoder::put(uint32_t column, uint64_t value) {
  at_[column] = putVarint(at_[column], value);
}
inline void ChunkEncoder::putSigned(uint32_t column, int64_t value) { put(column, zigzag(value)); }

void ChunkEncoder::add(const EventHeader *event) {
  assert(!isFull());
  const EventLayout &layout = layoutOf(event->type);
  assert(layout.name != nullptr);
  auto op = static_cast<uint8_t>(event->type);
  if (count_ == 0) {
    firstTimeNs_ = event->timeNs;
    lastTimeNs_ = event->timeNs;
  }
  uint64_t step = event->timeNs - predictions_.timeNs;
  if (event->timeNs < predictions_.timeNs) {
    op |= kTimeStepsBack;
    step = predictions_.timeNs - event->timeNs;
    firstTimeNs_ = event->timeNs < firstTimeNs_ ? event->timeNs : firstTimeNs_;
  } else {
    lastTimeNs_ = event->timeNs > lastTimeNs_ ? event->timeNs : lastTimeNs_;
  }
  predictions_.timeNs = event->timeNs;
  put(kTimeColumn, step);
  if (event->thread != predictions_.thread) {
    op |= kOtherThread;
    predictions_.thread = event->thread;
    put(kThreadColumn, event->thread);
  }
  *at_[kOpColumn]++ = op;
  if (isBlockEvent(event->type))
    addBlock(*reinterpret_cast<const BlockEvent *>(event));
  else if (event->type == EventType::kRelease)
    addRelease(*reinterpret_cast<const ReleaseEvent *>(event));
  else
    addFields(event, layout);
  ++count_;
}

void ChunkEncoder::addBlock(const BlockEvent &event) {
  const SlotState &last = predictions_.last;
  const uint32_t slot = slotOf(event.block);
  const SlotState expected = expectBlock(predictions_, slot);
  const uint64_t sequence = expectSequence(predictions_, event.header.type, event.header.heap);
  const bool otherPlace = event.offsetBytes != expected.offsetBytes || event.slab != expected.slab;
  uint32_t mode = 0;
  mode |= event.sizeBytes != expected.sizeBytes ? kOtherSize : 0;
  mode |= otherPlace ? kOtherPlace : 0;
  mode |= otherPlace && event.slab != last.slab ? kOtherSlab : 0;
  mode |= otherPlace && event.offsetBytes % kGranule != 0 ? kOddOffset : 0;
  mode |= generationOf(event.block) != expected.generation ? kOtherGeneration : 0;
  mode |= event.name != expected.name ? kOtherName : 0;
  mode |= event.sequence != sequence ? kOtherSequence : 0;
  mode |= event.header.heap != last.heap ? kOtherHeap : 0;
  mode |= event.span != predictions_.span ? kOtherSpan : 0;
  mode |= event.kind != predictions_.kind ? kOtherKind : 0;
  put(kModeColumn, mode);
  putSigned(kSlotColumn, static_cast<int32_t>(slot - last.slot));
  if (mode != 0) {
    if ((mode & kOtherSize) != 0)
      put(kSizeColumn, event.sizeBytes);
    if ((mode & kOtherPlace) != 0)
      putSigned(kOffsetColumn,
                static_cast<int64_t>(event.offsetBytes / kGranule - offsetBehind(last) / kGranule));
    if ((mode & kOtherSlab) != 0)
      putSigned(kSlabColumn, static_cast<int32_t>(event.slab - last.slab));
    if ((mode & kOtherGeneration) != 0)
      putSigned(kGenerationColumn,
                static_cast<int32_t>(generationOf(event.block) - expected.generation));
    if ((mode & kOtherName) != 0)
      put(kNameColumn, event.name);
    if ((mode & kOtherSequence) != 0)
      putSigned(kSequenceColumn, static_cast<int64_t>(event.sequence - sequence));
    if ((mode & kOtherHeap) != 0)
      put(kRareColumn, event.header.heap);
    if ((mode & kOtherSpan) != 0)
      put(kRareColumn, event.span);
    if ((mode & kOtherKind) != 0)
      put(kRareColumn, event.kind);
    if ((mode & kOddOffset) != 0)
      put(kRareColumn, event.offsetBytes % kGranule);
  }
  remember(predictions_, event);
}

void ChunkEncoder::addRelease(const ReleaseEvent &event) {
  const uint32_t slot = slotOf(event.block);
  SlotState &last = predictions_.last;
  const SlotState &known = predictions_.slotState(slot);
  const uint32_t generation =
      known.chunk == predictions_.chunk && known.slot == slot ? known.generation : last.generation;
  const uint64_t sequence = expectSequence(predictions_, event.header.type, event.header.heap);
  uint32_t mode = 0;
  mode |= generationOf(event.block) != generation ? kOtherGeneration : 0;
  mode |= event.sequence != sequence ? kOtherSequence : 0;
  mode |= event.header.heap != last.heap ? kOtherHeap : 0;
  put(kModeColumn, mode);
  putSigned(kSlotColumn, static_cast<int32_t>(slot - last.slot));
  if (mode != 0) {
    if ((mode & kOtherGeneration) != 0)
      putSigned(kGenerationColumn, static_cast<int32_t>(generationOf(event.block) - generation));
    if ((mode & kOtherSequence) != 0)
      putSigned(kSequenceColumn, static_cast<int64_t>(event.sequence - sequence));
    if ((mode & kOtherHeap) != 0)
      put(kRareColumn, event.header.heap);
  }
  last.slot = slot;
  last.generation = generationOf(event.block);
  last.heap = event.header.heap;
  predictions_.sequence(event.header.heap) = event.sequence;
}

void ChunkEncoder::addFields(const EventHeader *event, const EventLayout &layout) {
  Event &last = predictions_.lastOfType[static_cast<size_t>(event->type)];
  uint32_t changed = 0;
  for (uint32_t i = 0; i < layout.fields.size(); ++i) {
    const Field &field = layout.fields[i];
    const void *source = field.predictsOnSelf ? static_cast<const void *>(event) : &last;
    const int64_t difference =
        narrow(loadField(event, field) - loadPredictor(source, field), field.bytes);
    if (difference == 0)
      continue;
    changed |= 1U << i;
    putSigned(kFirstField + i, difference);
  }
  put(kModeColumn, changed);
  std::memcpy(static_cast<void *>(&last), event, layout.bytes);
}

std::span<const uint8_t> ChunkEncoder::finish() {
  uint8_t *at = packed_.get();
  for (uint32_t column = 0; column < kColumns; ++column) {
    const auto bytes = static_cast<size_t>(at_[column] - begin_[column]);
    at = putVarint(at, bytes);
    std::memcpy(at, begin_[column], bytes);
    at += bytes;
  }
  at_ = begin_;
  count_ = 0;
  predictions_.beginChunk();
  return {packed_.get(), static_cast<size_t>(at - packed_.get())};
}

// ---- decoder -----------------------------------------------------------------------------------

Status ChunkDecoder::openColumns(std::span<const uint8_t> chunk) {
  const uint8_t *at = chunk.data();
  const uint8_t *const end = at + chunk.size();
  for (uint32_t column = 0; column < kColumns; ++column) {
    uint64_t bytes = 0;
    at = getVarint(at, end, &bytes);
    if (at == nullptr || bytes > static_cast<uint64_t>(end - at))
      return statusf(StatusCode::kDataLoss, "column %u of a chunk of %zu bytes exceeds the chunk",
                     column, chunk.size());
    columns_[column] = {at, at + bytes};
    at += bytes;
  }
  if (at != end)
    return statusf(StatusCode::kDataLoss,
                   "a chunk of %zu bytes has %zu bytes after its last column", chunk.size(),
                   static_cast<size_t>(end - at));
  return {};
}

inline uint64_t ChunkDecoder::get(uint32_t column) {
  Cursor &cursor = columns_[column];
  uint64_t value = 0;
  const uint8_t *next = getVarint(cursor.at, cursor.end, &value);
  if (next == nullptr) [[unlikely]] {
    damaged_ = true;
    return 0;
  }
  cursor.at = next;
  return value;
}
inline int64_t ChunkDecoder::getSigned(uint32_t column) { return unzigzag(get(column)); }

Status ChunkDecoder::decode(std::span<const uint8_t> chunk, uint32_t count,
                            std::vector<Event> &events) {
  GANTRY_RETURN_IF_ERROR(openColumns(chunk));
  const Cursor ops = columns_[kOpColumn];
  if (count > kMaxChunkEvents || static_cast<uint64_t>(ops.end - ops.at) != count)
    return statusf(StatusCode::kDataLoss,
                   "a chunk of %u events has %zu type bytes; a chunk needs one for each event and "
                   "has at most %u events",
                   count, static_cast<size_t>(ops.end - ops.at), kMaxChunkEvents);
  predictions_.beginChunk();
  damaged_ = false;
  const size_t before = events.size();
  events.resize(before + count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t op = ops.at[i];
    const auto type = static_cast<EventType>(op & kTypeMask);
    const EventLayout &layout = layoutOf(type);
    if (layout.name == nullptr) [[unlikely]] {
      events.resize(before);
      return statusf(StatusCode::kDataLoss, "event %u of a chunk has the unknown type %u", i,
                     op & kTypeMask);
    }
    Event &event = events[before + i];
    const uint64_t step = get(kTimeColumn);
    predictions_.timeNs += (op & kTimeStepsBack) != 0 ? -step : step;
    if ((op & kOtherThread) != 0)
      predictions_.thread = static_cast<uint32_t>(get(kThreadColumn));
    event.header = {predictions_.timeNs, type, static_cast<uint8_t>(layout.bytes / 8), 0,
                    predictions_.thread};
    if (isBlockEvent(type))
      decodeBlock(event.block);
    else if (type == EventType::kRelease)
      decodeRelease(event.release);
    else
      decodeFields(event, layout);
  }
  for (uint32_t column = 1; column < kColumns; ++column)
    damaged_ = damaged_ || columns_[column].at != columns_[column].end;
  if (damaged_) {
    events.resize(before);
    return statusf(StatusCode::kDataLoss, "the columns of a chunk do not match its %u events",
                   count);
  }
  return {};
}

void ChunkDecoder::decodeBlock(BlockEvent &event) {
  const SlotState last = predictions_.last;
  const uint64_t mode = get(kModeColumn);
  damaged_ = damaged_ || mode > kAllModes;
  const uint32_t slot = last.slot + static_cast<uint32_t>(getSigned(kSlotColumn));
  const SlotState expected = expectBlock(predictions_, slot);
  event.sizeBytes = (mode & kOtherSize) != 0 ? get(kSizeColumn) : expected.sizeBytes;
  event.offsetBytes = expected.offsetBytes;
  event.slab = expected.slab;
  if ((mode & kOtherPlace) != 0) {
    event.offsetBytes =
        (offsetBehind(last) / kGranule + static_cast<uint64_t>(getSigned(kOffsetColumn))) *
        kGranule;
    event.slab = last.slab;
  }
  if ((mode & kOtherSlab) != 0)
    event.slab = last.slab + static_cast<uint32_t>(getSigned(kSlabColumn));
  uint32_t generation = expected.generation;
  if ((mode & kOtherGeneration) != 0)
    generation += static_cast<uint32_t>(getSigned(kGenerationColumn));
  event.block = (uint64_t{generation} << 32) | slot;
  event.name = (mode & kOtherName) != 0 ? static_cast<uint32_t>(get(kNameColumn)) : expected.name;
  const auto offBy =
      static_cast<uint64_t>((mode & kOtherSequence) != 0 ? getSigned(kSequenceColumn) : 0);
  event.header.heap =
      (mode & kOtherHeap) != 0 ? static_cast<uint16_t>(get(kRareColumn)) : last.heap;
  event.sequence = expectSequence(predictions_, event.header.type, event.header.heap) + offBy;
  event.span =
      (mode & kOtherSpan) != 0 ? static_cast<uint32_t>(get(kRareColumn)) : predictions_.span;
  event.kind =
      (mode & kOtherKind) != 0 ? static_cast<uint8_t>(get(kRareColumn)) : predictions_.kind;
  if ((mode & kOddOffset) != 0)
    event.offsetBytes += get(kRareColumn) % kGranule;
  remember(predictions_, event);
}

void ChunkDecoder::decodeRelease(ReleaseEvent &event) {
  SlotState &last = predictions_.last;
  const uint64_t mode = get(kModeColumn);
  damaged_ = damaged_ || (mode & ~uint64_t{kOtherGeneration | kOtherSequence | kOtherHeap}) != 0;
  const uint32_t slot = last.slot + static_cast<uint32_t>(getSigned(kSlotColumn));
  const SlotState &known = predictions_.slotState(slot);
  uint32_t generation =
      known.chunk == predictions_.chunk && known.slot == slot ? known.generation : last.generation;
  if ((mode & kOtherGeneration) != 0)
    generation += static_cast<uint32_t>(getSigned(kGenerationColumn));
  const auto offBy =
      static_cast<uint64_t>((mode & kOtherSequence) != 0 ? getSigned(kSequenceColumn) : 0);
  event.header.heap =
      (mode & kOtherHeap) != 0 ? static_cast<uint16_t>(get(kRareColumn)) : last.heap;
  event.sequence = expectSequence(predictions_, event.header.type, event.header.heap) + offBy;
  event.block = (uint64_t{generation} << 32) | slot;
  last.slot = slot;
  last.generation = generation;
  last.heap = event.header.heap;
  predictions_.sequence(event.header.heap) = event.sequence;
}

void ChunkDecoder::decodeFields(Event &event, const EventLayout &layout) {
  Event &last = predictions_.lastOfType[static_cast<size_t>(event.header.type)];
  const uint64_t changed = get(kModeColumn);
  damaged_ = damaged_ || (changed >> layout.fields.size()) != 0;
  for (uint32_t i = 0; i < layout.fields.size(); ++i) {
    const Field &field = layout.fields[i];
    uint64_t value = loadPredictor(field.predictsOnSelf ? &event : &last, field);
    if ((changed >> i & 1) != 0)
      value += static_cast<uint64_t>(getSigned(kFirstField + i));
    std::memcpy(reinterpret_cast<uint8_t *>(&event) + field.offset, &value, field.bytes);
  }
  last = event;
}

} // namespace gantry::trace
