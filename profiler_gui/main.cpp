// The program gantry-profiler. It shows a capture or a running process in a window, draws a capture
// into a PNG file (--render), or, if neither a file nor a process is given, lists the processes
// that it could attach to. An error is printed once, on standard error; docs/cli.md documents the
// exit codes.
#include "profiler_gui/options.h"
#include "profiler_gui/render_picture.h"
#include "profiler_gui/show_window.h"

#include <cstdio>

namespace {

/// Returns the exit code that docs/cli.md documents for this kind of failure.
int exitCodeOf(const gantry::Status &status) {
  using gantry::StatusCode;
  switch (status.code()) {
  case StatusCode::kInvalidArgument:
  case StatusCode::kNotFound:
  case StatusCode::kDataLoss:
  case StatusCode::kVersionMismatch:
    return gantry::profiler::kUsageExit;
  case StatusCode::kIo:
    return gantry::profiler::kIoExit;
  default:
    return gantry::profiler::kInternalExit;
  }
}

} // namespace

int main(int argc, char **argv) {
  using namespace gantry::profiler;
  Options options;
  if (const int status = parseOptions(argc, argv, &options); status >= 0)
    return status;
  const gantry::Status status = !options.render.empty() ? renderPicture(options)
                                : options.file.empty() && options.attach.empty()
                                    ? listProcesses()
                                    : showWindow(options);
  if (!status.isOk()) {
    std::fprintf(stderr, "gantry-profiler: error: %s\n", status.message().c_str());
    return exitCodeOf(status);
  }
  return 0;
}
