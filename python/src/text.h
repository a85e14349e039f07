// Texts of the C APIs as Python strings.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

namespace gantry::python {

/// Returns a text as a Python string. Bytes that are not UTF-8, of a name in a damaged model or at
/// the end of a text that was cut, become U+FFFD.
inline pybind11::str textOf(std::string_view text) {
  PyObject *decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!decoded)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(decoded);
}

} // namespace gantry::python
