// Implements columnsOf() and isDimmed().
#include "profiler_gui/panels/dispatch_columns.h"

#include <algorithm>
#include <cmath>

namespace gantry::profiler {

const std::vector<DispatchColumn> &columnsOf(Ui &ui, size_t number) {
  const Lane &lane = ui.model->dispatches().lanes()[number];
  if (ui.laneColumns.size() <= number)
    ui.laneColumns.resize(number + 1);
  std::vector<DispatchColumn> *columns = &ui.laneColumns[number];
  if (!columns->empty())
    return *columns;
  const DispatchTable &dispatches = ui.model->dispatches();
  const DispatchTable::Range seen = dispatches.inWindow(lane, ui.time.beginNs(), ui.time.endNs());
  for (uint32_t at = seen.first; at < seen.last;) {
    const Dispatch &dispatch = dispatches[lane.dispatches[at]];
    const float left = ui.xOf(static_cast<double>(dispatch.beginNs));
    const float right = ui.xOf(static_cast<double>(dispatch.endNs));
    if (right - left >= 2) {
      columns->push_back({left, right, at, at + 1});
      ++at;
      continue;
    }
    // Groups this dispatch with the narrow ones that begin in the same pixel.
    const float edge = std::floor(left) + 1;
    const uint32_t next = dispatches.firstFrom(lane, at, ui.timeAt(edge));
    uint32_t last = std::max(at + 1, std::min(next, seen.last));
    // The last dispatch of the group may be wide; it gets a column of its own.
    const Dispatch &tail = dispatches[lane.dispatches[last - 1]];
    if (last > at + 1 &&
        ui.xOf(static_cast<double>(tail.endNs)) - ui.xOf(static_cast<double>(tail.beginNs)) >= 2)
      --last;
    const float until = ui.xOf(static_cast<double>(dispatches[lane.dispatches[last - 1]].endNs));
    columns->push_back({left, std::max(until, left + 1), at, last});
    at = last;
  }
  return *columns;
}

bool isDimmed(const Ui &ui, const DispatchColumn &column, const Lane &lane) {
  if (!ui.found.active())
    return false;
  for (uint32_t at = column.first; at < column.last; ++at) {
    const PlanCommand *command = ui.model->commandOf(ui.model->dispatches()[lane.dispatches[at]]);
    if (command != nullptr && ui.found.has(*command))
      return false;
  }
  return true;
}

} // namespace gantry::profiler
