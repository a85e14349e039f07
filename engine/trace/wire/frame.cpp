// Frame headers, compression and the contents of name frames.
#include "engine/trace/wire/frame.h"

#include "engine/base/out_of_memory.h"
#include "engine/trace/wire/capture.h"
#include "engine/trace/wire/codec.h"
#include "engine/trace/wire/varint.h"

#include <cstring>
#include <lz4.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

namespace gantry::trace {
namespace {

template <typename T> uint64_t checksumBefore(const T &header, const uint64_t &field) {
  const auto *begin = reinterpret_cast<const uint8_t *>(&header);
  const auto *end = reinterpret_cast<const uint8_t *>(&field);
  return XXH3_64bits(begin, static_cast<size_t>(end - begin));
}

Status damaged(uint64_t offset, const char *what) {
  return statusf(StatusCode::kDataLoss, "the frame at byte %llu %s",
                 static_cast<unsigned long long>(offset), what);
}

} // namespace

FileHeader makeFileHeader() {
  FileHeader header;
  std::memcpy(header.magic, kFileMagic, sizeof(kFileMagic));
  header.version = kVersion;
  header.headerBytes = sizeof(FileHeader);
  header.checksum = checksumBefore(header, header.checksum);
  return header;
}

Status checkFileHeader(std::span<const uint8_t> bytes, const char *what) {
  FileHeader header;
  if (bytes.size() < sizeof(header))
    return statusf(StatusCode::kDataLoss, "%s is not a capture: it has %zu bytes, a header has %zu",
                   what, bytes.size(), sizeof(header));
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kFileMagic, sizeof(kFileMagic)) != 0)
    return statusf(StatusCode::kDataLoss, "%s is not a capture: it does not begin with GTRACE",
                   what);
  if (header.checksum != checksumBefore(header, header.checksum))
    return statusf(StatusCode::kDataLoss, "%s has a damaged header", what);
  if (header.version != kVersion)
    return statusf(StatusCode::kVersionMismatch,
                   "%s has version %u of the capture format; this build reads version %u", what,
                   header.version, kVersion);
  if (header.headerBytes != sizeof(header))
    return statusf(StatusCode::kDataLoss, "%s has a header of %u bytes; version %u has %zu", what,
                   header.headerBytes, kVersion, sizeof(header));
  return {};
}

Result<FrameHeader> parseFrameHeader(std::span<const uint8_t> bytes, uint64_t offset) {
  FrameHeader header;
  if (bytes.size() < sizeof(header))
    return damaged(offset, "is cut off");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kFrameMagic)
    return damaged(offset, "does not begin with GFRM");
  if (header.headerChecksum != checksumBefore(header, header.headerChecksum))
    return damaged(offset, "has a damaged header");
  if (header.type < FrameType::kNames || header.type > FrameType::kEnd)
    return damaged(offset, "has an unknown type");
  if (header.codec > FrameCodec::kZstd)
    return damaged(offset, "has an unknown compression");
  if (header.storedBytes > kMaxFrameBytes || header.rawBytes > kMaxFrameBytes)
    return damaged(offset, "exceeds the size limit of frames");
  if (header.codec == FrameCodec::kRaw && header.storedBytes != header.rawBytes)
    return damaged(offset, "is uncompressed but has two different sizes");
  const uint32_t maxEvents = header.type == FrameType::kNames ? header.rawBytes : kMaxChunkEvents;
  if (header.events > maxEvents || (header.type == FrameType::kEvents && header.events == 0))
    return damaged(offset, "has an impossible number of events or names");
  return header;
}

Status unpackFrame(const FrameHeader &header, std::span<const uint8_t> stored, uint64_t offset,
                   std::vector<uint8_t> &raw) {
  if (stored.size() != header.storedBytes)
    return damaged(offset, "is cut off");
  if (XXH3_64bits(stored.data(), stored.size()) != header.contentChecksum)
    return damaged(offset, "has damaged contents");
  raw.resize(header.rawBytes);
  bool whole = true;
  switch (header.codec) {
  case FrameCodec::kRaw:
    if (!stored.empty())
      std::memcpy(raw.data(), stored.data(), stored.size());
    break;
  case FrameCodec::kLz4:
    whole =
        LZ4_decompress_safe(reinterpret_cast<const char *>(stored.data()),
                            reinterpret_cast<char *>(raw.data()), static_cast<int>(stored.size()),
                            static_cast<int>(raw.size())) == static_cast<int>(raw.size());
    break;
  case FrameCodec::kZstd:
    whole = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size()) == raw.size();
    break;
  }
  return whole ? Status::ok() : damaged(offset, "cannot be decompressed");
}

FrameHeader makeRawHeader(FrameHeader header, std::span<const uint8_t> contents) {
  header.codec = FrameCodec::kRaw;
  header.rawBytes = static_cast<uint32_t>(contents.size());
  header.storedBytes = header.rawBytes;
  header.contentChecksum = XXH3_64bits(contents.data(), contents.size());
  header.headerChecksum = checksumBefore(header, header.headerChecksum);
  return header;
}

// ---- packing -----------------------------------------------------------------------------------

FramePacker::FramePacker(FrameCodec codec, int level)
    : codec_(codec), level_(level),
      context_(codec == FrameCodec::kZstd ? ZSTD_createCCtx() : nullptr) {}

FramePacker::~FramePacker() { ZSTD_freeCCtx(static_cast<ZSTD_CCtx *>(context_)); }

Result<std::span<const uint8_t>> FramePacker::pack(FrameHeader header,
                                                   std::span<const uint8_t> contents) {
  if (contents.size() > kMaxFrameBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "a frame of %zu bytes exceeds the limit of %u; use smaller chunks",
                   contents.size(), kMaxFrameBytes);
  header.codec = codec_;
  header.rawBytes = static_cast<uint32_t>(contents.size());
  size_t stored = 0;
  if (codec_ == FrameCodec::kLz4) {
    const auto bound = static_cast<size_t>(LZ4_compressBound(static_cast<int>(contents.size())));
    if (frame_.size() < sizeof(header) + bound)
      GANTRY_RETURN_IF_ERROR(tryResize(frame_, sizeof(header) + bound, "a frame of events"));
    stored = static_cast<size_t>(
        LZ4_compress_default(reinterpret_cast<const char *>(contents.data()),
                             reinterpret_cast<char *>(frame_.data() + sizeof(header)),
                             static_cast<int>(contents.size()), static_cast<int>(bound)));
  } else if (codec_ == FrameCodec::kZstd) {
    const size_t bound = ZSTD_compressBound(contents.size());
    if (frame_.size() < sizeof(header) + bound)
      GANTRY_RETURN_IF_ERROR(tryResize(frame_, sizeof(header) + bound, "a frame of events"));
    stored = context_ == nullptr ? 0
                                 : ZSTD_compressCCtx(static_cast<ZSTD_CCtx *>(context_),
                                                     frame_.data() + sizeof(header), bound,
                                                     contents.data(), contents.size(), level_);
    if (ZSTD_isError(stored) != 0)
      stored = 0;
  }
  if (stored == 0 || stored >= contents.size()) { // Compression failed or gained nothing.
    header.codec = FrameCodec::kRaw;
    stored = contents.size();
    if (frame_.size() < sizeof(header) + stored)
      GANTRY_RETURN_IF_ERROR(tryResize(frame_, sizeof(header) + stored, "a frame of events"));
    if (!contents.empty())
      std::memcpy(frame_.data() + sizeof(header), contents.data(), stored);
  }
  header.storedBytes = static_cast<uint32_t>(stored);
  header.contentChecksum = XXH3_64bits(frame_.data() + sizeof(header), stored);
  header.headerChecksum = checksumBefore(header, header.headerChecksum);
  std::memcpy(frame_.data(), &header, sizeof(header));
  return std::span<const uint8_t>(frame_.data(), sizeof(header) + stored);
}

// ---- names -------------------------------------------------------------------------------------

void NamesBuilder::add(uint32_t id, std::string_view text) {
  text = text.substr(0, kMaxNameBytes);
  uint8_t numbers[2 * kMaxVarintBytes];
  const uint8_t *end = putVarint(putVarint(numbers, id), text.size());
  bytes_.insert(bytes_.end(), static_cast<const uint8_t *>(numbers), end);
  bytes_.insert(bytes_.end(), text.begin(), text.end());
  count_ += 1;
}

bool NamesBuilder::addIfReserved(uint32_t id, std::string_view text) {
  text = text.substr(0, kMaxNameBytes);
  if (bytes_.capacity() - bytes_.size() < text.size() + 2 * uint64_t{kMaxVarintBytes})
    return false;
  add(id, text);
  return true;
}

void NamesBuilder::clear() {
  bytes_.clear();
  count_ = 0;
}

Status readNames(std::span<const uint8_t> contents, uint32_t count, NameTable &names) {
  const uint8_t *at = contents.data();
  const uint8_t *const end = at + contents.size();
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t id = 0;
    uint64_t length = 0;
    at = getVarint(at, end, &id);
    if (at != nullptr)
      at = getVarint(at, end, &length);
    if (at == nullptr || length > static_cast<uint64_t>(end - at) || id > kMaxNameId ||
        length > kMaxNameBytes)
      return statusf(StatusCode::kDataLoss, "name %u of %u in a frame is damaged", i, count);
    names.set(static_cast<uint32_t>(id),
              std::string_view(reinterpret_cast<const char *>(at), length));
    at += length;
  }
  if (at != end)
    return statusf(StatusCode::kDataLoss, "a frame has %zu bytes after its %u names",
                   static_cast<size_t>(end - at), count);
  return {};
}

} // namespace gantry::trace
