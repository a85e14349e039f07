// State files: saved states, which are tensors that keep their place in device memory from run to
// run (state.h). A file holds named tensors; it refers to no program and no device.
//
// Layout; numbers are little-endian, offsets count from the start of the file:
//   StateFileHeader
//   entryCount times StateFileRecord, in the order of the tensors
//   the names, one after another, without terminators
//   the tensors, dense and row-major; zeros before each tensor up to a multiple of 64 bytes
// Checksums are XXH3 (64 bit) and cover every byte. The header keeps its layout in all versions.
//
// Errors: kDataLoss for a damaged file, kInvalidArgument for a file of another kind,
// kVersionMismatch for a file of a newer version. Threads: pure functions. Units: bytes.
#pragma once

#include "engine/program/shapes.h"

#include <cstddef>

namespace gantry::program {

inline constexpr uint8_t kStateFileMagic[8] = {'G', 'A', 'N', 'S', 'T', 'A', 'T', 'E'};
inline constexpr uint32_t kStateFileVersion = 1;
inline constexpr uint64_t kStateFileAlignment = 64;
inline constexpr size_t kStateFileMaxRank = 8;

struct StateFileHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t entryCount;
  uint64_t tableBytes; // Bytes of the records and the names.
  uint64_t fileBytes;
  uint64_t bodyHash;   // Hash of all bytes after the header.
  uint64_t headerHash; // Hash of the 40 bytes before this field.
};
static_assert(sizeof(StateFileHeader) == 48 && offsetof(StateFileHeader, headerHash) == 40);

struct StateFileRecord {
  uint32_t nameBytes; // At least 1.
  uint8_t type;       // artifact::ElementType.
  uint8_t rank;       // At most 8.
  uint16_t zero;
  int64_t dims[kStateFileMaxRank]; // 0 from `rank` on.
  uint64_t offset;                 // The place of the tensor's first byte.
  uint64_t sizeBytes;              // The product of the dims and the element size.
};
static_assert(sizeof(StateFileRecord) == 88);

/// One tensor. The bytes belong to the caller.
struct SavedTensor {
  std::string name;
  TensorShape shape;
  std::span<const uint8_t> bytes; // As many bytes as a tensor of this shape has.
};

/// Writes a file atomically (AtomicFile in engine/base/file.h).
Status writeStateFile(const std::string &path, std::span<const SavedTensor> tensors);

/// Checks a whole file and returns its tensors, whose bytes lie in `file`. `path` is for messages.
Result<std::vector<SavedTensor>> parseStateFile(std::span<const uint8_t> file,
                                                const std::string &path);

} // namespace gantry::program
