// The program gantry_cli_manual: writes the man pages and completions of the tool to a folder. The
// build runs it (cmake/GantryInstall.cmake).
#include "tools/gantry/application.h"
#include "tools/manual/manual.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: gantry_cli_manual FOLDER\n", stderr);
    return 1;
  }
  CLI::App app;
  gantry::tool::Action action;
  gantry::tool::buildApplication(app, action);
  return gantry::manual::writeManual(app, argv[1]);
}
