// The extension module gantry._runtime: devices, memory, arrays, programs and traces. The package
// gantry (gantry/__init__.py) is the interface for users; its docstrings are the manual.
#include "python/src/array.h"
#include "python/src/program.h"
#include "python/src/status.h"
#include "python/src/text.h"
#include "python/src/types.h"
#include "python/src/unlocked.h"
#include "tools/gantry/io/description.h"
#include "tools/gantry/report/plan_svg.h"

#include <pybind11/stl.h>

namespace gantry::python {

namespace py = pybind11;

namespace {

const char *kindName(gantry_device_kind_t kind) {
  constexpr const char *kNames[] = {"discrete", "integrated", "virtual", "software"};
  return kind <= GANTRY_DEVICE_SOFTWARE ? kNames[kind] : "unknown";
}

py::dict describe(const gantry_device_info_t &info) {
  py::dict result;
  result["index"] = info.index;
  result["name"] = info.name;
  result["driver"] = info.driver;
  result["backend"] = info.backend;
  result["api_version"] = info.api_version;
  result["kind"] = kindName(info.kind);
  result["memory_bytes"] = info.memory_bytes;
  result["max_allocation_bytes"] = info.max_allocation_bytes;
  result["max_shared_memory_bytes"] = info.max_shared_memory_bytes;
  result["subgroup_size"] = info.subgroup_size;
  result["unified_memory"] = info.unified_memory != 0;
  result["profile"] = info.profile;
  result["missing"] = info.missing;
  return result;
}

py::list devices() {
  checkProcess();
  size_t count = 0;
  check(gantry_devices(nullptr, &count));
  std::vector<gantry_device_info_t> infos(count);
  check(gantry_devices(infos.data(), &count));
  py::list list;
  for (size_t i = 0; i < std::min(count, infos.size()); ++i)
    list.append(describe(infos[i]));
  return list;
}

std::shared_ptr<Device> openDevice(const std::string &selector) {
  const Unlocked unlocked;
  checkProcess();
  watchForks();
  auto device = Device::open(selector);
  if (!device)
    throw StatusError(device.error().status(), device.error().message());
  return {new Device(std::move(*device)), UnlessForked()};
}

py::dict memoryStatistics(const std::shared_ptr<Device> &device) {
  checkProcess();
  py::dict result;
  for (int kind = 0; kind < GANTRY_MEMORY_KIND_COUNT; ++kind) {
    gantry_memory_statistics_t figures{};
    figures.struct_size = sizeof(figures);
    check(gantry_device_memory_statistics(device->get(), static_cast<gantry_memory_kind_t>(kind),
                                          &figures));
    py::dict entry;
    entry["live_bytes"] = figures.live_bytes;
    entry["live_buffers"] = figures.live_buffers;
    entry["peak_live_bytes"] = figures.peak_live_bytes;
    entry["reserved_bytes"] = figures.reserved_bytes;
    entry["peak_reserved_bytes"] = figures.peak_reserved_bytes;
    entry["largest_free_bytes"] = figures.largest_free_bytes;
    entry["driver_allocations"] = figures.driver_allocations;
    entry["fragmentation"] = figures.fragmentation;
    result[gantry_memory_kind_name(static_cast<gantry_memory_kind_t>(kind))] = entry;
  }
  return result;
}

py::str memoryReport(const std::shared_ptr<Device> &device) {
  checkProcess();
  std::string text(gantry_device_memory_report(device->get(), nullptr, 0), ' ');
  // The report may have become longer since; it is then cut.
  text.resize(std::min(text.size(),
                       gantry_device_memory_report(device->get(), text.data(), text.size() + 1)));
  return textOf(text);
}

void setMemoryLimit(const std::shared_ptr<Device> &device, const std::optional<uint64_t> &bytes) {
  checkProcess();
  for (uint32_t heap = 0; heap < gantry_device_memory_heap_count(device->get()); ++heap)
    check(gantry_device_set_memory_limit(device->get(), heap, bytes.value_or(UINT64_MAX)));
}

/// Copies a NumPy array or another tensor to a new Array.
std::shared_ptr<Array> makeArray(py::handle value, const std::shared_ptr<Device> &device) {
  const py::array source =
      py::module_::import("numpy").attr("asarray")(value, py::arg("order") = "C");
  gantry_port_info_t port{};
  port.name = "array";
  port.rank = static_cast<uint32_t>(source.ndim());
  if (port.rank > GANTRY_MAX_RANK)
    refuse("an array has at most 8 dimensions, not " + std::to_string(source.ndim()));
  std::copy_n(source.shape(), port.rank, port.dims);
  const std::string name = py::str(source.dtype());
  int type = 0;
  while (type <= GANTRY_TYPE_BOOL && name != numpyName(static_cast<gantry_type_t>(type)))
    ++type;
  if (type > GANTRY_TYPE_BOOL)
    refuse("an array of dtype " + name + " is not possible; convert it with x.astype(\"float32\")");
  auto array = std::make_shared<Array>(device, static_cast<gantry_type_t>(type),
                                       std::vector<int64_t>(port.dims, port.dims + port.rank),
                                       "gantry.array");
  std::memcpy(array->data(), source.data(), array->sizeBytes());
  return array;
}

/// Returns the picture of a memory plan. json: a program as JSON (docs/artifact-json.md).
py::str planSvg(const std::string &json, const std::string &title) {
  const tool::Description plan = tool::parseDescription(json);
  if (!plan.planned())
    refuse("the plan depends on the sizes of dynamic dimensions; name them: "
           "program.plan_for(batch=4)");
  return textOf(tool::drawPlan(plan, title));
}

void registerDevice(py::module_ &module) {
  py::class_<Device, std::shared_ptr<Device>>(module, "Device", "An open GPU or software device.")
      .def(py::init(&openDevice), py::arg("selector") = "")
      .def_property_readonly(
          "info", [](const Device &self) { return describe(self.info()); },
          "What the driver says of the device: a dictionary; sizes are in bytes.")
      .def_property_readonly("name",
                             [](const Device &self) { return std::string(self.info().name); })
      .def_property_readonly(
          "validation_messages",
          [](const Device &self) { return gantry_device_validation_messages(self.get()); },
          "The number of messages of Vulkan's validation layers (GANTRY_VALIDATION=1).")
      .def("__repr__", [](const Device &self) {
        const gantry_device_info_t info = self.info();
        return std::string("<gantry.Device ") + info.name + " (" + kindName(info.kind) + ")>";
      });
}

void registerTraces(py::module_ &module) {
  module.def("trace_start_file", [](const std::string &path) {
    const Unlocked unlocked;
    checkProcess();
    check(gantry_trace_start_file(path.c_str()));
  });
  module.def("trace_stop_file", [] {
    const Unlocked unlocked;
    if (!isForked()) // The recording is the parent's.
      check(gantry_trace_stop_file());
  });
  module.def("trace_mark", [](const std::string &name, int64_t value) {
    gantry_trace_mark(gantry_trace_name(name.c_str()), value);
  });
  module.def("trace_counter", [](const std::string &name, int64_t value) {
    gantry_trace_counter(gantry_trace_name(name.c_str()), value);
  });
  module.def("trace_begin_span", [](const std::string &name) {
    gantry_trace_begin_span(gantry_trace_name(name.c_str()));
  });
  module.def("trace_end_span", [] { gantry_trace_end_span(); });
}

} // namespace

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "Gantry's runtime. Import the package gantry instead.";
  registerErrors(module);
  registerDevice(module);
  registerArray(module);
  registerProgram(module);
  registerTraces(module);
  module.def("version", &gantry_version);
  module.def("devices", &devices);
  module.def("memory_stats", &memoryStatistics);
  module.def("memory_report", &memoryReport);
  module.def("set_memory_limit", &setMemoryLimit);
  module.def("array", &makeArray);
  module.def("plan_svg", &planSvg);
  module.def("check_process", &checkProcess);
}

} // namespace gantry::python
