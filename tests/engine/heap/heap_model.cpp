#include "tests/engine/heap/heap_model.h"

#include "tests/support/heap_validation.h"

#include <cstring>

namespace gantry::heap {
namespace {

constexpr size_t kMaxLive = 400;

std::string failed(const char *what, HeapCode code) {
  return std::string(what) + ": " + heapCodeName(code);
}

} // namespace

HeapModel::HeapModel(uint64_t seed) : random_(seed) {
  test::FakeConfig config;
  config.heaps = {{uint64_t{96} << 20, true}, {uint64_t{96} << 20, false}};
  config.types = {{0, true, false, false, false}, {1, false, true, true, true}};
  config.memoryBudgets = false;
  gpu_ = test::FakeDevice::create(config);
  heap_ = Heap::create(gpu_, {}).take();
  ordered_.emplace(*heap_);
  compaction_.emplace(*heap_);
  spilling_.emplace(*heap_, Spill::When::kUnderPressure);
}

HeapModel::~HeapModel() {
  runDevice();
  spilling_.reset();
  compaction_.reset();
  ordered_.reset();
  heap_.reset();
}

uint64_t HeapModel::submit() {
  auto list = gpu_->createCommandList().take();
  if (!list->begin({}).isOk() || !list->end().isOk())
    return 0;
  lastTicket_ = *gpu_->submit(*list);
  lists_.push_back(std::move(list));
  return lastTicket_;
}

std::string HeapModel::step() {
  const uint64_t choice = below(1000);
  if (choice < 430)
    return allocate();
  if (choice < 830)
    return release();
  if (choice < 960)
    return useBuffer();
  if (choice < 985)
    return misuse();
  return maintain();
}

// Records the range of a new buffer. Returns an error if the range overlaps that of a live buffer,
// or a pending range whose ticket is not done and above orderedAfter. orderedAfter is the ticket
// that the new buffer is ordered after; 0: none.
std::string HeapModel::claim(const Placement &at, uint64_t orderedAfter) {
  if (at.memory == nullptr || at.offsetBytes + at.sizeBytes > at.memory->sizeBytes())
    return "a buffer ends beyond its memory";
  const uint64_t begin = at.offsetBytes;
  const uint64_t end = begin + at.sizeBytes;
  auto next = ranges_.lower_bound({at.memory, begin});
  if (next != ranges_.begin() && std::prev(next)->first.first == at.memory &&
      std::prev(next)->second.end > begin)
    --next;
  const uint64_t done = *gpu_->completed();
  while (next != ranges_.end() && next->first.first == at.memory && next->first.second < end) {
    if (next->second.ticket == 0)
      return "two live buffers overlap";
    if (next->second.ticket > done && next->second.ticket > orderedAfter)
      return "a range was handed out while work may use it";
    next = ranges_.erase(next);
  }
  ranges_[{at.memory, begin}] = {end, 0};
  return "";
}

void HeapModel::writePattern(const Buffer &buffer, const Placement &at) {
  uint8_t *bytes = test::FakeDevice::bytesOf(*at.memory) + at.offsetBytes;
  const uint64_t size = std::min<uint64_t>(at.sizeBytes, 8);
  std::memcpy(bytes, &buffer.pattern, size);
  std::memcpy(bytes + at.sizeBytes - size, &buffer.pattern, size);
}

std::string HeapModel::checkPattern(const Buffer &buffer) {
  Placement at;
  const HeapCode code = heap_->resolve(buffer.handle, &at);
  if (code == HeapCode::kBusy && buffer.request.spillable)
    return "";
  if (code != HeapCode::kOk)
    return failed("a live buffer does not resolve", code);
  if (at.sizeBytes != buffer.request.sizeBytes)
    return "a buffer does not have the requested size";
  if (at.offsetBytes % buffer.request.alignment != 0)
    return "a buffer is misaligned";
  if (!buffer.written || held_) // A held device may not have run the copies of a move yet.
    return "";
  const uint8_t *bytes = test::FakeDevice::bytesOf(*at.memory) + at.offsetBytes;
  const uint64_t size = std::min<uint64_t>(at.sizeBytes, 8);
  if (std::memcmp(bytes + at.sizeBytes - size, &buffer.pattern, size) != 0)
    return "a buffer does not contain the bytes that were written to it";
  return "";
}

// Replaces the ranges of live buffers by those that the heap reports now, because buffers may have
// moved. Also removes the pending ranges whose ticket is done.
void HeapModel::rebuildRanges() {
  for (auto i = ranges_.begin(); i != ranges_.end();)
    i = i->second.ticket == 0 ? ranges_.erase(i) : std::next(i);
  for (const Buffer &buffer : live_) {
    Placement at;
    if (heap_->resolve(buffer.handle, &at) == HeapCode::kOk)
      ranges_[{at.memory, at.offsetBytes}] = {at.offsetBytes + at.sizeBytes, 0};
  }
  forgetPassed();
}

// Removes the pending ranges whose ticket is done.
void HeapModel::forgetPassed() {
  const uint64_t done = *gpu_->completed();
  for (auto i = ranges_.begin(); i != ranges_.end();)
    i = i->second.ticket != 0 && i->second.ticket <= done ? ranges_.erase(i) : std::next(i);
}

// Runs all submissions. The model calls this function before calls in which the heap may wait for
// the device, because a held device never finishes its work.
void HeapModel::runDevice() {
  gpu_->release();
  lists_.clear();
  held_ = false;
}

std::string HeapModel::allocate() {
  if (live_.size() >= kMaxLive)
    return release();
  if (held_ && gpu_->counts().liveBytes > (uint64_t{48} << 20))
    runDevice();
  Buffer buffer;
  BufferRequest &request = buffer.request;
  const uint64_t percent = below(100);
  request.sizeBytes = percent < 70   ? 1 + below(20000)
                      : percent < 95 ? 1 + below(300000)
                      : percent < 99 ? 1 + below(uint64_t{6} << 20)
                                     : 1 + below(uint64_t{20} << 20);
  request.alignment = below(8) == 0 ? uint64_t{1} << below(17) : 256;
  request.kind = below(5) == 0 ? MemoryKind::kUpload : MemoryKind::kDevice;
  request.movable = below(3) == 0;
  request.spillable = below(6) == 0;
  request.dedicated = below(request.sizeBytes > (uint64_t{4} << 20) ? 2 : 300) == 0;
  TimelinePoint point{0, lastTicket_};
  const bool ordered = below(4) == 0;
  const HeapCode code = ordered ? ordered_->allocate(request, {&point, 1}, &buffer.handle)
                                : heap_->allocate(request, &buffer.handle);
  if (code == HeapCode::kExhausted || code == HeapCode::kOverBudget) {
    rebuildRanges(); // The heap may move and spill buffers before it refuses (growth.h, step 5).
    return "";
  }
  if (code != HeapCode::kOk)
    return failed("allocate", code);
  Placement at;
  if (const HeapCode resolved = heap_->resolve(buffer.handle, &at); resolved != HeapCode::kOk)
    return failed("resolve", resolved);
  if (const test::FakeCounts counts = gpu_->counts(); counts.copiedBytes + counts.frees != moved_) {
    moved_ = counts.copiedBytes + counts.frees;
    rebuildRanges();
  }
  buffer.pattern = random_();
  if (std::string wrong = claim(at, ordered ? point.value : 0); !wrong.empty())
    return wrong;
  // If the buffer is ordered after work that has not run, that work may still write its range.
  buffer.written = !(ordered && held_);
  if (buffer.written)
    writePattern(buffer, at);
  liveBytes_ += request.sizeBytes;
  live_.push_back(buffer);
  return "";
}

std::string HeapModel::release() {
  if (live_.empty())
    return allocate();
  const size_t i = below(live_.size());
  Buffer &buffer = live_[i];
  if (std::string wrong = checkPattern(buffer); !wrong.empty())
    return wrong;
  for (; buffer.pins > 0; --buffer.pins)
    if (const HeapCode code = heap_->unpin(buffer.handle); code != HeapCode::kOk)
      return failed("unpin", code);
  Placement at;
  const bool resident = heap_->resolve(buffer.handle, &at) == HeapCode::kOk;
  TimelinePoint point{0, 0};
  std::span<const TimelinePoint> after;
  if (buffer.references == 1 && below(3) == 0) {
    point.value = below(2) == 0 ? submit() : lastTicket_;
    after = {&point, 1};
  }
  if (const HeapCode code = heap_->release(buffer.handle, after); code != HeapCode::kOk)
    return failed("release", code);
  if (--buffer.references != 0)
    return "";
  if (heap_->release(buffer.handle) != HeapCode::kStaleHandle)
    return "a second release was accepted";
  if (resident) {
    ranges_.erase({at.memory, at.offsetBytes});
    if (point.value > *gpu_->completed())
      ranges_[{at.memory, at.offsetBytes}] = {at.offsetBytes + at.sizeBytes, point.value};
  }
  liveBytes_ -= buffer.request.sizeBytes;
  if (dead_.size() < 1000)
    dead_.push_back(buffer.handle);
  else
    dead_[below(dead_.size())] = buffer.handle;
  live_[i] = live_.back();
  live_.pop_back();
  return "";
}

std::string HeapModel::useBuffer() {
  if (live_.empty())
    return "";
  Buffer &buffer = live_[below(live_.size())];
  switch (below(4)) {
  case 0:
    if (const HeapCode code = heap_->retain(buffer.handle); code != HeapCode::kOk)
      return failed("retain", code);
    ++buffer.references;
    return "";
  case 1: {
    Placement at;
    if (held_ && (heap_->resolve(buffer.handle, &at) == HeapCode::kBusy || at.mapped != nullptr))
      runDevice(); // pin() waits for the copies that restore a buffer or that move a mapped one.
    const HeapCode code = heap_->pin(buffer.handle, &at);
    if (code == HeapCode::kExhausted || code == HeapCode::kOverBudget)
      return "";
    if (code != HeapCode::kOk)
      return failed("pin", code);
    ++buffer.pins;
    rebuildRanges();
    return checkPattern(buffer);
  }
  case 2:
    if (buffer.pins == 0)
      return "";
    --buffer.pins;
    if (const HeapCode code = heap_->unpin(buffer.handle); code != HeapCode::kOk)
      return failed("unpin", code);
    return "";
  default:
    return checkPattern(buffer);
  }
}

std::string HeapModel::misuse() {
  Placement at;
  if (!dead_.empty()) {
    const BufferHandle handle = dead_[below(dead_.size())];
    if (heap_->release(handle) == HeapCode::kOk || heap_->retain(handle) == HeapCode::kOk ||
        heap_->resolve(handle, &at) == HeapCode::kOk || heap_->unpin(handle) == HeapCode::kOk)
      return "a dead handle was accepted";
  }
  BufferHandle handle;
  BufferRequest request;
  request.sizeBytes = below(2) == 0 ? 0 : UINT64_MAX - below(1000);
  if (heap_->allocate(request, &handle) == HeapCode::kOk)
    return "an impossible size was accepted";
  return "";
}

std::string HeapModel::maintain() {
  HeapCode code = HeapCode::kOk;
  switch (below(6)) {
  case 0:
    code = compaction_->compact(below(uint64_t{4} << 20));
    break;
  case 1:
    if (below(20) == 0)
      (void)heap_->trim(below(uint64_t{8} << 20));
    break;
  case 2:
    runDevice();
    break;
  case 3:
    gpu_->hold();
    held_ = true;
    break;
  case 4:
    code = heap_->poll();
    break;
  default:
    if (!live_.empty()) {
      runDevice();
      const Buffer &buffer = live_[below(live_.size())];
      const HeapCode spilled = spilling_->spill(buffer.handle);
      if (spilled != HeapCode::kOk && spilled != HeapCode::kBusy &&
          spilled != HeapCode::kInvalidArgument && spilled != HeapCode::kExhausted)
        return failed("spill", spilled);
    }
    break;
  }
  if (code != HeapCode::kOk)
    return failed("maintain", code);
  rebuildRanges();
  if (below(10) != 0)
    return "";
  HeapStatistics all;
  heap_->statistics(&all);
  uint64_t live = 0;
  for (const KindStatistics &kind : all.kinds)
    live += kind.liveBytes;
  if (live != liveBytes_)
    return "the heap and the model count different live bytes";
  if (gpu_->violations() != 0)
    return gpu_->lastViolation();
  const char *broken = validate(*heap_);
  return broken == nullptr ? "" : broken;
}

std::string HeapModel::finish() {
  while (!live_.empty())
    if (std::string wrong = release(); !wrong.empty())
      return wrong;
  runDevice();
  (void)heap_->poll();
  (void)heap_->trim();
  if (const char *broken = validate(*heap_))
    return broken;
  if (gpu_->counts().liveBytes != 0)
    return "memory was not given back";
  spilling_.reset();
  compaction_.reset();
  heap_.reset();
  return gpu_->violations() == 0 ? "" : gpu_->lastViolation();
}

} // namespace gantry::heap
