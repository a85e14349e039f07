// Implements inspectDispatch().
#include "profiler_gui/panels/inspector/inspector.h"

#include "profiler_gui/model/short_name.h"
#include "profiler_gui/model/quantity_text.h"

#include <string>

namespace gantry::profiler {
namespace {

std::string threeText(uint32_t x, uint32_t y, uint32_t z) {
  return std::to_string(x) + " × " + std::to_string(y) + " × " + std::to_string(z);
}

/// Lists the values that a command writes or reads.
void listValues(InspectorPage &page, const Plan &plan, uint32_t command, bool write) {
  Ui &ui = page.ui();
  for (const Access &access : plan.accesses) {
    if (access.command != command || access.write != write)
      continue;
    const PlanEntry *entry = ui.model->entryOf(plan, access.value);
    if (entry == nullptr)
      continue;
    page.pair(ui.nameOf(entry->name, "unnamed"), bytesText(entry->sizeBytes),
              write ? "inspector/writes" : "inspector/reads");
  }
}

/// Adds the kernel, workgroups and rates of a dispatch that is not a copy.
void addKernel(InspectorPage &page, const Dispatch &dispatch, const PlanCommand &command) {
  Ui &ui = page.ui();
  page.pair("kernel", ui.nameOf(command.kernel, "unnamed"), "inspector/kernel");
  if (command.tile != 0)
    page.pair("tile", ui.model->text(command.tile), "inspector/tile");
  page.pair("workgroups",
            threeText(dispatch.workgroups[0], dispatch.workgroups[1], dispatch.workgroups[2]),
            "inspector/workgroups");
  page.pair("workgroup size",
            threeText(command.workgroupSize[0], command.workgroupSize[1], command.workgroupSize[2]),
            "inspector/workgroup_size");
  if (command.registers != 0)
    page.pair("registers", std::to_string(command.registers), "inspector/registers");
  const double length = static_cast<double>(dispatch.endNs - dispatch.beginNs);
  if (dispatch.estimated || length <= 0)
    return;
  if (command.flops > 0)
    page.pair("rate", rateText(static_cast<double>(command.flops) / length, "GFLOP/s"),
              "inspector/rate");
  if (command.bytesMoved > 0)
    page.pair("traffic", rateText(static_cast<double>(command.bytesMoved) / length, "GB/s"),
              "inspector/traffic");
}

/// Adds the shared memory of one workgroup of a dispatch, and the device's limit for it.
void addSharedMemory(InspectorPage &page, const Dispatch &dispatch) {
  Ui &ui = page.ui();
  page.section("shared memory");
  page.pair("per workgroup", bytesText(dispatch.sharedBytes), "inspector/shared");
  const std::vector<Device> &devices = ui.model->devices();
  const uint32_t limit =
      dispatch.device < devices.size() ? devices[dispatch.device].sharedBytesLimit : 0;
  if (limit == 0)
    return;
  page.pair("device's limit", bytesText(limit), "inspector/shared_limit");
  const bool over = dispatch.sharedBytes > limit;
  page.bar(static_cast<double>(dispatch.sharedBytes) / limit,
           over ? ui.theme->over : ui.theme->dispatch, "inspector/shared_bar");
  if (over)
    page.line("over the limit", ui.theme->over, "inspector/over", "warning");
}

} // namespace

void inspectDispatch(InspectorPage &page, const Pick &pick) {
  Ui &ui = page.ui();
  const CaptureModel &model = *ui.model;
  if (pick.dispatch >= model.dispatches().size())
    return;
  const Dispatch &dispatch = model.dispatches()[pick.dispatch];
  const Run &run = model.runs()[dispatch.run];
  if (run.plan >= model.plans().size() ||
      dispatch.command >= model.plans()[run.plan].commands.size()) {
    page.heading("dispatch", "inspector/name");
    page.times(dispatch.beginNs, dispatch.endNs, false);
    return;
  }
  const Plan &plan = model.plans()[run.plan];
  const PlanCommand &command = plan.commands[dispatch.command];
  page.heading(ui.nameOf(command.name, "unnamed"), "inspector/name");
  if (command.location != 0)
    page.line(shortLocation(model.text(command.location)), ui.theme->dim, "inspector/location",
              "location");
  if (model.modelled())
    page.pair("command", ui.momentText(static_cast<double>(dispatch.beginNs), 1),
              "inspector/begins");
  else
    page.times(dispatch.beginNs, dispatch.endNs, false);
  if (model.modelled())
    page.line("never run: the model has no times", ui.theme->dim, "inspector/modelled");
  else if (dispatch.estimated)
    page.line("times are estimated: the device reported none", ui.theme->warning,
              "inspector/estimated", "warning");
  if (dispatch.isCopy) {
    page.line("a copy", ui.theme->dim);
  } else {
    addKernel(page, dispatch, command);
    addSharedMemory(page, dispatch);
  }
  page.section("reads");
  listValues(page, plan, dispatch.command, false);
  page.section("writes");
  listValues(page, plan, dispatch.command, true);
}

} // namespace gantry::profiler
