// Recording: how the engine says that something happened.
//
//   record<RunEvent>(EventType::kRun, [&](RunEvent &event) { event.run = id; … });
//
// While nobody listens this is one relaxed load and a branch. While somebody does, the event goes
// to the ring of the calling thread: no lock, no allocation, no system call, except for the
// thread's first event, which makes its ring. A full ring drops the event and counts it.
//
// Events of a heap are recorded under that heap's own lock, with times that ascend with their
// sequence numbers (TicksInOrder).
//
// Threads: any. Everything here is process-wide, since a viewer attaches to a process.
#pragma once

#include "engine/trace/names.h"
#include "engine/trace/ring.h"

#include <string_view>

namespace gantry::trace {

namespace detail {

/// Whether anybody listens. Written by the collector alone.
extern std::atomic<bool> isOn;

struct ThreadRing {
  Ring ring;
  uint32_t thread = 0;   // its number in events
  uint32_t systemId = 0; // the operating system's
  uint32_t span = 0;     // name of the innermost open span
  uint32_t depth = 0;    // of open spans
  uint32_t outer[15] = {};
  std::atomic<uint32_t> name{0};
  std::atomic<bool> ended{false}; // its thread is gone; free once it is empty
  // The collector's:
  uint64_t position = 0;
  uint64_t head = 0;
  Ring::Drops reported;
  uint32_t announced = 0; // the name under which the thread is known in the stream
  bool known = false;
};

#if defined(__GNUC__)
__attribute__((tls_model("initial-exec")))
#endif
extern constinit thread_local ThreadRing *currentRing;

/// Gives the calling thread a ring; nullptr where there is no memory.
ThreadRing *attachThread();

} // namespace detail

/// Whether events are taken. True a little longer than anybody listens, never shorter.
inline bool isOn() { return detail::isOn.load(std::memory_order_relaxed); }

/// Fills in an event where it will be read, and publishes it. fill(T &) sets what is not in the
/// header; it gets memory with the remains of older events, so it sets every field.
template <typename T, typename Fill>
inline void recordAlways(EventType type, uint16_t heap, bool isMemory, Fill &&fill) {
  static_assert(sizeof(T) <= kMaxEventBytes && sizeof(T) % 8 == 0);
  constexpr auto kWords = static_cast<uint32_t>(sizeof(T) / 8);
  detail::ThreadRing *thread = detail::currentRing;
  if (thread == nullptr) [[unlikely]] {
    thread = detail::attachThread();
    if (thread == nullptr)
      return;
  }
  uint64_t *words = thread->ring.reserve(kWords, isMemory);
  if (words == nullptr) [[unlikely]]
    return;
  T &event = *reinterpret_cast<T *>(words);
  event.header = {readTicks(), type, static_cast<uint8_t>(kWords), heap, 0};
  fill(event);
  thread->ring.publish(kWords);
}

template <typename T, typename Fill> inline void record(EventType type, Fill &&fill) {
  if (isOn()) [[unlikely]]
    recordAlways<T>(type, 0, false, static_cast<Fill &&>(fill));
}

/// An event that is at hand as a whole.
template <typename T> inline void record(const T &given) {
  if (!isOn()) [[likely]]
    return;
  recordAlways<T>(given.header.type, given.header.heap, false, [&](T &event) {
    const EventHeader header = event.header;
    event = given;
    event.header = header;
  });
}

/// Makes the times of events that are recorded under one lock ascend. Reading the counter is not
/// ordered with the lock: a processor may do it some nanoseconds before it has the lock.
class TicksInOrder {
public:
  uint64_t next(uint64_t ticks) {
    last_ = ticks > last_ ? ticks : last_ + 1;
    return last_;
  }

private:
  uint64_t last_ = 0;
};

/// The name of the calling thread's innermost span; 0 for none.
inline uint32_t currentSpan() {
  return detail::currentRing == nullptr ? 0 : detail::currentRing->span;
}

// ---- what the host does ------------------------------------------------------------------------

/// Spans of a thread nest; ends without a beginning (it lies before the capture) do nothing.
void beginSpan(uint32_t name);
void endSpan();
/// A moment, with a number of the caller's.
void mark(uint32_t name, int64_t value);
/// The value of a quantity from now on.
void counter(uint32_t name, int64_t value);
/// The calling thread's name in viewers.
void nameThread(std::string_view name);

class Span {
public:
  explicit Span(uint32_t name) { beginSpan(name); }
  ~Span() { endSpan(); }
  Span(const Span &) = delete;
  Span &operator=(const Span &) = delete;
};

/// Ids of sessions, plans, runs, devices, heaps and imports: 1, 2, 3 … in each kind.
enum class IdKind : uint8_t { kSession, kPlan, kRun, kDevice, kHeap, kImport };
uint32_t newId(IdKind kind);

} // namespace gantry::trace
