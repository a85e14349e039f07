#include "profiler_gui/model/capture_model.h"

#include "profiler_gui/model/shrink.h"

#include <algorithm>
#include <malloc.h>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace gantry::profiler {

using trace::Event;
using trace::EventType;

namespace {
constexpr size_t kMostThreads = 4;
constexpr uint64_t kManyEvents = 100'000; // below, a thread costs more than it saves
} // namespace

void CaptureModel::ingest(std::span<const Event> events, const trace::NameTable &names) {
  names_ = &names;
  for (const Event &event : events) {
    nowNs_ = std::max(nowNs_, event.header.timeNs);
    firstNs_ = std::min(firstNs_, event.header.timeNs);
    ingestOne(event);
  }
  events_ += events.size();
}

void CaptureModel::ingestOne(const Event &event) {
  const auto number = static_cast<uint8_t>(event.type());
  if (number >= static_cast<uint8_t>(EventType::kHeap) &&
      number < static_cast<uint8_t>(EventType::kSession))
    onMemory(event);
  else if (number < static_cast<uint8_t>(EventType::kHeap))
    onProcessOrDevice(event);
  else if (number < static_cast<uint8_t>(EventType::kSpanBegin))
    onProgram(event);
  else
    onHost(event);
}

void CaptureModel::finish() {
  // Tasks that have nothing in common: each thread takes the next one.
  std::vector<std::function<void()>> tasks;
  for (AddressSpace &space : spaces_)
    tasks.emplace_back([&space] { space.index.rebuild(space.table); });
  tasks.emplace_back([this] { dispatches_.shrink(); });
  for (Heap &heap : heaps_)
    tasks.emplace_back([&heap] {
      heap.live.shrink();
      heap.reserved.shrink();
    });
  tasks.emplace_back([this] { shrinkLists(); });
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++)
      tasks[i]();
  };
  std::vector<std::thread> threads;
  const size_t most = std::min<size_t>(std::thread::hardware_concurrency(), kMostThreads);
  for (size_t i = 1; i < std::min(most, tasks.size()) && events_ >= kManyEvents; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (events_ >= kManyEvents)
    malloc_trim(0); // what sorting took
}

void CaptureModel::shrinkLists() {
  fillHostRow();
  openBlocks_ = FlatMap();
  openSlabs_ = FlatMap();
  openBindings_.clear();
  profiler::shrink(runs_);
  profiler::shrink(bindings_);
  profiler::shrink(spans_);
  profiler::shrink(hostRow_.spans);
  profiler::shrink(hostRow_.latestEndNs);
  profiler::shrink(marks_);
}

void CaptureModel::update() {
  for (AddressSpace &space : spaces_)
    space.index.update(space.table);
  fillHostRow();
}

void CaptureModel::fillHostRow() {
  // Spans that were open may have ended since: their ends are read again from the first of these.
  const auto open = std::find(hostRow_.latestEndNs.begin(), hostRow_.latestEndNs.end(), kStillHeld);
  hostRow_.latestEndNs.erase(open, hostRow_.latestEndNs.end());
  for (size_t i = hostRow_.latestEndNs.size(); i < hostRow_.spans.size(); ++i) {
    const uint64_t before = i == 0 ? 0 : hostRow_.latestEndNs[i - 1];
    hostRow_.latestEndNs.push_back(std::max(before, spans_[hostRow_.spans[i]].endNs));
  }
}

size_t HostRow::firstReaching(size_t from, uint64_t timeNs) const {
  const auto first = latestEndNs.begin() + static_cast<ptrdiff_t>(std::min(from, spans.size()));
  // Where one before `from` reaches so far, all from there on pass; a caller draws them anew.
  return static_cast<size_t>(
      std::partition_point(first, latestEndNs.end(), [&](uint64_t end) { return end <= timeNs; }) -
      latestEndNs.begin());
}

void CaptureModel::onProcessOrDevice(const Event &event) {
  switch (event.type()) {
  case EventType::kProcess:
    process_ = event.process;
    break;
  case EventType::kDrops:
    dropped_ += event.drops.events;
    break;
  case EventType::kDevice: {
    Device device;
    device.id = event.device.device;
    device.name = event.device.name;
    device.driver = event.device.driver;
    device.backend = event.device.backend;
    device.sharedBytesLimit = event.device.sharedBytesLimit;
    device.maxInvocations = event.device.maxInvocations;
    const auto known = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const Device &d) { return d.id == device.id; });
    if (known == devices_.end())
      devices_.push_back(device);
    break;
  }
  case EventType::kDeviceHeap: {
    DeviceHeap heap;
    heap.device = event.deviceHeap.device;
    heap.index = event.deviceHeap.index;
    heap.sizeBytes = event.deviceHeap.sizeBytes;
    heap.deviceLocal = event.deviceHeap.deviceLocal != 0;
    const bool known =
        std::any_of(deviceHeaps_.begin(), deviceHeaps_.end(), [&](const DeviceHeap &h) {
          return h.device == heap.device && h.index == heap.index;
        });
    if (!known)
      deviceHeaps_.push_back(std::move(heap));
    break;
  }
  case EventType::kClock:
    for (Device &device : devices_) {
      if (device.id != event.clock.device)
        continue;
      device.hostMinusDeviceNs = event.clock.hostNs - event.clock.deviceNs;
      device.clockErrorNs = event.clock.errorNs;
      device.hasClock = true;
    }
    break;
  default: // threads' names are not shown
    break;
  }
}

void CaptureModel::onHost(const Event &event) {
  const uint64_t now = event.header.timeNs;
  switch (event.type()) {
  case EventType::kSpanBegin: {
    std::vector<uint32_t> &open = openSpans_[event.header.thread];
    if (open.empty())
      hostRow_.spans.push_back(static_cast<uint32_t>(spans_.size()));
    open.push_back(static_cast<uint32_t>(spans_.size()));
    spans_.push_back({now, kStillHeld, event.host.name, event.header.thread,
                      static_cast<uint32_t>(open.size() - 1)});
    break;
  }
  case EventType::kSpanEnd: {
    std::vector<uint32_t> &open = openSpans_[event.header.thread];
    if (open.empty()) {
      ++unmatched_;
      break;
    }
    spans_[open.back()].endNs = now;
    open.pop_back();
    break;
  }
  case EventType::kMark:
    marks_.push_back({now, event.host.name, event.host.value});
    if (runs_.empty())
      growth_.stepEnded(now);
    break;
  default: // counters are not shown
    break;
  }
}

std::vector<const Heap *> CaptureModel::heapsInUse() const {
  std::vector<const Heap *> used, all;
  for (const Heap &each : heaps_) {
    all.push_back(&each);
    if (each.live.peak() > 0 || each.reserved.peak() > 0)
      used.push_back(&each);
  }
  return used.empty() ? all : used;
}

uint64_t CaptureModel::firstActivityNs() const {
  uint64_t first = nowNs_;
  for (const AddressSpace &space : spaces_)
    for (uint32_t row = 0; row < std::min(space.table.size(), 1u); ++row)
      first = std::min(first, space.table.beginNs(row));
  for (const Run &run : runs_)
    first = std::min(first, run.beginNs);
  return first;
}

const Session *CaptureModel::session(uint32_t id) const {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [&](const Session &session) { return session.id == id; });
  return found == sessions_.end() ? nullptr : &*found;
}

const Device *CaptureModel::device(uint32_t id) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const Device &device) { return device.id == id; });
  return found == devices_.end() ? nullptr : &*found;
}

uint64_t CaptureModel::memoryBytes() const {
  uint64_t bytes = dispatches_.memoryBytes();
  for (const AddressSpace &space : spaces_)
    bytes += space.table.memoryBytes() + space.index.memoryBytes();
  for (const Heap &heap : heaps_)
    bytes += heap.live.memoryBytes() + heap.reserved.memoryBytes();
  bytes += runs_.capacity() * sizeof(Run) + entries_.capacity() * sizeof(PlanEntry) +
           bindings_.capacity() * sizeof(Binding) + spans_.capacity() * sizeof(HostSpan) +
           marks_.capacity() * sizeof(Mark) + hostRow_.spans.capacity() * sizeof(uint32_t) +
           hostRow_.latestEndNs.capacity() * sizeof(uint64_t);
  return bytes;
}

} // namespace gantry::profiler
