// A bounded queue of events from one thread to the collector, the thread that empties the rings of
// all threads (collector.h).
//
// The queue has a single producer and a single consumer and takes no lock. The producer's fast path
// compares its write position with one limit. The limit is the smallest of: the end of the buffer
// (an event never wraps around it), the end of the space that the consumer is known to have freed,
// and the point at which the ring is half full. When an event would exceed the limit, the producer
// reads the consumer's position again. If the event makes the ring more than half full, the
// producer also calls the nudge function, which wakes the consumer. If there is no space, the event
// is dropped and counted, and the producer continues at once. Producer and consumer write to
// different cache lines.
//
// Positions count words of 8 bytes and never wrap. If the words at the end of the buffer are too
// few for the next event, a filler event of type kNone covers them; a single remaining word is
// skipped, because every event has at least two words.
//
// Thread safety: one producer and one consumer at a time. Memory: create() allocates the buffer;
// recording allocates nothing.
#pragma once

#include "engine/trace/events.h"
#include "engine/trace/record/ticks.h"

#include <atomic>
#include <memory>
#include <new>

namespace gantry::trace {

class Ring {
public:
  static constexpr uint32_t kMaxWords = kMaxEventBytes / 8;

  /// Allocates the buffer. sizeBytes: a power of two, at least 4096. Returns false if the host has
  /// too little memory.
  bool create(uint64_t sizeBytes) {
    // The buffer is value-initialized, so that recording causes no page faults.
    buffer_.reset(new (std::nothrow) uint64_t[sizeBytes / 8]());
    words_ = buffer_ == nullptr ? 0 : sizeBytes / 8;
    return buffer_ != nullptr;
  }
  uint64_t sizeBytes() const { return words_ * 8; }
  /// Sets the function that the producer calls when the ring becomes more than half full. The
  /// caller must set it before the first event.
  void setNudge(void (*nudge)()) { nudge_ = nudge; }

  // ---- producer --------------------------------------------------------------------------------

  /// Returns space for an event of `words` words. If the ring is full, counts a dropped event and
  /// returns nullptr.
  uint64_t *reserve(uint32_t words, bool isMemory) {
    if (write_ + words > limit_) [[unlikely]]
      if (!updateLimit(words)) {
        drop(isMemory);
        return nullptr;
      }
    return buffer_.get() + (write_ & (words_ - 1));
  }
  /// Makes the reserved words visible to the consumer as an event.
  void publish(uint32_t words) {
    write_ += words;
    head_.store(write_, std::memory_order_release);
  }

  // ---- consumer --------------------------------------------------------------------------------

  /// Returns the producer's position. The consumer may read the events before it.
  uint64_t head() const { return head_.load(std::memory_order_acquire); }
  /// Returns the consumer's position. The producer may overwrite everything before it.
  uint64_t tail() const { return tail_.load(std::memory_order_relaxed); }

  /// Returns the event at *position, which must not be after `head`, or nullptr if there is none.
  /// Advances *position over filler words, but not over the event.
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
  /// Lets the producer overwrite everything before `position`.
  void release(uint64_t position) { tail_.store(position, std::memory_order_release); }

  struct Drops {
    uint64_t events = 0;
    uint64_t memory = 0;
  };
  /// Returns the numbers of dropped events, and of memory events among them, since create().
  Drops drops() const {
    return {dropped_.load(std::memory_order_relaxed),
            droppedMemory_.load(std::memory_order_relaxed)};
  }

private:
  /// Recomputes limit_. Returns whether an event of `words` words fits at write_.
  bool updateLimit(uint32_t words) {
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    const uint64_t lapEnd = (write_ | (words_ - 1)) + 1;
    const uint64_t full = tail + words_;
    // The consumer may be asleep while the ring fills.
    const uint64_t half = tail + words_ / 2;
    if (write_ + words > half && nudge_ != nullptr)
      nudge_();
    if (write_ + words > lapEnd) { // The event does not fit before the end of the buffer.
      if (lapEnd + words > full)
        return false;
      if (lapEnd - write_ > 1) {
        EventHeader filler;
        std::memcpy(buffer_.get() + (write_ & (words_ - 1)), &filler, sizeof(filler));
      }
      write_ = lapEnd;
      limit_ = lapEnd + words_ < full ? lapEnd + words_ : full;
    } else {
      limit_ = lapEnd < full ? lapEnd : full;
    }
    if (write_ + words <= half && half < limit_)
      limit_ = half; // reserve() calls this again when the ring is about half full.
    return write_ + words <= limit_;
  }
  __attribute__((noinline)) void drop(bool isMemory) {
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (isMemory)
      droppedMemory_.store(droppedMemory_.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
  }

  std::unique_ptr<uint64_t[]> buffer_; // Not changed after create().
  uint64_t words_ = 0;
  void (*nudge_)() = nullptr;
  alignas(64) uint64_t write_ = 0; // Written by the producer.
  uint64_t limit_ = 0;
  std::atomic<uint64_t> head_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> droppedMemory_{0};
  alignas(64) std::atomic<uint64_t> tail_{0}; // Written by the consumer.
};

} // namespace gantry::trace
