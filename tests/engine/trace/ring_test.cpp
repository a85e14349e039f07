// Tests the ring, a queue of events from one thread to the collector: order, wrap-around, drops,
// nudges (wake-ups of the consumer), and a producer and a consumer thread at the same time.
#include "engine/trace/record/ring.h"

#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace {

using namespace gantry::trace;

/// Writes one event of this many words, whose contents follow from `value`. Returns false if the
/// ring is full.
bool push(Ring &ring, uint32_t words, uint64_t value) {
  uint64_t *at = ring.reserve(words, false);
  if (at == nullptr)
    return false;
  EventHeader header;
  header.timeNs = value;
  header.type = EventType::kMark;
  header.words = static_cast<uint8_t>(words);
  std::memcpy(at, &header, sizeof(header));
  for (uint32_t i = 2; i < words; ++i)
    at[i] = value + i;
  ring.publish(words);
  return true;
}

/// Reads one event into `value` and checks its contents. Returns false if the ring is empty.
bool pop(Ring &ring, uint64_t *value) {
  uint64_t position = ring.tail();
  const EventHeader *header = ring.peek(&position, ring.head());
  if (header == nullptr)
    return false;
  *value = header->timeNs;
  for (uint32_t i = 2; i < header->words; ++i)
    EXPECT_EQ(reinterpret_cast<const uint64_t *>(header)[i], *value + i);
  ring.release(position + header->words);
  return true;
}

TEST(RingTest, KeepsOrderOverManyLapsWithEventsOfAllSizes) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Ring ring;
  ASSERT_TRUE(ring.create(4096));
  uint64_t written = 0;
  uint64_t read = 0;
  for (int round = 0; round < 20000; ++round) {
    for (uint64_t i = random() % 80; i > 0; --i)
      written += push(ring, static_cast<uint32_t>(2 + random() % 7), written) ? 1 : 0;
    for (uint64_t i = random() % 80; i > 0; --i) {
      uint64_t value = 0;
      if (!pop(ring, &value))
        break;
      ASSERT_EQ(value, read++);
    }
  }
  uint64_t value = 0;
  while (pop(ring, &value))
    ASSERT_EQ(value, read++);
  EXPECT_EQ(read, written);
  EXPECT_GT(written, 100000u);
}

TEST(RingTest, AFullRingDropsAndCounts) {
  Ring ring;
  ASSERT_TRUE(ring.create(4096));
  uint64_t taken = 0;
  for (int i = 0; i < 1000; ++i)
    taken += push(ring, 4, taken) ? 1 : 0;
  EXPECT_EQ(taken, 4096u / 32);
  EXPECT_EQ(ring.drops().events, 1000 - taken);
  EXPECT_EQ(ring.drops().memory, 0u);
  EXPECT_EQ(ring.reserve(8, true), nullptr);
  EXPECT_EQ(ring.drops().memory, 1u);
  uint64_t value = 0;
  ASSERT_TRUE(pop(ring, &value));
  EXPECT_TRUE(push(ring, 4, taken));
  EXPECT_FALSE(push(ring, 4, taken));
}

TEST(RingTest, AHalfFullRingNudgesTheConsumer) {
  static int nudges;
  nudges = 0;
  Ring ring;
  ASSERT_TRUE(ring.create(4096));
  ring.setNudge([] { ++nudges; });
  uint64_t pushed = 0;
  uint64_t value = 0;
  for (int lap = 0; lap < 20; ++lap) {
    for (int i = 0; i < 60; ++i)
      ASSERT_TRUE(push(ring, 4, pushed++));
    while (pop(ring, &value)) {
    }
  }
  EXPECT_EQ(nudges, 0); // The ring was never more than half full.
  for (int i = 0; i < 64; ++i)
    ASSERT_TRUE(push(ring, 4, pushed++));
  EXPECT_EQ(nudges, 0);
  ASSERT_TRUE(push(ring, 4, pushed++));
  EXPECT_EQ(nudges, 1);
  for (int i = 0; i < 62; ++i)
    ASSERT_TRUE(push(ring, 4, pushed++));
  EXPECT_LE(nudges, 2); // The end of the buffer may cause a second nudge.
}

TEST(RingTest, AnEventAcrossTheMiddleNudgesTheConsumer) {
  static int nudges;
  nudges = 0;
  Ring ring;
  ASSERT_TRUE(ring.create(4096)); // 512 words; the middle is not a multiple of 3.
  ring.setNudge([] { ++nudges; });
  for (int i = 0; i < 85; ++i)
    ASSERT_TRUE(push(ring, 3, i));
  EXPECT_EQ(nudges, 0);
  ASSERT_TRUE(push(ring, 3, 85)); // Words 255 to 257.
  EXPECT_EQ(nudges, 1);
}

TEST(RingTest, TwoThreadsCountEveryLostEvent) {
  Ring ring;
  ASSERT_TRUE(ring.create(8192));
  constexpr uint64_t kEvents = 500000;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (uint64_t i = 0; i < kEvents; ++i)
      push(ring, 2 + i % 7, i);
    done = true;
  });
  uint64_t read = 0;
  uint64_t last = 0;
  for (;;) {
    const bool wasDone = done;
    uint64_t value = 0;
    if (pop(ring, &value)) {
      ASSERT_TRUE(read == 0 || value > last);
      last = value;
      ++read;
    } else if (wasDone) {
      break;
    }
  }
  producer.join();
  EXPECT_EQ(read + ring.drops().events, kEvents);
}

} // namespace
