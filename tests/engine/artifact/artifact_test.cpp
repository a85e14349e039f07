// Tests writing and reading artifacts: round trips, damaged files, and reading of constants.
#include "engine/artifact/format.h"
#include "tests/engine/artifact/sample_program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <unistd.h>

namespace gantry::artifact {
namespace {

Status ignore(uint64_t, std::span<const uint8_t>) { return Status::ok(); }

/// Opens the bytes of a file and reads all constants, like a session.
Status load(std::span<const uint8_t> bytes) {
  const Result<std::unique_ptr<Artifact>> artifact = Artifact::fromMemory(bytes);
  if (!artifact.isOk())
    return artifact.status();
  return (*artifact)->readConstants(ignore);
}

/// Returns the program as a FlatBuffer. Equal programs give equal bytes.
std::vector<uint8_t> packed(const ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Program::Pack(builder, &program));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// Replaces the header of a file. fixHash: also computes the header's hash.
void setHeader(std::vector<uint8_t> &file, FileHeader header, bool fixHash) {
  if (fixHash)
    header.headerHash =
        hashBytes({reinterpret_cast<const uint8_t *>(&header), offsetof(FileHeader, headerHash)});
  std::memcpy(file.data(), &header, sizeof(header));
}

FileHeader headerOf(const std::vector<uint8_t> &file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

TEST(Artifact, AReadProgramEqualsTheWrittenOne) {
  for (const bool dynamic : {false, true}) {
    const ScratchFolder folder;
    const std::vector<uint8_t> constant = sampleConstant();
    ProgramT written = dynamic ? dynamicProgram() : staticProgram();
    ASSERT_TRUE(write(folder.path("a"), written, {{0, constant}}).isOk());
    EXPECT_EQ(folder.fileCount(), 1u);
    const Result<std::unique_ptr<Artifact>> artifact = Artifact::open(folder.path("a"));
    ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
    const std::unique_ptr<ProgramT> read((*artifact)->program().UnPack());
    EXPECT_EQ(packed(*read), packed(written));
    EXPECT_EQ(read->dynamic, dynamic);
    const std::span<const uint8_t> constants = (*artifact)->constants();
    EXPECT_EQ(std::vector<uint8_t>(constants.begin(), constants.end()), constant);
    EXPECT_TRUE((*artifact)->readConstants(ignore).isOk());
    // Drivers receive the SPIR-V without a copy, so it must be aligned.
    const auto *spirv = (*artifact)->program().kernels()->Get(0)->variants()->Get(0)->spirv();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(spirv->data()) % 16, 0u);
  }
}

// The writer's buffer grows while the writer fills it. The contents must be aligned after each
// growth.
TEST(Artifact, ProgramsOfEverySizeAreWritten) {
  const ScratchFolder folder;
  for (size_t words = 20000; words < 20016; ++words) {
    ProgramT program = staticProgram();
    program.kernels[0]->variants[0]->spirv.resize(words);
    const Status status = write(folder.path("a"), program, {{0, sampleConstant()}});
    ASSERT_TRUE(status.isOk()) << words << " words: " << status.message();
  }
}

TEST(Artifact, EmptyStringsAndListsAreReadAsEmptyNotAsNull) {
  ProgramT program;
  const ScratchFolder folder;
  ASSERT_TRUE(write(folder.path("a"), program, {}).isOk());
  const Result<std::unique_ptr<Artifact>> artifact = Artifact::open(folder.path("a"));
  ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
  ASSERT_NE((*artifact)->program().name(), nullptr);
  ASSERT_NE((*artifact)->program().commands(), nullptr);
  EXPECT_TRUE((*artifact)->constants().empty());
  EXPECT_TRUE((*artifact)->readConstants(ignore).isOk());
}

TEST(Artifact, EveryFlippedBitIsFound) {
  std::vector<uint8_t> file = fileOf(staticProgram());
  ASSERT_TRUE(load(file).isOk());
  for (size_t i = 0; i < file.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      file[i] ^= static_cast<uint8_t>(1 << bit);
      const Status status = load(file);
      ASSERT_FALSE(status.isOk()) << "bit " << bit << " of byte " << i;
      ASSERT_TRUE(status.code() == StatusCode::kDataLoss ||
                  status.code() == StatusCode::kVersionMismatch)
          << status.message();
      file[i] ^= static_cast<uint8_t>(1 << bit);
    }
  }
  EXPECT_TRUE(load(file).isOk());
}

TEST(Artifact, EveryTruncationIsFound) {
  const std::vector<uint8_t> file = fileOf(staticProgram());
  for (size_t size = 0; size < file.size(); ++size) {
    // The copy has exactly this size, so the address sanitizer reports reads beyond the end.
    const std::vector<uint8_t> part(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    const Status status = load(part);
    ASSERT_EQ(status.code(), StatusCode::kDataLoss) << size << ": " << status.message();
  }
  std::vector<uint8_t> longer = file;
  longer.push_back(0);
  EXPECT_EQ(load(longer).code(), StatusCode::kDataLoss);
}

TEST(Artifact, ANewerVersionIsNamed) {
  for (const bool fixHash : {true, false}) {
    std::vector<uint8_t> file = fileOf(staticProgram());
    FileHeader header = headerOf(file);
    header.formatVersion = kFormatVersion + 1;
    setHeader(file, header, fixHash);
    const Status status = load(file);
    EXPECT_EQ(status.code(), StatusCode::kVersionMismatch);
    EXPECT_NE(status.message().find("format version " + std::to_string(kFormatVersion + 1) +
                                    " is newer than version " + std::to_string(kFormatVersion)),
              std::string::npos)
        << status.message();
  }
}

// In files of version 1 the variants of kernels have no list of texel buffers. verify_test.cpp
// tests that such variants are valid.
TEST(Artifact, OlderVersionsAreRead) {
  for (uint32_t version = kOldestFormatVersion; version < kFormatVersion; ++version) {
    std::vector<uint8_t> file = fileOf(staticProgram());
    FileHeader header = headerOf(file);
    header.formatVersion = version;
    setHeader(file, header, true);
    const Status status = load(file);
    EXPECT_TRUE(status.isOk()) << version << ": " << status.message();
  }
}

TEST(Artifact, InvalidSectionsAreRefused) {
  const std::vector<uint8_t> good = fileOf(staticProgram());
  const FileHeader original = headerOf(good);
  const auto refused = [&](auto change) {
    std::vector<uint8_t> file = good;
    FileHeader header = original;
    change(header);
    setHeader(file, header, true);
    EXPECT_EQ(load(file).code(), StatusCode::kDataLoss);
  };
  refused([](FileHeader &h) { h.metadataOffset = 0; });
  refused([](FileHeader &h) { h.metadataOffset += 1; });
  refused([](FileHeader &h) { h.metadataOffset = UINT64_MAX - 4095; });
  refused([](FileHeader &h) { h.metadataBytes = UINT64_MAX; });
  refused([](FileHeader &h) { h.metadataBytes = h.constantsOffset; });
  refused([](FileHeader &h) { h.metadataBytes = 0; });
  refused([](FileHeader &h) { h.constantsOffset = 0; });
  refused([](FileHeader &h) { h.constantsOffset += 4096; });
  refused([](FileHeader &h) { h.constantsBytes = UINT64_MAX - h.constantsOffset; });
  refused([](FileHeader &h) { h.constantsBytes = UINT64_MAX; });
  refused([](FileHeader &h) { h.constantsBytes -= 256; });
  refused([](FileHeader &h) { h.headerBytes = 128; });
  refused([](FileHeader &h) { h.formatVersion = 0; });
}

TEST(Artifact, OtherFilesAreRefusedByName) {
  const ScratchFolder folder;
  const auto message = [&](const std::string &contents) {
    std::ofstream(folder.path("b"), std::ios::binary) << contents;
    const Result<std::unique_ptr<Artifact>> artifact = Artifact::open(folder.path("b"));
    EXPECT_FALSE(artifact.isOk());
    EXPECT_EQ(artifact.status().code(), StatusCode::kDataLoss);
    EXPECT_EQ(artifact.status().message().find(folder.path("b") + ": "), 0u);
    EXPECT_EQ(artifact.status().message().find('\n'), std::string::npos);
    return artifact.status().message();
  };
  EXPECT_NE(message("").find("0 bytes"), std::string::npos);
  EXPECT_NE(message(std::string(5000, 'x')).find("not a Gantry artifact"), std::string::npos);
  std::mt19937_64 random(3);
  std::string noise(20000, '\0');
  for (char &c : noise)
    c = static_cast<char>(random());
  EXPECT_NE(message(noise).find("not a Gantry artifact"), std::string::npos);
  const Result<std::unique_ptr<Artifact>> absent = Artifact::open(folder.path("absent"));
  ASSERT_FALSE(absent.isOk());
  EXPECT_EQ(absent.status().code(), StatusCode::kNotFound);
}

TEST(Artifact, MemoryOfAnyAlignmentIsRead) {
  const std::vector<uint8_t> file = fileOf(dynamicProgram());
  for (size_t shift = 0; shift < 16; ++shift) {
    std::vector<uint8_t> shifted(shift, 0xee);
    shifted.insert(shifted.end(), file.begin(), file.end());
    const auto artifact = Artifact::fromMemory(std::span<const uint8_t>(shifted).subspan(shift));
    ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
    const auto *spirv = (*artifact)->program().kernels()->Get(0)->variants()->Get(1)->spirv();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(spirv->data()) % 16, 0u);
    EXPECT_TRUE((*artifact)->readConstants(ignore).isOk());
  }
}

/// Returns two constants that fill two and a half chunks (of kChunkBytes, each with a checksum of
/// its own) together, with padding between them.
std::vector<std::vector<uint8_t>> largeConstants() {
  std::vector<std::vector<uint8_t>> constants = {std::vector<uint8_t>(kChunkBytes + 1000),
                                                 std::vector<uint8_t>(kChunkBytes * 3 / 2)};
  std::mt19937_64 random(5);
  for (auto &constant : constants)
    for (uint8_t &byte : constant)
      byte = static_cast<uint8_t>(random());
  return constants;
}

TEST(Artifact, ConstantsAreReadInVerifiedChunks) {
  const ScratchFolder folder;
  const auto bytes = largeConstants();
  std::vector<ConstantData> constants = {{0, bytes[0]}, {0, bytes[1]}};
  const uint64_t size = layoutConstants(constants);
  EXPECT_EQ(constants[0].offset, 0u);
  EXPECT_EQ(constants[1].offset, kChunkBytes + 1024);
  ProgramT program;
  ASSERT_TRUE(write(folder.path("a"), program, constants).isOk());
  EXPECT_EQ(program.chunks.size(), 3u);

  std::vector<uint8_t> file = readFile(folder.path("a"));
  const auto artifact = Artifact::fromMemory(file);
  ASSERT_TRUE(artifact.isOk()) << artifact.status().message();
  EXPECT_EQ((*artifact)->constants().size(), size);
  std::vector<uint8_t> read;
  ASSERT_TRUE((*artifact)
                  ->readConstants([&](uint64_t offset, std::span<const uint8_t> chunk) {
                    EXPECT_EQ(offset, read.size());
                    read.insert(read.end(), chunk.begin(), chunk.end());
                    return Status::ok();
                  })
                  .isOk());
  ASSERT_EQ(read.size(), size);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(std::memcmp(read.data() + constants[i].offset, bytes[i].data(), bytes[i].size()), 0);

  // With damage in the second chunk, the first chunk is delivered and the message names the second.
  file[file.size() - size + kChunkBytes + 12] ^= 1;
  size_t chunks = 0;
  const Status status = (*artifact)->readConstants([&](uint64_t, std::span<const uint8_t>) {
    ++chunks;
    return Status::ok();
  });
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(chunks, 1u);
  EXPECT_NE(status.message().find("bytes 1048576 to 2097151"), std::string::npos)
      << status.message();
}

TEST(Artifact, AFailingSinkStopsTheReading) {
  const std::vector<uint8_t> file = fileOf(staticProgram());
  const auto artifact = Artifact::fromMemory(file);
  ASSERT_TRUE(artifact.isOk());
  const Status status = (*artifact)->readConstants(
      [](uint64_t, std::span<const uint8_t>) { return Status(StatusCode::kDeviceLost, "gone"); });
  EXPECT_EQ(status.code(), StatusCode::kDeviceLost);
}

TEST(ArtifactWriter, RefusesMisalignedAndOverlappingConstants) {
  const ScratchFolder folder;
  const std::vector<uint8_t> bytes(300);
  ProgramT program;
  const auto refused = [&](const std::vector<ConstantData> &constants) {
    const Status status = write(folder.path("a"), program, constants);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(folder.fileCount(), 0u);
  };
  refused({{8, bytes}});
  refused({{0, bytes}, {256, bytes}});
  refused({{512, bytes}, {0, bytes}});
  refused({{UINT64_MAX - 255, bytes}});
}

TEST(ArtifactWriter, AFullDiskIsNamed) {
  if (access("/dev/full", W_OK) != 0)
    GTEST_SKIP() << "/dev/full is absent";
  ProgramT program = staticProgram();
  const std::vector<uint8_t> constant = sampleConstant();
  const Status status = write("/dev/full", program, {{0, constant}});
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("No space left on device"), std::string::npos);
}

TEST(Elements, HaveSizesAndNames) {
  EXPECT_EQ(elementSize(ElementType::f32), 4u);
  EXPECT_EQ(elementSize(ElementType::bf16), 2u);
  EXPECT_EQ(elementSize(ElementType::i64), 8u);
  EXPECT_EQ(elementSize(ElementType::bool8), 1u);
  EXPECT_STREQ(elementName(ElementType::u16), "u16");
  EXPECT_STREQ(elementName(ElementType::bool8), "bool");
}

} // namespace
} // namespace gantry::artifact
