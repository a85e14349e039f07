// The mark of failed allocations, which is one thread-local number.
#include "engine/base/out_of_memory.h"

#include <cstdint>

namespace gantry {

constinit thread_local size_t failedBytes = 0;
bool (*growHostReserve)(size_t bytes) = nullptr;

void noteFailedAllocation(size_t bytes) {
  if (failedBytes == 0)
    failedBytes = bytes == 0 ? 1 : bytes;
}

Status checkHostMemory() {
  if (failedBytes == 0)
    return {};
  return statusf(StatusCode::kOutOfMemory, "the host has no memory: a request for %zu bytes failed",
                 failedBytes);
}

Status ensureHostReserve(size_t bytes) {
  if (growHostReserve == nullptr || growHostReserve(bytes))
    return {};
  return statusf(
      StatusCode::kOutOfMemory,
      "the host has no address space for a reserve of %zu bytes, which a program of this "
      "size needs to report a lack of memory",
      bytes);
}

} // namespace gantry
