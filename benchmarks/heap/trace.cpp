// Implements trace.h: the parser of trace files.
#include "benchmarks/heap/trace.h"

#include "engine/base/file.h"

#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace gantry::bench {
namespace {

Result<std::string> decompress(const std::string &path, std::span<const uint8_t> bytes) {
  ZSTD_DStream *stream = ZSTD_createDStream();
  std::string text;
  std::vector<char> chunk(ZSTD_DStreamOutSize());
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  size_t left = 1;
  while (input.pos < input.size) {
    ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(stream, &output, &input);
    if (ZSTD_isError(left) != 0) {
      ZSTD_freeDStream(stream);
      return statusf(StatusCode::kDataLoss, "%s: %s", path.c_str(), ZSTD_getErrorName(left));
    }
    text.append(chunk.data(), output.pos);
  }
  ZSTD_freeDStream(stream);
  if (left != 0)
    return statusf(StatusCode::kDataLoss, "%s: the compressed data are truncated", path.c_str());
  return text;
}

} // namespace

Result<Trace> parseTrace(const std::string &name, const std::string &text) {
  Trace trace;
  trace.name = name;
  struct Live {
    uint32_t slot;
    uint64_t size;
  };
  std::unordered_map<uint64_t, Live> live;
  std::vector<uint32_t> freeSlots;
  uint64_t liveBytes = 0;
  size_t line = 0;
  for (const char *at = text.c_str(); *at != 0;) {
    ++line;
    const char *end = std::strchr(at, '\n');
    const char *next = end == nullptr ? at + std::strlen(at) : end + 1;
    if (*at == 'a' || *at == 'f') {
      char *rest = nullptr;
      const uint64_t id = std::strtoull(at + 1, &rest, 10);
      TraceOp op;
      if (*at == 'a') {
        op.sizeBytes = std::strtoull(rest, &rest, 10);
        op.alignment = static_cast<uint32_t>(std::strtoull(rest, &rest, 10));
        if (op.sizeBytes == 0 || op.alignment == 0 || (op.alignment & (op.alignment - 1)) != 0)
          return statusf(
              StatusCode::kDataLoss,
              "%s, line %zu: the size must be at least 1 and the alignment a power of two",
              name.c_str(), line);
        op.slot = freeSlots.empty() ? trace.slots++ : freeSlots.back();
        if (!freeSlots.empty())
          freeSlots.pop_back();
        if (!live.emplace(id, Live{op.slot, op.sizeBytes}).second)
          return statusf(StatusCode::kDataLoss, "%s, line %zu: id %llu is allocated already",
                         name.c_str(), line, static_cast<unsigned long long>(id));
        liveBytes += op.sizeBytes;
        trace.peakLiveBytes = std::max(trace.peakLiveBytes, liveBytes);
      } else {
        const auto found = live.find(id);
        if (found == live.end())
          return statusf(StatusCode::kDataLoss, "%s, line %zu: id %llu is not allocated",
                         name.c_str(), line, static_cast<unsigned long long>(id));
        op.slot = found->second.slot;
        liveBytes -= found->second.size;
        freeSlots.push_back(op.slot);
        live.erase(found);
      }
      trace.ops.push_back(op);
    } else if (*at != '#' && *at != '\n') {
      return statusf(StatusCode::kDataLoss,
                     "%s, line %zu: the line does not begin with 'a', 'f' or '#'", name.c_str(),
                     line);
    }
    at = next;
  }
  return trace;
}

Result<Trace> readTrace(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  std::string name = path.substr(path.find_last_of('/') + 1);
  std::string text;
  if (path.size() > 4 && path.substr(path.size() - 4) == ".zst") {
    GANTRY_ASSIGN_OR_RETURN(text, decompress(path, file.bytes()));
  } else {
    text.assign(file.bytes().begin(), file.bytes().end());
  }
  return parseTrace(name.substr(0, name.find('.')), text);
}

} // namespace gantry::bench
