// Implements the copies with command lists of their own, each of which is waited for.
#include "engine/heap/extras/device_copies.h"

#include <algorithm>
#include <cstring>

namespace gantry::heap {
namespace {

constexpr uint64_t kStagingBytes = 16 << 20;
constexpr uint32_t kTriesToSettle = 1000;

// Creates a command list, records into it with record(list), submits it and waits.
template <typename Record> HeapCode runList(HeapComponents &components, Record &&record) {
  device::Device &device = components.slabs.device();
  Result<std::unique_ptr<device::CommandList>> list = device.createCommandList();
  if (!list.isOk())
    return components.slabs.codeOf(list.status());
  Status status = (*list)->begin({});
  if (status.isOk())
    status = record(**list);
  if (status.isOk())
    status = (*list)->end();
  if (!status.isOk())
    return components.slabs.codeOf(status);
  const Result<uint64_t> ticket = device.submit(**list);
  if (!ticket.isOk())
    return components.slabs.codeOf(ticket.status());
  return settle(components, *ticket);
}

} // namespace

HeapCode settle(HeapComponents &components, uint64_t ticket) {
  HeapCode code = HeapCode::kOk;
  for (uint32_t i = 0; i < kTriesToSettle; ++i) {
    const Result<bool> waited = components.slabs.device().wait(ticket, UINT64_MAX);
    if (waited.isOk())
      return HeapCode::kOk;
    code = components.slabs.codeOf(waited.status());
    if (components.slabs.device().isLost())
      return code;
  }
  return code;
}

HeapCode copyWithHost(HeapComponents &components, device::Memory &memory, uint64_t offsetBytes,
                      uint8_t *host, uint64_t sizeBytes, bool toHost) {
  if (memory.mapped() != nullptr) {
    // Submitted work may still use the range. An empty list runs after it, so wait for that list.
    if (const HeapCode code =
            runList(components, [](device::CommandList &) { return Status::ok(); });
        code != HeapCode::kOk)
      return code;
    uint8_t *mapped = memory.mapped() + offsetBytes;
    std::memcpy(toHost ? host : mapped, toHost ? mapped : host, sizeBytes);
    return HeapCode::kOk;
  }
  const uint64_t chunk = std::min((sizeBytes + 3) & ~uint64_t{3}, kStagingBytes);
  Result<std::unique_ptr<device::Memory>> staging = components.slabs.device().allocate(
      toHost ? MemoryKind::kReadback : MemoryKind::kUpload, chunk);
  if (!staging.isOk())
    return components.slabs.codeOf(staging.status());
  for (uint64_t done = 0; done < sizeBytes; done += chunk) {
    const uint64_t bytes = std::min(chunk, sizeBytes - done);
    if (!toHost)
      std::memcpy((*staging)->mapped(), host + done, bytes);
    const HeapCode code = runList(components, [&](device::CommandList &list) {
      return toHost ? list.copy({&memory, offsetBytes + done, bytes}, **staging, 0)
                    : list.copy({staging->get(), 0, bytes}, memory, offsetBytes + done);
    });
    if (code != HeapCode::kOk)
      return code;
    if (toHost)
      std::memcpy(host + done, (*staging)->mapped(), bytes);
  }
  return HeapCode::kOk;
}

} // namespace gantry::heap
