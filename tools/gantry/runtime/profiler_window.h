// Starts gantry-profiler and attaches it to this process, for `run --profile`.
//
// Threads: the object is used by one thread.
#pragma once

#include <string>

namespace gantry::tool {

class ProfilerWindow {
public:
  /// Finds gantry-profiler (in this tool's folder, then on PATH) and checks that there is a
  /// display. Throws ToolError with the remedy if one is missing. Sets GANTRY_TRACE_TIMES=all
  /// (measure the dispatches of every run) in this process unless the variable is set. Sessions
  /// read the variable, so this constructor must be called before a session is created. It starts
  /// no program.
  ProfilerWindow();

  /// Starts the profiler and returns when it has attached to this process, which must have opened a
  /// device already. Throws ToolError if the profiler ends first or does not attach in 60 seconds.
  /// The profiler's window stays open when this process ends.
  void open() const;

private:
  std::string program_;
};

} // namespace gantry::tool
