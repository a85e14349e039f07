#include "engine/artifact/artifact.h"
#include "engine/artifact/format.h"
#include "engine/artifact/verify.h"
#include "engine/base/align.h"
#include "engine/base/file.h"

#include <algorithm>
#include <cstring>

namespace gantry::artifact {

namespace {

constexpr uint8_t kZeros[kSectionAlignment] = {};

/// Calls emit(bytes) for the whole constants section in order, zeros between the constants
/// included.
template <typename Emit>
Status forEachByte(const std::vector<ConstantData> &constants, uint64_t sectionBytes, Emit emit) {
  uint64_t position = 0;
  const auto padTo = [&](uint64_t end) -> Status {
    while (position < end) {
      const uint64_t count = std::min<uint64_t>(end - position, sizeof(kZeros));
      GANTRY_RETURN_IF_ERROR(emit(std::span<const uint8_t>(kZeros, count)));
      position += count;
    }
    return Status::ok();
  };
  for (const ConstantData &constant : constants) {
    GANTRY_RETURN_IF_ERROR(padTo(constant.offset));
    GANTRY_RETURN_IF_ERROR(emit(constant.bytes));
    position += constant.bytes.size();
  }
  return padTo(sectionBytes);
}

/// Checks the layout and returns the section's size.
Result<uint64_t> sectionSize(const std::vector<ConstantData> &constants) {
  uint64_t end = 0;
  for (size_t i = 0; i < constants.size(); ++i) {
    const ConstantData &constant = constants[i];
    const std::optional<uint64_t> constantEnd = checkedAdd(constant.offset, constant.bytes.size());
    if (constant.offset % kConstantAlignment != 0 || constant.offset < end || !constantEnd)
      return statusf(
          StatusCode::kInvalidArgument,
          "constant %zu of %zu bytes lies at %llu; it needs a multiple of %llu from %llu on", i,
          constant.bytes.size(), static_cast<unsigned long long>(constant.offset),
          static_cast<unsigned long long>(kConstantAlignment),
          static_cast<unsigned long long>(end));
    end = *constantEnd;
  }
  const std::optional<uint64_t> size = checkedRoundUp(end, kConstantAlignment);
  if (!size)
    return statusf(StatusCode::kInvalidArgument, "the constants exceed 64 bits");
  return *size;
}

std::vector<Chunk> hashChunks(const std::vector<ConstantData> &constants, uint64_t sectionBytes) {
  std::vector<Chunk> chunks;
  Hasher hasher;
  uint64_t begin = 0; // of the chunk being hashed
  uint64_t position = 0;
  const auto finish = [&]() {
    chunks.emplace_back(begin, position - begin, hasher.digest());
    hasher.reset();
    begin = position;
  };
  // The callback never fails, so neither does the walk.
  (void)forEachByte(constants, sectionBytes, [&](std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      const uint64_t count = std::min<uint64_t>(bytes.size(), begin + kChunkBytes - position);
      hasher.update(bytes.first(count));
      position += count;
      bytes = bytes.subspan(count);
      if (position == begin + kChunkBytes)
        finish();
    }
    return Status::ok();
  });
  if (position != begin)
    finish();
  return chunks;
}

} // namespace

uint64_t layoutConstants(std::vector<ConstantData> &constants) {
  uint64_t end = 0;
  for (ConstantData &constant : constants) {
    constant.offset = roundUp(end, kConstantAlignment);
    end = constant.offset + constant.bytes.size();
  }
  return roundUp(end, kConstantAlignment);
}

Status write(const std::string &path, ProgramT &program,
             const std::vector<ConstantData> &constants) {
  GANTRY_ASSIGN_OR_RETURN(const uint64_t constantsBytes, sectionSize(constants));
  program.chunks = hashChunks(constants, constantsBytes);

  // Alignment is counted from the end of the buffer, so its capacity must be a multiple of the most
  // that the schema asks for.
  constexpr size_t kMostAlignment = 16;
  flatbuffers::FlatBufferBuilder builder(1 << 16, nullptr, false, kMostAlignment);
  FinishProgramBuffer(builder, Program::Pack(builder, &program));
  const std::span<const uint8_t> metadata(builder.GetBufferPointer(), builder.GetSize());
  const Status valid = verifyMetadata(metadata, constantsBytes);
  if (!valid.isOk())
    return Status(StatusCode::kInternal,
                  path + " is not written: its program is inconsistent: " + valid.message());

  FileHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.formatVersion = kFormatVersion;
  header.headerBytes = sizeof(header);
  header.metadataOffset = kSectionAlignment;
  header.metadataBytes = metadata.size();
  const uint64_t metadataEnd = header.metadataOffset + header.metadataBytes;
  header.constantsOffset = roundUp(metadataEnd, kSectionAlignment);
  header.constantsBytes = constantsBytes;
  header.metadataHash = hashBytes(metadata);
  const std::span<const uint8_t> headerBytes(reinterpret_cast<const uint8_t *>(&header),
                                             sizeof(header));
  header.headerHash = hashBytes(headerBytes.first(offsetof(FileHeader, headerHash)));

  GANTRY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  GANTRY_RETURN_IF_ERROR(file.write(headerBytes));
  GANTRY_RETURN_IF_ERROR(
      file.write(std::span<const uint8_t>(kZeros, header.metadataOffset - sizeof(header))));
  GANTRY_RETURN_IF_ERROR(file.write(metadata));
  GANTRY_RETURN_IF_ERROR(
      file.write(std::span<const uint8_t>(kZeros, header.constantsOffset - metadataEnd)));
  GANTRY_RETURN_IF_ERROR(
      forEachByte(constants, constantsBytes,
                  [&](std::span<const uint8_t> bytes) { return file.write(bytes); }));
  return file.commit();
}

} // namespace gantry::artifact
