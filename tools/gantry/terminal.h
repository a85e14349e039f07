// What the tool prints with: colour, progress, tables, and numbers with their units.
//
// Colour and progress appear only on a terminal (and colour not with NO_COLOR set, see
// https://no-color.org, or TERM=dumb). Results go to stdout, progress and errors to stderr.
// Text from a model or a file passes through printable() first, so that a hostile name cannot send
// escape sequences to the terminal or break a line.
//
// Not thread-safe: one thread prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

enum class Colour { kNone, kBold, kDim, kRed, kGreen, kYellow, kCyan };

/// Whether stdout (stderr) is a terminal that wants colour; looked up once.
bool colourOnStdout();
bool colourOnStderr();
/// `text` in a colour if `enabled`, else unchanged.
std::string coloured(std::string_view text, Colour colour, bool enabled);

/// The width of the terminal behind stdout in columns; 0 if it is not a terminal.
int terminalWidth();

/// Control characters replaced by '?', newlines and tabs by a space. UTF-8 is kept.
std::string printable(std::string_view text);

/// Columns that UTF-8 text takes (one per code point).
size_t displayWidth(std::string_view text);

/// "0 B", "512 B", "1.50 KiB", "3.42 MiB": binary units, three significant digits.
std::string humanBytes(uint64_t bytes);
/// "850 ns", "12.3 µs", "4.56 ms", "1.20 s".
std::string humanTime(double nanoseconds);
/// "0", "950", "1.23 k", "4.56 M", "7.89 G": decimal units.
std::string humanCount(double value);

/// Columns aligned to their widest cell, separated by two spaces. A header line, then rows.
class Table {
public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    bool flexible = false; // shortened (by its middle) where the terminal is too narrow
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Exactly one cell for each column. A mark colours the row.
  void addRow(std::vector<std::string> cells, Colour colour = Colour::kNone);
  bool empty() const { return rows_.empty(); }
  /// Every line starts with `indent` spaces and ends with a newline; maxWidth 0 means unlimited.
  std::string format(bool colour, int maxWidth, int indent = 2) const;

private:
  struct Row {
    std::vector<std::string> cells;
    Colour colour;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// `text` in at most `width` columns, with "…" in its middle where it had to be cut.
std::string elideMiddle(const std::string &text, size_t width);

/// A one-line progress bar on stderr; prints nothing where stderr is not a terminal. Erases itself
/// when done or destroyed, so that nothing of it stays beside an error message.
class Progress {
public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  void update(std::string_view stage, size_t done, size_t total);
  void clear();

private:
  bool enabled_ = false;
  bool shown_ = false;
  int64_t lastNs_ = 0;
  std::string lastStage_;
};

/// Writes to stdout; a failure (a full disk behind a redirection) is remembered.
void print(std::string_view text);
/// Flushes stdout; throws ToolError(kIo) if it, or any print before it, failed.
void finishOutput();
/// "gantry: warning: ..." on stderr, one line.
void printWarning(std::string_view message);
/// "gantry: note: ..." on stderr, one dim line.
void printNote(std::string_view message);
/// "gantry: error: ..." on stderr, one line.
void printError(std::string_view message);

} // namespace gantry::tool
