// Reads and writes lists of buffers in the CSV format of published planners.
//
// The first line names the columns: id, lower, upper, size, and optionally alignment and offset. A
// buffer is alive from lower until just before upper; times are whole numbers in any unit. The
// alignment is a power of two, 1 where the field is empty. An offset pins the buffer; where the
// field is empty, the planner chooses.
//
// Times become steps, the numbers of the distinct moments, so that the planner's command numbers
// stay small.
//
// Errors are thrown as ToolError with the number of the line and the reason. Threads: pure
// functions.
#pragma once

#include "engine/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

struct BufferList {
  std::vector<std::string> ids;
  std::vector<int64_t> lowers, uppers; // Times as in the file.
  std::vector<plan::Value> values;     // firstUse and lastUse are steps.
  std::vector<plan::Pin> pins;
  std::vector<int64_t> moments; // The time at which each step begins, and the end of the last step.
};

/// Parses the text of a file; `name` is the name of the file for error messages.
BufferList parseBuffers(std::string_view text, const std::string &name);

/// Returns the list as CSV text with the offsets of a plan.
std::string formatPlan(const BufferList &buffers, const plan::Plan &plan);

} // namespace gantry::tool
