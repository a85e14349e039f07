#include "profiler_gui/options.h"

#include <CLI/CLI.hpp>

#include <string>

namespace gantry::profiler {
namespace {

/// "1600x900"
std::string parseSize(const std::string &text, Options *options) {
  unsigned width = 0;
  unsigned height = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ux%u%c", &width, &height, &rest) != 2 || width < 640 ||
      height < 400 || width > 16384 || height > 16384)
    return "'" + text + "' is no size: write 1600x900, from 640x400 to 16384x16384";
  options->width = width;
  options->height = height;
  return "";
}

/// "1ms:2.5ms"
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

std::string parseRange(const std::string &text, Options *options) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || !parseTime(text.substr(0, colon), &options->beginNs) ||
      !parseTime(text.substr(colon + 1), &options->endNs) || options->endNs <= options->beginNs)
    return "'" + text + "' is no stretch of time: write 1.5ms:4ms (ns, us, ms, s)";
  return "";
}

} // namespace

int parseOptions(int argc, char **argv, Options *options) {
  CLI::App app("Shows where every byte of a capture lies, when and why");
  app.name("gantry-profiler");
  std::string view = "lifetimes";
  std::string theme = "dark";
  app.add_option("FILE", options->file,
                 "a capture (.gtrace), or an artifact to look at unrun (.gantry)");
  app.add_option("--compare", options->compare,
                 "a second capture: both on one time axis, and where they differ")
      ->type_name("FILE");
  app.add_option("--attach", options->attach,
                 "watch a running process: its number or its socket; without FILE and this, all "
                 "processes that can be watched are listed")
      ->type_name("PROCESS");
  app.add_option("--token", options->token, "with --attach HOST:PORT: what the process printed");
  app.add_option("--render", options->render, "write a picture (PNG) instead of opening a window")
      ->type_name("FILE");
  app.add_option("--view", view, "what gets the most room: lifetimes, heap, dispatches")
      ->type_name("VIEW")
      ->check([&](const std::string &text) {
        return parseFocus(text, &options->focus)
                   ? std::string()
                   : "'" + text + "' is no view: lifetimes, heap or dispatches";
      });
  app.add_option("--theme", theme, "dark, light, colour-blind")
      ->type_name("THEME")
      ->check([&](const std::string &text) {
        return parseTheme(text, &options->theme)
                   ? std::string()
                   : "'" + text + "' is no theme: dark, light or colour-blind";
      });
  app.add_option("--size", "size of the picture, in pixels (1600x900)")
      ->type_name("WxH")
      ->check([&](const std::string &text) { return parseSize(text, options); });
  auto *scale = app.add_option("--scale", options->scale, "how large text is, 1 to 4")
                    ->check(CLI::Range(1.0, 4.0));
  app.add_option("--time", "the stretch of time to show, 1.5ms:4ms")
      ->type_name("FROM:TO")
      ->check([&](const std::string &text) { return parseRange(text, options); });
  app.add_option("--search", options->query, "what to search for, as in the window");
  app.add_option("--semantics", options->semantics,
                 "write what is on the picture or in the window, one thing a line; of a window "
                 "whenever it comes to rest")
      ->type_name("FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  }
  options->scaleGiven = scale->count() > 0;
  return -1;
}

} // namespace gantry::profiler
