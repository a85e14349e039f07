// Implements application.h.
#include "tools/gantry/application.h"

#include "tools/options/parse.h"

#include <gantry/gantry.h>

namespace gantry::tool {
namespace {

constexpr const char *kFooter = R"(Examples:
  gantry compile model.onnx -o model.gantry
  gantry run model.onnx --random 1
  gantry run model.gantry --input x.npy --expect y.npy
  gantry inspect model.gantry --plot plan.svg
  gantry bench model.gantry --top 10
  gantry tune model.onnx -o tuning.json
  gantry devices
  gantry cache

Exit codes:
  0  all went well
  1  wrong usage, or an input that is missing, damaged or does not fit
  2  the model has operators, or asks for features, that are not supported
  3  a file could not be read or written
  4  the device failed, there is none, or Gantry has a defect
  5  a comparison was made and the values differ

Environment:
  GANTRY_DEVICE           the device, as --device takes it
  GANTRY_CACHE_DIR        the folder of compiled models and pipelines (~/.cache/gantry)
  GANTRY_CACHE_SIZE       max size of the compiled models there (4GiB); 0: no cache of models
  GANTRY_BINDING          how kernels reach their buffers, as --binding takes it
  GANTRY_VALIDATION       1 or sync: run under the Vulkan validation layers
  GANTRY_TRACE            record the process to this .gtrace file
  GANTRY_TRACE_TIMES      all: record times of every run, also on a software device
  GANTRY_FLIGHT_RECORDER  keep the last seconds of events, and write them to this file on a crash
  GANTRY_ATTACH           0: no viewer may attach to the process
  NO_COLOR                print without colour
  TMPDIR                  the folder for temporary files)";

} // namespace

void buildApplication(CLI::App &app, Action &action) {
  app.name("gantry");
  app.description("Gantry compiles models to portable GPU programs, runs them, and shows where the "
                  "memory goes.");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("gantry ") + gantry_version(), "Show the version");
  app.require_subcommand(1);
  addCompile(app, action);
  addRun(app, action);
  addInspect(app, action);
  addBench(app, action);
  addCache(app, action);
  addDevices(app, action);
  addDiff(app, action);
  addPlan(app, action);
  addTune(app, action);
  addRecord(app, action);
  addExport(app, action);
  options::addHelp(app);
  for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; }))
    options::addHelp(*command);
}

} // namespace gantry::tool
