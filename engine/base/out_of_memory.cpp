// The mark of failed allocations, which is one thread-local number.
#include "engine/base/out_of_memory.h"

#include <cstdint>

namespace gantry {
namespace {

constexpr size_t kNone = 0;
/// The size in bytes of the first request that failed in this thread's scope.
constinit thread_local size_t failedBytes = kNone;

} // namespace

bool (*growHostReserve)(size_t bytes) = nullptr;

void noteFailedAllocation(size_t bytes) {
  if (failedBytes == kNone)
    failedBytes = bytes == 0 ? 1 : bytes;
}

Status checkHostMemory() {
  if (failedBytes == kNone)
    return {};
  return statusf(StatusCode::kOutOfMemory, "the host has no memory: a request for %zu bytes failed",
                 failedBytes);
}

HostMemoryScope::HostMemoryScope() : outer_(failedBytes) { failedBytes = kNone; }

HostMemoryScope::~HostMemoryScope() {
  if (outer_ != kNone)
    failedBytes = outer_;
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
