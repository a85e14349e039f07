// The fixed header of a .gantry file, and the checksums. Other folders use the checksums only.
//
// The header keeps its layout in all format versions, so that every build can tell a newer file
// from a damaged file.
//
// Threads: hashBytes() may be called from any thread; a Hasher is used by one thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gantry::artifact {

inline constexpr uint8_t kMagic[8] = {'G', 'A', 'N', 'T', 'R', 'Y', 0, 1};

/// The first 64 bytes of the file, little-endian. Offsets and sizes are in bytes. Zeros follow up
/// to the first section.
struct FileHeader {
  uint8_t magic[8];
  uint32_t formatVersion;
  uint32_t headerBytes; // 64
  uint64_t metadataOffset;
  uint64_t metadataBytes;
  uint64_t constantsOffset;
  uint64_t constantsBytes; // The constants section ends the file.
  uint64_t metadataHash;
  uint64_t headerHash; // Hash of the 56 bytes before this field.
};
static_assert(sizeof(FileHeader) == 64 && offsetof(FileHeader, headerHash) == 56);
static_assert(std::endian::native == std::endian::little, "files are mapped without conversion");

/// The size limit of a FlatBuffer.
inline constexpr uint64_t kMaxMetadataBytes = (uint64_t{1} << 31) - 1;

/// Returns the 64-bit XXH3 hash with seed 0.
uint64_t hashBytes(std::span<const uint8_t> bytes);

/// Computes hashBytes() incrementally: update() appends bytes, digest() returns the hash of all
/// bytes since the construction or the last reset().
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
