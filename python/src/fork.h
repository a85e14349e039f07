// Processes that fork. A child of a process that has opened a device must not use the driver or the
// runtime: their threads exist only in the parent, and their locks may be held for ever.
//
// Every use in the child raises an error with the remedy. Objects that the child inherits are not
// released there; its exit frees their memory.
#pragma once

#include <memory>

namespace gantry::python {

/// Marks this process as one whose children must not use devices. Called when a device is opened.
void watchForks();

/// Returns whether this process was forked from one that had opened a device.
bool isForked();

/// Throws FAILED_PRECONDITION if isForked().
void checkProcess();

/// A deleter that does nothing in a forked process.
struct UnlessForked {
  template <typename T> void operator()(T *object) const {
    if (!isForked())
      delete object;
  }
};

} // namespace gantry::python
