// Implements CaptureModel: distributes events to the parts of the model, and finishes the parts in
// parallel.
#include "profiler_gui/model/capture/capture_model.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <malloc.h>
#include <thread>

namespace gantry::profiler {

using trace::Event;
using trace::EventType;

namespace {

constexpr size_t kMaxThreads = 4;
/// Below this number of events, starting threads costs more than it saves.
constexpr uint64_t kMinEventsForThreads = 100'000;

/// Runs independent tasks on up to `threadCount` threads, the calling thread included.
void runTasks(const std::vector<std::function<void()>> &tasks, size_t threadCount) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++)
      tasks[i]();
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(threadCount, tasks.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

void CaptureModel::ingest(std::span<const Event> events, const trace::NameTable &names) {
  names_ = &names;
  for (const Event &event : events) {
    nowNs_ = std::max(nowNs_, event.header.timeNs);
    firstNs_ = std::min(firstNs_, event.header.timeNs);
    ingestOne(event, names);
  }
  events_ += events.size();
}

void CaptureModel::ingestOne(const Event &event, const trace::NameTable &names) {
  // EventType numbers are grouped by subject, so a range of numbers selects the part of the model.
  const EventType type = event.type();
  if (type == EventType::kBudget)
    devices_.ingest(event, nowNs_);
  else if (type >= EventType::kHeap && type < EventType::kSession)
    memory_.ingest(event);
  else if (type < EventType::kHeap)
    ingestProcess(event);
  else if (type < EventType::kSpanBegin)
    program_.ingest(event, {names, devices_, memory_, nowNs_});
  else
    host_.ingest(event);
  if (type == EventType::kMark && program_.runs().empty())
    memory_.endStep(event.header.timeNs);
}

void CaptureModel::ingestProcess(const Event &event) {
  switch (event.type()) {
  case EventType::kProcess:
    process_ = event.process;
    break;
  case EventType::kDrops:
    dropped_ += event.drops.events;
    break;
  default: // Device events. DeviceTable ignores kThread, because thread names are not shown.
    devices_.ingest(event, nowNs_);
    break;
  }
}

void CaptureModel::finish() {
  std::vector<std::function<void()>> tasks;
  memory_.appendFinishTasks(&tasks);
  program_.appendFinishTasks(&tasks);
  tasks.emplace_back([this] { host_.finish(); });
  const bool large = events_ >= kMinEventsForThreads;
  runTasks(tasks,
           large ? std::min<size_t>(std::thread::hardware_concurrency(), kMaxThreads) : size_t{1});
  if (large)
    malloc_trim(0); // Gives the memory that sorting needed back to the operating system.
}

void CaptureModel::update() {
  memory_.update();
  host_.update();
}

std::vector<const Heap *> CaptureModel::heapsInUse() const {
  std::vector<const Heap *> used, all;
  for (const Heap &heap : heaps()) {
    all.push_back(&heap);
    if (heap.live.peak() > 0 || heap.reserved.peak() > 0)
      used.push_back(&heap);
  }
  return used.empty() ? all : used;
}

uint64_t CaptureModel::firstActivityNs() const {
  uint64_t first = nowNs_;
  for (const AddressSpace &space : spaces())
    first = std::min(first, space.table.firstNs());
  for (const Run &run : runs())
    first = std::min(first, run.beginNs);
  return first;
}

uint64_t CaptureModel::memoryBytes() const {
  return memory_.memoryBytes() + program_.memoryBytes() + host_.memoryBytes();
}

} // namespace gantry::profiler
