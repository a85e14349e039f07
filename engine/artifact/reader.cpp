// Opens artifacts: checks the header, the sections and the checksums. Reads constants.
#include "engine/artifact/artifact.h"
#include "engine/artifact/format.h"
#include "engine/artifact/verify.h"
#include "engine/base/align.h"
#include "engine/base/file.h"
#include "engine/base/out_of_memory.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace gantry::artifact {

struct Artifact::Mapping {
  std::string name;               // The path, or "the artifact in memory"; for messages.
  std::optional<MappedFile> file; // nullopt if the caller owns the memory.
  std::vector<std::max_align_t> alignedMetadata; // A copy, if the caller's memory is misaligned.
};

namespace {

/// Bytes of host reserve for each byte of metadata. The reserve is host memory that is set aside
/// for an operation that runs out of memory (out_of_memory.h). By measurement, an operation on a
/// program allocates at most as many bytes as the metadata has; small models with many commands
/// come closest to that limit. The factor is eight: two, because an operation may begin while half
/// of the reserve is in use, times four, because the reserve adds a header to each block and rounds
/// its size up to 64 bytes (memory_reserve.h), which makes small blocks several times as large.
constexpr uint64_t kReservePerMetadata = 8;

constexpr const char *kRemedy = "the file is damaged; compile the model again";

bool allZero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

unsigned long long asPrintable(uint64_t number) { return number; }

/// Checks magic, version and checksum. checkSections() checks the offsets.
Result<FileHeader> checkHeader(std::span<const uint8_t> bytes) {
  FileHeader header;
  if (bytes.size() < sizeof(header))
    return statusf(StatusCode::kDataLoss, "%zu bytes are less than the header's %zu; %s",
                   bytes.size(), sizeof(header), kRemedy);
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return statusf(StatusCode::kDataLoss,
                   "not a Gantry artifact (it does not start with its magic bytes); make one with "
                   "gantry compile");
  const bool hashMatches =
      header.headerHash == hashBytes(bytes.first(offsetof(FileHeader, headerHash)));
  if (header.formatVersion > kFormatVersion)
    return statusf(StatusCode::kVersionMismatch,
                   "format version %u is newer than version %u, which this build reads%s; update "
                   "Gantry or compile the model with this version",
                   header.formatVersion, kFormatVersion,
                   hashMatches ? "" : " (or its header is damaged: the checksum differs)");
  if (!hashMatches)
    return statusf(StatusCode::kDataLoss, "the checksum of the header differs; %s", kRemedy);
  if (header.formatVersion < kOldestFormatVersion || header.headerBytes != sizeof(header))
    return statusf(StatusCode::kDataLoss,
                   "format version %u with a header of %u bytes is unknown; %s",
                   header.formatVersion, header.headerBytes, kRemedy);
  return header;
}

Status checkSections(const FileHeader &header, std::span<const uint8_t> bytes) {
  const std::optional<uint64_t> metadataEnd =
      checkedAdd(header.metadataOffset, header.metadataBytes);
  const std::optional<uint64_t> constantsEnd =
      checkedAdd(header.constantsOffset, header.constantsBytes);
  if (!metadataEnd || !constantsEnd || header.metadataBytes > kMaxMetadataBytes ||
      header.metadataOffset < sizeof(header) || header.metadataOffset % kSectionAlignment != 0 ||
      header.constantsOffset < *metadataEnd || header.constantsOffset % kSectionAlignment != 0)
    return statusf(
        StatusCode::kDataLoss,
        "its sections (metadata: %llu bytes at %llu, constants: %llu at %llu) are not in "
        "order; %s",
        asPrintable(header.metadataBytes), asPrintable(header.metadataOffset),
        asPrintable(header.constantsBytes), asPrintable(header.constantsOffset), kRemedy);
  if (bytes.size() != *constantsEnd)
    return statusf(
        StatusCode::kDataLoss, "the file has %zu bytes, its header says %llu: it is %s; %s",
        bytes.size(), asPrintable(*constantsEnd),
        bytes.size() < *constantsEnd ? "truncated" : "longer than it was written", kRemedy);
  if (!allZero(bytes.subspan(sizeof(header), header.metadataOffset - sizeof(header))) ||
      !allZero(bytes.subspan(*metadataEnd, header.constantsOffset - *metadataEnd)))
    return statusf(StatusCode::kDataLoss, "the padding between its sections is not zero; %s",
                   kRemedy);
  return Status::ok();
}

} // namespace

Artifact::~Artifact() = default;

Status Artifact::parse(std::span<const uint8_t> bytes) {
  GANTRY_ASSIGN_OR_RETURN(const FileHeader header, checkHeader(bytes));
  GANTRY_RETURN_IF_ERROR(checkSections(header, bytes));
  GANTRY_RETURN_IF_ERROR(ensureHostReserve(kReservePerMetadata * header.metadataBytes));
  std::span<const uint8_t> metadata = bytes.subspan(header.metadataOffset, header.metadataBytes);
  if (hashBytes(metadata) != header.metadataHash)
    return statusf(StatusCode::kDataLoss, "the checksum of the metadata differs; %s", kRemedy);
  constexpr size_t kAlignment = alignof(std::max_align_t);
  static_assert(kAlignment >= 16, "SPIR-V is aligned to 16 bytes in the metadata");
  if (reinterpret_cast<uintptr_t>(metadata.data()) % kAlignment != 0) {
    auto &copy = mapping_->alignedMetadata;
    GANTRY_RETURN_IF_ERROR(
        tryResize(copy, metadata.size() / sizeof(std::max_align_t) + 1, "the artifact's metadata"));
    std::memcpy(copy.data(), metadata.data(), metadata.size());
    metadata = {reinterpret_cast<const uint8_t *>(copy.data()), metadata.size()};
  }
  GANTRY_RETURN_IF_ERROR(verifyMetadata(metadata, header.constantsBytes));
  program_ = GetProgram(metadata.data());
  constants_ = bytes.subspan(header.constantsOffset, header.constantsBytes);
  return Status::ok();
}

Result<std::unique_ptr<Artifact>> Artifact::open(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  std::unique_ptr<Artifact> artifact(new Artifact());
  artifact->mapping_ = std::make_unique<Mapping>();
  artifact->mapping_->name = path;
  artifact->mapping_->file = std::move(file);
  const Status status = artifact->parse(artifact->mapping_->file->bytes());
  if (!status.isOk())
    return Status(status.code(), path + ": " + status.message());
  return artifact;
}

Result<std::unique_ptr<Artifact>> Artifact::fromMemory(std::span<const uint8_t> bytes) {
  std::unique_ptr<Artifact> artifact(new Artifact());
  artifact->mapping_ = std::make_unique<Mapping>();
  artifact->mapping_->name = "the artifact in memory";
  const Status status = artifact->parse(bytes);
  if (!status.isOk())
    return Status(status.code(), artifact->mapping_->name + ": " + status.message());
  return artifact;
}

Status
Artifact::readConstants(const std::function<Status(uint64_t, std::span<const uint8_t>)> &sink,
                        const std::function<bool(uint64_t, uint64_t)> &wanted) const {
  for (uint32_t i = 0; i < program_->chunks()->size(); ++i) {
    const Chunk &chunk = *program_->chunks()->Get(i);
    if (wanted && !wanted(chunk.offset(), chunk.size()))
      continue;
    const std::span<const uint8_t> bytes = constants_.subspan(chunk.offset(), chunk.size());
    if (hashBytes(bytes) != chunk.hash())
      return statusf(StatusCode::kDataLoss,
                     "%s: the checksum of the constants' bytes %llu to %llu differs; %s",
                     mapping_->name.c_str(), asPrintable(chunk.offset()),
                     asPrintable(chunk.offset() + chunk.size() - 1), kRemedy);
    GANTRY_RETURN_IF_ERROR(sink(chunk.offset(), bytes));
  }
  return Status::ok();
}

} // namespace gantry::artifact
