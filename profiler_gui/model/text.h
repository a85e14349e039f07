// Quantities in words, as the profiler writes them everywhere: "1.50 MiB", "12.3 µs", "0x0001f000".
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace gantry::profiler {

/// Three significant digits from 1 KiB on; below, whole bytes: "768 B", "1.50 MiB".
std::string bytesText(uint64_t bytes);
/// With a sign, for differences.
std::string bytesDifferenceText(int64_t bytes);
/// "0 ns", "12.3 µs", "1.25 s".
std::string timeText(double ns);
/// At least eight digits: "0x0001f000".
std::string addressText(uint64_t address);
/// "12.3 GFLOP/s", "0.42 GB/s"; without a unit "12.3". Quantities are 10^9 a second.
std::string rateText(double giga, const char *unit);
/// "×1.32", "×0.043", "×250".
std::string ratioText(double ratio);
/// "12,345,678".
std::string countText(uint64_t count);

} // namespace gantry::profiler
