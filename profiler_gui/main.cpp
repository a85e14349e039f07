// gantry-profiler: shows every byte of a capture, or of a process while it runs.
#include "profiler_gui/options.h"
#include "profiler_gui/render.h"
#include "profiler_gui/show.h"

#include <cstdio>

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
    std::fprintf(stderr, "gantry-profiler: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
