// Releases the interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

#include <unistd.h>

namespace gantry::python {

/// Releases the interpreter lock for a scope. If the interpreter ends meanwhile, the thread stays
/// where it would take the lock again: Python 3.11 would unwind it there, which ends the process
/// with an error, because destructors are on its stack.
class Unlocked {
public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;
  ~Unlocked() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;)
        pause();
    }
  }

private:
  PyThreadState *state_;
};

} // namespace gantry::python
