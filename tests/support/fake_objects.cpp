#include "tests/support/fake_objects.h"
#include "engine/base/align.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace gantry::test {

namespace {

/// Returns the size rounded up to a multiple of the page size, which the system maps.
size_t pagesOf(uint64_t sizeBytes) { return roundUp(sizeBytes, 4096); }

uint8_t *span(const device::BufferRange &range) {
  return FakeDevice::bytesOf(*range.memory) + range.offsetBytes;
}

} // namespace

// ---- memory ------------------------------------------------------------------------------------

FakeMemory::FakeMemory(std::shared_ptr<FakeDevice> device, device::MemoryKind kind,
                       uint64_t sizeBytes)
    : Memory(kind, sizeBytes), device_(std::move(device)) {
  device_->liveMemories_.fetch_add(1);
}

FakeMemory::~FakeMemory() {
  device_->memoryDies(*this);
  if (isRange_)
    device_->rangeBytes_.fetch_sub(sizeBytes_);
  commits_.clear([this](uint64_t token) { device_->doRelease(*this, token); });
  if (mappedHere_)
    munmap(bytes_, pagesOf(sizeBytes_));
  if (fd_ >= 0)
    close(fd_);
  if (taken_)
    device_->give(heap_, sizeBytes_);
  device_->liveMemories_.fetch_sub(1);
}

void FakeMemory::setType(uint32_t type, uint32_t heap) {
  memoryType_ = type;
  heap_ = heap;
}

void FakeMemory::place(uint32_t type, uint32_t heap) {
  setType(type, heap);
  taken_ = true;
}

void FakeMemory::publish() {
  address_ = reinterpret_cast<uint64_t>(bytes_);
  if (kind_ != device::MemoryKind::kDevice)
    mapped_ = bytes_;
}

Status FakeMemory::map(int fd, bool exportable) {
  const size_t size = pagesOf(sizeBytes_);
  if (exportable) {
    fd_ = memfd_create("gantry-fake", MFD_CLOEXEC);
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(size)) != 0)
      return {StatusCode::kOutOfMemory, "no host memory"};
    fd = fd_;
  }
  const int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void *mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
  if (mapping == MAP_FAILED)
    return {StatusCode::kOutOfMemory, "no host memory"};
  if (!exportable)
    fd_ = fd; // An import takes ownership of the descriptor.
  bytes_ = static_cast<uint8_t *>(mapping);
  mappedHere_ = true;
  exportable_ = exportable;
  publish();
  return {};
}

Status FakeMemory::reserve(uint32_t type, uint32_t heap) {
  void *mapping = mmap(nullptr, pagesOf(sizeBytes_), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return {StatusCode::kOutOfMemory, "no host memory"};
  bytes_ = static_cast<uint8_t *>(mapping);
  mappedHere_ = true;
  isRange_ = true;
  setType(type, heap);
  device_->rangeBytes_.fetch_add(sizeBytes_);
  publish();
  return {};
}

void FakeMemory::adopt(uint8_t *bytes, uint32_t type, uint32_t heap) {
  bytes_ = bytes;
  setType(type, heap);
  publish();
}

// ---- kernels -----------------------------------------------------------------------------------

FakeKernel::FakeKernel(std::shared_ptr<FakeDevice> device, const device::KernelSource &source,
                       HostKernel function)
    : Kernel(source), device_(std::move(device)), function_(std::move(function)) {
  device_->liveKernels_.fetch_add(1);
}

FakeKernel::~FakeKernel() { device_->liveKernels_.fetch_sub(1); }

// ---- command lists -----------------------------------------------------------------------------

FakeList::FakeList(std::shared_ptr<FakeDevice> device)
    : CommandList(*device), device_(std::move(device)) {
  device_->liveLists_.fetch_add(1);
}

FakeList::~FakeList() {
  if (!device_->isLost()) {
    std::lock_guard lock(device_->mutex_);
    for (FakeList *list = device_->pending_; list; list = list->next_)
      if (list == this)
        device_->violate("a command list was destroyed while it is pending");
  }
  for (uint32_t i = 0; i < count_; ++i)
    delete[] commands_[i].bytes;
  delete[] commands_;
  device_->liveLists_.fetch_sub(1);
}

Status FakeList::add(const Command &command) {
  if (count_ == capacity_) {
    const uint32_t larger = std::max(8u, 2 * capacity_);
    auto *fresh = new (std::nothrow) Command[larger];
    if (!fresh)
      return {StatusCode::kOutOfMemory, "no host memory"};
    std::copy_n(commands_, count_, fresh);
    delete[] commands_;
    commands_ = fresh;
    capacity_ = larger;
  }
  commands_[count_++] = command;
  return {};
}

Status FakeList::doBegin(const device::CommandListCapacity &capacity) {
  GANTRY_RETURN_IF_ERROR(device_->call());
  if (capacity.timestamps > 0)
    times_.resize(capacity.timestamps);
  return {};
}

Status FakeList::doDispatch(const device::Dispatch &dispatch) {
  Command command{};
  command.type = Command::Type::kDispatch;
  command.kernel = static_cast<const FakeKernel *>(dispatch.kernel);
  command.bufferCount = static_cast<uint32_t>(dispatch.buffers.size());
  command.dimCount = static_cast<uint32_t>(dispatch.dims.size());
  std::copy(dispatch.buffers.begin(), dispatch.buffers.end(), command.buffers);
  std::copy(dispatch.dims.begin(), dispatch.dims.end(), command.dims);
  std::copy_n(dispatch.workgroups, 3, command.workgroups);
  std::copy_n(dispatch.firstWorkgroup, 3, command.firstWorkgroup);
  return add(command);
}

Status FakeList::doCopy(const device::BufferRange &source, device::Memory &target,
                        uint64_t targetOffset) {
  Command command{};
  command.type = Command::Type::kCopy;
  command.source = source;
  command.target = {&target, targetOffset, source.sizeBytes};
  return add(command);
}

Status FakeList::doFill(const device::BufferRange &range, uint32_t word) {
  Command command{};
  command.type = Command::Type::kFill;
  command.target = range;
  command.word = word;
  return add(command);
}

Status FakeList::doUpdate(const device::BufferRange &range, std::span<const uint8_t> bytes) {
  Command command{};
  command.type = Command::Type::kUpdate;
  command.target = range;
  command.bytes = new (std::nothrow) uint8_t[bytes.size()];
  if (!command.bytes)
    return {StatusCode::kOutOfMemory, "no host memory"};
  std::copy(bytes.begin(), bytes.end(), command.bytes);
  Status added = add(command);
  if (!added.isOk())
    delete[] command.bytes;
  return added;
}

Status FakeList::doTimestamp(uint32_t index) {
  Command command{};
  command.type = Command::Type::kTimestamp;
  command.word = index;
  return add(command);
}

Result<std::vector<uint64_t>> FakeList::doTimestampsNs(uint32_t count) {
  GANTRY_RETURN_IF_ERROR(device_->call());
  std::vector<uint64_t> times(times_.begin(), times_.begin() + count);
  for (uint64_t &time : times)
    time -= times_.front();
  return times;
}

bool FakeList::uses(const FakeMemory &memory) const {
  auto is = [&](const device::BufferRange &range) { return range.memory == &memory; };
  return std::any_of(commands_, commands_ + count_, [&](const Command &command) {
    return is(command.source) || is(command.target) ||
           std::any_of(command.buffers, command.buffers + command.bufferCount, is);
  });
}

bool FakeList::check(const device::BufferRange &range) {
  if (range.memory->isCommitted(range.offsetBytes, range.sizeBytes))
    return true;
  device_->violate("a submission used bytes of a range that have no storage");
  return false;
}

void FakeList::run(uint64_t &clockNs) {
  for (uint32_t i = 0; i < count_; ++i)
    runOne(commands_[i], clockNs);
}

void FakeList::runOne(const Command &command, uint64_t &clockNs) {
  clockNs += 1000; // Every command takes one microsecond.
  if ((command.source.memory && !check(command.source)) ||
      (command.target.memory && !check(command.target)))
    return;
  switch (command.type) {
  case Command::Type::kDispatch: {
    std::span<uint8_t> buffers[kMaxKernelArguments];
    for (uint32_t i = 0; i < command.bufferCount; ++i) {
      if (!check(command.buffers[i]))
        return;
      buffers[i] = {span(command.buffers[i]), command.buffers[i].sizeBytes};
    }
    HostKernelCall call{{buffers, command.bufferCount}, {command.dims, command.dimCount}, {}, {}};
    std::copy_n(command.workgroups, 3, call.workgroups);
    std::copy_n(command.firstWorkgroup, 3, call.firstWorkgroup);
    command.kernel->function()(call);
    break;
  }
  case Command::Type::kCopy:
    std::memcpy(span(command.target), span(command.source), command.source.sizeBytes);
    device_->copiedBytes_.fetch_add(command.source.sizeBytes);
    break;
  case Command::Type::kFill:
    for (uint64_t i = 0; i < command.target.sizeBytes; i += 4)
      std::memcpy(span(command.target) + i, &command.word, 4);
    break;
  case Command::Type::kUpdate:
    std::memcpy(span(command.target), command.bytes, command.target.sizeBytes);
    break;
  case Command::Type::kTimestamp:
    times_[command.word] = clockNs;
    break;
  }
}

} // namespace gantry::test
