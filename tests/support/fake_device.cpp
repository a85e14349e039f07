#include "tests/support/fake_device.h"
#include "engine/base/align.h"
#include "tests/support/fake_objects.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace gantry::test {

std::shared_ptr<FakeDevice> FakeDevice::create(FakeConfig config) {
  return std::shared_ptr<FakeDevice>(new FakeDevice(std::move(config)));
}

FakeDevice::FakeDevice(FakeConfig config) : config_(std::move(config)) {
  info_.name = "fake";
  info_.driver = "tests/support";
  info_.backend = "fake";
  info_.kind = device::DeviceKind::kVirtual;
  info_.timestamps = true;
  info_.memoryHeaps = config_.heaps;
  info_.memoryTypes = config_.types;
  info_.memoryKinds = device::chooseMemoryTypes(info_.memoryHeaps, info_.memoryTypes);
  for (size_t i = 0; i < config_.heaps.size(); ++i) {
    budgets_[i] = config_.heaps[i].sizeBytes;
    if (config_.heaps[i].deviceLocal)
      info_.memoryBytes = std::max(info_.memoryBytes, config_.heaps[i].sizeBytes);
  }
  info_.memoryBudgets = config_.memoryBudgets;
  info_.memoryPriorities = true;
  if (config_.virtualMemory)
    info_.virtualMemory = {true, config_.granularityBytes, uint64_t{1} << 40};
  if (config_.externalMemory)
    info_.external = {4096, true};
  info_.profile.name = "fake";
  info_.profile.maxAllocationBytes = config_.maxAllocationBytes;
  info_.profile.maxSharedMemoryBytes = 32768;
  info_.profile.maxWorkgroupInvocations = 1024;
  info_.profile.maxWorkgroupSize = {1024, 1024, 64};
  info_.profile.maxWorkgroupCount = {65535, 65535, 65535};
  info_.profile.maxPushConstantBytes = 128;
  info_.profile.maxStorageBufferRange = uint64_t{1} << 32;
  info_.profile.maxStorageBuffersPerStage = kMaxKernelArguments;
  info_.profile.storageBufferAlignment = 64;
  info_.profile.preferTexelLoads = config_.preferTexelLoads;
  info_.profile.maxTexelBufferElements = config_.maxTexelBufferElements;
  info_.profile.texelBufferAlignment = 64;
  info_.profile.maxTexelBuffersPerStage = kMaxKernelArguments;
  info_.profile.maxResourcesPerStage = 2 * kMaxKernelArguments;
  info_.profile.features.bufferDeviceAddress = true;
}

FakeDevice::~FakeDevice() = default;

// ---- faults and counts -------------------------------------------------------------------------

void FakeDevice::failCall(uint64_t k, StatusCode code, uint64_t again) {
  callCode_ = code;
  secondFault_ = again;
  callFault_ = k;
}

namespace {

/// Counts one call towards a fault. Returns whether this call must fail.
bool hits(std::atomic<uint64_t> &fault) {
  uint64_t k = fault.load();
  while (k > 0)
    if (fault.compare_exchange_weak(k, k - 1))
      return k == 1;
  return false;
}

} // namespace

Status FakeDevice::call() {
  driverCalls_.fetch_add(1);
  if (!hits(callFault_))
    return {};
  callFault_ = secondFault_.exchange(0);
  return {callCode_, "a fault that the test injected"};
}

Status FakeDevice::allocationCall() {
  GANTRY_RETURN_IF_ERROR(call());
  return hits(allocationFault_) ? Status(StatusCode::kOutOfMemory, "a fault that the test injected")
                                : Status::ok();
}

bool FakeDevice::take(uint32_t heap, uint64_t bytes) {
  const uint64_t size = config_.heaps[heap].sizeBytes, foreign = foreign_[heap].load();
  uint64_t live = live_[heap].load();
  do {
    if (config_.enforceHeapSize && (foreign + live > size || bytes > size - foreign - live))
      return false;
  } while (!live_[heap].compare_exchange_weak(live, live + bytes));
  const uint64_t total = liveBytes_.fetch_add(bytes) + bytes;
  uint64_t peak = peakBytes_.load();
  while (peak < total && !peakBytes_.compare_exchange_weak(peak, total)) {
  }
  allocations_.fetch_add(1);
  countAllocated(heap, bytes);
  return true;
}

void FakeDevice::give(uint32_t heap, uint64_t bytes) {
  live_[heap].fetch_sub(bytes);
  liveBytes_.fetch_sub(bytes);
  frees_.fetch_add(1);
  countFreed(heap, bytes);
}

void FakeDevice::violate(const char *what) {
  lastViolation_ = what;
  violations_.fetch_add(1);
}

FakeCounts FakeDevice::counts() const {
  FakeCounts counts;
  counts.driverCalls = driverCalls_;
  counts.allocations = allocations_;
  counts.frees = frees_;
  counts.waits = waits_;
  counts.copiedBytes = copiedBytes_;
  counts.liveMemories = liveMemories_;
  counts.liveKernels = liveKernels_;
  counts.liveLists = liveLists_;
  counts.liveBytes = liveBytes_;
  counts.peakBytes = peakBytes_;
  counts.liveRangeBytes = rangeBytes_;
  std::lock_guard lock(mutex_);
  counts.submissions = submitted_;
  return counts;
}

// ---- memory ------------------------------------------------------------------------------------

uint8_t *FakeDevice::bytesOf(device::Memory &memory) {
  return static_cast<FakeMemory &>(memory).bytes();
}

Result<std::unique_ptr<FakeMemory>> FakeDevice::make(device::MemoryKind kind, uint64_t sizeBytes) {
  std::unique_ptr<FakeMemory> memory(new (std::nothrow) FakeMemory(self(), kind, sizeBytes));
  if (!memory)
    return noHostMemory();
  return memory;
}

Result<std::unique_ptr<device::Memory>>
FakeDevice::doAllocate(device::MemoryKind kind, uint64_t sizeBytes,
                       const device::AllocateOptions &options) {
  GANTRY_ASSIGN_OR_RETURN(auto memory, make(kind, sizeBytes));
  GANTRY_RETURN_IF_ERROR(allocationCall());
  for (uint32_t type : info_.memoryKinds.of(kind).span())
    if (take(info_.memoryTypes[type].heap, sizeBytes)) {
      memory->place(type, info_.memoryTypes[type].heap);
      GANTRY_RETURN_IF_ERROR(memory->map(-1, options.exportable));
      return std::unique_ptr<device::Memory>(std::move(memory));
    }
  return statusf(StatusCode::kOutOfMemory, "%" PRIu64 " bytes of %s memory: the heaps are full",
                 sizeBytes, device::memoryKindName(kind));
}

Status FakeDevice::doMemoryBudgets(std::span<device::MemoryBudget> perHeap) {
  GANTRY_RETURN_IF_ERROR(call());
  for (size_t i = 0; i < perHeap.size(); ++i)
    perHeap[i] = {budgets_[i], live_[i] + foreign_[i]};
  return {};
}

Result<std::unique_ptr<device::Memory>> FakeDevice::doReserve(uint64_t rangeBytes) {
  GANTRY_ASSIGN_OR_RETURN(auto memory, make(device::MemoryKind::kDevice, rangeBytes));
  GANTRY_RETURN_IF_ERROR(allocationCall());
  const uint32_t type = info_.memoryKinds.of(device::MemoryKind::kDevice).types[0];
  GANTRY_RETURN_IF_ERROR(memory->reserve(type, info_.memoryTypes[type].heap));
  return std::unique_ptr<device::Memory>(std::move(memory));
}

Result<uint64_t> FakeDevice::doCommit(device::Memory &range, uint64_t offset, uint64_t size) {
  GANTRY_RETURN_IF_ERROR(allocationCall());
  if (!take(range.heap(), size))
    return statusf(StatusCode::kOutOfMemory, "commit of %" PRIu64 " bytes: the heap is full", size);
  // The token that is returned: a pointer to the committed size.
  auto *bytes = new (std::nothrow) uint64_t(size);
  if (!bytes || mprotect(bytesOf(range) + offset, size, PROT_READ | PROT_WRITE) != 0) {
    delete bytes;
    give(range.heap(), size);
    return noHostMemory();
  }
  return reinterpret_cast<uint64_t>(bytes);
}

Status FakeDevice::doDecommit(device::Memory &range, uint64_t offset, uint64_t size) {
  GANTRY_RETURN_IF_ERROR(call());
  uint8_t *at = bytesOf(range) + offset;
  if (madvise(at, size, MADV_DONTNEED) != 0 || mprotect(at, size, PROT_NONE) != 0)
    return noHostMemory();
  return {};
}

void FakeDevice::doRelease(device::Memory &range, uint64_t token) {
  const std::unique_ptr<uint64_t> bytes(reinterpret_cast<uint64_t *>(token));
  give(range.heap(), *bytes);
}

Result<std::unique_ptr<device::Memory>> FakeDevice::doImport(const device::ImportSource &source) {
  const bool isHost = source.type == device::ImportSource::Type::kHostPointer;
  GANTRY_ASSIGN_OR_RETURN(
      auto memory, make(isHost ? device::MemoryKind::kUnified : source.kind, source.sizeBytes));
  GANTRY_RETURN_IF_ERROR(allocationCall());
  const uint32_t type = source.memoryType.value_or(info_.memoryKinds.of(memory->kind()).types[0]);
  if (isHost) {
    memory->adopt(static_cast<uint8_t *>(source.hostPointer), type, info_.memoryTypes[type].heap);
  } else {
    if (lseek(source.fd, 0, SEEK_END) != static_cast<off_t>(roundUp(source.sizeBytes, 4096)))
      return statusf(StatusCode::kInvalidArgument,
                     "descriptor %d does not hold an allocation of %" PRIu64 " bytes", source.fd,
                     source.sizeBytes);
    GANTRY_RETURN_IF_ERROR(memory->map(source.fd, false));
    memory->setType(type, info_.memoryTypes[type].heap);
  }
  return std::unique_ptr<device::Memory>(std::move(memory));
}

Result<int> FakeDevice::doExport(device::Memory &memory) {
  GANTRY_RETURN_IF_ERROR(call());
  const int fd = dup(static_cast<FakeMemory &>(memory).descriptor());
  if (fd < 0)
    return Status(StatusCode::kIo, "no descriptor");
  return fd;
}

// ---- kernels, lists and the timeline -----------------------------------------------------------

Result<std::vector<std::unique_ptr<device::Kernel>>>
FakeDevice::doCreateKernels(std::span<const device::KernelSource> sources,
                            const std::optional<std::string> &) {
  std::vector<std::unique_ptr<device::Kernel>> kernels;
  for (const device::KernelSource &source : sources) {
    GANTRY_RETURN_IF_ERROR(call());
    const auto found = config_.kernels.find(source.name);
    if (found == config_.kernels.end() || source.bufferCount > kMaxKernelArguments ||
        source.dimCount > kMaxKernelArguments)
      return statusf(StatusCode::kUnsupported, "the fake driver has no kernel '%.*s'",
                     static_cast<int>(source.name.size()), source.name.data());
    kernels.push_back(std::make_unique<FakeKernel>(self(), source, found->second));
  }
  return kernels;
}

Result<std::unique_ptr<device::CommandList>> FakeDevice::doCreateCommandList() {
  GANTRY_RETURN_IF_ERROR(call());
  std::unique_ptr<device::CommandList> list(new (std::nothrow) FakeList(self()));
  if (!list)
    return noHostMemory();
  return list;
}

Result<uint64_t> FakeDevice::doSubmit(device::CommandList &list) {
  GANTRY_RETURN_IF_ERROR(call());
  std::lock_guard lock(mutex_);
  if (hits(submissionFault_)) {
    markLost();
    moved_.notify_all();
    return lostStatus();
  }
  auto &fake = static_cast<FakeList &>(list);
  if (fake.ticket() > completed_) {
    violate("a command list was submitted again before it was done");
    return Status(StatusCode::kFailedPrecondition, "the command list is still pending");
  }
  fake.enqueue(++submitted_);
  (newest_ ? newest_->nextPending() : pending_) = &fake;
  newest_ = &fake;
  const uint64_t ticket = submitted_;
  while (!held_ && pending_)
    runNext();
  return ticket;
}

void FakeDevice::runNext() {
  FakeList *list = pending_;
  pending_ = list->nextPending();
  if (!pending_)
    newest_ = nullptr;
  list->nextPending() = nullptr;
  list->run(clockNs_);
  completed_ = list->ticket();
  moved_.notify_all();
}

void FakeDevice::hold() {
  std::lock_guard lock(mutex_);
  held_ = true;
}

void FakeDevice::release(uint64_t count) {
  std::lock_guard lock(mutex_);
  for (; count > 0 && pending_; --count)
    runNext();
}

void FakeDevice::release() {
  std::lock_guard lock(mutex_);
  held_ = false;
  while (pending_)
    runNext();
}

void FakeDevice::lose() {
  markLost();
  std::lock_guard lock(mutex_);
  moved_.notify_all();
}

Result<bool> FakeDevice::doWait(uint64_t ticket, uint64_t timeoutNs) {
  GANTRY_RETURN_IF_ERROR(call());
  waits_.fetch_add(1);
  std::unique_lock lock(mutex_);
  auto over = [&] { return isLost() || completed_ >= ticket; };
  constexpr uint64_t kForEver = uint64_t{1} << 62; // wait_for() may overflow above this timeout.
  if (timeoutNs >= kForEver)
    moved_.wait(lock, over);
  else
    moved_.wait_for(lock, std::chrono::nanoseconds(timeoutNs), over);
  if (isLost())
    return lostStatus();
  return completed_ >= ticket;
}

Result<uint64_t> FakeDevice::doCompleted() {
  GANTRY_RETURN_IF_ERROR(call());
  std::lock_guard lock(mutex_);
  return completed_;
}

void FakeDevice::memoryDies(const FakeMemory &memory) {
  if (isLost())
    return;
  std::lock_guard lock(mutex_);
  for (FakeList *list = pending_; list; list = list->nextPending())
    if (list->uses(memory))
      violate("memory was freed while a pending submission uses it");
}

} // namespace gantry::test
