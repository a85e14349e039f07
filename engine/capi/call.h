// Class Call turns a lack of host memory into a status (engine/base/out_of_memory.h). If malloc
// fails, the library's operator new takes the memory from a reserve that was set aside
// (operator_new.cpp), and the call goes on. A function of gantry.h that creates or computes
// something makes a Call at its start. Before it returns, it checks whether an allocation of the
// call failed:
//
//   gantry_status_t gantry_thing_create(gantry_thing_t **thing) {
//     const capi::Call call("gantry_thing_create");
//     if (!call.isAdmitted())
//       return call.refused();
//     ...
//     return call.publish(std::make_unique<gantry_thing>(...), thing);
//   }
//
// Threads: any; a Call lives on the stack of its thread.
#pragma once

#include "engine/base/memory_reserve.h"
#include "engine/base/out_of_memory.h"
#include "engine/capi/handles.h"

#include <memory>

namespace gantry::capi {

/// The memory that operator_new.cpp takes when malloc fails.
extern constinit MemoryReserve reserve;

/// Returns whether at least half of the memory reserve is free. Only then may an operation begin.
inline bool reserveIsReady() {
  const size_t used = reserve.usedBytes();
  return used == 0 || 2 * used <= reserve.sizeBytes();
}

/// One call of an API function.
class Call {
public:
  /// The function's name appears in messages; the string must outlive the call.
  explicit Call(const char *function) : function_(function), admitted_(reserveIsReady()) {}

  /// Returns false if more than half of the reserve was in use when the call began: objects that
  /// were created during an earlier lack of memory hold it, or other calls do.
  bool isAdmitted() const { return admitted_; }
  /// Reports the failure of a call that was not admitted, and returns its status.
  gantry_status_t refused() const {
    return report(statusf(StatusCode::kOutOfMemory,
                          "%s: the host has no memory, and the reserve for that case is in use; "
                          "release objects and try again",
                          function_));
  }

  /// Returns whether an allocation of this call failed.
  bool lacksMemory() const { return failedBytes != 0; }
  /// Returns ok, or kOutOfMemory naming the function if an allocation of this call failed.
  Status checkMemory() const {
    Status status = checkHostMemory();
    if (status.isOk())
      return status;
    return statusf(status.code(), "%s: %s", function_, status.message().c_str());
  }

  /// Stores a new object in *out. If an allocation of this call failed, the object is destroyed,
  /// *out stays unchanged, and the failure is returned.
  template <typename T> gantry_status_t publish(std::unique_ptr<T> made, T **out) const {
    if (const Status status = checkMemory(); !status.isOk()) {
      made.reset();
      return report(status);
    }
    *out = made.release();
    return GANTRY_STATUS_OK;
  }

private:
  const char *function_;
  HostMemoryScope scope_;
  bool admitted_;
};

} // namespace gantry::capi
