// Tests the functions for variable-length integers (varint.h), and the encoder and decoder of
// chunks of events (codec.h).
#include "engine/trace/wire/codec.h"

#include "engine/trace/wire/varint.h"
#include "tests/engine/trace/random_events.h"

#include <gtest/gtest.h>

namespace {

using namespace gantry;
using namespace gantry::trace;
using namespace gantry::test;

TEST(VarintTest, AllWidths) {
  for (uint32_t bit = 0; bit < 64; ++bit)
    for (const int64_t off : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(off);
      uint8_t bytes[kMaxVarintBytes];
      const uint8_t *end = putVarint(bytes, value);
      uint64_t read = 0;
      EXPECT_EQ(getVarint(bytes, end, &read), end);
      EXPECT_EQ(read, value);
      EXPECT_EQ(getVarint(bytes, end - 1, &read), nullptr);
      EXPECT_EQ(static_cast<uint64_t>(unzigzag(zigzag(static_cast<int64_t>(value)))), value);
    }
}

TEST(VarintTest, MoreThan64BitsIsRefused) {
  const uint8_t tooLarge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
  uint64_t value = 0;
  EXPECT_EQ(getVarint(tooLarge, tooLarge + sizeof(tooLarge), &value), nullptr);
  EXPECT_EQ(getVarint(endless, endless + sizeof(endless), &value), nullptr);
}

TEST(CodecTest, EveryTypeIsDecodedAsItWasEncoded) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<EventType> types = allEventTypes();
  ASSERT_GE(types.size(), 40u);
  ChunkEncoder encoder(4096);
  ChunkDecoder decoder;
  for (int round = 0; round < 20; ++round) {
    std::vector<Event> written;
    for (int i = 0; i < 4096; ++i)
      written.push_back(randomEvent(types[random() % types.size()], random));
    for (const Event &event : written)
      encoder.add(&event.header);
    EXPECT_TRUE(encoder.isFull());
    const std::span<const uint8_t> chunk = encoder.finish();
    EXPECT_EQ(encoder.count(), 0u);
    std::vector<Event> read;
    const Status status = decoder.decode(chunk, 4096, read);
    ASSERT_TRUE(status.isOk()) << status.message();
    ASSERT_EQ(read.size(), written.size());
    for (size_t i = 0; i < read.size(); ++i)
      ASSERT_TRUE(sameBytes(read[i], written[i]))
          << "event " << i << ", " << eventTypeName(written[i].type());
  }
}

TEST(CodecTest, FirstAndLastTimeAreTheMinAndTheMax) {
  ChunkEncoder encoder(3);
  for (const uint64_t time : {500, 100, 300}) {
    HostEvent mark = makeEvent<HostEvent>(EventType::kMark);
    mark.header.timeNs = time;
    encoder.add(&mark.header);
  }
  EXPECT_EQ(encoder.firstTimeNs(), 100u);
  EXPECT_EQ(encoder.lastTimeNs(), 500u);
}

TEST(CodecTest, TypicalHeapEventsTakeLessThanSevenBytesEach) {
  std::mt19937_64 random(7);
  const std::vector<Event> events = heapLife(65536, random);
  ChunkEncoder encoder(65536);
  for (const Event &event : events)
    encoder.add(&event.header);
  const std::span<const uint8_t> chunk = encoder.finish();
  EXPECT_LT(chunk.size(), 6.5 * 65536);
  std::vector<Event> read;
  ChunkDecoder decoder;
  ASSERT_TRUE(decoder.decode(chunk, 65536, read).isOk());
  for (size_t i = 0; i < read.size(); ++i)
    ASSERT_TRUE(sameBytes(read[i], events[i])) << i;
}

TEST(CodecTest, AWrongCountOrATruncatedChunkIsDataLoss) {
  HostEvent mark = makeEvent<HostEvent>(EventType::kMark);
  ChunkEncoder encoder(2);
  encoder.add(&mark.header);
  const std::span<const uint8_t> chunk = encoder.finish();
  std::vector<Event> read;
  ChunkDecoder decoder;
  EXPECT_EQ(decoder.decode(chunk, 2, read).code(), StatusCode::kDataLoss);
  EXPECT_EQ(decoder.decode(chunk.first(chunk.size() - 1), 1, read).code(), StatusCode::kDataLoss);
  EXPECT_EQ(decoder.decode({}, 0, read).code(), StatusCode::kDataLoss);
  EXPECT_TRUE(read.empty());
  EXPECT_TRUE(decoder.decode(chunk, 1, read).isOk());
}

} // namespace
