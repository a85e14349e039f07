// The command-line options of gantry-profiler: their values, and the parser.
//
// docs/profiler.md explains the options to users. The man page and the shell completions are
// generated from describeOptions() (tools/manual). Threads: one at a time.
#pragma once

#include "profiler_gui/panels/layout.h"
#include "profiler_gui/panels/theme.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace gantry::profiler {

struct Options {
  std::string file;      // A capture (.gtrace) or an artifact, a compiled model (.gantry).
  std::string compare;   // A second capture.
  std::string attach;    // The id, socket path or host:port of a process to watch.
  std::string token;     // The access token that a process on TCP was given.
  std::string render;    // The PNG file to write. If empty, a window is opened.
  std::string semantics; // The file for the description of the screen (panels/semantics.h).
  Focus focus = Focus::kLifetimes;
  ThemeName theme = ThemeName::kDark;
  uint32_t width = 1600, height = 900; // Pixels.
  float scale = 1;                     // Factor on font sizes and spacing, 1 to 4.
  bool scaleGiven = false;             // If false, a window uses the scale of its screen.
  double beginNs = -1, endNs = -1;     // The time range to show, in ns; -1: the whole capture.
  std::string query;                   // The words to search for (model/index/search.h).
};

/// The exit codes of gantry-profiler. They equal those of the gantry tool (docs/cli.md).
inline constexpr int kUsageExit = 1, kIoExit = 3, kInternalExit = 4;

/// Adds the program's name, options and help to an empty app. Parsing the app fills *options, which
/// must outlive it.
void describeOptions(CLI::App &app, Options *options);

/// Parses the command line into *options. Returns -1 if the program should run, else its exit code:
/// 0 after --help or --version, or an error's code after its message was printed.
int parseOptions(int argc, char **argv, Options *options);

} // namespace gantry::profiler
