// Tests the planning of slots: storages whose bytes are in use at different times, and that are
// therefore divided into pieces (engine/plan/slots.h).
#include "engine/plan/slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace gantry::plan {
namespace {

/// Returns a slot with parts of `partBytes` bytes. The commands `first`, `first` + 1, ... write one
/// part each, and the command `last` reads all of them.
Slot growing(uint32_t parts, uint64_t partBytes, uint32_t first, uint32_t last) {
  Slot slot{64, {}};
  for (uint32_t i = 0; i < parts; ++i)
    slot.uses.push_back({i * partBytes, partBytes, first + i, last});
  return slot;
}

Slot whole(uint64_t sizeBytes, uint32_t first, uint32_t last) {
  return {64, {{0, sizeBytes, first, last}}};
}

TEST(Slots, PiecesAreAliveFromTheFirstToTheLastUseOfTheirBytes) {
  const Slot slot{16, {{0, 20, 3, 4}, {20, 44, 5, 6}, {0, 64, 8, 9}}};
  const SlotPieces pieces = piecesOf({whole(8, 0, 1), slot});
  ASSERT_EQ(pieces.values.size(), 3u);
  EXPECT_EQ(pieces.slots, (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_EQ(pieces.offsets, (std::vector<uint64_t>{0, 0, 32}));
  EXPECT_EQ(pieces.values[1].sizeBytes, 32u) << "to the next multiple of the alignment";
  EXPECT_EQ(pieces.values[1].firstUse, 3u);
  EXPECT_EQ(pieces.values[1].lastUse, 9u);
  EXPECT_EQ(pieces.values[2].sizeBytes, 32u);
  EXPECT_EQ(pieces.values[2].firstUse, 5u);
  EXPECT_EQ(pieces.values[2].lastUse, 9u);
}

TEST(Slots, BytesWithoutUseAreFree) {
  const Slot slot{64, {{0, 64, 0, 9}, {128, 64, 0, 9}}};
  const SlotPieces pieces = piecesOf({slot});
  ASSERT_EQ(pieces.values.size(), 2u);
  EXPECT_EQ(pieces.offsets[1], 128u);
  const auto plan = planSlots({slot, whole(64, 3, 4)});
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->heightBytes, 192u);
  EXPECT_EQ(plan->offsets[1] - plan->offsets[0], 64u);
}

/// A dense block of a network: the first convolution's result is alive while only the first part of
/// the block's storage is.
TEST(Slots, AGrowingStorageLeavesRoomAtItsStart) {
  const std::vector<Slot> slots{whole(3072, 0, 1), growing(8, 512, 1, 9)};
  const auto plan = planSlots(slots);
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->heightBytes, 4096u);
  EXPECT_EQ(plan->lowerBoundBytes, 4096u);
  EXPECT_TRUE(validateSlots(slots, *plan).isOk());
  const auto rectangles = planArena({{3072, 64, 0, 1}, {4096, 64, 1, 9}});
  EXPECT_EQ(rectangles->heightBytes, 7168u);
}

/// The storages of a U-Net: the encoder writes the second half of each, from the largest to the
/// smallest, and the decoder the first half, in the opposite order.
TEST(Slots, StoragesOfAUNetAreNested) {
  std::vector<Slot> slots;
  constexpr uint32_t kLevels = 5;
  uint64_t bound = 0;
  for (uint32_t i = 0; i < kLevels; ++i) {
    const uint64_t half = 4096u >> i;
    const uint32_t up = 2 * kLevels - i;
    slots.push_back({64, {{half, half, i, up + 1}, {0, half, up, up + 1}}});
  }
  // While the decoder computes level i, the storages of the levels i and i + 1 are alive as a
  // whole, and of each larger storage only the encoder's half.
  for (uint32_t i = 0; i < kLevels; ++i) {
    uint64_t alive = 2 * (4096u >> i) + (i + 1 < kLevels ? 2 * (4096u >> (i + 1)) : 0);
    for (uint32_t above = 0; above < i; ++above)
      alive += 4096u >> above;
    bound = std::max(bound, alive);
  }
  const auto plan = planSlots(slots);
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->lowerBoundBytes, bound);
  EXPECT_EQ(plan->heightBytes, bound);
  EXPECT_TRUE(validateSlots(slots, *plan).isOk());
}

std::vector<Slot> randomSlots(std::mt19937_64 &random) {
  std::vector<Slot> slots;
  for (size_t count = 1 + random() % 12; count > 0; --count) {
    Slot slot{uint64_t{1} << random() % 5, {}};
    for (size_t uses = 1 + random() % 4; uses > 0; --uses) {
      const auto first = static_cast<uint32_t>(random() % 12);
      slot.uses.push_back(
          {random() % 100, random() % 100, first, first + static_cast<uint32_t>(random() % 4)});
    }
    slots.push_back(slot);
  }
  return slots;
}

/// Returns whether two slots use a byte at the same command. Follows the definition byte by byte.
bool usesOverlap(const std::vector<Slot> &slots, const Plan &plan) {
  for (uint32_t command = 0; command < 16; ++command) {
    std::vector<uint32_t> owner(8192, UINT32_MAX);
    for (uint32_t s = 0; s < slots.size(); ++s)
      for (const SlotUse &use : slots[s].uses)
        for (uint64_t b = 0; b < use.sizeBytes; ++b) {
          // The byte is in use between the first and the last of all uses that contain it.
          uint32_t first = UINT32_MAX, last = 0;
          for (const SlotUse &other : slots[s].uses)
            if (other.offset <= use.offset + b && use.offset + b < other.offset + other.sizeBytes) {
              first = std::min(first, other.firstUse);
              last = std::max(last, other.lastUse);
            }
          if (command < first || command > last)
            continue;
          uint32_t &at = owner.at(plan.offsets[s] + use.offset + b);
          if (at != UINT32_MAX && at != s)
            return true;
          at = s;
        }
  }
  return false;
}

TEST(Slots, RandomPlansAreValidAndNotAboveThoseOfRectangles) {
  std::mt19937_64 random(5);
  int lower = 0;
  for (int i = 0; i < 400; ++i) {
    const std::vector<Slot> slots = randomSlots(random);
    PlanRequest request;
    request.workLimit = 300'000;
    const auto plan = planSlots(slots, request);
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    const Status valid = validateSlots(slots, *plan);
    EXPECT_TRUE(valid.isOk()) << i << ": " << valid.message();
    EXPECT_FALSE(usesOverlap(slots, *plan)) << i;
    EXPECT_GE(plan->heightBytes, plan->lowerBoundBytes);
    std::vector<Value> rectangles;
    for (const Slot &slot : slots) {
      Value value{0, slot.alignment, UINT32_MAX, 0};
      for (const SlotUse &use : slot.uses) {
        value.sizeBytes = std::max(value.sizeBytes, use.offset + use.sizeBytes);
        value.firstUse = std::min(value.firstUse, use.firstUse);
        value.lastUse = std::max(value.lastUse, use.lastUse);
      }
      rectangles.push_back(value);
    }
    const auto asRectangles = planArena(rectangles, request);
    EXPECT_LE(plan->heightBytes, asRectangles->heightBytes) << i;
    lower += plan->heightBytes < asRectangles->heightBytes;
  }
  EXPECT_GT(lower, 200);
}

/// Returns the height if each slot, in this order, gets the lowest offset at which it is valid.
uint64_t heightInOrder(const std::vector<Slot> &slots, const std::vector<uint32_t> &order) {
  std::vector<Slot> placed;
  Plan plan;
  plan.heightBytes = 8192;
  uint64_t height = 0;
  for (const uint32_t slot : order) {
    placed.push_back(slots[slot]);
    plan.offsets.push_back(0);
    while (!validateSlots(placed, plan).isOk())
      plan.offsets.back() += slots[slot].alignment;
    for (const SlotUse &use : slots[slot].uses)
      height = std::max(height, plan.offsets.back() + use.offset + use.sizeBytes);
  }
  return height;
}

TEST(Slots, NoOrderOfGrowingStoragesIsLower) {
  std::mt19937_64 random(7);
  int atBound = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<Slot> slots;
    for (size_t count = 5; count > 0; --count) {
      const auto first = static_cast<uint32_t>(random() % 10);
      const auto parts = static_cast<uint32_t>(1 + random() % 4);
      slots.push_back(growing(parts, 64 * (1 + random() % 4), first,
                              first + parts + static_cast<uint32_t>(random() % 4)));
    }
    const auto plan = planSlots(slots);
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    atBound += plan->heightBytes == plan->lowerBoundBytes;
    std::vector<uint32_t> order(slots.size());
    std::iota(order.begin(), order.end(), 0);
    do
      ASSERT_LE(plan->heightBytes, heightInOrder(slots, order)) << i;
    while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(atBound, 50);
}

TEST(Slots, OverlapsAreRefused) {
  std::mt19937_64 random(6);
  int refused = 0, accepted = 0;
  for (int i = 0; i < 400; ++i) {
    const std::vector<Slot> slots = randomSlots(random);
    PlanRequest request;
    request.workLimit = 10'000;
    Plan plan = *planSlots(slots, request);
    const size_t moved = random() % slots.size();
    plan.offsets[moved] = random() % 128 * slots[moved].alignment;
    plan.heightBytes = 8192;
    const Status valid = validateSlots(slots, plan);
    const bool isValid = valid.isOk();
    EXPECT_EQ(isValid, !usesOverlap(slots, plan)) << i << ": " << valid.message();
    refused += !isValid;
    accepted += isValid;
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(accepted, 50);
  EXPECT_FALSE(validateSlots({whole(8, 0, 1)}, Plan{}).isOk()) << "an offset is missing";
  Plan at;
  at.offsets = {64};
  at.heightBytes = 72;
  EXPECT_TRUE(validateSlots({whole(8, 0, 1)}, at).isOk());
  EXPECT_FALSE(validateSlots({whole(9, 0, 1)}, at).isOk()) << "it ends above the height";
  EXPECT_FALSE(validateSlots({whole(UINT64_MAX - 8, 0, 1)}, at).isOk());
  EXPECT_FALSE(validateSlots({whole(8, 1, 0)}, at).isOk()) << "it ends before it begins";
  EXPECT_FALSE(validateSlots({{128, {{0, 8, 0, 1}}}}, at).isOk()) << "it is not aligned";
}

TEST(Slots, LargeSizesDoNotOverflow) {
  const uint64_t large = uint64_t{1} << 61;
  const std::vector<Slot> slots{growing(2, large, 0, 3), whole(large, 0, 0)};
  const auto plan = planSlots(slots);
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_TRUE(validateSlots(slots, *plan).isOk());
  EXPECT_FALSE(planSlots({whole(UINT64_MAX, 0, 1), whole(8, 0, 1)}).isOk());
}

} // namespace
} // namespace gantry::plan
