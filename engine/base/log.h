// Logging: one line to stderr per message, filtered by the environment variable GANTRY_LOG.
//
// GANTRY_LOG is error, warn (the default), info or debug; it is read once per process. The log is
// for events that do not change the result: a cache that could not be written, a device that was
// skipped. Failures are returned as Status and are not logged.
//
// Threads: any. Each line is written with one call, so lines of several threads do not mix.
#pragma once

namespace gantry {

enum class LogLevel { kError = 0, kWarn = 1, kInfo = 2, kDebug = 3 };

/// Returns whether messages of this level are written. A caller can skip the preparation of an
/// expensive message if they are not.
bool logEnabled(LogLevel level);

/// Writes "gantry: warn: <message>\n". Newlines inside the message become spaces.
void logf(LogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));

} // namespace gantry
