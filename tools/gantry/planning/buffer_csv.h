// Lists of buffers as text: the CSV format that published planners read.
//
// The first line names the columns: id, lower, upper, size, and if need be alignment and offset. A
// buffer is alive from lower until before upper; times are whole numbers of any scale. alignment is
// a power of two (1 where it is empty); offset pins the buffer (free where it is empty).
//
// Times become steps: numbers of the distinct moments, so that a plan of huge times stays small.
//
// Throws ToolError naming the line and what is wrong with it. One thread.
#pragma once

#include "engine/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

struct BufferList {
  std::vector<std::string> ids;
  std::vector<int64_t> lowers, uppers;
  std::vector<plan::Value> values; // firstUse and lastUse are steps
  std::vector<plan::Pin> pins;
  std::vector<int64_t> moments; // of each step its beginning; one more at the end
};

/// name: of the file, for messages.
BufferList parseBuffers(std::string_view text, const std::string &name);

/// The same list with the offsets of a plan.
std::string formatPlan(const BufferList &buffers, const plan::Plan &plan);

} // namespace gantry::tool
