// Implements status.h.
#include "python/src/status.h"

namespace gantry::python {

namespace py = pybind11;

void registerErrors(py::module_ &) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown)
        std::rethrow_exception(thrown);
    } catch (const StatusError &error) {
      const py::object type = py::module_::import("gantry.errors")
                                  .attr("exception_of")(gantry_status_name(error.status()));
      PyErr_SetString(type.ptr(), error.what());
    }
  });
}

} // namespace gantry::python
