// One line to stderr per message, filtered by the environment variable GANTRY_LOG.
//
// GANTRY_LOG is error, warn (the default), info or debug, read once. It is for what happens beside
// the result (a cache that could not be written, a device that was passed over); failures travel as
// Status and are not logged as well.
//
// Threads: any; a line is written by one call, so lines of several threads do not mix.
#pragma once

namespace gantry {

enum class LogLevel { kError = 0, kWarn = 1, kInfo = 2, kDebug = 3 };

/// Whether messages of this level are shown. Ask before preparing an expensive one.
bool logEnabled(LogLevel level);

/// "gantry: warn: <message>\n"; newlines inside the message become spaces.
void logf(LogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));

} // namespace gantry
