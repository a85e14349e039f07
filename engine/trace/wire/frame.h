// Frames: the unit in which chunks of events and names are stored in a file and sent over a socket.
//
// A file or stream begins with a FileHeader. Frames follow it: each is a FrameHeader and
// `storedBytes` bytes of contents. A frame header carries a checksum of itself and one of the
// contents (XXH3, 64 bits), so a reader verifies lengths before it uses them and recognizes a frame
// that was written only in part. All numbers are little-endian.
//
//   kNames   Names that the following frames use. For each name: its id and its length as varints,
//            then its bytes.
//   kEvents  A chunk of events (codec.h).
//   kIndex   The index at the end of a file, as varints: the number of chunks; for each chunk its
//            file offset, first time, last time minus first time, number of events and stored
//            bytes; the number of name frames; the file offset of each. A FileTrailer follows the
//            index at the very end of the file.
//   kEnd     On a socket only: the process has ended the stream properly.
//
// Thread safety: pure functions; one thread at a time per FramePacker or NamesBuilder.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gantry::trace {

/// Version of the file and stream format. A reader accepts only its own version.
inline constexpr uint32_t kVersion = 1;
inline constexpr uint8_t kFileMagic[8] = {'G', 'T', 'R', 'A', 'C', 'E', 0, 1};
inline constexpr uint8_t kTrailerMagic[8] = {'G', 'T', 'R', 'E', 'N', 'D', 0, 1};
inline constexpr uint32_t kFrameMagic = 0x4d524647; // "GFRM" as a little-endian number.
/// Upper limit for the contents of one frame, in bytes, before and after compression.
inline constexpr uint32_t kMaxFrameBytes = 64U << 20;

struct FileHeader {
  uint8_t magic[8] = {};
  uint32_t version = 0;
  uint32_t headerBytes = 0; // sizeof(FileHeader)
  uint64_t reserved = 0;
  uint64_t checksum = 0; // XXH3 of the bytes before this field.
};
static_assert(sizeof(FileHeader) == 32);

enum class FrameType : uint8_t { kNames = 1, kEvents = 2, kIndex = 3, kEnd = 4 };
enum class FrameCodec : uint8_t { kRaw = 0, kLz4 = 1, kZstd = 2 };

struct FrameHeader {
  uint32_t magic = kFrameMagic;
  FrameType type = FrameType::kEvents;
  FrameCodec codec = FrameCodec::kRaw;
  uint16_t reserved = 0;
  uint32_t storedBytes = 0; // Size of the contents that follow this header.
  uint32_t rawBytes = 0;    // Size of the contents after decompression.
  uint32_t events = 0; // kEvents: number of events, 1 to kMaxChunkEvents. kNames: number of names.
  uint32_t reserved2 = 0;
  uint64_t firstTimeNs = 0;     // Smallest time of the events.
  uint64_t lastTimeNs = 0;      // Largest time of the events.
  uint64_t contentChecksum = 0; // XXH3 of the stored bytes.
  uint64_t headerChecksum = 0;  // XXH3 of the bytes before this field.
};
static_assert(sizeof(FrameHeader) == 56);

struct FileTrailer {
  uint64_t indexOffset = 0; // File offset of the kIndex frame.
  uint8_t magic[8] = {};
};
static_assert(sizeof(FileTrailer) == 16);

FileHeader makeFileHeader();
/// Checks the header at the start of `bytes`. Returns kDataLoss if the bytes are not a capture, and
/// kVersionMismatch for another version. `what` names the file or stream in messages.
Status checkFileHeader(std::span<const uint8_t> bytes, const char *what);

/// Reads the frame header at the start of `bytes` and checks its magic, checksum, type, codec and
/// every length. Returns kDataLoss if a check fails. `offset` is the frame's position in the file
/// or stream, for messages.
Result<FrameHeader> parseFrameHeader(std::span<const uint8_t> bytes, uint64_t offset);

/// Checks the contents against the header and decompresses them into `raw`, which is resized to
/// header.rawBytes. Returns kDataLoss if the contents are damaged. `offset` is for messages.
Status unpackFrame(const FrameHeader &header, std::span<const uint8_t> stored, uint64_t offset,
                   std::vector<uint8_t> &raw);

/// Returns the header of a frame whose contents are stored uncompressed. The contents have at most
/// kMaxFrameBytes bytes. The function allocates no memory.
FrameHeader makeRawHeader(FrameHeader header, std::span<const uint8_t> contents);

/// Compresses contents into frames. The packer keeps its buffers for the next frame.
class FramePacker {
public:
  /// level: compression level of Zstandard; other codecs ignore it.
  explicit FramePacker(FrameCodec codec, int level = 1);
  ~FramePacker();
  FramePacker(const FramePacker &) = delete;
  FramePacker &operator=(const FramePacker &) = delete;

  /// Returns the whole frame, which stays valid until the next call. The caller sets the header's
  /// type, events and times; pack() sets the other fields. Contents that do not shrink are stored
  /// uncompressed. Errors: kInvalidArgument for more than kMaxFrameBytes bytes, kOutOfMemory.
  Result<std::span<const uint8_t>> pack(FrameHeader header, std::span<const uint8_t> contents);

private:
  FrameCodec codec_;
  int level_;
  void *context_ = nullptr; // ZSTD_CCtx
  std::vector<uint8_t> frame_;
};

/// Builds the contents of a kNames frame.
class NamesBuilder {
public:
  /// Appends a name. Bytes of the text beyond kMaxNameBytes are cut off.
  void add(uint32_t id, std::string_view text);
  /// Appends a name if it fits into the reserved memory; allocates nothing. Returns whether the
  /// name was appended.
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
inline constexpr uint32_t kMaxNameId = 1U << 20;    // Ids are 1 to kMaxNameId.
inline constexpr uint32_t kMaxNameBytes = 1U << 16; // Upper limit for the length of a name.

/// Adds the names in the contents of a kNames frame to the table. `count` is the header's number of
/// names. Returns kDataLoss if the contents are invalid.
Status readNames(std::span<const uint8_t> contents, uint32_t count, NameTable &names);

} // namespace gantry::trace
