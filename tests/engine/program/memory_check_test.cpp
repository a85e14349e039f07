// Tests checkGuard(). A guard is a range of known words after a value. checkGuard() looks for
// changes in a copy of a guard; a change shows that a kernel wrote past the end of the value.
#include "engine/program/memory_check.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gantry::program {
namespace {

/// Returns a copy of a guard that no kernel has written to.
std::vector<uint8_t> intact() {
  std::vector<uint8_t> copy(kGuardCopyBytes);
  for (size_t i = 0; i + 4 <= copy.size(); i += 4)
    std::memcpy(&copy[i], &kCanaryWord, 4);
  return copy;
}

TEST(CheckGuard, FindsAChangeOfEachByteAfterTheValue) {
  for (uint64_t size : {64u, 65u, 66u, 67u}) {
    std::vector<uint8_t> copy = intact();
    const uint64_t inside = size % 4; // Bytes of the value in the first word.
    for (uint64_t i = 0; i < inside; ++i)
      copy[i] ^= 0xFF;
    EXPECT_TRUE(checkGuard(copy.data(), size, "v").isOk()) << size;
    const uint64_t end = (size + 3) / 4 * 4 + kGuardBytes - size / 4 * 4;
    for (uint64_t i = inside; i < end; ++i) {
      std::vector<uint8_t> damaged = copy;
      damaged[i] ^= 1;
      const Status status = checkGuard(damaged.data(), size, "v");
      ASSERT_FALSE(status.isOk()) << size << " " << i;
      EXPECT_EQ(status.code(), StatusCode::kInternal);
      EXPECT_EQ(status.message(), "memory check: a kernel wrote past the end of 'v' (" +
                                      std::to_string(size) + " bytes), at byte " +
                                      std::to_string(size / 4 * 4 + i));
    }
  }
}

} // namespace
} // namespace gantry::program
