// The argument checks of Device, and the checks of kernels against a device's limits.
#include "engine/device/device.h"
#include "engine/base/align.h"
#include "engine/base/log.h"

#include <cinttypes>

namespace gantry::device {

namespace {

/// Returns 0.8 of a heap's size, without overflow.
uint64_t estimatedBudget(uint64_t heapBytes) { return heapBytes / 5 * 4 + heapBytes % 5 * 4 / 5; }

Status checkTexels(const KernelSource &source, const DeviceProfile &profile) {
  const int nameLength = static_cast<int>(source.name.size());
  const char *name = source.name.data();
  const size_t count = source.texels.size();
  if ((source.binding == BindingMode::kTexel) != (count > 0))
    return statusf(
        StatusCode::kInvalidArgument,
        "kernel '%.*s': its binding mode reads %s buffer as texels, but the kernel lists %zu",
        nameLength, name, count > 0 ? "no" : "at least one", count);
  for (size_t i = 0; i < count; ++i)
    if (source.texels[i].buffer >= source.bufferCount ||
        (i > 0 && source.texels[i].buffer <= source.texels[i - 1].buffer))
      return statusf(StatusCode::kInvalidArgument,
                     "kernel '%.*s': texel buffer %u of %u buffers; each is listed once, in "
                     "ascending order",
                     nameLength, name, source.texels[i].buffer, source.bufferCount);
  if (count > 0 && profile.maxTexelBufferElements == 0)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': reads texel buffers, which the device lacks", nameLength, name);
  if (count > profile.maxTexelBuffersPerStage ||
      (count > 0 && count + source.storageBufferCount() > profile.maxResourcesPerStage))
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': binds %zu texel and %u storage buffers; the device allows %u "
                   "texel buffers, and %u buffers of both kinds together",
                   nameLength, name, count, source.storageBufferCount(),
                   profile.maxTexelBuffersPerStage, profile.maxResourcesPerStage);
  return {};
}

} // namespace

Status checkKernel(const KernelSource &source, const DeviceProfile &profile) {
  const int nameLength = static_cast<int>(source.name.size());
  const char *name = source.name.data();
  uint64_t invocations = 1;
  for (int i = 0; i < 3; ++i) {
    invocations *= source.workgroupSize[i];
    if (source.workgroupSize[i] == 0 || source.workgroupSize[i] > profile.maxWorkgroupSize[i])
      return statusf(StatusCode::kUnsupported,
                     "kernel '%.*s': workgroup size %u in dimension %d; the device allows 1 to %u",
                     nameLength, name, source.workgroupSize[i], i, profile.maxWorkgroupSize[i]);
  }
  if (invocations > profile.maxWorkgroupInvocations)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': %" PRIu64 " invocations per workgroup; the device allows %u",
                   nameLength, name, invocations, profile.maxWorkgroupInvocations);
  // The subgroup size must be the device's fixed size, or one that a kernel can require.
  const bool isFixed =
      source.subgroupSize == profile.subgroupSize && profile.features.subgroupShuffle;
  const bool isChosen = profile.minSubgroupSize < profile.maxSubgroupSize &&
                        isPowerOfTwo(source.subgroupSize) &&
                        source.subgroupSize >= profile.minSubgroupSize &&
                        source.subgroupSize <= profile.maxSubgroupSize;
  if (source.subgroupSize != 0 && !isFixed && !isChosen)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': it needs subgroups of %u lanes with shuffles; the device has "
                   "subgroups of %u lanes%s",
                   nameLength, name, source.subgroupSize, profile.subgroupSize,
                   profile.features.subgroupShuffle ? "" : " without shuffles, or of varying size");
  if (source.sharedBytes > profile.maxSharedMemoryBytes)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': %u bytes of shared memory; the device has %u", nameLength, name,
                   source.sharedBytes, profile.maxSharedMemoryBytes);
  if (source.pushConstantBytes() > profile.maxPushConstantBytes)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': its block of %u buffers and %u dims needs %u bytes of push "
                   "constants, but the device has %u; compile it with storage-buffer bindings",
                   nameLength, name, source.bufferCount, source.dimCount,
                   source.pushConstantBytes(), profile.maxPushConstantBytes);
  if (source.binding == BindingMode::kAddress && !profile.features.bufferDeviceAddress)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': binds by address; the device has no bufferDeviceAddress",
                   nameLength, name);
  const uint32_t storageBuffers = source.storageBufferCount();
  if (storageBuffers > profile.maxStorageBuffersPerStage)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': binds %u storage buffers; the device allows %u", nameLength,
                   name, storageBuffers, profile.maxStorageBuffersPerStage);
  return checkTexels(source, profile);
}

// ---- Device ------------------------------------------------------------------------------------

uint32_t Device::nextNumber() {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

Status Device::lostStatus() const {
  return statusf(StatusCode::kDeviceLost, "device '%s' was lost; open it again",
                 info_.name.c_str());
}

Status Device::lacks(const char *what) const {
  return statusf(StatusCode::kUnsupported, "device '%s' has no %s", info_.name.c_str(), what);
}

Result<std::unique_ptr<Memory>> Device::own(Result<std::unique_ptr<Memory>> memory) const {
  if (memory.isOk())
    (*memory)->owner_ = this;
  return memory;
}

Result<std::unique_ptr<Memory>> Device::allocate(MemoryKind kind, uint64_t sizeBytes,
                                                 const AllocateOptions &options) {
  if (isLost())
    return lostStatus();
  if (sizeBytes == 0)
    return Status(StatusCode::kInvalidArgument, "allocation of 0 bytes");
  if (sizeBytes > profile().maxAllocationBytes)
    return statusf(StatusCode::kOutOfMemory,
                   "one allocation of %" PRIu64 " bytes of %s memory is above the limit of %s: "
                   "%" PRIu64 " bytes",
                   sizeBytes, memoryKindName(kind), info_.name.c_str(),
                   profile().maxAllocationBytes);
  if (!(options.priority >= 0.0f && options.priority <= 1.0f))
    return statusf(StatusCode::kInvalidArgument,
                   "allocation with a priority of %g; a priority is from 0 to 1",
                   static_cast<double>(options.priority));
  if (options.exportable && !info_.external.opaqueFds)
    return lacks("memory that can be exported");
  return own(noted(doAllocate(kind, sizeBytes, options)));
}

void Device::countAllocated(uint32_t heap, uint64_t sizeBytes) {
  const uint64_t before = allocatedBytes_[heap].fetch_add(sizeBytes, std::memory_order_relaxed);
  const uint64_t size = info_.memoryHeaps[heap].sizeBytes, budget = estimatedBudget(size);
  if (info_.memoryBudgets || before > budget || sizeBytes <= budget - before)
    return;
  constexpr double kGiB = 0x1p30;
  logf(LogLevel::kWarn,
       "%.2f GiB of memory heap %u of '%s' are in use, more than its budget of %.2f GiB (an "
       "estimate: 0.8 of %.2f GiB); the driver may refuse or page. Free buffers, set a limit on "
       "the heap, or compile with a memory budget",
       static_cast<double>(before + sizeBytes) / kGiB, heap, info_.name.c_str(),
       static_cast<double>(budget) / kGiB, static_cast<double>(size) / kGiB);
}

Status Device::memoryBudgets(std::span<MemoryBudget> perHeap) {
  if (isLost())
    return lostStatus();
  if (perHeap.size() != info_.memoryHeaps.size())
    return statusf(StatusCode::kInvalidArgument,
                   "the span has room for %zu budgets; the device has %zu heaps", perHeap.size(),
                   info_.memoryHeaps.size());
  if (info_.memoryBudgets) {
    return noted(doMemoryBudgets(perHeap));
  }
  for (size_t i = 0; i < perHeap.size(); ++i) {
    perHeap[i] = {estimatedBudget(info_.memoryHeaps[i].sizeBytes),
                  allocatedBytes_[i].load(std::memory_order_relaxed)};
  }
  return {};
}

Result<ClockReading> Device::readClocks() {
  if (isLost())
    return lostStatus();
  if (!info_.calibratedClocks)
    return lacks("calibrated clocks");
  return noted(doReadClocks());
}

Result<std::unique_ptr<Memory>> Device::reserve(MemoryKind kind, uint64_t rangeBytes) {
  if (isLost())
    return lostStatus();
  const VirtualMemoryInfo &vm = info_.virtualMemory;
  if (!vm.supported)
    return lacks("growing ranges (virtual memory)");
  if (kind != MemoryKind::kDevice)
    return statusf(
        StatusCode::kUnsupported,
        "a range of %s memory: a range must be of the kind 'device', because storage that "
        "is committed in parts has no single host mapping",
        memoryKindName(kind));
  if (rangeBytes == 0 || rangeBytes > vm.maxRangeBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "a range of %" PRIu64 " bytes; '%s' takes 1 to %" PRIu64, rangeBytes,
                   info_.name.c_str(), vm.maxRangeBytes);
  const std::optional<uint64_t> rounded = checkedRoundUp(rangeBytes, vm.granularityBytes);
  if (!rounded)
    return statusf(StatusCode::kInvalidArgument,
                   "a range of %" PRIu64 " bytes overflows 64 bits when it is rounded up",
                   rangeBytes);
  return own(noted(doReserve(*rounded)));
}

Status Device::checkPart(const char *what, const Memory &range, uint64_t offset,
                         uint64_t size) const {
  if (isLost())
    return lostStatus();
  if (range.owner_ != this)
    return statusf(StatusCode::kInvalidArgument, "%s of memory of another device", what);
  if (!range.isRange())
    return statusf(StatusCode::kInvalidArgument,
                   "%s of memory that is not a range: reserve() makes ranges", what);
  const uint64_t granularity = info_.virtualMemory.granularityBytes;
  if (size == 0 || offset % granularity != 0 || size % granularity != 0)
    return statusf(StatusCode::kInvalidArgument,
                   "%s of [%" PRIu64 ", +%" PRIu64 "): offset and size must be multiples of "
                   "%" PRIu64 ", and the size not 0",
                   what, offset, size, granularity);
  if (offset > range.sizeBytes() || size > range.sizeBytes() - offset)
    return statusf(StatusCode::kInvalidArgument,
                   "%s of [%" PRIu64 ", +%" PRIu64 "), which is not inside a range of %" PRIu64
                   " bytes",
                   what, offset, size, range.sizeBytes());
  return {};
}

Status Device::commit(Memory &range, uint64_t offsetBytes, uint64_t sizeBytes) {
  GANTRY_RETURN_IF_ERROR(checkPart("commit", range, offsetBytes, sizeBytes));
  if (range.commits_.overlaps(offsetBytes, sizeBytes))
    return statusf(StatusCode::kInvalidArgument,
                   "commit of [%" PRIu64 ", +%" PRIu64 "): a part of it has storage already",
                   offsetBytes, sizeBytes);
  if (sizeBytes > profile().maxAllocationBytes)
    return statusf(StatusCode::kOutOfMemory,
                   "one commit of %" PRIu64 " bytes is above the limit of %s: %" PRIu64 " bytes",
                   sizeBytes, info_.name.c_str(), profile().maxAllocationBytes);
  if (!range.commits_.prepare())
    return noHostMemory();
  auto made = noted(doCommit(range, offsetBytes, sizeBytes));
  if (!made.isOk())
    return made.status();
  range.commits_.add(offsetBytes, sizeBytes, *made);
  return {};
}

Status Device::decommit(Memory &range, uint64_t offsetBytes, uint64_t sizeBytes) {
  GANTRY_RETURN_IF_ERROR(checkPart("decommit", range, offsetBytes, sizeBytes));
  if (!range.commits_.covers(offsetBytes, sizeBytes))
    return statusf(StatusCode::kInvalidArgument,
                   "decommit of [%" PRIu64 ", +%" PRIu64 "): a part of it has no storage",
                   offsetBytes, sizeBytes);
  if (!range.commits_.prepare())
    return noHostMemory();
  Status made = noted(doDecommit(range, offsetBytes, sizeBytes));
  if (!made.isOk())
    return made;
  range.commits_.remove(offsetBytes, sizeBytes, [&](uint64_t token) { doRelease(range, token); });
  return {};
}

Result<std::unique_ptr<Memory>> Device::importMemory(const ImportSource &source) {
  if (isLost())
    return lostStatus();
  const uint64_t alignment = info_.external.hostPointerAlignmentBytes;
  if (source.type == ImportSource::Type::kHostPointer) {
    if (alignment == 0)
      return lacks("import of host memory");
    if (!source.hostPointer || reinterpret_cast<uintptr_t>(source.hostPointer) % alignment != 0 ||
        source.sizeBytes == 0 || source.sizeBytes % alignment != 0)
      return statusf(StatusCode::kInvalidArgument,
                     "import of host memory at %p of %" PRIu64 " bytes; '%s' requires that "
                     "address and size are multiples of %" PRIu64 " and not 0",
                     source.hostPointer, source.sizeBytes, info_.name.c_str(), alignment);
  } else {
    if (!info_.external.opaqueFds)
      return lacks("import of memory by descriptor");
    if (source.fd < 0 || source.sizeBytes == 0)
      return statusf(StatusCode::kInvalidArgument,
                     "import of descriptor %d with %" PRIu64
                     " bytes; the descriptor must be at least 0, the size at least 1",
                     source.fd, source.sizeBytes);
  }
  if (source.sizeBytes > profile().maxAllocationBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "import of %" PRIu64 " bytes; '%s' takes at most %" PRIu64, source.sizeBytes,
                   info_.name.c_str(), profile().maxAllocationBytes);
  if (source.memoryType && *source.memoryType >= info_.memoryTypes.size())
    return statusf(StatusCode::kInvalidArgument,
                   "import with memory type %u; the device has %zu types, numbered from 0",
                   *source.memoryType, info_.memoryTypes.size());
  return own(noted(doImport(source)));
}

Result<int> Device::exportMemory(Memory &memory) {
  if (isLost())
    return lostStatus();
  if (memory.owner_ != this)
    return Status(StatusCode::kInvalidArgument, "export of memory of another device");
  if (!memory.exportable())
    return Status(StatusCode::kInvalidArgument,
                  "export of memory that was not allocated exportable (AllocateOptions)");
  return noted(doExport(memory));
}

Result<std::vector<std::unique_ptr<Kernel>>>
Device::createKernels(std::span<const KernelSource> sources,
                      const std::optional<std::string> &cachePath) {
  if (isLost())
    return lostStatus();
  for (const KernelSource &source : sources) {
    if (source.spirv.empty())
      return statusf(StatusCode::kInvalidArgument, "kernel '%.*s' has no code",
                     static_cast<int>(source.name.size()), source.name.data());
    GANTRY_RETURN_IF_ERROR(checkKernel(source, profile()));
  }
  if (sources.empty())
    return std::vector<std::unique_ptr<Kernel>>();
  auto made = noted(doCreateKernels(sources, cachePath));
  if (!made.isOk())
    return made;
  for (const std::unique_ptr<Kernel> &kernel : *made)
    kernel->owner_ = this;
  GANTRY_RETURN_IF_ERROR(noted(doWarmUp(*made)));
  return made;
}

Result<std::unique_ptr<CommandList>> Device::createCommandList() {
  if (isLost())
    return lostStatus();
  return noted(doCreateCommandList());
}

Result<uint64_t> Device::submit(CommandList &list) {
  if (isLost())
    return lostStatus();
  if (&list.owner_ != this)
    return Status(StatusCode::kInvalidArgument, "submit of a command list of another device");
  if (!list.ended())
    return Status(StatusCode::kFailedPrecondition, "submit of a command list before its end()");
  auto made = noted(doSubmit(list));
  if (made.isOk()) {
    uint64_t last = lastTicket_.load(std::memory_order_relaxed);
    while (last < *made && !lastTicket_.compare_exchange_weak(last, *made)) {
    }
  }
  return made;
}

Result<bool> Device::wait(uint64_t ticket, uint64_t timeoutNs) {
  if (isLost())
    return lostStatus();
  if (ticket == 0)
    return true;
  const uint64_t last = lastTicket_.load();
  if (ticket > last)
    return statusf(StatusCode::kInvalidArgument,
                   "wait for ticket %" PRIu64 "; the last submission has ticket %" PRIu64, ticket,
                   last);
  return noted(doWait(ticket, timeoutNs));
}

Result<uint64_t> Device::completed() {
  if (isLost())
    return lostStatus();
  return noted(doCompleted());
}

} // namespace gantry::device
