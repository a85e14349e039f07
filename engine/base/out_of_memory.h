// How an operation reports that the host has run out of memory.
//
// The engine is compiled without exceptions, so a failed allocation of std::vector, std::string or
// `new` cannot be reported where it happens. libgantry.so reports the failure later instead: its
// operator new (engine/capi/operator_new.cpp) serves the request from a reserve that was set aside,
// and marks the failure for the calling thread. The operation continues with consistent data. At
// the points that the rules below name, the operation calls checkHostMemory() and returns the
// error; the ordinary destructors then free everything, including the memory of the reserve. No
// caller sees a half-made object, and nothing leaks.
//
// Rules for an operation:
//   1. It runs inside a HostMemoryScope (class Call of engine/capi opens one).
//   2. It calls checkHostMemory() before each lasting effect: before it returns an object to the
//      caller, submits work to the device, or stores something in a cache.
//   3. It calls checkHostMemory() in a helper thread before the thread ends.
//   4. It calls tryResize(), which fails instead of using the reserve, for arrays whose size
//      depends on tensors or files (a pipeline cache, a capture) rather than on the program's
//      structure.
// A failed request after the last check does not affect the result: the reserve served it, and the
// operation completes.
//
// Test programs that link the modules statically use the standard operator new, which never marks
// a failure.
//
// Threads: any. A mark belongs to one thread.
#pragma once

#include "engine/base/status.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace gantry {

/// The mark of the calling thread: the size in bytes of the first request that failed in its
/// current scope; 0 if none failed. Only the functions below and capi::Call use it. With the
/// thread-local storage model "initial-exec" a shared library reads it without a function call.
__attribute__((tls_model("initial-exec"))) extern constinit thread_local size_t failedBytes;

/// Marks the calling thread: a request for `bytes` bytes failed. The first mark of a scope is kept.
void noteFailedAllocation(size_t bytes);

/// Returns ok, or kOutOfMemory with the size of the first request that failed in the calling
/// thread's current scope.
Status checkHostMemory();

/// The scope of one operation of the calling thread. A scope begins without a mark. When a nested
/// scope ends, the outer scope keeps its own mark if it has one; otherwise it takes over the mark
/// of the nested scope.
class HostMemoryScope {
public:
  HostMemoryScope() : outer_(failedBytes) { failedBytes = 0; }
  ~HostMemoryScope() {
    if (outer_ != 0)
      failedBytes = outer_;
  }
  HostMemoryScope(const HostMemoryScope &) = delete;
  HostMemoryScope &operator=(const HostMemoryScope &) = delete;

private:
  size_t outer_; // The outer scope's mark.
};

/// Resizes `array` to `count` elements, or returns kOutOfMemory and leaves the array unchanged.
/// `what` names the array in the message ("the pipeline cache"). The function first allocates and
/// frees a block of that size with the non-throwing operator new, which does not use the reserve.
template <typename T> Status tryResize(std::vector<T> &array, size_t count, const char *what) {
  if (count > array.capacity()) {
    const size_t bytes = count > array.max_size() ? SIZE_MAX : count * sizeof(T);
    void *probe = bytes == SIZE_MAX ? nullptr : ::operator new(bytes, std::nothrow);
    if (probe == nullptr)
      return statusf(StatusCode::kOutOfMemory, "the host has no memory for %zu bytes of %s", bytes,
                     what);
    ::operator delete(probe);
    array.reserve(count); // resize() alone may allocate more than `count` elements.
  }
  array.resize(count);
  return {};
}

/// If this process has a reserve, grows it to at least `bytes` bytes. Returns kOutOfMemory if the
/// system refuses the address space. The pages are not touched before they are needed, and the
/// address space stays reserved until the process ends.
Status ensureHostReserve(size_t bytes);

/// The function that grows the reserve; it returns false if the system refuses. libgantry.so sets
/// it when it is loaded; in other programs it is null.
extern bool (*growHostReserve)(size_t bytes);

} // namespace gantry
