// Opens gantry-profiler on this process, for `run --profile`.
//
// One thread.
#pragma once

#include <string>

namespace gantry::tool {

class ProfilerWindow {
public:
  /// Finds gantry-profiler (beside this tool, then on PATH) and a display. Throws ToolError with
  /// the remedy if one is missing. Starts nothing.
  ProfilerWindow();

  /// Starts the profiler and returns when it watches this process, which must have a device
  /// already. Throws ToolError if the profiler ends before, or after a minute. It stays open when
  /// this process ends.
  void open() const;

private:
  std::string program_;
};

} // namespace gantry::tool
