// The argument checks of CommandList.
#include "engine/device/command_list.h"
#include "engine/device/device.h"

#include <algorithm>
#include <cinttypes>

namespace gantry::device {

uint32_t KernelSource::storageBufferCount() const {
  if (binding == BindingMode::kAddress)
    return 0;
  const auto alone =
      std::count_if(texels.begin(), texels.end(), [](const TexelRead &read) { return read.alone; });
  return bufferCount - static_cast<uint32_t>(alone);
}

Status CommandList::checkRecording(const char *what) const {
  if (owner_.isLost())
    return owner_.lostStatus();
  if (state_ != State::kRecording)
    return statusf(StatusCode::kFailedPrecondition, "%s outside of begin() and end()", what);
  return {};
}

Status CommandList::checkRange(const char *what, const BufferRange &range) const {
  if (!range.memory)
    return statusf(StatusCode::kInvalidArgument, "%s: its memory is null", what);
  if (range.memory->owner_ != &owner_)
    return statusf(StatusCode::kInvalidArgument, "%s: its memory belongs to another device", what);
  if (range.sizeBytes == 0 || range.offsetBytes > range.memory->sizeBytes() ||
      range.sizeBytes > range.memory->sizeBytes() - range.offsetBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "%s: bytes [%" PRIu64 ", +%" PRIu64 ") are not inside a memory of %" PRIu64
                   " bytes",
                   what, range.offsetBytes, range.sizeBytes, range.memory->sizeBytes());
  return {};
}

Status CommandList::checkWords(const char *what, const BufferRange &range) const {
  GANTRY_RETURN_IF_ERROR(checkRange(what, range));
  if (range.offsetBytes % 4 != 0 || range.sizeBytes % 4 != 0)
    return statusf(StatusCode::kInvalidArgument,
                   "%s: offset %" PRIu64 " and size %" PRIu64 " must be multiples of 4", what,
                   range.offsetBytes, range.sizeBytes);
  return {};
}

Status CommandList::begin(const CommandListCapacity &capacity) {
  if (owner_.isLost())
    return owner_.lostStatus();
  if (state_ != State::kInitial)
    return Status(StatusCode::kFailedPrecondition, "begin() was called twice on a command list");
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
  if (kernel.owner_ != &owner_)
    return statusf(StatusCode::kInvalidArgument, "dispatch of '%s', a kernel of another device",
                   kernel.name().c_str());
  if (dispatch.buffers.size() != kernel.bufferCount() || dispatch.dims.size() != kernel.dimCount())
    return statusf(StatusCode::kInvalidArgument,
                   "dispatch of '%s' with %zu buffers and %zu dims; the kernel takes %u and %u",
                   kernel.name().c_str(), dispatch.buffers.size(), dispatch.dims.size(),
                   kernel.bufferCount(), kernel.dimCount());
  for (int i = 0; i < 3; ++i)
    if (uint64_t{dispatch.firstWorkgroup[i]} + dispatch.workgroups[i] >
        owner_.info().profile.maxWorkgroupCount[i])
      return statusf(StatusCode::kUnsupported,
                     "dispatch of '%s': %u workgroups from %u on in dimension %d; the device "
                     "allows %u",
                     kernel.name().c_str(), dispatch.workgroups[i], dispatch.firstWorkgroup[i], i,
                     owner_.info().profile.maxWorkgroupCount[i]);
  GANTRY_RETURN_IF_ERROR(checkBindings(dispatch));
  const uint32_t storage = kernel.storageBufferCount();
  const auto texels = static_cast<uint32_t>(kernel.texels().size());
  if (used_.dispatches + 1 > capacity_.dispatches ||
      used_.storageBuffers + storage > capacity_.storageBuffers ||
      used_.texelBuffers + texels > capacity_.texelBuffers)
    return statusf(StatusCode::kInvalidArgument,
                   "the dispatch exceeds the capacity given to begin(): %u dispatches, %u storage "
                   "buffers and %u texel buffers in total",
                   capacity_.dispatches, capacity_.storageBuffers, capacity_.texelBuffers);
  GANTRY_RETURN_IF_ERROR(doDispatch(dispatch));
  used_.dispatches += 1;
  used_.storageBuffers += storage;
  used_.texelBuffers += texels;
  return {};
}

Status CommandList::checkBindings(const Dispatch &dispatch) const {
  const Kernel &kernel = *dispatch.kernel;
  const DeviceInfo &info = owner_.info();
  const char *name = kernel.name().c_str();
  auto nextTexel = kernel.texels().begin();
  for (uint32_t i = 0; i < dispatch.buffers.size(); ++i) {
    const BufferRange &range = dispatch.buffers[i];
    GANTRY_RETURN_IF_ERROR(checkRange(name, range));
    bool storage = kernel.binding() != BindingMode::kAddress;
    uint64_t alignment = storage ? info.profile.storageBufferAlignment : 1;
    if (nextTexel != kernel.texels().end() && nextTexel->buffer == i) {
      const TexelRead &read = *nextTexel++;
      storage = !read.alone;
      alignment = std::max(storage ? alignment : 1, info.profile.texelBufferAlignment);
      const uint64_t texel = texelBytes(read.format);
      const uint64_t count = range.sizeBytes / texel + (range.sizeBytes % texel != 0 ? 1 : 0);
      if (count > info.profile.maxTexelBufferElements)
        return statusf(StatusCode::kUnsupported,
                       "dispatch of '%s': a texel buffer of %" PRIu64
                       " texels; the device allows %" PRIu64,
                       name, count, info.profile.maxTexelBufferElements);
      if (count * texel > range.memory->sizeBytes() - range.offsetBytes)
        return statusf(StatusCode::kInvalidArgument,
                       "dispatch of '%s': the last texel of buffer %u, of %" PRIu64
                       " bytes at %" PRIu64 ", ends beyond its memory of %" PRIu64 " bytes",
                       name, i, range.sizeBytes, range.offsetBytes, range.memory->sizeBytes());
    }
    if (range.offsetBytes % alignment != 0)
      return statusf(StatusCode::kInvalidArgument,
                     "dispatch of '%s': a buffer is bound at offset %" PRIu64
                     ", which is not a multiple of %" PRIu64,
                     name, range.offsetBytes, alignment);
    if (storage && range.sizeBytes > info.profile.maxStorageBufferRange)
      return statusf(StatusCode::kUnsupported,
                     "dispatch of '%s': a storage buffer of %" PRIu64
                     " bytes; the device allows %" PRIu64,
                     name, range.sizeBytes, info.profile.maxStorageBufferRange);
  }
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
  GANTRY_RETURN_IF_ERROR(checkWords("fill", range));
  return doFill(range, word);
}

Status CommandList::update(const BufferRange &range, std::span<const uint8_t> bytes) {
  GANTRY_RETURN_IF_ERROR(checkRecording("update"));
  GANTRY_RETURN_IF_ERROR(checkWords("update", range));
  if (bytes.size() != range.sizeBytes || bytes.size() > kMaxUpdateBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "update of a range of %" PRIu64
                   " bytes with %zu bytes; both must be equal and at most %" PRIu64,
                   range.sizeBytes, bytes.size(), kMaxUpdateBytes);
  return doUpdate(range, bytes);
}

Status CommandList::barrier() {
  GANTRY_RETURN_IF_ERROR(checkRecording("barrier"));
  return doBarrier();
}

Status CommandList::timestamp() {
  GANTRY_RETURN_IF_ERROR(checkRecording("timestamp"));
  if (!owner_.info().timestamps)
    return Status(StatusCode::kUnsupported, "the device has no timestamps");
  if (used_.timestamps >= capacity_.timestamps)
    return statusf(StatusCode::kInvalidArgument,
                   "the timestamp exceeds the capacity given to begin(): %u timestamps",
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
  GANTRY_ASSIGN_OR_RETURN(std::vector<uint64_t> times, deviceTimesNs());
  const uint64_t first = times.empty() ? 0 : times.front();
  for (uint64_t &time : times)
    time -= first;
  return times;
}

Result<std::vector<uint64_t>> CommandList::deviceTimesNs() {
  if (owner_.isLost())
    return owner_.lostStatus();
  if (state_ != State::kEnded)
    return Status(StatusCode::kFailedPrecondition, "timestamps of a command list before its end()");
  if (used_.timestamps == 0)
    return std::vector<uint64_t>();
  return doTimestampsNs(used_.timestamps);
}

} // namespace gantry::device
