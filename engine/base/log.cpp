// Formats log lines and reads GANTRY_LOG.
#include "engine/base/log.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

namespace gantry {

namespace {

constexpr const char *kLevelNames[] = {"error", "warn", "info", "debug"};

void writeLine(LogLevel level, std::string message) {
  for (char &c : message)
    if (c == '\n' || c == '\r')
      c = ' ';
  const std::string line =
      std::string("gantry: ") + kLevelNames[static_cast<int>(level)] + ": " + message + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

LogLevel levelFromEnvironment() {
  const char *value = std::getenv("GANTRY_LOG");
  if (value == nullptr || *value == '\0')
    return LogLevel::kWarn;
  for (size_t i = 0; i < std::size(kLevelNames); ++i)
    if (std::string(value) == kLevelNames[i])
      return static_cast<LogLevel>(i);
  writeLine(LogLevel::kWarn, std::string("GANTRY_LOG is \"") + value +
                                 "\"; it must be error, warn, info or debug; using warn");
  return LogLevel::kWarn;
}

} // namespace

bool logEnabled(LogLevel level) {
  static const LogLevel kShown = levelFromEnvironment();
  return level <= kShown;
}

void logf(LogLevel level, const char *format, ...) {
  if (!logEnabled(level))
    return;
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string message(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0)
    std::vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  writeLine(level, std::move(message));
}

} // namespace gantry
