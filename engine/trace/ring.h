// A bounded queue of events from one thread to the collector.
//
// Single producer, single consumer, no lock. The producer's hot path compares one position with one
// limit: the limit is the nearer of the end of the buffer (an event never wraps around it) and the
// place up to which the consumer is known to have read, or half a ring beyond it. Beyond it, the
// consumer's position is read anew; a ring that is half full nudges it; if there is no room, the
// event is dropped and counted, and the producer goes on at once. Producer and consumer write to
// different cache lines.
//
// Positions count words of 8 bytes and never wrap. At the end of a lap, words that are too few for
// the next event are filled by one of type kNone, or left when there is a single one: no event is
// so short.
//
// Threads: one producer at a time and one consumer at a time. Memory: taken in create(), so that
// recording takes none.
#pragma once

#include "engine/trace/events.h"
#include "engine/trace/ticks.h"

#include <atomic>
#include <memory>
#include <new>

namespace gantry::trace {

class Ring {
public:
  static constexpr uint32_t kMaxWords = kMaxEventBytes / 8;

  /// sizeBytes: a power of two from 4096 on. False where there is no memory.
  bool create(uint64_t sizeBytes) {
    buffer_.reset(new (std::nothrow) uint64_t[sizeBytes / 8]()); // touched: no page fault later
    words_ = buffer_ == nullptr ? 0 : sizeBytes / 8;
    return buffer_ != nullptr;
  }
  uint64_t sizeBytes() const { return words_ * 8; }
  /// What the producer calls when it finds the ring half full or fuller, before it makes room. Set
  /// before the first event.
  void setNudge(void (*nudge)()) { nudge_ = nudge; }

  // ---- producer --------------------------------------------------------------------------------

  /// Room for an event of so many words, nullptr when the ring is full: then it counts as dropped.
  uint64_t *reserve(uint32_t words, bool isMemory) {
    if (write_ + words > limit_) [[unlikely]]
      if (!makeRoom(words)) {
        drop(isMemory);
        return nullptr;
      }
    return buffer_.get() + (write_ & (words_ - 1));
  }
  /// The reserved words are an event now.
  void publish(uint32_t words) {
    write_ += words;
    head_.store(write_, std::memory_order_release);
  }

  // ---- consumer --------------------------------------------------------------------------------

  /// Where the producer is; events before it may be read.
  uint64_t head() const { return head_.load(std::memory_order_acquire); }
  uint64_t tail() const { return tail_.load(std::memory_order_relaxed); }

  /// The event at *position, which is before head; nullptr when only filling is left before it.
  /// *position moves over filling, not over the event.
  EventHeader *peek(uint64_t *position, uint64_t head) {
    while (*position < head) {
      const uint64_t left = words_ - (*position & (words_ - 1));
      auto *header = reinterpret_cast<EventHeader *>(buffer_.get() + (*position & (words_ - 1)));
      if (left == 1)
        *position += 1;
      else if (header->type == EventType::kNone)
        *position += left;
      else
        return header;
    }
    return nullptr;
  }
  /// What lies before position may be written anew.
  void release(uint64_t position) { tail_.store(position, std::memory_order_release); }

  struct Drops {
    uint64_t events = 0;
    uint64_t memory = 0;
  };
  /// Since the ring was made; exact.
  Drops drops() const {
    return {dropped_.load(std::memory_order_relaxed),
            droppedMemory_.load(std::memory_order_relaxed)};
  }

private:
  bool makeRoom(uint32_t words) {
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    const uint64_t lapEnd = (write_ | (words_ - 1)) + 1;
    const uint64_t full = tail + words_;
    // Half full: the consumer may be asleep.
    const uint64_t half = tail + words_ / 2;
    if (write_ >= half && nudge_ != nullptr)
      nudge_();
    if (write_ + words > lapEnd) { // the rest of the lap stays empty
      if (lapEnd + words > full)
        return false;
      if (lapEnd - write_ > 1) {
        EventHeader filling;
        std::memcpy(buffer_.get() + (write_ & (words_ - 1)), &filling, sizeof(filling));
      }
      write_ = lapEnd;
      limit_ = lapEnd + words_ < full ? lapEnd + words_ : full;
    } else {
      limit_ = lapEnd < full ? lapEnd : full;
    }
    if (write_ + words <= half && half < limit_)
      limit_ = half; // to be here again then
    return write_ + words <= limit_;
  }
  __attribute__((noinline)) void drop(bool isMemory) {
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (isMemory)
      droppedMemory_.store(droppedMemory_.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
  }

  std::unique_ptr<uint64_t[]> buffer_; // unchanged after create()
  uint64_t words_ = 0;
  void (*nudge_)() = nullptr;
  alignas(64) uint64_t write_ = 0; // the producer's
  uint64_t limit_ = 0;
  std::atomic<uint64_t> head_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> droppedMemory_{0};
  alignas(64) std::atomic<uint64_t> tail_{0}; // the consumer's
};

} // namespace gantry::trace
