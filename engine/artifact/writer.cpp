// Writes artifacts: lays out the constants, computes checksums, and packs programs that share
// kernels.
#include "engine/artifact/artifact.h"
#include "engine/artifact/format.h"
#include "engine/artifact/verify.h"
#include "engine/base/align.h"
#include "engine/base/file.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace gantry::artifact {

namespace {

constexpr uint8_t kZeros[kSectionAlignment] = {};

/// Calls emit(bytes) for consecutive ranges of the whole constants section, including the zeros
/// between the constants.
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

/// Checks that the constants are aligned, ascending and disjoint, and returns the section's size.
Result<uint64_t> sectionSize(const std::vector<ConstantData> &constants) {
  uint64_t end = 0;
  for (size_t i = 0; i < constants.size(); ++i) {
    const ConstantData &constant = constants[i];
    const std::optional<uint64_t> constantEnd = checkedAdd(constant.offset, constant.bytes.size());
    if (constant.offset % kConstantAlignment != 0 || constant.offset < end || !constantEnd)
      return statusf(StatusCode::kInvalidArgument,
                     "constant %zu of %zu bytes has the offset %llu; the offset must be a multiple "
                     "of %llu and at least %llu",
                     i, constant.bytes.size(), static_cast<unsigned long long>(constant.offset),
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
  uint64_t begin = 0; // Start of the chunk that is being hashed.
  uint64_t position = 0;
  const auto finish = [&]() {
    chunks.emplace_back(begin, position - begin, hasher.digest());
    hasher.reset();
    begin = position;
  };
  // The callback never fails, so the status can be ignored.
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

using KernelList = flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<Kernel>>>;

/// Packs kernels into a FlatBuffer. Equal kernels are packed once, and the programs that contain
/// them share the table.
class KernelPool {
public:
  explicit KernelPool(flatbuffers::FlatBufferBuilder &builder) : builder_(builder) {}

  KernelList pack(const std::vector<std::unique_ptr<KernelT>> &kernels) {
    std::vector<flatbuffers::Offset<Kernel>> offsets;
    for (const std::unique_ptr<KernelT> &kernel : kernels) {
      flatbuffers::FlatBufferBuilder alone;
      alone.Finish(Kernel::Pack(alone, kernel.get()));
      std::string bytes(reinterpret_cast<const char *>(alone.GetBufferPointer()), alone.GetSize());
      const auto [at, isNew] = known_.try_emplace(std::move(bytes));
      if (isNew)
        at->second = Kernel::Pack(builder_, kernel.get());
      offsets.push_back(at->second);
    }
    return builder_.CreateVector(offsets);
  }

private:
  flatbuffers::FlatBufferBuilder &builder_;
  std::map<std::string, flatbuffers::Offset<Kernel>> known_; // The keys are serialized kernels.
};

/// Packs the program with its variants. The functions that FlatBuffers generates would write equal
/// kernels once for each program. The kernels are therefore packed first through KernelPool, the
/// programs are packed without kernels, and the offsets of the kernel lists are patched in
/// afterwards.
void packProgram(flatbuffers::FlatBufferBuilder &builder, ProgramT &root) {
  std::vector<ProgramT *> programs = {&root};
  for (const std::unique_ptr<ProgramT> &variant : root.variants)
    programs.push_back(variant.get());
  KernelPool pool(builder);
  std::vector<KernelList> lists;
  std::vector<std::vector<std::unique_ptr<KernelT>>> kept;
  for (ProgramT *program : programs) {
    lists.push_back(pool.pack(program->kernels));
    kept.push_back(std::exchange(program->kernels, {}));
  }
  FinishProgramBuffer(builder, Program::Pack(builder, &root));
  for (size_t i = 0; i < programs.size(); ++i)
    programs[i]->kernels = std::move(kept[i]);

  // The offsets of a FlatBufferBuilder count from the end of the buffer.
  uint8_t *const end = builder.GetBufferPointer() + builder.GetSize();
  Program *const packed = flatbuffers::GetMutableRoot<Program>(builder.GetBufferPointer());
  for (size_t i = 0; i < programs.size(); ++i) {
    Program *const program =
        i == 0 ? packed
               : const_cast<Program *>(packed->variants()->Get(static_cast<uint32_t>(i - 1)));
    reinterpret_cast<flatbuffers::Table *>(program)->SetPointer(Program::VT_KERNELS,
                                                                end - lists[i].o);
  }
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

  // FlatBuffers aligns relative to the end of the buffer, so the buffer's capacity must be a
  // multiple of the largest alignment in the schema.
  constexpr size_t kMaxAlignment = 16;
  flatbuffers::FlatBufferBuilder builder(1 << 16, nullptr, false, kMaxAlignment);
  packProgram(builder, program);
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
