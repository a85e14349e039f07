// Implements terminal.h.
#include "tools/gantry/report/terminal.h"

#include "tools/gantry/error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace gantry::tool {
namespace {

bool wantsColour(int descriptor) {
  const char *noColour = std::getenv("NO_COLOR");
  if (noColour && *noColour)
    return false;
  const char *term = std::getenv("TERM");
  return isatty(descriptor) && term && std::strcmp(term, "dumb") != 0;
}

const char *escapeOf(Colour colour) {
  switch (colour) {
  case Colour::kNone:
    return "";
  case Colour::kBold:
    return "\x1b[1m";
  case Colour::kDim:
    return "\x1b[2m";
  case Colour::kRed:
    return "\x1b[31m";
  case Colour::kGreen:
    return "\x1b[32m";
  case Colour::kYellow:
    return "\x1b[33m";
  case Colour::kCyan:
    return "\x1b[36m";
  }
  return "";
}

/// Returns the byte position of code point `index`, or the end.
size_t bytePosition(const std::string &text, size_t index) {
  size_t seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (isContinuation(text[i]))
      continue;
    if (seen == index)
      return i;
    ++seen;
  }
  return text.size();
}

/// Formats with three significant digits: "1.23", "12.3", "123".
std::string threeDigits(double value) {
  if (value >= 99.95)
    return fmt::format("{:.0f}", value);
  return value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string pad(const std::string &text, size_t width, Table::Align align) {
  size_t have = displayWidth(text);
  std::string fill(width > have ? width - have : 0, ' ');
  return align == Table::Align::kRight ? fill + text : text + fill;
}

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int stdoutError = 0; // The errno of the first failed write to stdout.

} // namespace

bool colourOnStdout() {
  static const bool kColour = wantsColour(STDOUT_FILENO);
  return kColour;
}

bool colourOnStderr() {
  static const bool kColour = wantsColour(STDERR_FILENO);
  return kColour;
}

std::string coloured(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::kNone)
    return std::string(text);
  return fmt::format("{}{}\x1b[0m", escapeOf(colour), text);
}

int terminalWidth() {
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (size_t i = 0; i < result.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(result[i]);
    if (c == '\n' || c == '\t' || c == '\r')
      result[i] = ' ';
    else if (c < 0x20 || c == 0x7f)
      result[i] = '?';
    else if (c == 0xC2 && i + 1 < result.size() &&
             static_cast<unsigned char>(result[i + 1]) < 0xA0) // C1 control characters.
      result[i] = result[i + 1] = '?';
  }
  return result;
}

size_t displayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !isContinuation(c); }));
}

std::string humanBytes(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", threeDigits(value), kUnits[unit]);
}

std::string humanTime(double nanoseconds) {
  if (nanoseconds < 999.5)
    return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 999.5e3)
    return threeDigits(nanoseconds / 1e3) + " µs";
  if (nanoseconds < 999.5e6)
    return threeDigits(nanoseconds / 1e6) + " ms";
  return threeDigits(nanoseconds / 1e9) + " s";
}

std::string humanCount(double value) {
  static constexpr const char *kUnits[] = {"", " k", " M", " G", " T", " P", " E"};
  if (value < 999.5)
    return value == static_cast<double>(static_cast<uint64_t>(value)) ? fmt::format("{:.0f}", value)
                                                                      : threeDigits(value);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return threeDigits(value) + kUnits[unit];
}

std::string elideMiddle(const std::string &text, size_t width) {
  size_t have = displayWidth(text);
  if (have <= width)
    return text;
  if (width <= 1)
    return width == 1 ? "…" : "";
  size_t head = (width - 1) / 2, tail = width - 1 - head;
  return text.substr(0, bytePosition(text, head)) + "…" +
         text.substr(bytePosition(text, have - tail));
}

void Table::addRow(std::vector<std::string> cells, Colour colour) {
  cells.resize(columns_.size());
  for (std::string &cell : cells)
    cell = printable(cell);
  rows_.push_back({std::move(cells), colour});
}

std::string Table::format(bool colour, int maxWidth, int indent) const {
  std::vector<size_t> widths;
  size_t total = static_cast<size_t>(indent), flexible = columns_.size();
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = displayWidth(columns_[c].title);
    for (const Row &row : rows_)
      width = std::max(width, displayWidth(row.cells[c]));
    widths.push_back(width);
    total += width + (c ? 2 : 0);
    if (columns_[c].flexible)
      flexible = c;
  }
  constexpr size_t kMinWidth = 12; // The flexible column is not made narrower than this.
  if (maxWidth > 0 && total > static_cast<size_t>(maxWidth) && flexible < columns_.size()) {
    size_t excess = total - static_cast<size_t>(maxWidth);
    size_t width = widths[flexible];
    widths[flexible] = width > excess + kMinWidth ? width - excess : std::min(width, kMinWidth);
  }
  auto line = [&](const std::vector<std::string> &cells, Colour rowColour) {
    std::string text;
    for (size_t c = 0; c < columns_.size(); ++c)
      text += (c ? "  " : "") + pad(elideMiddle(cells[c], widths[c]), widths[c], columns_[c].align);
    text.erase(text.find_last_not_of(' ') + 1);
    return std::string(static_cast<size_t>(indent), ' ') + coloured(text, rowColour, colour) + "\n";
  };
  std::vector<std::string> titles;
  for (const Column &column : columns_)
    titles.push_back(column.title);
  std::string result = line(titles, Colour::kDim);
  for (const Row &row : rows_)
    result += line(row.cells, row.colour);
  return result;
}

Progress::Progress() : enabled_(isatty(STDERR_FILENO)) {}

void Progress::update(std::string_view stage, size_t done, size_t total) {
  if (!enabled_)
    return;
  int64_t now = nowNs();
  if (stage == lastStage_ && now - lastNs_ < 40'000'000 && done < total)
    return;
  lastNs_ = now;
  lastStage_ = stage;
  constexpr size_t kCells = 24;
  size_t filled = total ? std::min(kCells, done * kCells / total) : 0;
  std::string bar;
  for (size_t i = 0; i < kCells; ++i)
    bar += i < filled ? "█" : "░";
  std::string count = total > 1 ? fmt::format("{}/{} ", done, total) : "";
  fmt::print(stderr, "\r\x1b[K  {} {}{}", coloured(bar, Colour::kCyan, colourOnStderr()), count,
             elideMiddle(printable(stage), 40));
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_)
    return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && stdoutError == 0)
    stdoutError = errno;
}

void finishOutput() {
  if (std::fflush(stdout) != 0 && stdoutError == 0)
    stdoutError = errno;
  if (stdoutError != 0)
    throw ToolError(ExitCode::kIo, fmt::format("cannot write to standard output: {}",
                                               std::strerror(std::exchange(stdoutError, 0))));
}

void printWarning(std::string_view message) {
  fmt::print(stderr, "{} {}\n", coloured("gantry: warning:", Colour::kYellow, colourOnStderr()),
             printable(message));
}

void printNote(std::string_view message) {
  fmt::print(stderr, "{}\n",
             coloured("gantry: note: " + printable(message), Colour::kDim, colourOnStderr()));
}

void printError(std::string_view message) {
  fmt::print(stderr, "{} {}\n", coloured("gantry: error:", Colour::kRed, colourOnStderr()),
             printable(message));
}

} // namespace gantry::tool
