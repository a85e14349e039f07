// Frames: how chunks of events and names travel, alike in a file and on a socket.
//
// A file or stream begins with a FileHeader; then frames follow, each a FrameHeader and
// `storedBytes` of contents. A header carries a checksum of itself and one of its contents (XXH3),
// so lengths are known to be right before they are used, and a frame that was half written is told
// from a whole one. All numbers are little-endian.
//
//   kNames   names for the frames behind it: per name its id and length as varints, then its bytes
//   kEvents  a chunk of codec.h
//   kIndex   at the end of a file: varints: how many chunks, then per chunk file offset, first time
//            and its distance to the last, events, stored bytes; how many name frames, then their
//            offsets. Behind it, at the very end, lies a FileTrailer.
//   kEnd     on a socket: the process ended the stream in order
//
// Threads: pure functions; a FramePacker is used by one thread at a time.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gantry::trace {

inline constexpr uint32_t kVersion = 1;
inline constexpr uint8_t kFileMagic[8] = {'G', 'T', 'R', 'A', 'C', 'E', 0, 1};
inline constexpr uint8_t kTrailerMagic[8] = {'G', 'T', 'R', 'E', 'N', 'D', 0, 1};
inline constexpr uint32_t kFrameMagic = 0x4d524647; // "GFRM"
/// Of one frame, before and after compression.
inline constexpr uint32_t kMaxFrameBytes = 64U << 20;

struct FileHeader {
  uint8_t magic[8] = {};
  uint32_t version = 0;
  uint32_t headerBytes = 0; // of this struct
  uint64_t reserved = 0;
  uint64_t checksum = 0; // of the bytes before it
};
static_assert(sizeof(FileHeader) == 32);

enum class FrameType : uint8_t { kNames = 1, kEvents = 2, kIndex = 3, kEnd = 4 };
enum class FrameCodec : uint8_t { kRaw = 0, kLz4 = 1, kZstd = 2 };

struct FrameHeader {
  uint32_t magic = kFrameMagic;
  FrameType type = FrameType::kEvents;
  FrameCodec codec = FrameCodec::kRaw;
  uint16_t reserved = 0;
  uint32_t storedBytes = 0;
  uint32_t rawBytes = 0;
  uint32_t events = 0; // of kEvents: 1 to kMaxChunkEvents; of kNames: how many names
  uint32_t reserved2 = 0;
  uint64_t firstTimeNs = 0; // the least and the greatest time of the events
  uint64_t lastTimeNs = 0;
  uint64_t contentChecksum = 0; // of the stored bytes
  uint64_t headerChecksum = 0;  // of the bytes before it
};
static_assert(sizeof(FrameHeader) == 56);

struct FileTrailer {
  uint64_t indexOffset = 0;
  uint8_t magic[8] = {};
};
static_assert(sizeof(FileTrailer) == 16);

FileHeader makeFileHeader();
/// kDataLoss for what is no capture, kVersionMismatch for one of a newer version; `what` names it.
Status checkFileHeader(std::span<const uint8_t> bytes, const char *what);

/// Reads and checks a header at the front of `bytes`: magic, checksum, type, codec and every
/// length. `offset` is for the message.
Result<FrameHeader> parseFrameHeader(std::span<const uint8_t> bytes, uint64_t offset);

/// Checks the contents and takes them apart into `raw`, which gets header.rawBytes bytes.
Status unpackFrame(const FrameHeader &header, std::span<const uint8_t> stored, uint64_t offset,
                   std::vector<uint8_t> &raw);

/// The header of a frame whose contents are stored as they are, no more than kMaxFrameBytes. Takes
/// no memory.
FrameHeader makeRawHeader(FrameHeader header, std::span<const uint8_t> contents);

/// Compresses contents into frames, with buffers that are kept for the next one.
class FramePacker {
public:
  /// level: of Zstandard.
  explicit FramePacker(FrameCodec codec, int level = 1);
  ~FramePacker();
  FramePacker(const FramePacker &) = delete;
  FramePacker &operator=(const FramePacker &) = delete;

  /// The whole frame, valid until the next call. The header's type, events and times are the
  /// caller's, the rest is set here. Contents of more than kMaxFrameBytes are kInvalidArgument.
  Result<std::span<const uint8_t>> pack(FrameHeader header, std::span<const uint8_t> contents);

private:
  FrameCodec codec_;
  int level_;
  void *context_ = nullptr; // ZSTD_CCtx
  std::vector<uint8_t> frame_;
};

/// The contents of a kNames frame.
class NamesBuilder {
public:
  void add(uint32_t id, std::string_view text);
  /// Only if it fits into what reserve() asked for, without taking memory.
  bool addIfReserved(uint32_t id, std::string_view text);
  void reserve(uint64_t bytes) { bytes_.reserve(bytes); }
  uint32_t count() const { return count_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  void clear();

private:
  std::vector<uint8_t> bytes_;
  uint32_t count_ = 0;
};

class NameTable;
inline constexpr uint32_t kMaxNameId = 1U << 20;
inline constexpr uint32_t kMaxNameBytes = 1U << 16;

/// Adds the names of a kNames frame's contents to the table.
Status readNames(std::span<const uint8_t> contents, uint32_t count, NameTable &names);

} // namespace gantry::trace
