// Tests exhausted host memory: every host allocation of the driver interface
// (engine/device/device.h) fails in turn while a test allocates and frees memory, reserves and
// commits a range, and records commands. The driver interface must return an error and leak
// nothing.
//
// This program replaces operator new. The tested functions must use the allocation functions that
// do not throw. While all allocations fail, a call of the throwing operator new fails the test.
#include "tests/conformance/drivers.h"

#include <cstdlib>
#include <new>

namespace {

/// The set of allocations that fail: none, only number failAt, or all from failAt on.
enum class Mode { kOff, kOnce, kFromThere };
thread_local Mode mode = Mode::kOff;
thread_local uint64_t failAt = 0;   // Counted from 1.
thread_local uint64_t asked = 0;    // Number of allocations that may fail.
thread_local uint64_t throwing = 0; // Number of allocations by the throwing operator new.
thread_local int64_t live = 0;      // Number of live blocks.

void *take(size_t size) {
  void *memory = std::malloc(size > 0 ? size : 1);
  live += memory != nullptr;
  return memory;
}

bool refuse() {
  if (mode == Mode::kOff)
    return false;
  ++asked;
  return mode == Mode::kOnce ? asked == failAt : asked >= failAt;
}

void *takeThrowing(size_t size) {
  throwing += mode != Mode::kOff;
  void *memory = take(size);
  if (!memory)
    std::abort();
  return memory;
}

void give(void *memory) {
  live -= memory != nullptr;
  std::free(memory);
}

} // namespace

void *operator new(size_t size) { return takeThrowing(size); }
void *operator new[](size_t size) { return takeThrowing(size); }
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return refuse() ? nullptr : take(size);
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return refuse() ? nullptr : take(size);
}
void operator delete(void *memory) noexcept { give(memory); }
void operator delete[](void *memory) noexcept { give(memory); }
void operator delete(void *memory, size_t) noexcept { give(memory); }
void operator delete[](void *memory, size_t) noexcept { give(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { give(memory); }
void operator delete[](void *memory, const std::nothrow_t &) noexcept { give(memory); }

namespace gantry::test {
namespace {

using device::MemoryKind;

/// Calls those functions of the driver interface that engine/heap calls, except submissions and
/// imports. The test covers the host allocations of the fake device and of the backend, not those
/// of the real driver.
Status exercise(device::Device &device) {
  device::AllocateOptions options;
  options.name = "host memory";
  GANTRY_ASSIGN_OR_RETURN(auto upload, device.allocate(MemoryKind::kUpload, 4096, options));
  GANTRY_ASSIGN_OR_RETURN(auto local, device.allocate(MemoryKind::kDevice, 4096));
  if (device.info().virtualMemory.supported) {
    const uint64_t step = device.info().virtualMemory.granularityBytes;
    GANTRY_ASSIGN_OR_RETURN(auto range, device.reserve(MemoryKind::kDevice, 64 * step));
    for (uint64_t i = 0; i < 20; ++i)
      GANTRY_RETURN_IF_ERROR(device.commit(*range, 2 * i * step, step));
    GANTRY_RETURN_IF_ERROR(device.decommit(*range, 0, step));
  }
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  GANTRY_RETURN_IF_ERROR(
      device.memoryBudgets(std::span(budgets).first(device.info().memoryHeaps.size())));
  GANTRY_ASSIGN_OR_RETURN(auto list, device.createCommandList());
  GANTRY_RETURN_IF_ERROR(list->begin({}));
  GANTRY_RETURN_IF_ERROR(list->copy({upload.get(), 0, 4096}, *local, 0));
  GANTRY_RETURN_IF_ERROR(list->barrier());
  GANTRY_RETURN_IF_ERROR(list->fill({local.get(), 0, 4}, 1));
  const uint8_t word[4] = {};
  GANTRY_RETURN_IF_ERROR(list->update({local.get(), 4, 4}, word));
  GANTRY_RETURN_IF_ERROR(list->end());
  return {};
}

/// Makes invalid calls. Their error messages need host memory, and a failed allocation of a message
/// must not end the process.
Status refusals(device::Device &device) {
  Status last = device.allocate(MemoryKind::kDevice, UINT64_MAX).status();
  last = device.wait(1000, 0).status();
  return last;
}

/// Opens the devices without validation layers, because the layers would allocate through the
/// replaced functions.
class HostMemoryConformance : public Conformance {
protected:
  void SetUp() override {
    auto opened = GetParam().openUnvalidated();
    if (!opened.isOk() && opened.status().code() == StatusCode::kNotFound)
      GTEST_SKIP() << GetParam().name << ": " << opened.status().message();
    ASSERT_TRUE(opened.isOk()) << opened.status().message();
    device_ = opened.take();
  }
};

TEST_P(HostMemoryConformance, EachHostAllocationFailsInTurn) {
  ASSERT_TRUE(exercise(*device_).isOk()); // Makes the allocations that happen only once.
  for (Mode how : {Mode::kOnce, Mode::kFromThere}) {
    uint64_t total = 0;
    for (uint64_t k = 1;; ++k) {
      const int64_t before = live;
      int64_t held = 0;
      StatusCode code = StatusCode::kOk;
      {
        failAt = k;
        asked = throwing = 0;
        mode = how;
        const Status status = exercise(*device_);
        code = status.code();
        mode = Mode::kOff;
        held = status.message().capacity() > std::string().capacity();
        EXPECT_EQ(live - before, held) << "allocation " << k << " of the host failed";
      }
      if (how == Mode::kFromThere && GetParam().takesHostMemoryWithoutExceptions) {
        EXPECT_EQ(throwing, 0u) << "allocation " << k;
      }
      total = asked;
      if (asked < k)
        break;
      EXPECT_EQ(code, StatusCode::kOutOfMemory) << "allocation " << k;
      ASSERT_LT(k, 10000u);
    }
    EXPECT_GT(total, 2u);
    std::printf("%llu host allocations\n", static_cast<unsigned long long>(total));
  }
  const int64_t before = live;
  for (uint64_t k = 1; k < 10; ++k) {
    failAt = k;
    asked = throwing = 0;
    mode = Mode::kFromThere;
    const bool refused = !refusals(*device_).isOk();
    mode = Mode::kOff;
    EXPECT_TRUE(refused);
    EXPECT_EQ(live, before);
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostMemoryConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
