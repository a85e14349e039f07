// gantry-profiler: shows every byte of a capture.
#include "profiler_gui/options.h"
#include "profiler_gui/render.h"

#include <cstdio>

int main(int argc, char **argv) {
  using namespace gantry::profiler;
  Options options;
  if (const int status = parseOptions(argc, argv, &options); status >= 0)
    return status;
  const gantry::Status status = renderPicture(options);
  if (!status.isOk()) {
    std::fprintf(stderr, "gantry-profiler: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
