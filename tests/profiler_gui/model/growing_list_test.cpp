// Tests that GrowingList keeps its contents over every change of size.
#include "profiler_gui/model/capture/growing_list.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace gantry::profiler {
namespace {

void expectCounts(const GrowingList<uint64_t> &list, size_t size) {
  ASSERT_EQ(list.size(), size);
  for (size_t i = 0; i < size; ++i)
    ASSERT_EQ(list[i], i);
}

TEST(GrowingList, KeepsItsContentsFromSmallToLargeAndBack) {
  GrowingList<uint64_t> list;
  EXPECT_TRUE(list.empty());
  list.shrink();
  constexpr size_t kMany = 1'000'000; // 8 MB, which malloc maps separately.
  for (size_t i = 0; i < kMany; ++i)
    list.push_back(i);
  expectCounts(list, kMany);
  list.shrink();
  EXPECT_EQ(list.capacity(), kMany);
  expectCounts(list, kMany);
  list.push_back(kMany);
  expectCounts(list, kMany + 1);
  list.resize(kMany + 3);
  EXPECT_EQ(list.back(), 0u);
  list.resize(1000);
  list.shrink(); // Returns to a small allocation.
  EXPECT_EQ(list.capacity(), 1000u);
  expectCounts(list, 1000);
  list.clear();
  list.shrink();
  EXPECT_EQ(list.data(), nullptr);
}

TEST(GrowingList, CopiesAndMovesItsContents) {
  for (const size_t size : {size_t{0}, size_t{10}, size_t{300'000}}) {
    GrowingList<uint64_t> list;
    for (size_t i = 0; i < size; ++i)
      list.push_back(i);
    GrowingList<uint64_t> copy = list;
    expectCounts(copy, size);
    copy.push_back(size);
    expectCounts(list, size);
    const GrowingList<uint64_t> moved = std::move(copy);
    expectCounts(moved, size + 1);
    list = moved;
    expectCounts(list, size + 1);
  }
}

} // namespace
} // namespace gantry::profiler
