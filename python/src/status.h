// Turns failures of the C API into Python exceptions (gantry/errors.py).
#pragma once

#include <gantry/gantry.h>

#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>

namespace gantry::python {

/// A failure of the C API, thrown through C++ code. pybind11 translates it to the Python exception
/// of the status.
class StatusError : public std::runtime_error {
public:
  StatusError(gantry_status_t status, const std::string &message)
      : std::runtime_error(message), status_(status) {}
  gantry_status_t status() const { return status_; }

private:
  gantry_status_t status_;
};

/// Throws StatusError with gantry_last_error() unless the status is GANTRY_STATUS_OK. Must be
/// called directly after the failed call, on the same thread.
inline void check(gantry_status_t status) {
  if (status != GANTRY_STATUS_OK)
    throw StatusError(status, gantry_last_error());
}

/// Throws an INVALID_ARGUMENT.
[[noreturn]] inline void refuse(const std::string &message) {
  throw StatusError(GANTRY_STATUS_INVALID_ARGUMENT, message);
}

/// Registers the translation for a module. Called once, when the module is imported.
void registerErrors(pybind11::module_ &module);

} // namespace gantry::python
