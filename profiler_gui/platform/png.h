// Writes pictures as PNG files (RGBA, 8 bits per channel, zlib), and reads such files back.
//
// The reader serves tests that compare pictures. It reads only files of this writer (one IDAT
// chunk, no filters) and is not a general PNG reader.
//
// Errors: kIo from the operating system; kDataLoss for other files. Threads: pure functions.
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

/// Writes the file atomically: it has all of its contents or does not change.
Status writePng(const std::string &path, const Picture &picture);
Result<Picture> readPng(const std::string &path);

} // namespace gantry::profiler
