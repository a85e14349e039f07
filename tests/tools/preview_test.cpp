// Tests topIndices(), which finds the largest elements for the preview of a tensor. The program
// counts allocations, to test that the memory use does not depend on the tensor's size.
#include "tools/gantry/report/preview.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <new>
#include <random>

namespace {
std::atomic<size_t> allocatedBytes{0};
} // namespace

// These operators must not be inlined. GCC would otherwise warn of a mismatch: where it inlines
// operator delete only, it sees memory from operator new that std::free releases.
[[gnu::noinline]] void *operator new(size_t size) {
  allocatedBytes += size;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void *operator new(size_t size, const std::nothrow_t &) noexcept {
  allocatedBytes += size;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace {

using namespace gantry::tool;

Tensor vectorOf(const std::vector<float> &values) {
  Tensor tensor{GANTRY_TYPE_F32, {1, static_cast<int64_t>(values.size())}, {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

// The largest elements come first. Equal elements are ordered by index; NaN equals -infinity.
TEST(Preview, TheLargestComeFirstThenByIndexAndNaNLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(topIndices(vectorOf({1, 5, nan, 5, inf, -inf, 2}), 5),
            (std::vector<uint64_t>{4, 1, 3, 6, 0}));
  EXPECT_EQ(topIndices(vectorOf({nan, -inf, 1}), 5), (std::vector<uint64_t>{2, 0, 1}));
  EXPECT_EQ(topIndices(vectorOf({1, 2, 3}), 0), std::vector<uint64_t>());
}

TEST(Preview, AgreesWithSorting) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> values(1 + random() % 40);
    for (float &value : values)
      value = static_cast<float>(random() % 10);
    std::vector<uint64_t> order(values.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint64_t a, uint64_t b) { return values[a] > values[b]; });
    order.resize(std::min<size_t>(order.size(), 5));
    EXPECT_EQ(topIndices(vectorOf(values), 5), order);
  }
}

TEST(Preview, ALargeTensorTakesNoMemory) {
  std::vector<float> values(4'000'000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<float>(i % 1'000'003); // Ascending, so the largest elements change often.
  const Tensor tensor = vectorOf(values);
  const size_t before = allocatedBytes;
  const std::vector<uint64_t> top = topIndices(tensor, 5);
  EXPECT_LT(allocatedBytes - before, 4096u);
  ASSERT_EQ(top.size(), 5u);
  EXPECT_EQ(values[top[0]], 1'000'002.0f);
}

} // namespace
