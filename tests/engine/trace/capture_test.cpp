// Tests writing and reading capture files, which consist of chunks of events: complete, truncated
// and damaged.
#include "engine/trace/wire/capture.h"

#include "tests/engine/trace/random_events.h"
#include "tests/support/scratch.h"

#include <gtest/gtest.h>

namespace {

using namespace gantry;
using namespace gantry::trace;
using namespace gantry::test;

std::unique_ptr<CaptureReader> openOrFail(const std::string &path) {
  auto reader = CaptureReader::openFile(path);
  EXPECT_TRUE(reader.isOk()) << reader.status().message();
  return reader.isOk() ? reader.take() : nullptr;
}

std::vector<Event> readEvents(CaptureReader &reader) {
  std::vector<Event> events;
  for (;;) {
    const Result<Batch> batch = reader.read();
    EXPECT_TRUE(batch.isOk()) << batch.status().message();
    if (!batch.isOk())
      return events;
    events.insert(events.end(), batch->events.begin(), batch->events.end());
    if (batch->end)
      return events;
  }
}

class CaptureTest : public testing::Test {
protected:
  void SetUp() override {
    std::mt19937_64 random(11);
    events_ = heapLife(10000, random);
    CaptureWriterOptions options;
    options.chunkEvents = 1000;
    auto writer = CaptureWriter::create(path_, options);
    ASSERT_TRUE(writer.isOk()) << writer.status().message();
    EXPECT_EQ((*writer)->name("conv"), 1u);
    EXPECT_EQ((*writer)->name("relu"), 2u);
    EXPECT_EQ((*writer)->name("conv"), 1u);
    EXPECT_EQ((*writer)->name(""), 0u);
    ASSERT_TRUE((*writer)->append(std::span(events_).first(9500)).isOk());
    EXPECT_EQ((*writer)->name("late"), 3u);
    ASSERT_TRUE((*writer)->append(std::span(events_).subspan(9500)).isOk());
    ASSERT_TRUE((*writer)->finish().isOk());
    EXPECT_EQ((*writer)->eventsWritten(), 10000u);
    bytes_ = readBytes(path_);
    EXPECT_EQ((*writer)->bytesWritten(), bytes_.size());
  }

  ScratchFolder folder_;
  std::string path_ = folder_.path("a.gtrace");
  std::vector<Event> events_;
  std::vector<uint8_t> bytes_;
};

TEST_F(CaptureTest, ReadsWhatWasWritten) {
  const auto reader = openOrFail(path_);
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->tail(), Tail::kComplete);
  EXPECT_FALSE(reader->isLive());
  ASSERT_EQ(reader->chunks().size(), 10u);
  EXPECT_EQ(reader->chunks()[3].firstEvent, 3000u);
  EXPECT_EQ(reader->chunks()[3].firstTimeNs, events_[3000].header.timeNs);
  EXPECT_EQ(reader->chunks()[3].lastTimeNs, events_[3999].header.timeNs);
  EXPECT_EQ(reader->names()[1], "conv");
  EXPECT_EQ(reader->names()[3], "late");
  EXPECT_EQ(reader->names()[0], "");
  EXPECT_EQ(reader->names()[77], "");
  const std::vector<Event> read = readEvents(*reader);
  ASSERT_EQ(read.size(), events_.size());
  for (size_t i = 0; i < read.size(); ++i)
    ASSERT_TRUE(sameBytes(read[i], events_[i])) << i;
}

TEST_F(CaptureTest, SeeksToAnyChunk) {
  const auto reader = openOrFail(path_);
  ASSERT_NE(reader, nullptr);
  for (const size_t chunk : {7, 2, 9}) {
    ASSERT_TRUE(reader->seek(chunk).isOk());
    const Result<Batch> batch = reader->read();
    ASSERT_TRUE(batch.isOk());
    ASSERT_EQ(batch->events.size(), 1000u);
    EXPECT_TRUE(sameBytes(batch->events[0], events_[chunk * 1000]));
    EXPECT_EQ(batch->end, chunk == 9);
  }
  EXPECT_TRUE(reader->seek(10).isOk());
  EXPECT_EQ(reader->seek(11).code(), StatusCode::kInvalidArgument);
}

// A killed writer leaves an arbitrary prefix of the file.
TEST_F(CaptureTest, AnyPrefixReadsUpToItsLastWholeChunk) {
  const auto whole = openOrFail(path_);
  ASSERT_NE(whole, nullptr);
  const std::vector<ChunkInfo> chunks(whole->chunks().begin(), whole->chunks().end());
  for (size_t size = 32; size < bytes_.size(); size += 97) {
    size_t expected = 0;
    while (expected < chunks.size() &&
           chunks[expected].fileOffset + chunks[expected].storedBytes <= size)
      ++expected;
    const auto reader = CaptureReader::fromMemory(std::span(bytes_).first(size));
    ASSERT_TRUE(reader.isOk()) << reader.status().message();
    EXPECT_EQ((*reader)->tail(), Tail::kCutOff);
    const std::vector<Event> read = readEvents(**reader);
    ASSERT_EQ(read.size(), expected * 1000) << "a prefix of " << size << " bytes";
    if (!read.empty()) {
      EXPECT_TRUE(sameBytes(read.back(), events_[read.size() - 1]));
      EXPECT_EQ((*reader)->names()[2], "relu");
    }
  }
}

TEST_F(CaptureTest, EventsAreReadableInTheFileAfterAFlush) {
  const std::string path = folder_.path("b.gtrace");
  auto writer = CaptureWriter::create(path);
  ASSERT_TRUE(writer.isOk());
  ASSERT_TRUE((*writer)->append(std::span(events_).first(10)).isOk());
  EXPECT_EQ(readEvents(*openOrFail(path)).size(), 0u);
  ASSERT_TRUE((*writer)->flush().isOk());
  EXPECT_EQ(readEvents(*openOrFail(path)).size(), 10u);
}

TEST_F(CaptureTest, DamageInAChunkIsFoundWhenItIsRead) {
  const auto whole = openOrFail(path_);
  ASSERT_NE(whole, nullptr);
  std::vector<uint8_t> damaged = bytes_;
  damaged[whole->chunks()[4].fileOffset + 100] ^= 1;
  const auto reader = CaptureReader::fromMemory(damaged);
  ASSERT_TRUE(reader.isOk());
  for (int chunk = 0; chunk < 4; ++chunk)
    EXPECT_TRUE((*reader)->read().isOk());
  const Result<Batch> batch = (*reader)->read();
  ASSERT_FALSE(batch.isOk());
  EXPECT_EQ(batch.status().code(), StatusCode::kDataLoss);
  EXPECT_TRUE((*reader)->seek(5).isOk());
  EXPECT_TRUE((*reader)->read().isOk());
}

TEST_F(CaptureTest, RefusesFilesThatAreNotCaptures) {
  EXPECT_EQ(CaptureReader::openFile(folder_.path("absent")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(CaptureReader::fromMemory({}).status().code(), StatusCode::kDataLoss);
  std::vector<uint8_t> other(1000, 'x');
  EXPECT_EQ(CaptureReader::fromMemory(other).status().code(), StatusCode::kDataLoss);
  std::vector<uint8_t> damaged = bytes_;
  damaged[9] ^= 1;
  EXPECT_EQ(CaptureReader::fromMemory(damaged).status().code(), StatusCode::kDataLoss);
}

TEST_F(CaptureTest, RefusesInvalidOptionsAndEvents) {
  CaptureWriterOptions options;
  options.chunkEvents = 0;
  EXPECT_EQ(CaptureWriter::create(path_, options).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CaptureWriter::create(folder_.path("no/folder")).status().code(),
            StatusCode::kNotFound);
  auto writer = CaptureWriter::create(folder_.path("c.gtrace"));
  ASSERT_TRUE(writer.isOk());
  EXPECT_EQ((*writer)->append(Event()).code(), StatusCode::kInvalidArgument);
}

TEST_F(CaptureTest, AnEmptyCaptureHasNoChunks) {
  const std::string path = folder_.path("empty.gtrace");
  auto writer = CaptureWriter::create(path);
  ASSERT_TRUE(writer.isOk());
  ASSERT_TRUE((*writer)->finish().isOk());
  const auto reader = openOrFail(path);
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->tail(), Tail::kComplete);
  EXPECT_TRUE(readEvents(*reader).empty());
}

} // namespace
