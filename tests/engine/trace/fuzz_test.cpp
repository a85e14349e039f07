// Fuzzes the readers of captures with damaged chunks of events, names, files and indexes (lists of
// a file's chunks). Chunks, names and indexes have no checksum or a correct one, so that the damage
// reaches the innermost parser. The readers may return an error or events; they must not crash or
// loop forever.
#include "engine/trace/wire/capture.h"
#include "engine/trace/wire/codec.h"
#include "engine/trace/wire/frame.h"
#include "tests/engine/trace/random_events.h"
#include "tests/support/scratch.h"

#include <gtest/gtest.h>

namespace {

using namespace gantry;
using namespace gantry::trace;
using namespace gantry::test;

/// Damages bytes at random: overwrites some, and sometimes cuts off the end or inserts bytes.
void mutate(std::vector<uint8_t> &bytes, std::mt19937_64 &random) {
  const uint64_t kind = random() % 4;
  if (kind == 0)
    bytes.resize(random() % (bytes.size() + 1));
  for (uint64_t i = random() % 8; !bytes.empty() && i > 0; --i) {
    uint8_t &byte = bytes[random() % bytes.size()];
    byte = kind == 1 ? 0xff : static_cast<uint8_t>(random());
  }
  if (kind == 2)
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1)),
                 random() % 20, static_cast<uint8_t>(random()));
}

std::vector<uint8_t> validChunk(std::mt19937_64 &random, uint32_t count) {
  const std::vector<EventType> types = allEventTypes();
  ChunkEncoder encoder(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Event event = randomEvent(types[random() % types.size()], random);
    encoder.add(&event.header);
  }
  const std::span<const uint8_t> chunk = encoder.finish();
  return {chunk.begin(), chunk.end()};
}

TEST(TraceFuzz, DamagedChunksGiveAnErrorOrEvents) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  ChunkDecoder decoder;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto count = static_cast<uint32_t>(1 + random() % 50);
    std::vector<uint8_t> chunk = validChunk(random, count);
    mutate(chunk, random);
    std::vector<Event> events;
    const Status status = decoder.decode(chunk, count, events);
    EXPECT_EQ(events.size(), status.isOk() ? count : 0);
    refused += status.isOk() ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
}

TEST(TraceFuzz, DamagedNamesGiveAnErrorOrNames) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    NamesBuilder builder;
    for (uint32_t i = 0; i < 20; ++i)
      builder.add(i, std::string(random() % 30, 'n'));
    std::vector<uint8_t> bytes(builder.bytes().begin(), builder.bytes().end());
    mutate(bytes, random);
    NameTable names;
    (void)readNames(bytes, 20, names);
    EXPECT_LE(names.size(), kMaxNameId + 1);
  }
}

TEST(TraceFuzz, DamagedFilesGiveAnErrorOrEvents) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const ScratchFolder folder;
  CaptureWriterOptions options;
  options.chunkEvents = 100;
  auto writer = CaptureWriter::create(folder.path("a"), options);
  ASSERT_TRUE(writer.isOk());
  (void)(*writer)->name("a name");
  ASSERT_TRUE((*writer)->append(heapLife(1000, random)).isOk());
  ASSERT_TRUE((*writer)->finish().isOk());
  const std::vector<uint8_t> valid = readBytes(folder.path("a"));
  for (int round = 0; round < 5000; ++round) {
    std::vector<uint8_t> bytes = valid;
    mutate(bytes, random);
    const auto reader = CaptureReader::fromMemory(bytes);
    if (!reader.isOk())
      continue;
    for (int chunk = 0; chunk < 12; ++chunk) {
      const Result<Batch> batch = (*reader)->read();
      if (!batch.isOk() || batch->end)
        break;
    }
  }
}

// Damages the index inside a frame (frame.h) whose checksums are correct.
TEST(TraceFuzz, DamagedIndexesGiveAnErrorOrEvents) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const ScratchFolder folder;
  auto writer = CaptureWriter::create(folder.path("a"));
  ASSERT_TRUE(writer.isOk());
  (void)(*writer)->name("a name");
  ASSERT_TRUE((*writer)->append(heapLife(100, random)).isOk());
  ASSERT_TRUE((*writer)->finish().isOk());
  const std::vector<uint8_t> valid = readBytes(folder.path("a"));
  FileTrailer trailer;
  std::memcpy(&trailer, valid.data() + valid.size() - sizeof(trailer), sizeof(trailer));
  const Result<FrameHeader> header =
      parseFrameHeader(std::span(valid).subspan(trailer.indexOffset), trailer.indexOffset);
  ASSERT_TRUE(header.isOk());
  std::vector<uint8_t> index;
  ASSERT_TRUE(unpackFrame(*header,
                          std::span(valid).subspan(trailer.indexOffset + sizeof(FrameHeader),
                                                   header->storedBytes),
                          0, index)
                  .isOk());
  FramePacker packer(FrameCodec::kZstd);
  for (int round = 0; round < 5000; ++round) {
    std::vector<uint8_t> damaged = index;
    mutate(damaged, random);
    FrameHeader indexHeader;
    indexHeader.type = FrameType::kIndex;
    const auto frame = packer.pack(indexHeader, damaged);
    ASSERT_TRUE(frame.isOk());
    std::vector<uint8_t> bytes(valid.begin(),
                               valid.begin() + static_cast<std::ptrdiff_t>(trailer.indexOffset));
    bytes.insert(bytes.end(), frame->begin(), frame->end());
    const auto *end = reinterpret_cast<const uint8_t *>(&trailer);
    bytes.insert(bytes.end(), end, end + sizeof(trailer));
    const auto reader = CaptureReader::fromMemory(bytes);
    if (reader.isOk())
      (void)(*reader)->read();
  }
}

} // namespace
