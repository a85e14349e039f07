// Writes pictures as PNG files (RGBA, 8 bits per channel, zlib), and reads such files back.
//
// Only tests that compare pictures need the reader. It reads only files of this writer (one IDAT
// chunk, no filters) and is not a general PNG reader.
//
// Errors: those of writeFileAtomically() and MappedFile::open(); kInternal if zlib fails;
// kDataLoss for a file that this writer did not write, or with a side of 0 or above 16384 pixels.
// Threads: pure functions.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint32_t> pixels; // Rows from the top; red in the low byte, alpha in the high byte.
};

/// Writes the file atomically: if writing fails, an existing file does not change.
Status writePng(const std::string &path, const Picture &picture);
Result<Picture> readPng(const std::string &path);

} // namespace gantry::profiler
