// Pictures as PNG files: RGBA, 8 bits a channel, compressed with zlib. The reader knows the files
// that the writer makes (one IDAT chunk, no filters), for comparing pictures; it is not a general
// one.
//
// Errors: kIo from the system; kDataLoss for a file that is none of ours. Threads: pure functions.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint32_t> pixels; // rows from the top; red in the low byte
};

Status writePng(const std::string &path, const Picture &picture);
Result<Picture> readPng(const std::string &path);

} // namespace gantry::profiler
