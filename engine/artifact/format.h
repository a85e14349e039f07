// The fixed header of a .gantry file and its checksums; private to engine/artifact.
//
// The header's first 64 bytes, its magic, version and checksum keep their places in all versions,
// so that any build can tell a newer file from a damaged one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gantry::artifact {

inline constexpr uint8_t kMagic[8] = {'G', 'A', 'N', 'T', 'R', 'Y', 0, 1};

/// Little-endian, at the file's start; zeros follow up to the first section.
struct FileHeader {
  uint8_t magic[8];
  uint32_t formatVersion;
  uint32_t headerBytes; // 64
  uint64_t metadataOffset;
  uint64_t metadataBytes;
  uint64_t constantsOffset;
  uint64_t constantsBytes; // the file ends with them
  uint64_t metadataHash;
  uint64_t headerHash; // of the bytes before it
};
static_assert(sizeof(FileHeader) == 64 && offsetof(FileHeader, headerHash) == 56);
static_assert(std::endian::native == std::endian::little, "files are mapped as they are");

/// FlatBuffers' own limit.
inline constexpr uint64_t kMaxMetadataBytes = (uint64_t{1} << 31) - 1;

/// XXH3, 64 bit, seed 0.
uint64_t hashBytes(std::span<const uint8_t> bytes);

/// The same of bytes that come in pieces.
class Hasher {
public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher &) = delete;
  Hasher &operator=(const Hasher &) = delete;
  void reset();
  void update(std::span<const uint8_t> bytes);
  uint64_t digest() const;

private:
  struct State;
  State *state_;
};

} // namespace gantry::artifact
