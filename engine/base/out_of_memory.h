// What an operation does when the host has no memory left.
//
// The engine is compiled without exceptions, so a failed allocation of std::vector, std::string or
// `new` cannot be reported where it happens. In libgantry.so it is reported later instead:
// operator new (engine/capi/operator_new.cpp) takes the memory from a reserve that was set aside,
// and marks the failure for the calling thread. The operation goes on with consistent data. At the
// steps below it asks checkHostMemory() and gives up with a status; the ordinary destructors then
// give everything back, the reserve included. So no caller sees a half-made object, and nothing
// leaks.
//
// Rules for an operation
//   1. It runs inside a HostMemoryScope (every function of the C API opens one).
//   2. It calls checkHostMemory() before it makes an effect that stays: before an object is handed
//      to the caller, before work goes to the device, before something enters a cache.
//   3. It calls checkHostMemory() in a helper thread before the thread ends.
//   4. Arrays whose size follows tensors or files rather than the program's structure (a pipeline
//      cache, a capture) are allocated with tryResize(), which fails instead of using the reserve.
// A failure after the last check has no effect on the result: the reserve served the request, and
// the operation is complete.
//
// Test programs that link the rooms statically keep the standard operator new; nothing is ever
// marked there.
//
// Threads: any. The mark belongs to one thread.
#pragma once

#include "engine/base/status.h"

#include <cstddef>
#include <new>
#include <vector>

namespace gantry {

/// Marks the calling thread: a request for `bytes` bytes failed. The first mark of a scope stays.
void noteFailedAllocation(size_t bytes);

/// Ok, or kOutOfMemory with the size of the first request that failed in this scope.
Status checkHostMemory();

/// One operation of the calling thread. It begins without a mark. Scopes nest: a mark of the inner
/// scope stays with the outer one.
class HostMemoryScope {
public:
  HostMemoryScope();
  ~HostMemoryScope();
  HostMemoryScope(const HostMemoryScope &) = delete;
  HostMemoryScope &operator=(const HostMemoryScope &) = delete;

private:
  size_t outer_;
};

/// Resizes `array` to `count` elements, or returns kOutOfMemory and leaves it unchanged; `what`
/// names the array in the message ("the pipeline cache"). The memory is asked for twice: first from
/// the system in a way that may fail, then by the array.
template <typename T> Status tryResize(std::vector<T> &array, size_t count, const char *what) {
  if (count > array.capacity()) {
    void *probe = ::operator new(count * sizeof(T), std::nothrow);
    if (probe == nullptr)
      return statusf(StatusCode::kOutOfMemory, "the host has no memory for %zu bytes of %s",
                     count * sizeof(T), what);
    ::operator delete(probe);
  }
  array.resize(count);
  return {};
}

/// Makes the reserve at least so large, where this process has one: kOutOfMemory where the system
/// refuses the address space. The memory is not touched before it is needed, and stays reserved to
/// the end of the process.
Status ensureHostReserve(size_t bytes);

/// Set by libgantry.so when it is loaded; null elsewhere. Returns false where the system refuses.
extern bool (*growHostReserve)(size_t bytes);

} // namespace gantry
