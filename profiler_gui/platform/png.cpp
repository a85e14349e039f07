// Implements the writing and reading of PNG files.
#include "profiler_gui/platform/png.h"

#include "engine/base/file.h"

#include <zlib.h>

#include <array>
#include <cstring>
#include <span>

namespace gantry::profiler {
namespace {

constexpr std::array<uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr uint32_t kMaxSide = 16384; // Pixels.

void putWord(std::vector<uint8_t> &out, uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<uint8_t>(word >> shift));
}

uint32_t wordAt(std::span<const uint8_t> bytes, size_t at) {
  return (static_cast<uint32_t>(bytes[at]) << 24) | (static_cast<uint32_t>(bytes[at + 1]) << 16) |
         (static_cast<uint32_t>(bytes[at + 2]) << 8) | bytes[at + 3];
}

void putChunk(std::vector<uint8_t> &out, const char *type, const std::vector<uint8_t> &data) {
  putWord(out, static_cast<uint32_t>(data.size()));
  const size_t begin = out.size();
  for (size_t i = 0; i < 4; ++i)
    out.push_back(static_cast<uint8_t>(type[i]));
  out.insert(out.end(), data.begin(), data.end());
  putWord(out, static_cast<uint32_t>(
                   crc32(0, out.data() + begin, static_cast<uInt>(out.size() - begin))));
}

} // namespace

Status writePng(const std::string &path, const Picture &picture) {
  std::vector<uint8_t> header;
  putWord(header, picture.width);
  putWord(header, picture.height);
  for (const uint8_t byte :
       {8, 6, 0, 0, 0}) // 8 bits, RGBA, deflate, adaptive filters, not interlaced.
    header.push_back(byte);
  const size_t rowBytes = picture.width * size_t{4};
  std::vector<uint8_t> raw;
  raw.reserve((rowBytes + 1) * picture.height);
  for (uint32_t y = 0; y < picture.height; ++y) {
    raw.push_back(0); // The row has no filter.
    const auto *row =
        reinterpret_cast<const uint8_t *>(picture.pixels.data() + size_t{y} * picture.width);
    raw.insert(raw.end(), row, row + rowBytes);
  }
  uLongf size = compressBound(raw.size());
  std::vector<uint8_t> packed(size);
  if (compress2(packed.data(), &size, raw.data(), raw.size(), 6) != Z_OK)
    return statusf(StatusCode::kInternal, "zlib could not compress %zu bytes", raw.size());
  packed.resize(size);
  std::vector<uint8_t> file(kSignature.begin(), kSignature.end());
  putChunk(file, "IHDR", header);
  putChunk(file, "IDAT", packed);
  putChunk(file, "IEND", {});
  return writeFileAtomically(path, file);
}

Result<Picture> readPng(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::span<const uint8_t> bytes = file.bytes();
  const Status foreign = statusf(StatusCode::kDataLoss,
                                 "%s is not a PNG file written by gantry-profiler", path.c_str());
  if (bytes.size() < 57 || std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) != 0)
    return foreign;
  Picture picture;
  picture.width = wordAt(bytes, 16);
  picture.height = wordAt(bytes, 20);
  const size_t packed = wordAt(bytes, 33);
  if (picture.width == 0 || picture.width > kMaxSide || picture.height == 0 ||
      picture.height > kMaxSide || bytes[24] != 8 || bytes[25] != 6 ||
      std::memcmp(bytes.data() + 37, "IDAT", 4) != 0 || packed > bytes.size() - 41)
    return foreign;
  const size_t rowBytes = picture.width * size_t{4};
  std::vector<uint8_t> raw((rowBytes + 1) * picture.height);
  uLongf size = raw.size();
  if (uncompress(raw.data(), &size, bytes.data() + 41, packed) != Z_OK || size != raw.size())
    return foreign;
  picture.pixels.resize(size_t{picture.width} * picture.height);
  for (uint32_t y = 0; y < picture.height; ++y) {
    if (raw[y * (rowBytes + 1)] != 0)
      return foreign;
    std::memcpy(picture.pixels.data() + size_t{y} * picture.width,
                raw.data() + y * (rowBytes + 1) + 1, rowBytes);
  }
  return picture;
}

} // namespace gantry::profiler
