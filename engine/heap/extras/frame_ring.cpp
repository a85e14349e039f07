// Implements FrameRing.
#include "engine/heap/extras/frame_ring.h"

#include "engine/base/align.h"

namespace gantry::heap {

HeapCode FrameRing::create(uint64_t capacityBytes, MemoryKind kind, NameId name) {
  if (buffer_)
    return HeapCode::kInvalidArgument;
  BufferRequest request;
  request.sizeBytes = capacityBytes;
  request.alignment = 65536;
  request.kind = kind;
  request.name = name;
  BufferHandle handle;
  if (const HeapCode code = heap_.allocate(request, &handle); code != HeapCode::kOk)
    return code;
  buffer_ = Buffer(heap_, handle);
  return heap_.resolve(handle, &base_);
}

// Frees the frames that the device has finished, oldest first.
HeapCode FrameRing::freeDoneFrames() {
  const Result<uint64_t> done = heap_.device().completed();
  if (!done.isOk())
    return done.status().code() == StatusCode::kDeviceLost ? HeapCode::kDeviceLost
                                                           : HeapCode::kDriver;
  for (; count_ > 0 && frames_[oldest_].ticket <= *done; --count_) {
    tail_ = frames_[oldest_].end;
    oldest_ = (oldest_ + 1) % kMaxFrames;
  }
  return HeapCode::kOk;
}

HeapCode FrameRing::allocate(uint64_t sizeBytes, uint64_t alignment, Placement *placement) {
  *placement = {};
  const uint64_t capacity = base_.sizeBytes;
  if (sizeBytes == 0 || !isPowerOfTwo(alignment) || alignment > 65536)
    return HeapCode::kInvalidArgument;
  if (sizeBytes > capacity)
    return HeapCode::kTooLarge;
  for (bool checked = false;; checked = true) {
    const uint64_t place = head_ % capacity;
    uint64_t start = roundUp(place, alignment);
    if (start > capacity - sizeBytes)
      start = capacity; // does not fit before the ring's end: continue at offset 0
    const uint64_t end = head_ + (start - place) + sizeBytes;
    if (end - tail_ <= capacity) {
      const uint64_t offset = start == capacity ? 0 : start;
      head_ = end;
      *placement = base_;
      placement->offsetBytes += offset;
      placement->sizeBytes = sizeBytes;
      placement->address += base_.address == 0 ? 0 : offset;
      if (base_.mapped != nullptr)
        placement->mapped += offset;
      return HeapCode::kOk;
    }
    if (checked)
      return HeapCode::kBusy;
    if (const HeapCode code = freeDoneFrames(); code != HeapCode::kOk)
      return code;
  }
}

HeapCode FrameRing::endFrame(uint64_t ticket) {
  if (count_ == kMaxFrames) {
    if (const HeapCode code = freeDoneFrames(); code != HeapCode::kOk)
      return code;
    if (count_ == kMaxFrames)
      return HeapCode::kBusy;
  }
  frames_[(oldest_ + count_) % kMaxFrames] = {head_, ticket};
  ++count_;
  return HeapCode::kOk;
}

void FrameRing::reset() {
  head_ = 0;
  tail_ = 0;
  count_ = 0;
}

} // namespace gantry::heap
