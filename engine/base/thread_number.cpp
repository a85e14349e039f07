// Implements threadNumber() with a bitmap of the numbers that are taken.
#include "engine/base/thread_number.h"

#include "engine/base/thread_exit.h"

#include <array>
#include <atomic>
#include <bit>

namespace gantry {
namespace {

constexpr uint32_t kNumbers = 1024;
constexpr uint32_t kUnset = UINT32_MAX;

std::array<std::atomic<uint64_t>, kNumbers / 64> taken; // one bit per number
constinit thread_local uint32_t number = kUnset;

void giveBack(void *) {
  taken[number / 64].fetch_and(~(uint64_t{1} << number % 64), std::memory_order_relaxed);
  number = kUnset; // a destructor that runs later in this thread may ask for a number again
}

// Takes the lowest free number; kUnset if all are taken.
uint32_t takeLowest() {
  for (uint32_t word = 0; word < taken.size(); ++word) {
    uint64_t bits = taken[word].load(std::memory_order_relaxed);
    while (~bits != 0) {
      const auto bit = static_cast<uint32_t>(std::countr_one(bits));
      if (taken[word].compare_exchange_weak(bits, bits | uint64_t{1} << bit,
                                            std::memory_order_relaxed))
        return word * 64 + bit;
    }
  }
  return kUnset;
}

uint32_t chooseNumber() {
  static ThreadExit exit(giveBack);
  const uint32_t chosen = takeLowest();
  if (chosen == kUnset)
    return 0;
  number = chosen;
  if (!exit.arm(&number)) {
    giveBack(nullptr);
    return 0;
  }
  return chosen;
}

} // namespace

uint32_t threadNumber() { return number != kUnset ? number : chooseNumber(); }

} // namespace gantry
