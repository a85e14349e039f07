// One call of a function of gantry.h: what every function that can fail does first and last, so
// that a lack of host memory becomes a status (engine/base/out_of_memory.h).
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

#include "engine/base/out_of_memory.h"
#include "engine/capi/handles.h"

#include <memory>

namespace gantry::capi {

/// Whether at least half of the memory reserve is free, so that an operation may begin.
bool reserveIsReady();

class Call {
public:
  /// function: the name for messages; it must outlive the call.
  explicit Call(const char *function) : function_(function), admitted_(reserveIsReady()) {}

  /// False where the host's memory was short before and the objects made meanwhile hold too much
  /// of the reserve.
  bool isAdmitted() const { return admitted_; }
  gantry_status_t refused() const {
    return report(statusf(StatusCode::kOutOfMemory,
                          "%s: the host has no memory, and the reserve for that case is in use; "
                          "release objects and try again",
                          function_));
  }

  /// Ok, or a status that names the function, where a request of this call for memory failed.
  Status checkMemory() const {
    Status status = checkHostMemory();
    if (status.isOk())
      return status;
    return statusf(status.code(), "%s: %s", function_, status.message().c_str());
  }

  /// Hands a new object to the caller, unless a request of this call for memory failed: the object
  /// is destroyed then.
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
