// Tests MemoryReserve with random blocks, whose contents show overlaps, and in several threads.
#include "engine/base/memory_reserve.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

namespace gantry {
namespace {

struct Region {
  alignas(MemoryReserve::kAlignment) char bytes[1 << 16];
};

TEST(MemoryReserve, BlocksAreAlignedDisjointAndGivenBack) {
  const auto region = std::make_unique<Region>();
  MemoryReserve reserve;
  EXPECT_EQ(reserve.allocate(1), nullptr) << "there is no region yet";
  ASSERT_TRUE(reserve.addRegion(region->bytes, sizeof(region->bytes)));
  std::mt19937 random(1);
  struct Block {
    unsigned char *bytes;
    size_t count;
    unsigned char fill;
  };
  std::vector<Block> blocks;
  for (int step = 0; step < 20000; ++step) {
    if (blocks.size() < 40 && random() % 2 == 0) {
      const size_t count = random() % 3 == 0 ? random() % 5000 : random() % 100;
      auto *bytes = static_cast<unsigned char *>(reserve.allocate(count));
      if (bytes == nullptr)
        continue;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % MemoryReserve::kAlignment, 0U);
      EXPECT_GE(reinterpret_cast<char *>(bytes), region->bytes);
      EXPECT_LE(reinterpret_cast<char *>(bytes) + count, region->bytes + sizeof(region->bytes));
      blocks.push_back({bytes, count, static_cast<unsigned char>(random())});
      std::memset(bytes, blocks.back().fill, count);
    } else if (!blocks.empty()) {
      const size_t at = random() % blocks.size();
      const Block block = blocks[at];
      for (size_t i = 0; i < block.count; ++i)
        ASSERT_EQ(block.bytes[i], block.fill) << "blocks overlap";
      ASSERT_TRUE(reserve.deallocate(block.bytes));
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  for (const Block &block : blocks)
    EXPECT_TRUE(reserve.deallocate(block.bytes));
  EXPECT_EQ(reserve.usedBytes(), 0U);
  EXPECT_NE(reserve.allocate(reserve.sizeBytes() - 64), nullptr) << "the region is not one block";
}

TEST(MemoryReserve, FreeBlocksAreCoalesced) {
  const auto region = std::make_unique<Region>();
  MemoryReserve reserve;
  ASSERT_TRUE(reserve.addRegion(region->bytes, sizeof(region->bytes)));
  // Keeps the reserve from becoming empty: an empty reserve is one free block again without
  // coalescing.
  void *keeper = reserve.allocate(16);
  std::vector<void *> blocks;
  while (void *block = reserve.allocate(100))
    blocks.push_back(block);
  EXPECT_GT(blocks.size(), 300U);
  for (void *block : blocks)
    EXPECT_TRUE(reserve.deallocate(block));
  void *large = reserve.allocate(60000);
  EXPECT_NE(large, nullptr);
  EXPECT_TRUE(reserve.deallocate(large));
  EXPECT_TRUE(reserve.deallocate(keeper));
}

TEST(MemoryReserve, RefusesForeignMemoryAndAllocatesFromAddedRegions) {
  const auto first = std::make_unique<Region>(), second = std::make_unique<Region>();
  MemoryReserve reserve;
  ASSERT_TRUE(reserve.addRegion(first->bytes, sizeof(first->bytes)));
  int other = 0;
  EXPECT_FALSE(reserve.deallocate(&other));
  void *block = reserve.allocate(60000);
  ASSERT_NE(block, nullptr);
  EXPECT_FALSE(reserve.deallocate(&other));
  EXPECT_EQ(reserve.allocate(60000), nullptr);
  EXPECT_EQ(reserve.allocate(SIZE_MAX), nullptr);
  ASSERT_TRUE(reserve.addRegion(second->bytes, sizeof(second->bytes)));
  void *another = reserve.allocate(60000);
  EXPECT_NE(another, nullptr);
  EXPECT_TRUE(reserve.deallocate(another));
  EXPECT_TRUE(reserve.deallocate(block));
}

TEST(MemoryReserve, ThreadsShareAReserve) {
  const auto region = std::make_unique<Region>();
  MemoryReserve reserve;
  ASSERT_TRUE(reserve.addRegion(region->bytes, sizeof(region->bytes)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&reserve] {
      for (int i = 0; i < 2000; ++i)
        if (void *block = reserve.allocate(200)) {
          EXPECT_TRUE(reserve.deallocate(block));
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(reserve.usedBytes(), 0U);
}

} // namespace
} // namespace gantry
