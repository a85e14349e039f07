// ExportText: a buffer through which an export writes text or bytes to a file in large pieces.
//
// Thread safety: one thread at a time per object. Errors: the first failure of the file is kept and
// returned by finish(); later text is discarded. Memory: about 1 MiB, or one added text if that is
// longer.
#pragma once

#include "engine/base/file.h"

#include <string>
#include <string_view>

namespace gantry::trace {

class ExportText {
public:
  /// Writes to `file`, which must outlive the object.
  explicit ExportText(AtomicFile &file) : file_(file) {}
  /// Appends bytes unchanged.
  void add(std::string_view text) {
    text_ += text;
    if (text_.size() > (1 << 20))
      flush();
  }
  /// Appends a text in quotes, escaped for JSON.
  void addQuoted(std::string_view text);
  /// Writes the remaining text. Returns the first failure.
  Status finish() {
    flush();
    return status_;
  }

private:
  void flush() {
    if (status_.isOk())
      status_ = file_.write(text_);
    text_.clear();
  }
  AtomicFile &file_;
  std::string text_;
  Status status_;
};

} // namespace gantry::trace
