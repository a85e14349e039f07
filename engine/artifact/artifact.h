// Reading and writing artifacts (.gantry files): a compiled program with its constants. This folder
// handles the file format only: it does not plan, run or compile programs.
//
// A file has a 64-byte header (magic "GANTRY\0\1", format version, offsets and sizes of the
// sections, checksums of header and metadata), the metadata (a FlatBuffer of the schema
// artifact.fbs), and the constants. Each section is aligned to 4 KiB. Every byte of the file is
// covered by a checksum or must be zero. README.md describes the layout byte by byte and lists the
// rules that readers may rely on.
//
// Errors of reading: kDataLoss for a damaged file, kVersionMismatch for a file of a newer format,
// and the errors of engine/base/file.h if the system refuses to read the file.
// Threads: an Artifact is immutable after open() and may be read from several threads.
// Units: sizes and offsets are in bytes.
#pragma once

#include "engine/artifact/artifact_generated.h"
#include "engine/base/box.h"
#include "engine/base/status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gantry::artifact {

/// The version of the format. Version 2 added kernels that read texel buffers. Version 3 added
/// values that begin after the start of their slot, the range of memory that they share with others
/// (Value.slot_offset). Version 4 added values that are boxes in others (Value.box). Version 5
/// added kernel variants that run only if certain sizes are multiples of a number
/// (KernelVariant.dim_multiples). Version 6 added orders of states (State.order).
inline constexpr uint32_t kFormatVersion = 6;
inline constexpr uint32_t kOldestFormatVersion = 1;
inline constexpr uint64_t kSectionAlignment = 4096; // Bytes.
inline constexpr uint64_t kConstantAlignment = 256; // Bytes.
inline constexpr uint64_t kChunkBytes = 1 << 20;    // Bytes of the constants under one checksum.
/// A dispatch has at most this many workgroups along x; further workgroups go along y. The limit is
/// below the 65,535 workgroups along x that every Vulkan device allows.
inline constexpr uint32_t kWorkgroupsAlongX = 32768;

/// Bytes per element.
uint64_t elementSize(ElementType type);
/// The name of an element type, such as "f32".
const char *elementName(ElementType type);
/// Bytes per texel, which holds four elements.
uint64_t texelSize(TexelFormat format);
/// Returns whether the bytes of a value are a box in a larger storage: a range of indices along
/// each dimension (engine/base/box.h).
inline bool hasBox(const Value &value) {
  return value.box() != nullptr && value.box()->size() != 0;
}
/// Returns the box of a value for which hasBox() is true: the place of its bytes in the storage.
/// exprs: the values of Program.exprs. Numbers below 0, in a damaged artifact, make a box that
/// isValid() (box.h) refuses.
Box boxOf(const Value &value, std::span<const int64_t> exprs);
/// The workgroup size of a variant along a dimension (0 to 2). The program must be that of an
/// Artifact, which has verified it.
uint32_t workgroupSizeOf(const Kernel &kernel, const KernelVariant &variant, uint32_t dimension);
/// The index in Program.exprs of the expression that gives the number of workgroups along a
/// dimension (0 to 2) if the command runs the variant. The program must be that of an Artifact,
/// which has verified it.
uint32_t workgroupCountOf(const Command &command, const KernelVariant &variant, uint32_t dimension);

/// One constant to be written.
struct ConstantData {
  // Bytes from the start of the constants section; a multiple of kConstantAlignment, and ascending
  // over the list of constants.
  uint64_t offset = 0;
  std::span<const uint8_t> bytes;
};

/// Assigns each constant its offset, in order, and returns the size of the constants section.
uint64_t layoutConstants(std::vector<ConstantData> &constants);

/// Writes an artifact atomically (AtomicFile): on failure no new file is left, and an existing file
/// keeps its contents. The caller fills `program` and its variants (the same model compiled for
/// other device profiles), except `chunks`, which this function adds. Kernels that are equal in
/// several variants are stored once. Returns kInternal if the program breaks a rule of README.md,
/// kInvalidArgument if the constants overlap or are misaligned, and the errors of AtomicFile.
Status write(const std::string &path, ProgramT &program,
             const std::vector<ConstantData> &constants);

/// An artifact that is open for reading.
class Artifact {
public:
  /// Maps the file, checks the magic, the version and the checksums of header and metadata, and
  /// verifies the metadata. program() therefore obeys all rules of README.md.
  static Result<std::unique_ptr<Artifact>> open(const std::string &path);
  /// Reads an artifact from memory in the same way. The caller keeps ownership of the memory, which
  /// must outlive the artifact and must not change.
  static Result<std::unique_ptr<Artifact>> fromMemory(std::span<const uint8_t> bytes);
  ~Artifact();

  const Program &program() const { return *program_; }
  /// The whole constants section, without a check of its checksums.
  std::span<const uint8_t> constants() const { return constants_; }

  /// Verifies the constants chunk by chunk and passes each chunk to `sink` with its offset in the
  /// section. Stops at the first chunk whose checksum differs (kDataLoss) or for which `sink`
  /// fails. Chunks for which wanted(offset, size) returns false are neither read nor verified.
  Status readConstants(const std::function<Status(uint64_t, std::span<const uint8_t>)> &sink,
                       const std::function<bool(uint64_t, uint64_t)> &wanted = {}) const;

private:
  Artifact() = default;
  Status parse(std::span<const uint8_t> bytes);
  struct Mapping;
  std::unique_ptr<Mapping> mapping_; // Owns the mapped file and the name for messages.
  const Program *program_ = nullptr;
  std::span<const uint8_t> constants_;
};

/// Evaluates all Program.exprs for the given values of the symbols (sizes that a run may choose,
/// such as a batch size) and returns one result per expression. Returns kInvalidArgument, naming
/// the symbol or the expression, if a symbol is out of its bounds, a requirement of the model is
/// not met, a size is negative, or the arithmetic overflows 64 bits or divides by zero.
Result<std::vector<int64_t>> evaluateExprs(const Program &program,
                                           std::span<const int64_t> symbols);

} // namespace gantry::artifact
