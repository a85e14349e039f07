// Implements status.h.
#include "python/src/status.h"

#include "python/src/text.h"

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
      PyErr_SetObject(type.ptr(), textOf(error.what()).ptr());
    }
  });
}

} // namespace gantry::python
