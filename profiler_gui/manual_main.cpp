// Writes the man page and the shell completions of gantry-profiler to a folder. Runs during the
// build.
#include "profiler_gui/options.h"
#include "tools/manual/manual.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: gantry_profiler_manual FOLDER\n", stderr);
    return 1;
  }
  CLI::App app;
  gantry::profiler::Options options;
  gantry::profiler::describeOptions(app, &options);
  return gantry::manual::writeManual(app, argv[1]);
}
