// The rings of all threads, their life cycle, and the events of host threads.
#include "engine/trace/record/record.h"

#include "engine/base/thread_exit.h"
#include "engine/trace/record/collector.h"
#include "engine/trace/record/rings.h"

#include <array>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace gantry::trace {

namespace detail {

std::atomic<bool> isOn{false};
constinit thread_local ThreadRing *currentRing = nullptr;

namespace {

struct Rings {
  std::mutex mutex;
  std::vector<ThreadRing *> all;   // Rings in use.
  std::vector<ThreadRing *> spare; // Retired rings of ended threads.
  uint32_t lastThread = 0;
  uint64_t ringBytes = kDefaultRingBytes;
};

/// The list is never destroyed, because threads may end after the destructors of globals.
Rings &rings() {
  static auto *const instance = new Rings;
  return *instance;
}

constinit thread_local bool threadHasEnded = false;

/// Marks the thread's ring as ended when the thread ends.
ThreadExit &ringReturn() {
  static ThreadExit exit([](void *ring) {
    threadHasEnded = true;
    currentRing = nullptr;
    static_cast<ThreadRing *>(ring)->ended.store(true, std::memory_order_release);
  });
  return exit;
}

std::atomic<uint64_t> lateEvents{0};

} // namespace

ThreadRing *attachThread() {
  // The thread's exit handler (ringReturn()) has run, so the caller is the destructor of a
  // thread-local object. Nothing would mark a new ring as ended.
  if (threadHasEnded) {
    lateEvents.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  Rings &state = rings();
  const std::lock_guard<std::mutex> locked(state.mutex);
  ThreadRing *ring = nullptr;
  for (size_t i = 0; i < state.spare.size() && ring == nullptr; ++i)
    if (state.spare[i]->ring.sizeBytes() == state.ringBytes) {
      ring = state.spare[i];
      state.spare.erase(state.spare.begin() + static_cast<std::ptrdiff_t>(i));
    }
  if (ring == nullptr) {
    ring = new (std::nothrow) ThreadRing;
    if (ring == nullptr || !ring->ring.create(state.ringBytes)) {
      delete ring;
      return nullptr;
    }
  }
  if (!ringReturn().arm(ring)) { // Without a handler, nothing would mark the ring as ended.
    state.spare.push_back(ring);
    return nullptr;
  }
  ring->ring.setNudge([] { Collector::instance().nudge(); });
  ring->thread = ++state.lastThread;
  ring->systemId = static_cast<uint32_t>(syscall(SYS_gettid));
  ring->span = 0;
  ring->depth = 0;
  ring->name.store(0, std::memory_order_relaxed);
  ring->ended.store(false, std::memory_order_relaxed);
  ring->known = false;
  ring->announced = 0;
  state.all.push_back(ring);
  currentRing = ring;
  return ring;
}

void listRings(std::vector<ThreadRing *> &list) {
  Rings &state = rings();
  const std::lock_guard<std::mutex> locked(state.mutex);
  list = state.all;
}

void tryListRings(std::vector<ThreadRing *> &list) {
  const Rings &state = rings();
  const std::unique_lock<std::mutex> locked(rings().mutex, std::try_to_lock);
  if (locked.owns_lock() && state.all.size() <= list.capacity())
    list.assign(state.all.begin(), state.all.end());
}

uint64_t lateEventCount() { return lateEvents.load(std::memory_order_relaxed); }

void retireRing(ThreadRing *ring) {
  Rings &state = rings();
  const std::lock_guard<std::mutex> locked(state.mutex);
  std::erase(state.all, ring);
  state.spare.push_back(ring);
}

void setRingBytes(uint64_t sizeBytes) {
  Rings &state = rings();
  const std::lock_guard<std::mutex> locked(state.mutex);
  state.ringBytes = sizeBytes;
  // Spare rings of another size would never be reused.
  std::erase_if(state.spare, [&](ThreadRing *ring) {
    if (ring->ring.sizeBytes() == sizeBytes)
      return false;
    delete ring;
    return true;
  });
}

} // namespace detail

namespace {

void recordHost(EventType type, uint32_t name, int64_t value) {
  recordAlways<HostEvent>(type, 0, false, [&](HostEvent &event) {
    event.name = name;
    event.category = 0;
    event.value = value;
  });
}

} // namespace

void beginSpan(uint32_t name) {
  if (!isOn())
    return;
  recordHost(EventType::kSpanBegin, name, 0);
  detail::ThreadRing *thread = detail::currentRing;
  if (thread == nullptr)
    return;
  if (thread->depth < std::size(thread->outer))
    thread->outer[thread->depth] = thread->span;
  thread->depth += 1;
  thread->span = name;
}

void endSpan() {
  detail::ThreadRing *thread = detail::currentRing;
  if (thread == nullptr || thread->depth == 0)
    return;
  if (isOn())
    recordHost(EventType::kSpanEnd, thread->span, 0);
  thread->depth -= 1;
  thread->span = thread->depth < std::size(thread->outer) ? thread->outer[thread->depth] : 0;
}

void mark(uint32_t name, int64_t value) {
  if (isOn())
    recordHost(EventType::kMark, name, value);
}

void counter(uint32_t name, int64_t value) {
  if (isOn())
    recordHost(EventType::kCounter, name, value);
}

void nameThread(std::string_view name) {
  detail::ThreadRing *thread = detail::currentRing;
  if (thread == nullptr)
    thread = detail::attachThread();
  if (thread != nullptr)
    thread->name.store(intern(name), std::memory_order_relaxed);
}

uint32_t newId(IdKind kind) {
  static std::array<std::atomic<uint32_t>, 6> last{};
  return last[static_cast<size_t>(kind)].fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace gantry::trace
