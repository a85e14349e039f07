#include "engine/device/device.h"

#include <algorithm>
#include <cinttypes>

namespace gantry::device {

const char *memoryKindName(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::kDevice:
    return "device";
  case MemoryKind::kUpload:
    return "upload";
  case MemoryKind::kReadback:
    return "readback";
  case MemoryKind::kUnified:
    return "unified";
  }
  return "unknown";
}

namespace {

Status checkRange(const char *what, const BufferRange &range) {
  if (!range.memory)
    return statusf(StatusCode::kInvalidArgument, "%s: no memory", what);
  if (range.sizeBytes == 0 || range.offsetBytes > range.memory->sizeBytes() ||
      range.sizeBytes > range.memory->sizeBytes() - range.offsetBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "%s: bytes [%" PRIu64 ", +%" PRIu64 ") are not inside a memory of %" PRIu64
                   " bytes",
                   what, range.offsetBytes, range.sizeBytes, range.memory->sizeBytes());
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
                     "kernel '%.*s': workgroup size %u in dimension %d, the device allows 1 to %u",
                     nameLength, name, source.workgroupSize[i], i, profile.maxWorkgroupSize[i]);
  }
  if (invocations > profile.maxWorkgroupInvocations)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': %" PRIu64 " invocations per workgroup, the device allows %u",
                   nameLength, name, invocations, profile.maxWorkgroupInvocations);
  if (source.sharedBytes > profile.maxSharedMemoryBytes)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': %u bytes of shared memory, the device has %u", nameLength, name,
                   source.sharedBytes, profile.maxSharedMemoryBytes);
  if (source.pushConstantBytes() > profile.maxPushConstantBytes)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': its block of %u buffers and %u dims needs %u bytes of push "
                   "constants, the device has %u; compile it with storage-buffer bindings",
                   nameLength, name, source.bufferCount, source.dimCount,
                   source.pushConstantBytes(), profile.maxPushConstantBytes);
  if (source.binding == BindingMode::kAddress && !profile.features.bufferDeviceAddress)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': binds by address, the device has no bufferDeviceAddress",
                   nameLength, name);
  if (source.binding == BindingMode::kStorageBuffer &&
      source.bufferCount > profile.maxStorageBuffersPerStage)
    return statusf(StatusCode::kUnsupported,
                   "kernel '%.*s': binds %u storage buffers, the device allows %u", nameLength,
                   name, source.bufferCount, profile.maxStorageBuffersPerStage);
  return {};
}

// ---- Device ------------------------------------------------------------------------------------

Result<std::unique_ptr<Memory>> Device::allocate(MemoryKind kind, uint64_t sizeBytes) {
  if (sizeBytes == 0)
    return Status(StatusCode::kInvalidArgument, "allocation of 0 bytes");
  if (sizeBytes > profile().maxAllocationBytes)
    return statusf(StatusCode::kOutOfMemory,
                   "one allocation of %" PRIu64 " bytes of %s memory is above the limit of %s: "
                   "%" PRIu64 " bytes",
                   sizeBytes, memoryKindName(kind), info_.name.c_str(),
                   profile().maxAllocationBytes);
  return doAllocate(kind, sizeBytes);
}

Result<std::vector<std::unique_ptr<Kernel>>>
Device::createKernels(std::span<const KernelSource> sources,
                      const std::optional<std::string> &cachePath) {
  for (const KernelSource &source : sources) {
    if (source.spirv.empty())
      return statusf(StatusCode::kInvalidArgument, "kernel '%.*s' has no code",
                     static_cast<int>(source.name.size()), source.name.data());
    GANTRY_RETURN_IF_ERROR(checkKernel(source, profile()));
  }
  if (sources.empty())
    return std::vector<std::unique_ptr<Kernel>>();
  return doCreateKernels(sources, cachePath);
}

Result<uint64_t> Device::submit(CommandList &list) {
  if (!list.ended())
    return Status(StatusCode::kFailedPrecondition, "submit of a command list before its end()");
  return doSubmit(list);
}

// ---- CommandList -------------------------------------------------------------------------------

Status CommandList::checkRecording(const char *what) const {
  if (state_ != State::kRecording)
    return statusf(StatusCode::kFailedPrecondition, "%s outside of begin() and end()", what);
  return {};
}

Status CommandList::begin(const CommandListCapacity &capacity) {
  if (state_ != State::kInitial)
    return Status(StatusCode::kFailedPrecondition, "begin() of a command list a second time");
  GANTRY_RETURN_IF_ERROR(doBegin(capacity));
  capacity_ = capacity;
  state_ = State::kRecording;
  return {};
}

Status CommandList::dispatch(const Dispatch &dispatch) {
  GANTRY_RETURN_IF_ERROR(checkRecording("dispatch"));
  if (!dispatch.kernel)
    return Status(StatusCode::kInvalidArgument, "dispatch without a kernel");
  const Kernel &kernel = *dispatch.kernel;
  if (dispatch.buffers.size() != kernel.bufferCount() || dispatch.dims.size() != kernel.dimCount())
    return statusf(StatusCode::kInvalidArgument,
                   "dispatch of '%s' with %zu buffers and %zu dims, it takes %u and %u",
                   kernel.name().c_str(), dispatch.buffers.size(), dispatch.dims.size(),
                   kernel.bufferCount(), kernel.dimCount());
  for (int i = 0; i < 3; ++i)
    if (dispatch.workgroups[i] > info_.profile.maxWorkgroupCount[i])
      return statusf(StatusCode::kUnsupported,
                     "dispatch of '%s': %u workgroups in dimension %d, the device allows %u",
                     kernel.name().c_str(), dispatch.workgroups[i], i,
                     info_.profile.maxWorkgroupCount[i]);
  const bool storage = kernel.binding() == BindingMode::kStorageBuffer;
  for (const BufferRange &range : dispatch.buffers) {
    GANTRY_RETURN_IF_ERROR(checkRange(kernel.name().c_str(), range));
    if (storage && range.offsetBytes % info_.minStorageBufferOffsetAlignment != 0)
      return statusf(StatusCode::kInvalidArgument,
                     "dispatch of '%s': offset %" PRIu64 " is not a multiple of %" PRIu64,
                     kernel.name().c_str(), range.offsetBytes,
                     info_.minStorageBufferOffsetAlignment);
    if (storage && range.sizeBytes > info_.profile.maxStorageBufferRange)
      return statusf(StatusCode::kUnsupported,
                     "dispatch of '%s': a storage buffer of %" PRIu64
                     " bytes, the device allows %" PRIu64,
                     kernel.name().c_str(), range.sizeBytes, info_.profile.maxStorageBufferRange);
  }
  const uint32_t buffers = storage ? kernel.bufferCount() : 0;
  if (used_.dispatches + 1 > capacity_.dispatches ||
      used_.storageBuffers + buffers > capacity_.storageBuffers)
    return statusf(StatusCode::kInvalidArgument,
                   "the command list was begun for %u dispatches with %u storage buffers",
                   capacity_.dispatches, capacity_.storageBuffers);
  GANTRY_RETURN_IF_ERROR(doDispatch(dispatch));
  used_.dispatches += 1;
  used_.storageBuffers += buffers;
  return {};
}

Status CommandList::copy(const BufferRange &source, Memory &target, uint64_t targetOffsetBytes) {
  GANTRY_RETURN_IF_ERROR(checkRecording("copy"));
  GANTRY_RETURN_IF_ERROR(checkRange("source of a copy", source));
  GANTRY_RETURN_IF_ERROR(
      checkRange("target of a copy", {&target, targetOffsetBytes, source.sizeBytes}));
  const uint64_t low = std::max(source.offsetBytes, targetOffsetBytes);
  const uint64_t high = std::min(source.offsetBytes, targetOffsetBytes) + source.sizeBytes;
  if (source.memory == &target && low < high)
    return Status(StatusCode::kInvalidArgument, "source and target of a copy overlap");
  return doCopy(source, target, targetOffsetBytes);
}

Status CommandList::fill(const BufferRange &range, uint32_t word) {
  GANTRY_RETURN_IF_ERROR(checkRecording("fill"));
  GANTRY_RETURN_IF_ERROR(checkRange("fill", range));
  if (range.offsetBytes % 4 != 0 || range.sizeBytes % 4 != 0)
    return statusf(StatusCode::kInvalidArgument,
                   "fill: offset %" PRIu64 " and size %" PRIu64 " must be multiples of 4",
                   range.offsetBytes, range.sizeBytes);
  return doFill(range, word);
}

Status CommandList::barrier() {
  GANTRY_RETURN_IF_ERROR(checkRecording("barrier"));
  return doBarrier();
}

Status CommandList::timestamp() {
  GANTRY_RETURN_IF_ERROR(checkRecording("timestamp"));
  if (!info_.timestamps)
    return Status(StatusCode::kUnsupported, "the device has no timestamps");
  if (used_.timestamps >= capacity_.timestamps)
    return statusf(StatusCode::kInvalidArgument, "the command list was begun for %u timestamps",
                   capacity_.timestamps);
  GANTRY_RETURN_IF_ERROR(doTimestamp(used_.timestamps));
  used_.timestamps += 1;
  return {};
}

Status CommandList::end() {
  GANTRY_RETURN_IF_ERROR(checkRecording("end()"));
  GANTRY_RETURN_IF_ERROR(doEnd());
  state_ = State::kEnded;
  return {};
}

Result<std::vector<uint64_t>> CommandList::timestampsNs() {
  if (state_ != State::kEnded)
    return Status(StatusCode::kFailedPrecondition, "timestamps of a command list before its end()");
  if (used_.timestamps == 0)
    return std::vector<uint64_t>();
  return doTimestampsNs(used_.timestamps);
}

} // namespace gantry::device
