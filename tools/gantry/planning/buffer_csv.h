// Reads and writes lists of buffers in the CSV format of published planners, such as minimalloc.
//
// The first line names the columns: id, lower, upper, size, and optionally alignment and offset. A
// buffer is alive in [lower, upper); times are whole numbers in any unit. Size and offset are in
// bytes. The alignment is a power of two in bytes; an empty field means 1. The column `offset`,
// which formatPlan() and other planners write, is ignored.
//
// The planner works with steps instead of times: step i begins at the i-th of the distinct times of
// the file, in ascending order from 0, and ends at the next one.
//
// Errors: ToolError with the number of the line and the reason. Threads: pure functions.
#pragma once

#include "engine/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

/// The buffers of a file; element i of each list but `moments` belongs to buffer i.
struct BufferList {
  std::vector<std::string> ids;
  std::vector<int64_t> lowers, uppers; // Times as in the file.
  std::vector<plan::Value> values;     // firstUse and lastUse are steps.
  std::vector<int64_t> moments; // Distinct times, ascending: step i is [moments[i], moments[i+1]).
};

/// Parses the text of a file; `name` is the name of the file for error messages.
BufferList parseBuffers(std::string_view text, const std::string &name);

/// Returns the list as CSV text with the offsets of a plan.
std::string formatPlan(const BufferList &buffers, const plan::Plan &plan);

} // namespace gantry::tool
