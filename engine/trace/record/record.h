// Recording of events: the functions that the engine calls when something happens.
//
//   record<RunEvent>(EventType::kRun, [&](RunEvent &event) { event.run = id; … });
//
// Cost: while no sink is attached, a call is one relaxed load and a branch. (A sink receives all
// events: a file, a viewer or the flight recorder; see collector.h.) While one is attached, the
// event is written to the calling thread's ring without a lock, an allocation or a system call.
// There are two exceptions: the thread's first event allocates the ring, and an event that finds
// the ring half full wakes the collector. If the ring is full, the event is dropped and counted. If
// the host has no memory for the ring, the event is lost and not counted.
//
// Memory events of a heap are recorded under that heap's lock, with times that increase with their
// sequence numbers (TicksInOrder).
//
// Thread safety: any thread may call every function. All state is process-wide, because a viewer
// attaches to a process.
#pragma once

#include "engine/trace/record/names.h"
#include "engine/trace/record/ring.h"

#include <string_view>

namespace gantry::trace {

namespace detail {

/// Whether events are recorded. Only the collector's thread writes it.
extern std::atomic<bool> isOn;

/// The recording state of one thread.
struct ThreadRing {
  Ring ring;
  uint32_t thread = 0;            // Number of the thread in events, from 1.
  uint32_t systemId = 0;          // Thread id of the operating system.
  uint32_t span = 0;              // Name of the innermost open span; 0 for none.
  uint32_t depth = 0;             // Number of open spans.
  uint32_t outer[15] = {};        // Names of the enclosing spans; deeper ones are not stored.
  std::atomic<uint32_t> name{0};  // Name of the thread; 0 for none.
  std::atomic<bool> ended{false}; // Set when the thread has ended.
  // The following members belong to the collector.
  uint64_t position = 0;  // Position of the next event to read.
  uint64_t head = 0;      // The thread's position when the collector began to merge the rings.
  Ring::Drops reported;   // Drops that kDrops events have reported.
  uint32_t announced = 0; // Name in the thread's last kThread event.
  bool known = false;     // Whether a kThread event was emitted.
};

#if defined(__GNUC__)
__attribute__((tls_model("initial-exec")))
#endif
extern constinit thread_local ThreadRing *currentRing;

/// Gives the calling thread a ring. Returns nullptr if there is no memory or the thread is ending.
ThreadRing *attachThread();

} // namespace detail

/// Returns whether events are recorded, which is the case at least while a sink is attached.
inline bool isOn() { return detail::isOn.load(std::memory_order_relaxed); }

/// Records an event without checking isOn(). fill(T &) constructs the event in place in the ring
/// and must set every field after the header, because the memory holds remains of older events.
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

/// If a sink is attached, records an event that belongs to no heap.
template <typename T, typename Fill> inline void record(EventType type, Fill &&fill) {
  if (isOn()) [[unlikely]]
    recordAlways<T>(type, 0, false, static_cast<Fill &&>(fill));
}

/// If a sink is attached, records a copy of an event with the current time. Not for memory events.
template <typename T> inline void record(const T &given) {
  if (!isOn()) [[likely]]
    return;
  recordAlways<T>(given.header.type, given.header.heap, false, [&](T &event) {
    const EventHeader header = event.header;
    event = given;
    event.header = header;
  });
}

/// Makes the times of events that are recorded under one lock strictly increasing. A processor may
/// read the counter some nanoseconds before it acquires the lock, so the raw ticks can be out of
/// order. The lock must protect the object.
class TicksInOrder {
public:
  /// Returns the larger of `ticks` and the last result plus 1.
  uint64_t next(uint64_t ticks) {
    last_ = ticks > last_ ? ticks : last_ + 1;
    return last_;
  }

private:
  uint64_t last_ = 0;
};

/// Returns the name of the calling thread's innermost open span; 0 for none.
inline uint32_t currentSpan() {
  return detail::currentRing == nullptr ? 0 : detail::currentRing->span;
}

// ---- events of host threads --------------------------------------------------------------------

/// Begins a span, or ends the innermost open span of the thread. Spans of a thread nest. An end
/// without a recorded beginning is ignored, because the beginning may precede the recording.
void beginSpan(uint32_t name);
void endSpan();
/// Records a moment with a number that the caller chooses.
void mark(uint32_t name, int64_t value);
/// Records that a named quantity has this value from now on.
void counter(uint32_t name, int64_t value);
/// Sets the calling thread's name in viewers.
void nameThread(std::string_view name);

/// A span that ends with the scope.
class Span {
public:
  explicit Span(uint32_t name) { beginSpan(name); }
  ~Span() { endSpan(); }
  Span(const Span &) = delete;
  Span &operator=(const Span &) = delete;
};

/// The kinds of ids. The ids of each kind are 1, 2, 3, …
enum class IdKind : uint8_t { kSession, kPlan, kRun, kDevice, kHeap, kImport };
/// Returns the next id of the kind.
uint32_t newId(IdKind kind);

} // namespace gantry::trace
