// Writes JSON, and replaces invalid UTF-8 in texts.
#include "engine/program/json_writer.h"

#include <cassert>
#include <cstdio>

namespace gantry::program {

namespace {

/// Returns the length of the UTF-8 sequence at the start of text, or 0 if it starts with none
/// (Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
size_t sequenceLength(std::string_view text) {
  const auto at = [&](size_t i) {
    return static_cast<unsigned char>(i < text.size() ? text[i] : 0);
  };
  const auto continues = [&](size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned char first = at(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF && continues(1))
    return 2;
  if (first >= 0xE0 && first <= 0xEF && continues(1) && continues(2) &&
      !(first == 0xE0 && at(1) < 0xA0) && !(first == 0xED && at(1) > 0x9F))
    return 3;
  if (first >= 0xF0 && first <= 0xF4 && continues(1) && continues(2) && continues(3) &&
      !(first == 0xF0 && at(1) < 0x90) && !(first == 0xF4 && at(1) > 0x8F))
    return 4;
  return 0;
}

void appendQuoted(std::string &out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const size_t length = sequenceLength(text);
    const char c = text[0];
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

} // namespace

void JsonWriter::separate() {
  if (afterKey_) {
    afterKey_ = false;
    return;
  }
  if (levels_.empty())
    return;
  if (levels_.back().any)
    text_ += ',';
  levels_.back().any = true;
  // Members of the outer two levels start a new line each; deeper levels, such as the contents of
  // an element of "values", stay on one line.
  if (levels_.size() <= 2) {
    text_ += '\n';
    text_.append(levels_.size(), ' ');
  } else if (text_.back() == ',') {
    text_ += ' ';
  }
}

JsonWriter &JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  levels_.push_back({bracket, false});
  return *this;
}

JsonWriter &JsonWriter::close(char bracket) {
  assert(!levels_.empty() && levels_.back().bracket == (bracket == '}' ? '{' : '['));
  const bool any = levels_.back().any;
  levels_.pop_back();
  if (any && levels_.size() <= 1) {
    text_ += '\n';
    text_.append(levels_.size(), ' ');
  }
  text_ += bracket;
  if (levels_.empty())
    text_ += '\n';
  return *this;
}

JsonWriter &JsonWriter::key(std::string_view name) {
  separate();
  appendQuoted(text_, name);
  text_ += ": ";
  afterKey_ = true;
  return *this;
}

JsonWriter &JsonWriter::value(std::string_view text) {
  separate();
  appendQuoted(text_, text);
  return *this;
}

JsonWriter &JsonWriter::value(uint64_t number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

JsonWriter &JsonWriter::value(int64_t number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

JsonWriter &JsonWriter::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
  return *this;
}

JsonWriter &JsonWriter::null() {
  separate();
  text_ += "null";
  return *this;
}

} // namespace gantry::program
