// Copies between host memory and buffers, and permutes dimensions in host memory.
#include "engine/program/states/transfer.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gantry::program {

namespace {

constexpr uint64_t kStagingBytes = uint64_t{16} << 20;
constexpr int kMaxWaits = 1000;

/// Copies one range on the device and waits until it is done. Sets isSubmitted if the copy may have
/// begun.
Status copyOnDevice(device::Device &device, const device::BufferRange &source,
                    const device::BufferRange &target, bool &isSubmitted) {
  GANTRY_ASSIGN_OR_RETURN(auto list, device.createCommandList());
  GANTRY_RETURN_IF_ERROR(list->begin({}));
  GANTRY_RETURN_IF_ERROR(list->copy(source, *target.memory, target.offsetBytes));
  GANTRY_RETURN_IF_ERROR(list->end());
  const Result<uint64_t> ticket = device.submit(*list);
  isSubmitted |= ticket.isOk() || device.isLost();
  if (!ticket.isOk())
    return ticket.status();
  // The command list must outlive the copy, so a failed wait is repeated, up to kMaxWaits
  // times, unless the device is lost.
  Status waited;
  for (int attempt = 0; attempt < kMaxWaits; ++attempt) {
    waited = device.wait(*ticket, UINT64_MAX).status();
    if (waited.isOk() || device.isLost())
      break;
  }
  return waited;
}

/// Allocates a staging buffer of the memory kind `kind`, of at most kStagingBytes bytes. Divides a
/// transfer of `total` bytes into parts that fit into this buffer, and calls copy(staging, offset,
/// size) for each part. The part is the `size` bytes from byte `offset` of the transfer on, and
/// lies in the first `size` bytes of the staging buffer.
template <typename Copy>
Status inParts(const std::shared_ptr<heap::Heap> &heap, device::MemoryKind kind, uint64_t total,
               Copy copy) {
  if (total == 0)
    return {};
  GANTRY_ASSIGN_OR_RETURN(
      const Storage staging,
      Storage::allocate(heap, kind, std::min<uint64_t>(kStagingBytes, total), "staging"));
  for (uint64_t done = 0; done < total;) {
    const uint64_t size = std::min<uint64_t>(staging.sizeBytes(), total - done);
    GANTRY_RETURN_IF_ERROR(copy(staging, done, size));
    done += size;
  }
  return {};
}

} // namespace

Status writeBuffer(const std::shared_ptr<heap::Heap> &heap, const Storage &target, uint64_t offset,
                   std::span<const uint8_t> bytes, bool &isTouched) {
  isTouched = false;
  if (bytes.empty())
    return {};
  if (target.mapped() != nullptr) {
    std::memcpy(target.mapped() + offset, bytes.data(), bytes.size());
    return {};
  }
  return inParts(heap, device::MemoryKind::kUpload, bytes.size(),
                 [&](const Storage &staging, uint64_t done, uint64_t size) {
                   std::memcpy(staging.mapped(), bytes.data() + done, size);
                   return copyOnDevice(heap->device(), staging.range(0, size),
                                       target.range(offset + done, size), isTouched);
                 });
}

Status readBuffer(const std::shared_ptr<heap::Heap> &heap, const Storage &source, uint64_t offset,
                  std::span<uint8_t> bytes) {
  if (bytes.empty())
    return {};
  if (source.mapped() != nullptr) {
    std::memcpy(bytes.data(), source.mapped() + offset, bytes.size());
    return {};
  }
  return inParts(heap, device::MemoryKind::kReadback, bytes.size(),
                 [&](const Storage &staging, uint64_t done, uint64_t size) -> Status {
                   bool isSubmitted = false;
                   GANTRY_RETURN_IF_ERROR(copyOnDevice(heap->device(),
                                                       source.range(offset + done, size),
                                                       staging.range(0, size), isSubmitted));
                   std::memcpy(bytes.data() + done, staging.mapped(), size);
                   return {};
                 });
}

void permuteDims(std::span<const uint8_t> source, std::span<const int64_t> dims,
                 std::span<const uint8_t> order, uint64_t elementBytes, std::span<uint8_t> target) {
  const size_t rank = dims.size();
  // Trailing dimensions that keep their place are copied as one block.
  uint64_t block = elementBytes;
  size_t outer = rank;
  while (outer > 0 && order[outer - 1] == outer - 1)
    block *= static_cast<uint64_t>(dims[--outer]);
  // The distance in the source, in bytes, between neighbours along each dimension of the result.
  std::vector<uint64_t> strides(rank, elementBytes);
  for (size_t i = 0; i < rank; ++i)
    for (size_t d = order[i] + size_t{1}; d < rank; ++d)
      strides[i] *= static_cast<uint64_t>(dims[d]);
  std::vector<int64_t> index(outer, 0);
  uint64_t from = 0;
  for (uint64_t to = 0; to + block <= target.size() && block > 0; to += block) {
    std::memcpy(target.data() + to, source.data() + from, block);
    for (size_t i = outer; i-- > 0;) {
      from += strides[i];
      if (++index[i] < dims[order[i]])
        break;
      from -= strides[i] * static_cast<uint64_t>(dims[order[i]]);
      index[i] = 0;
    }
  }
}

} // namespace gantry::program
