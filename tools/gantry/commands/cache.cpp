// gantry cache: lists the compiled models that other commands keep in the user's cache
// (cache/model_cache.h), or removes them.
#include "tools/gantry/cache/model_cache.h"
#include "tools/gantry/runtime/cached_model.h"
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/report/terminal.h"

#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gantry::tool {
namespace {

struct CacheOptions {
  bool clear = false, json = false;
};

/// Returns how long ago a moment was, as text: "3 minutes ago". `seconds` is the moment, in seconds
/// since the epoch.
std::string ageText(int64_t seconds) {
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  const int64_t age = std::max<int64_t>(0, now - seconds);
  const auto text = [](int64_t count, const char *unit) {
    return fmt::format("{} {}{} ago", count, unit, count == 1 ? "" : "s");
  };
  if (age < 60)
    return "just now";
  if (age < 3600)
    return text(age / 60, "minute");
  return age < 86400 ? text(age / 3600, "hour") : text(age / 86400, "day");
}

void printJson(const ModelCache &cache, const std::vector<ModelCache::Entry> &entries) {
  nlohmann::json list = nlohmann::json::array();
  for (const ModelCache::Entry &entry : entries)
    list.push_back({{"model", entry.model},
                    {"options", entry.options},
                    {"size_bytes", entry.sizeBytes},
                    {"used_seconds", entry.usedSeconds}});
  const nlohmann::json json = {{"folder", cache.folder().string()},
                               {"size_bytes", cache.sizeBytes()},
                               {"max_bytes", cache.maxBytes()},
                               {"models", list}};
  print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void printText(const ModelCache &cache, const std::vector<ModelCache::Entry> &entries) {
  using Align = Table::Align;
  print(fmt::format("{}  {} of compiled models, at most {}{}\n",
                    coloured(printable(cache.folder().string()), Colour::kBold, colourOnStdout()),
                    humanBytes(cache.sizeBytes()), humanBytes(cache.maxBytes()),
                    cache.maxBytes() == 0 ? " (GANTRY_CACHE_SIZE=0: none are kept)"
                                          : " (GANTRY_CACHE_SIZE)"));
  Table table({{"model", Align::kLeft, true},
               {"compiled with", Align::kLeft, true},
               {"size", Align::kRight},
               {"used"}});
  for (const ModelCache::Entry &entry : entries)
    table.addRow({entry.model.empty() ? "?" : entry.model, entry.options,
                  humanBytes(entry.sizeBytes), ageText(entry.usedSeconds)});
  if (!table.empty())
    print("\n" + table.format(colourOnStdout(), terminalWidth()));
}

ExitCode runCache(const CacheOptions &options) {
  auto cache = ModelCache::open(cacheLimit());
  if (!cache.isOk())
    throw ToolError(ExitCode::kIo, cache.status().message());
  if (options.clear) {
    const uint64_t bytes = cache->clear();
    if (!options.json) {
      print(fmt::format("removed {} from {}\n", humanBytes(bytes),
                        printable(cache->folder().string())));
      return ExitCode::kOk;
    }
  }
  const std::vector<ModelCache::Entry> entries = cache->entries();
  options.json ? printJson(*cache, entries) : printText(*cache, entries);
  return ExitCode::kOk;
}

} // namespace

void addCache(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand(
      "cache", "Show or clear the compiled models that run, bench, tune and inspect keep");
  auto options = std::make_shared<CacheOptions>();
  command->add_flag("--clear", options->clear, "Remove all compiled models");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(examples({"gantry cache", "gantry cache --clear"}));
  command->callback([options, &action] { action = [options] { return runCache(*options); }; });
}

} // namespace gantry::tool
