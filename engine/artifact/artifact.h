// Reading and writing .gantry files. The metadata is artifact.fbs; README.md has the file's layout.
//
// File: a 64-byte header (magic "GANTRY\0\1", format version, section table: metadata offset and
// size, constants offset and size, checksums of header and metadata), the FlatBuffer, then
// constants, each section aligned to 4 KiB. Every byte of the file is covered by a checksum or must
// be zero.
//
// Threads: an Artifact is immutable after open() and may be read from several threads.
#pragma once

#include "engine/artifact/artifact_generated.h"
#include "engine/base/status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gantry::artifact {

inline constexpr uint32_t kFormatVersion = 2; // 2: kernels that read texel buffers
inline constexpr uint32_t kOldestFormatVersion = 1;
inline constexpr uint64_t kSectionAlignment = 4096;
inline constexpr uint64_t kConstantAlignment = 256;
inline constexpr uint64_t kChunkBytes = 1 << 20;
/// Kernels count their workgroups along x up to this many, then along y: each device allows 65,535.
inline constexpr uint32_t kWorkgroupsAlongX = 32768;

/// Bytes per element.
uint64_t elementSize(ElementType type);
const char *elementName(ElementType type); // "f32"
/// Bytes per texel: four elements.
uint64_t texelSize(TexelFormat format);
/// Of a verified program: a dimension of a variant's workgroups, and how many a dispatch of it
/// takes along it (an index in Program.exprs).
uint32_t workgroupSizeOf(const Kernel &kernel, const KernelVariant &variant, uint32_t dimension);
uint32_t workgroupCountOf(const Command &command, const KernelVariant &variant, uint32_t dimension);

/// One constant to be written: where it will lie in the constants section, and its bytes.
struct ConstantData {
  uint64_t offset = 0; // from the section's start, a multiple of kConstantAlignment, ascending
  std::span<const uint8_t> bytes;
};

/// Lays constants out: fills offset for each (in order, aligned) and returns the section's size.
uint64_t layoutConstants(std::vector<ConstantData> &constants);

/// Writes the file to a temporary name beside `path` and renames it; on failure nothing is left.
/// `program` and its variants are filled by the caller but for `chunks`, which the writer adds.
/// Kernels that are equal in several variants are stored once.
Status write(const std::string &path, ProgramT &program,
             const std::vector<ConstantData> &constants);

class Artifact {
public:
  /// Maps the file; checks magic, version, header and metadata checksum, verifies the FlatBuffer
  /// and every index in it (values, exprs, kernels, symbols), so that its readers need no checks.
  static Result<std::unique_ptr<Artifact>> open(const std::string &path);
  /// The same over memory that outlives the artifact.
  static Result<std::unique_ptr<Artifact>> fromMemory(std::span<const uint8_t> bytes);
  ~Artifact();

  const Program &program() const { return *program_; }
  std::span<const uint8_t> constants() const { return constants_; }

  /// Hands the constants out chunk by chunk, each verified first; stops at the first failure of
  /// either. `sink` gets the offset in the section and the bytes. Chunks for which `wanted`
  /// (offset, size) returns false are neither read nor verified.
  Status readConstants(const std::function<Status(uint64_t, std::span<const uint8_t>)> &sink,
                       const std::function<bool(uint64_t, uint64_t)> &wanted = {}) const;

private:
  Artifact() = default;
  Status parse(std::span<const uint8_t> bytes);
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  const Program *program_ = nullptr;
  std::span<const uint8_t> constants_;
};

/// Evaluates Program.exprs for given symbol values: one result per expr. Overflow of 64 bits,
/// division by zero, or a negative result of a size are errors that name the expression.
Result<std::vector<int64_t>> evaluateExprs(const Program &program,
                                           std::span<const int64_t> symbols);

} // namespace gantry::artifact
