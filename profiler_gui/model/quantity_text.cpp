// Implements the formatting of bytes, times, addresses, rates and counts.
#include "profiler_gui/model/quantity_text.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace gantry::profiler {
namespace {

template <typename... Args> std::string format(const char *pattern, Args... args) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), pattern, args...);
  return buffer.data();
}

/// Formats a value below 1000 with three significant digits.
std::string threeDigits(double value, const char *unit) {
  const double size = std::abs(value);
  return format(size < 9.995 ? "%.2f %s" : size < 99.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

} // namespace

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024)
    return format("%u B", static_cast<unsigned>(bytes));
  static constexpr std::array<const char *, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit)
    value /= 1024;
  return threeDigits(value, kUnits[unit]);
}

std::string bytesDifferenceText(int64_t bytes) {
  const uint64_t size = bytes < 0 ? 0 - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  const std::string text = bytesText(size);
  return bytes == 0 ? text : format("%c%s", bytes > 0 ? '+' : '-', text.c_str());
}

std::string timeText(double ns) {
  const double size = std::abs(ns);
  if (size < 0.5)
    return "0 ns"; // Avoids "-0 ns".
  if (size < 999.5)
    return format("%.0f ns", ns);
  if (size < 999.5e3)
    return threeDigits(ns / 1e3, "µs");
  if (size < 999.5e6)
    return threeDigits(ns / 1e6, "ms");
  return threeDigits(ns / 1e9, "s");
}

std::string addressText(uint64_t address) {
  return format("0x%08llx", static_cast<unsigned long long>(address));
}

std::string rateText(double giga, const char *unit) {
  std::string text = threeDigits(giga, unit);
  if (*unit == '\0')
    text.pop_back(); // Removes the space before the empty unit.
  return text;
}

std::string ratioText(double ratio) {
  return format(ratio < 0.0995  ? "×%.3f"
                : ratio < 9.995 ? "×%.2f"
                : ratio < 99.95 ? "×%.1f"
                                : "×%.0f",
                ratio);
}

std::string countText(uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0)
      text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

} // namespace gantry::profiler
