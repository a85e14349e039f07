// Formats quantities for all panels of the profiler: "1.50 MiB", "12.3 µs", "0x0001f000". The
// labels of a time axis, which must differ from each other, are formatted by time_scale.h.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace gantry::profiler {

/// Whole bytes below 1 KiB, three significant digits above: "768 B", "1.50 MiB".
std::string bytesText(uint64_t bytes);
/// Like bytesText() with a sign: "+1.50 MiB", "-768 B", "0 B".
std::string bytesDifferenceText(int64_t bytes);
/// A duration in ns as text, with at most three significant digits: "0 ns", "12.3 µs", "1.25 s".
std::string timeText(double ns);
/// Hexadecimal with at least eight digits: "0x0001f000".
std::string addressText(uint64_t address);
/// A rate in 10^9 per second: "12.3 GFLOP/s", "0.42 GB/s"; with an empty unit "12.3".
std::string rateText(double giga, const char *unit);
/// A factor: "×1.32", "×0.043", "×250".
std::string ratioText(double ratio);
/// A whole number with separators: "12,345,678".
std::string countText(uint64_t count);

} // namespace gantry::profiler
