// Compares IndexSet with std::set.
#include "engine/base/index_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace gantry {
namespace {

TEST(IndexSet, AgreesWithASortedSet) {
  IndexSet set(HostAllocator{});
  std::set<uint32_t> model;
  std::mt19937 random(1);
  constexpr uint32_t kLimit = 700000; // Each of the set's three levels then has several words.
  ASSERT_TRUE(set.reserve(kLimit));
  EXPECT_EQ(set.take(0), IndexSet::kNone);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t index = i % 3 == 0 ? random() % kLimit : random() % 300;
    if (random() % 2 == 0) {
      if (model.insert(index).second)
        set.add(index);
    } else {
      const auto found = model.lower_bound(index);
      const uint32_t expected =
          model.empty() ? IndexSet::kNone : (found == model.end() ? *model.begin() : *found);
      ASSERT_EQ(set.take(index), expected);
      model.erase(expected);
    }
    ASSERT_EQ(set.has(index), model.count(index) != 0);
    ASSERT_EQ(set.size(), model.size());
  }
}

} // namespace
} // namespace gantry
