// gantry-profiler, opened on this process: what `run --profile` does.
//
// One thread.
#pragma once

#include <string>

namespace gantry::tool {

class ProfilerWindow {
public:
  /// Looks for gantry-profiler (beside this tool, then on PATH), and for a display. Throws
  /// ToolError where there is none, with what helps; nothing is started yet.
  ProfilerWindow();

  /// Starts it and returns when it watches this process, which has a device by now. Throws
  /// ToolError where it ends before, or takes longer than a minute. It stays open when this process
  /// ends.
  void open() const;

private:
  std::string program_;
};

} // namespace gantry::tool
