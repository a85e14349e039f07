// The command line of gantry-profiler.
#pragma once

#include "profiler_gui/panels/layout.h"
#include "profiler_gui/panels/theme.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace gantry::profiler {

struct Options {
  std::string file;      // .gtrace
  std::string compare;   // a second capture
  std::string attach;    // a process's id or a socket
  std::string token;     // of a process that listens on TCP
  std::string render;    // a picture instead of a window
  std::string semantics; // where to write what is on the screen
  Focus focus = Focus::kLifetimes;
  ThemeName theme = ThemeName::kDark;
  uint32_t width = 1600, height = 900;
  float scale = 1;
  bool scaleGiven = false;         // else a window asks its screen
  double beginNs = -1, endNs = -1; // the stretch of time to show; below 0: all
  std::string query;
};

/// The exit codes of gantry-profiler, those of the gantry tool (docs/cli.md).
inline constexpr int kUsageExit = 1, kIoExit = 3, kInternalExit = 4;

/// Adds the name, the options and the help to an empty app; `options` must outlive the parsing. Man
/// pages and completions read the app (tools/options/option.h).
void describeOptions(CLI::App &app, Options *options);

/// Fills options; returns -1 to go on, or the exit status after a message (0 after --help).
int parseOptions(int argc, char **argv, Options *options);

} // namespace gantry::profiler
