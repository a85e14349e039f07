// Prints to the terminal: colour, progress, tables, and numbers with units.
//
// Colour and progress appear only on a terminal; colour is off with NO_COLOR (https://no-color.org)
// or TERM=dumb. Results go to stdout, progress and errors to stderr. Text from a model or a file
// must pass through printable(), so that a hostile name cannot send escape sequences or break a
// line.
//
// Not thread-safe: one thread prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

enum class Colour { kNone, kBold, kDim, kRed, kGreen, kYellow, kCyan };

/// Returns whether stdout (stderr) is a terminal that supports colour. Determined once.
bool colourOnStdout();
bool colourOnStderr();
/// Returns `text` in a colour if `enabled`, else unchanged.
std::string coloured(std::string_view text, Colour colour, bool enabled);

/// Returns the width of the terminal of stdout in columns; 0 if stdout is not a terminal.
int terminalWidth();

/// Replaces newlines and tabs by spaces, and other control characters by '?'. Other UTF-8 text is
/// kept.
std::string printable(std::string_view text);

/// Returns whether a byte of UTF-8 text belongs to the same code point as the byte before it.
inline bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Returns the number of columns of UTF-8 text, one per code point.
size_t displayWidth(std::string_view text);

/// Formats bytes with binary units and three significant digits (four from 1000 to 1023): "0 B",
/// "512 B", "1.50 KiB", "3.42 MiB".
std::string humanBytes(uint64_t bytes);
/// Formats nanoseconds: "850 ns", "12.3 µs", "4.56 ms", "1.20 s".
std::string humanTime(double nanoseconds);
/// Formats a number with decimal units: "0", "950", "1.23 k", "4.56 M", "7.89 G".
std::string humanCount(double value);

/// A table with a header line and rows. Each column is as wide as its widest cell; two spaces
/// separate columns.
class Table {
public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    bool flexible = false; // Shortened in its middle if the terminal is too narrow.
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Adds a row. Missing cells are empty. Cells pass through printable().
  void addRow(std::vector<std::string> cells, Colour colour = Colour::kNone);
  bool empty() const { return rows_.empty(); }
  /// Returns the table's lines, each with `indent` leading spaces and a newline. If a line would be
  /// longer than `maxWidth` columns, the flexible column is shortened; 0: unlimited.
  std::string format(bool colour, int maxWidth, int indent = 2) const;

private:
  struct Row {
    std::vector<std::string> cells;
    Colour colour;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Shortens `text` to at most `width` columns, with "…" in its middle.
std::string elideMiddle(const std::string &text, size_t width);

/// A one-line progress bar on stderr; prints nothing if stderr is not a terminal. clear() and the
/// destructor erase the line.
class Progress {
public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  /// Shows that `done` of `total` steps of a stage are done. Redraws at most every 40 ms.
  void update(std::string_view stage, size_t done, size_t total);
  void clear();

private:
  bool enabled_ = false;
  bool shown_ = false;
  int64_t lastNs_ = 0;
  std::string lastStage_;
};

/// Writes to stdout. An error, such as a full disk, is kept for finishOutput().
void print(std::string_view text);
/// Flushes stdout. Throws ToolError(kIo) if this or an earlier print() failed.
void finishOutput();
/// Prints "gantry: warning: ..." to stderr, in one line.
void printWarning(std::string_view message);
/// Prints "gantry: note: ..." to stderr, in one dim line.
void printNote(std::string_view message);
/// Prints "gantry: error: ..." to stderr, in one line.
void printError(std::string_view message);

} // namespace gantry::tool
