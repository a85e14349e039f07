// Implements buffer_csv.h.
#include "tools/gantry/planning/buffer_csv.h"
#include "tools/gantry/error.h"
#include "tools/gantry/report/terminal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace gantry::tool {

namespace {

constexpr std::array<std::string_view, 6> kColumns = {"id",   "lower",     "upper",
                                                      "size", "alignment", "offset"};
constexpr size_t kRequired = 4;
constexpr size_t kNoColumn = SIZE_MAX;

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && blank(text.back()))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> fieldsOf(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos)
      return fields;
    line.remove_prefix(comma + 1);
  }
}

class Parser {
public:
  Parser(std::string_view text, const std::string &name) : text_(text), name_(name) {}

  BufferList parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) // Skip a byte order mark.
      text_.remove_prefix(3);
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      const std::string_view line = trimmed(text_.substr(0, end));
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++line_;
      if (line.empty())
        continue;
      if (fieldCount_ == 0)
        readHeader(line);
      else
        readBuffer(line);
    }
    if (fieldCount_ == 0)
      throw ToolError(ExitCode::kBadInput,
                      fmt::format("{} is empty; its first line must name the columns "
                                  "id,lower,upper,size[,alignment,offset]",
                                  printable(name_)));
    compressTime();
    return std::move(buffers_);
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("{}, line {}: {}", printable(name_), line_, what));
  }

  void readHeader(std::string_view line) {
    const std::vector<std::string_view> names = fieldsOf(line);
    column_.fill(kNoColumn);
    for (size_t field = 0; field < names.size(); ++field) {
      const auto *const found = std::find(kColumns.begin(), kColumns.end(), names[field]);
      if (found == kColumns.end())
        fail(fmt::format("there is no column '{}'; the columns are "
                         "id,lower,upper,size[,alignment,offset]",
                         printable(names[field])));
      size_t &column = column_[static_cast<size_t>(found - kColumns.begin())];
      if (column != kNoColumn)
        fail(fmt::format("the column '{}' is named twice", *found));
      column = field;
    }
    for (size_t c = 0; c < kRequired; ++c)
      if (column_[c] == kNoColumn)
        fail(fmt::format("the column '{}' is missing; the first line must be "
                         "id,lower,upper,size[,alignment,offset]",
                         kColumns[c]));
    fieldCount_ = names.size();
  }

  template <typename Number>
  Number number(const std::vector<std::string_view> &fields, size_t column) const {
    const std::string_view text = fields[column_[column]];
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(fmt::format("the {} '{}' does not fit 64 bits", kColumns[column], printable(text)));
    if (error != std::errc{} || end != text.data() + text.size())
      fail(fmt::format("the {} '{}' is no whole number{}", kColumns[column], printable(text),
                       std::is_signed_v<Number> ? "" : " from 0 on"));
    return value;
  }

  bool has(const std::vector<std::string_view> &fields, size_t column) const {
    return column_[column] != kNoColumn && !fields[column_[column]].empty();
  }

  void readBuffer(std::string_view line) {
    const std::vector<std::string_view> fields = fieldsOf(line);
    if (fields.size() != fieldCount_)
      fail(fmt::format("{} fields, but the first line names {}", fields.size(), fieldCount_));
    buffers_.ids.emplace_back(fields[column_[0]]);
    buffers_.lowers.push_back(number<int64_t>(fields, 1));
    buffers_.uppers.push_back(number<int64_t>(fields, 2));
    plan::Value value;
    value.sizeBytes = number<uint64_t>(fields, 3);
    if (buffers_.uppers.back() <= buffers_.lowers.back())
      fail(fmt::format("upper {} is not above lower {}; upper is the first moment at which the "
                       "buffer is dead",
                       buffers_.uppers.back(), buffers_.lowers.back()));
    if (has(fields, 4))
      value.alignment = number<uint64_t>(fields, 4);
    if (value.alignment == 0 || (value.alignment & (value.alignment - 1)) != 0)
      fail(fmt::format("alignment {} is no power of two", value.alignment));
    buffers_.values.push_back(value);
  }

  void compressTime() {
    std::vector<int64_t> &moments = buffers_.moments;
    moments = buffers_.lowers;
    moments.insert(moments.end(), buffers_.uppers.begin(), buffers_.uppers.end());
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    const auto stepOf = [&](int64_t time) {
      return static_cast<uint32_t>(std::lower_bound(moments.begin(), moments.end(), time) -
                                   moments.begin());
    };
    for (size_t i = 0; i < buffers_.values.size(); ++i) {
      buffers_.values[i].firstUse = stepOf(buffers_.lowers[i]);
      buffers_.values[i].lastUse = stepOf(buffers_.uppers[i]) - 1;
    }
  }

  std::string_view text_;
  const std::string &name_;
  size_t line_ = 0;
  size_t fieldCount_ = 0;
  std::array<size_t, kColumns.size()> column_{};
  BufferList buffers_;
};

} // namespace

BufferList parseBuffers(std::string_view text, const std::string &name) {
  return Parser(text, name).parse();
}

std::string formatPlan(const BufferList &buffers, const plan::Plan &plan) {
  std::string text = "id,lower,upper,size,alignment,offset\n";
  for (size_t i = 0; i < buffers.values.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", buffers.ids[i],
                   buffers.lowers[i], buffers.uppers[i], buffers.values[i].sizeBytes,
                   buffers.values[i].alignment, plan.offsets[i]);
  return text;
}

} // namespace gantry::tool
