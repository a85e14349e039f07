// Escaping of texts for JSON.
#include "engine/trace/export/export_text.h"

#include <cstdio>

namespace gantry::trace {

void ExportText::addQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
      quoted += code;
    } else {
      quoted += c;
    }
  }
  add(quoted + '"');
}

} // namespace gantry::trace
