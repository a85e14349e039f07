// Implements the command-line options of gantry-profiler.
#include "profiler_gui/options.h"

#include "tools/options/option.h"
#include "tools/options/parse.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace gantry::profiler {
namespace {

constexpr const char *kView = "View", *kOutput = "Output";
constexpr const char *kFooter = R"(Examples:
  gantry-profiler run.gtrace
  gantry-profiler run.gtrace --compare other.gtrace
  gantry-profiler --attach 4711
  gantry-profiler run.gtrace --view heap --time 1.5ms:4ms --render heap.png

Exit codes:
  0  all went well
  1  wrong usage, or an input that is missing or damaged
  3  a file could not be read or written
  4  the device failed, there is none, or Gantry has a defect)";

/// Parses a size such as "1600x900". Returns "" or an error message.
std::string parseSize(const std::string &text, Options *options) {
  unsigned width = 0;
  unsigned height = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ux%u%c", &width, &height, &rest) != 2 || width < 640 ||
      height < 400 || width > 16384 || height > 16384)
    return "'" + text + "' is not a size: write 1600x900, from 640x400 to 16384x16384";
  options->width = width;
  options->height = height;
  return "";
}

/// Parses a time such as "2.5ms"; a number without a unit is in ns. Returns false for other texts.
bool parseTime(const std::string &text, double *ns) {
  char *end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit == "ns" || unit.empty() ? 1
                        : unit == "us"               ? 1e3
                        : unit == "ms"               ? 1e6
                        : unit == "s"                ? 1e9
                                                     : 0;
  *ns = number * factor;
  return end != text.c_str() && factor > 0 && number >= 0;
}

/// Parses a time range such as "1ms:2.5ms". Returns "" or an error message.
std::string parseRange(const std::string &text, Options *options) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || !parseTime(text.substr(0, colon), &options->beginNs) ||
      !parseTime(text.substr(colon + 1), &options->endNs) || options->endNs <= options->beginNs)
    return "'" + text +
           "' is not a time range: write a begin and a later end, as in 1.5ms:4ms (ns, us, ms, s)";
  return "";
}

} // namespace

void describeOptions(CLI::App &app, Options *options) {
  namespace o = gantry::options;
  app.name("gantry-profiler");
  app.description("Shows where each byte of a capture is, when and why.");
  app.add_option("FILE", options->file,
                 "A capture (.gtrace) of runs, or an artifact (.gantry), whose plan is shown");
  app.add_option("--compare", options->compare,
                 "A second capture: shows both on one time axis, and their differences")
      ->type_name("FILE");
  CLI::Option *const attach =
      app.add_option("--attach", options->attach,
                     "Watch a running process: its id or its socket; without FILE and this option, "
                     "all processes that can be watched are listed")
          ->type_name("PROCESS");
  app.add_option("--token", options->token,
                 "For --attach HOST:PORT: the token that the process was given")
      ->type_name("TOKEN");
  o::choice(app.add_option_function<std::string>(
                "--view", [options](const std::string &text) { parseFocus(text, &options->focus); },
                "The plot that gets the most space"),
            "VIEW", {"lifetimes", "heap", "dispatches", "operators"})
      ->default_str("lifetimes")
      ->group(kView);
  o::choice(app.add_option_function<std::string>(
                "--theme",
                [options](const std::string &text) { parseTheme(text, &options->theme); },
                "The colours"),
            "THEME", {"dark", "light", "colour-blind"})
      ->default_str("dark")
      ->group(kView);
  o::checked(app.add_option("--size", "Size of the picture, in pixels"), "WxH",
             [options](const std::string &text) { return parseSize(text, options); })
      ->default_str("1600x900")
      ->group(kView);
  o::real(app.add_option_function<std::string>(
              "--scale",
              [options](const std::string &text) {
                options->scale = std::strtof(text.c_str(), nullptr);
                options->scaleGiven = true;
              },
              "Factor on the size of text"),
          "FACTOR", 1, 4)
      ->default_str("1, or the scale of the screen")
      ->group(kView);
  o::checked(app.add_option("--time", "The time range to show: 1.5ms:4ms (ns, us, ms, s)"),
             "FROM:TO", [options](const std::string &text) { return parseRange(text, options); })
      ->excludes(attach)
      ->group(kView);
  app.add_option("--search", options->query, "Words, addresses or sizes to search for")
      ->type_name("WORDS")
      ->group(kView);
  app.add_option("--render", options->render, "Write a picture (PNG) instead of opening a window")
      ->type_name("FILE")
      ->group(kOutput);
  app.add_option("--semantics", options->semantics,
                 "Write what the picture shows as text, one line for each drawn element; a window "
                 "rewrites the file after each complete frame")
      ->type_name("FILE")
      ->group(kOutput);
  app.set_version_flag("--version", std::string("gantry-profiler ") + GANTRY_VERSION_TEXT,
                       "Show the version");
  app.footer(kFooter);
  o::addHelp(app);
}

int parseOptions(int argc, char **argv, Options *options) {
  CLI::App app;
  describeOptions(app, options);
  try {
    if (const auto text = gantry::options::parse(app, {argv + 1, argv + argc})) {
      const bool written = std::fputs(text->c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
      return written ? 0 : kIoExit;
    }
  } catch (const gantry::options::UsageError &error) {
    std::fprintf(stderr, "gantry-profiler: error: %s\n", error.what());
    return kUsageExit;
  }
  return -1;
}

} // namespace gantry::profiler
