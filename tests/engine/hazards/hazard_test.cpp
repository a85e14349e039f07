// Tests that placeBarriers puts a barrier before the commands that need one, and that checkHazards
// finds missing barriers.
#include "engine/hazards/hazards.h"

#include <gtest/gtest.h>

#include <random>

namespace gantry::hazards {
namespace {

Access reads(uint64_t offset, uint64_t size, uint32_t space = 0) {
  return {space, offset, size, false};
}
Access writes(uint64_t offset, uint64_t size, uint32_t space = 0) {
  return {space, offset, size, true};
}
Command command(std::vector<Access> accesses) { return {std::move(accesses), false}; }

/// Places barriers, checks them, and returns for each command whether a barrier precedes it.
std::vector<bool> barriers(std::vector<Command> commands) {
  placeBarriers(commands);
  const Status status = checkHazards(commands);
  EXPECT_TRUE(status.isOk()) << status.message();
  std::vector<bool> flags;
  for (const Command &c : commands)
    flags.push_back(c.barrierBefore);
  return flags;
}

using Flags = std::vector<bool>;

TEST(Hazards, ReadAfterWriteWriteAfterReadAndWriteAfterWriteNeedABarrier) {
  EXPECT_EQ(barriers({command({writes(0, 8)}), command({reads(4, 8)})}), (Flags{false, true}));
  EXPECT_EQ(barriers({command({reads(0, 8)}), command({writes(7, 1)})}), (Flags{false, true}));
  EXPECT_EQ(barriers({command({writes(0, 8)}), command({writes(0, 1)})}), (Flags{false, true}));
}

TEST(Hazards, IndependentCommandsNeedNoBarrier) {
  EXPECT_EQ(barriers({command({reads(0, 8)}), command({reads(0, 8)})}), (Flags{false, false}));
  EXPECT_EQ(barriers({command({writes(0, 8)}), command({writes(8, 8)})}), (Flags{false, false}));
  EXPECT_EQ(barriers({command({writes(0, 8)}), command({writes(0, 8, 1)})}), (Flags{false, false}));
  EXPECT_EQ(barriers({command({writes(0, 8)}), command({writes(4, 0)})}), (Flags{false, false}));
}

TEST(Hazards, OneCommandMayReadAndWriteInPlace) {
  EXPECT_EQ(barriers({command({reads(0, 8), writes(0, 8)})}), (Flags{false}));
}

TEST(Hazards, ABarrierCoversAllEarlierCommands) {
  EXPECT_EQ(barriers({command({writes(0, 8)}), command({writes(8, 8)}), command({reads(0, 8)}),
                      command({reads(8, 8)}), command({writes(0, 16)})}),
            (Flags{false, false, true, false, true}));
}

TEST(Hazards, RangesBeyondTheEndOfTheAddressSpaceDoNotOverflow) {
  EXPECT_EQ(barriers({command({writes(UINT64_MAX - 4, 100)}), command({reads(UINT64_MAX - 1, 1)})}),
            (Flags{false, true}));
}

TEST(Hazards, EarlierBarrierFlagsAreReplaced) {
  std::vector<Command> commands = {command({reads(0, 8)}), command({reads(0, 8)})};
  commands[1].barrierBefore = true;
  EXPECT_EQ(barriers(commands), (Flags{false, false}));
}

TEST(HazardChecker, ErrorNamesTheCommandsAndTheBytes) {
  const std::vector<Command> commands = {command({writes(100, 50, 3)}), command({reads(0, 8, 3)}),
                                         command({reads(120, 100, 3)})};
  const Status status = checkHazards(commands);
  ASSERT_FALSE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(),
            "no barrier between commands 0, which writes, and 2, which reads bytes "
            "120 to 149 of space 3");
}

std::vector<Command> randomCommands(std::mt19937_64 &random) {
  std::vector<Command> commands(1 + random() % 12);
  const uint64_t extent = 4 + random() % 100;
  for (Command &c : commands)
    for (uint64_t i = 0, count = random() % 4; i < count; ++i)
      c.accesses.push_back({static_cast<uint32_t>(random() % 2), random() % extent, random() % 12,
                            random() % 3 == 0});
  return commands;
}

bool conflicts(const Command &a, const Command &b) {
  for (const Access &x : a.accesses)
    for (const Access &y : b.accesses)
      if (x.space == y.space && (x.write || y.write) && x.sizeBytes != 0 && y.sizeBytes != 0 &&
          x.offset < y.offset + y.sizeBytes && y.offset < x.offset + x.sizeBytes)
        return true;
  return false;
}

TEST(Hazards, TheCheckerFindsEachRemovedBarrier) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  int removed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Command> commands = randomCommands(random);
    placeBarriers(commands);
    ASSERT_TRUE(checkHazards(commands).isOk()) << "round " << round << ", seed " << seed;
    for (Command &c : commands) {
      if (!c.barrierBefore)
        continue;
      c.barrierBefore = false;
      ASSERT_FALSE(checkHazards(commands).isOk()) << "round " << round << ", seed " << seed;
      c.barrierBefore = true;
      ++removed;
    }
  }
  EXPECT_GT(removed, 1000);
}

/// Sets the barriers at random and compares the checker with a comparison of all pairs of commands.
TEST(HazardChecker, AgreesWithAllPairs) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<Command> commands = randomCommands(random);
    for (Command &c : commands)
      c.barrierBefore = random() % 2 == 0;
    bool hazard = false;
    for (size_t a = 0; a < commands.size(); ++a)
      for (size_t b = a + 1; b < commands.size() && !commands[b].barrierBefore; ++b)
        hazard |= conflicts(commands[a], commands[b]);
    ASSERT_EQ(checkHazards(commands).isOk(), !hazard) << "round " << round << ", seed " << seed;
    refused += hazard;
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 4900);
}

} // namespace
} // namespace gantry::hazards
