// Writes JSON text in the order of the calls. The writer adds commas, quotes and indentation. The
// caller must end each object and list that it begins, and must call key() before each value of an
// object. Asserts check that the ends match the begins; nothing checks the keys. There is no parser
// here.
//
// Threads: a writer is used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::program {

/// Builds one JSON text.
class JsonWriter {
public:
  JsonWriter &beginObject() { return open('{'); }
  JsonWriter &endObject() { return close('}'); }
  JsonWriter &beginList() { return open('['); }
  JsonWriter &endList() { return close(']'); }
  JsonWriter &key(std::string_view name);
  JsonWriter &value(std::string_view text); // Invalid UTF-8 becomes U+FFFD.
  JsonWriter &value(const char *text) { return value(std::string_view(text)); }
  JsonWriter &value(uint64_t number);
  JsonWriter &value(int64_t number);
  JsonWriter &value(uint32_t number) { return value(uint64_t{number}); }
  JsonWriter &value(bool truth);
  JsonWriter &null();
  template <typename T> JsonWriter &field(std::string_view name, const T &content) {
    return key(name).value(content);
  }

  /// The text so far. It is valid JSON once every object and list has ended.
  const std::string &text() const { return text_; }

private:
  JsonWriter &open(char bracket);
  JsonWriter &close(char bracket);
  void separate();
  struct Level {
    char bracket;
    bool any;
  };
  std::string text_;
  std::vector<Level> levels_;
  bool afterKey_ = false;
};

} // namespace gantry::program
