// FaultScenario: creates a heap, uses most of its functions and destroys it, for tests that inject
// faults. After each call that fails it checks that the number and the bytes of live buffers are
// as before, and that the heap is valid. It counts the calls that failed.
#pragma once

#include "engine/heap/extras/compaction.h"
#include "engine/heap/extras/report.h"
#include "engine/heap/extras/spill.h"
#include "engine/heap/heap.h"
#include "tests/support/heap_validation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <functional>
#include <optional>

namespace gantry::heap {

inline double cpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class FaultScenario {
public:
  /// `lossy`: the test may lose the device, so calls may fail with kDeviceLost. limitBytes limits
  /// each memory heap of the device; 0: no limit.
  FaultScenario(std::shared_ptr<device::Device> gpu, const HostAllocator &host, bool lossy,
                uint64_t limitBytes = 0)
      : gpu_(std::move(gpu)), lossy_(lossy) {
    options_.host = host;
    std::fill(std::begin(options_.limitBytes), std::end(options_.limitBytes), limitBytes);
  }

  void run() {
    Result<HeapPtr> made = Heap::create(gpu_, options_);
    if (!made.isOk()) {
      EXPECT_EQ(made.status().code(), StatusCode::kOutOfMemory);
      ++refused;
      return;
    }
    heap_ = made.take();
    compaction_.emplace(*heap_);
    spilling_.emplace(*heap_, Spill::When::kUnderPressure);
    const NameId name = heap_->intern("a name");
    for (int i = 0; i < 40; ++i) {
      BufferRequest request;
      request.sizeBytes =
          i % 10 == 0 ? 300 * (uint64_t{1} << 10) : 1000 + 5000 * static_cast<uint64_t>(i);
      request.name = name;
      request.movable = i % 2 == 0;
      request.spillable = i % 5 == 0;
      request.kind = i % 7 == 0 ? MemoryKind::kUpload : MemoryKind::kDevice;
      request.dedicated = i % 10 == 0;
      allocate(request);
    }
    for (size_t i = 0; i < live_.size(); i += 3) {
      const TimelinePoint point{0, submit()};
      released(heap_->release(live_[i], {&point, 1}));
      live_[i] = {};
    }
    judge([&] { return heap_->poll(); });
    for (int i = 0; i < 4; ++i)
      judge([&] { return compaction_->compact((uint64_t{1} << 20)); });
    for (const BufferHandle buffer : live_) {
      Placement at;
      if (!buffer)
        continue;
      judge([&] {
        const HeapCode code = spilling_->spill(buffer);
        return code == HeapCode::kInvalidArgument ? HeapCode::kOk : code;
      });
      judge([&] {
        const HeapCode code = heap_->pin(buffer, &at);
        return code == HeapCode::kOk ? heap_->unpin(buffer) : code;
      });
    }
    for (const bool dedicated : {true, false}) {
      BufferRequest large;
      large.sizeBytes = 12 * (uint64_t{1} << 20);
      large.dedicated = dedicated;
      allocate(large);
    }
    BufferRequest huge;
    huge.sizeBytes = 18 * (uint64_t{1} << 20);
    allocate(huge);
    (void)heap_->trim();
    EXPECT_EQ(validate(*heap_), nullptr) << validate(*heap_);
    for (const BufferHandle buffer : live_)
      if (buffer)
        released(heap_->release(buffer));
    HeapStatistics all;
    heap_->statistics(&all);
    for (const KindStatistics &kind : all.kinds)
      EXPECT_EQ(kind.liveBytes, 0U);
    EXPECT_EQ(validate(*heap_), nullptr) << validate(*heap_);
    char report[512];
    writeReport(*heap_, report);
    spilling_.reset();
    compaction_.reset();
    heap_.reset();
    finish();
  }

  uint64_t refused = 0; // Number of calls that failed.
  double slowestMs = 0; // CPU time of the slowest call after the device was lost.

private:
  // Makes one call. If it fails, its code must be one that an injected fault can cause, and the
  // number and bytes of live buffers must be as before.
  void judge(const std::function<HeapCode()> &call) {
    HeapStatistics before;
    heap_->statistics(&before);
    const bool lost = gpu_->isLost();
    const double start = cpuMs();
    const HeapCode code = call();
    if (lost)
      slowestMs = std::max(slowestMs, cpuMs() - start);
    if (code == HeapCode::kOk)
      return;
    ++refused;
    EXPECT_TRUE(code == HeapCode::kExhausted || code == HeapCode::kHostExhausted ||
                code == HeapCode::kOverBudget || code == HeapCode::kBusy ||
                (lossy_ && code == HeapCode::kDeviceLost))
        << heapCodeName(code);
    HeapStatistics after;
    heap_->statistics(&after);
    for (uint32_t kind = 0; kind < kMemoryKinds; ++kind) {
      EXPECT_EQ(before.kinds[kind].liveBytes, after.kinds[kind].liveBytes);
      EXPECT_EQ(before.kinds[kind].liveBuffers, after.kinds[kind].liveBuffers);
    }
    EXPECT_EQ(validate(*heap_), nullptr) << validate(*heap_);
  }
  void allocate(const BufferRequest &request) {
    judge([&] {
      BufferHandle buffer;
      const HeapCode code = heap_->allocate(request, &buffer);
      EXPECT_EQ(code == HeapCode::kOk, static_cast<bool>(buffer));
      if (code == HeapCode::kOk)
        live_.push_back(buffer);
      return code;
    });
  }
  void released(HeapCode code) { EXPECT_EQ(code, HeapCode::kOk) << heapCodeName(code); }
  uint64_t submit() {
    auto list = gpu_->createCommandList();
    if (!list.isOk() || !(*list)->begin({}).isOk() || !(*list)->end().isOk())
      return 0;
    const Result<uint64_t> ticket = gpu_->submit(**list);
    if (!ticket.isOk())
      return 0;
    lists_.push_back(list.take());
    last_ = *ticket;
    return last_;
  }
  /// Frees the command lists when the device has finished them. A wait that fails is repeated.
  void finish() {
    while (!gpu_->isLost() && !gpu_->wait(last_, UINT64_MAX).isOk()) {
    }
    lists_.clear();
  }

  std::shared_ptr<device::Device> gpu_;
  bool lossy_;
  HeapOptions options_;
  HeapPtr heap_;
  std::optional<Compaction> compaction_;
  std::optional<Spill> spilling_;
  std::vector<BufferHandle> live_;
  std::vector<std::unique_ptr<device::CommandList>> lists_;
  uint64_t last_ = 0; // Ticket of the last submission.
};

} // namespace gantry::heap
