// heap_soak [--ops N]: runs N random allocations and releases (10^9 by default) on one heap, the
// manager of a device's memory (engine/heap), over a fake device. It measures the drift: the
// difference between the largest and the smallest resident memory of the process after the first
// tenth of the operations. Exits with 1 if the drift is 1 MiB or more, if an operation fails, or if
// an invariant of the heap is broken (tests/support/heap_validation.h).
#include "engine/heap/heap.h"
#include "tests/support/fake_device.h"
#include "tests/support/heap_validation.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <unistd.h>
#include <vector>

namespace {

// The resident memory of the process in bytes; 0 if the system does not report it.
long residentBytes() {
  long pages = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %ld", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

} // namespace

int main(int argc, char **argv) {
  using namespace gantry;
  uint64_t ops = 1000000000;
  CLI::App app("Runs random allocations and releases on one heap, and fails if the resident memory "
               "of the process drifts by 1 MiB or more after the first tenth");
  app.add_option("--ops", ops, "Number of operations")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  test::FakeConfig config;
  config.heaps[0].sizeBytes = uint64_t{1} << 40;
  auto made = heap::Heap::create(test::FakeDevice::create(config), {});
  if (!made.isOk()) {
    std::fprintf(stderr, "heap_soak: %s\n", made.status().message().c_str());
    return 1;
  }
  const heap::HeapPtr heap = made.take();
  std::vector<heap::BufferHandle> live(4096);
  uint64_t random = 88172645463325252U;
  long start = 0;
  long lowest = 0;
  long highest = 0;
  for (uint64_t done = 0; done < ops; ++done) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    heap::BufferHandle &buffer = live[random % live.size()];
    if (buffer) {
      if (heap->release(buffer) != heap::HeapCode::kOk)
        return 1;
      buffer = {};
    } else {
      heap::BufferRequest request;
      request.sizeBytes = 1 + (random >> 20) % (uint64_t{1} << (8 + (random >> 50) % 13));
      if (heap->allocate(request, &buffer) != heap::HeapCode::kOk)
        return 1;
    }
    if (done % (ops / 20 + 1) == 0 && done >= ops / 10) {
      const long now = residentBytes();
      start = start == 0 ? now : start;
      lowest = lowest == 0 || now < lowest ? now : lowest;
      highest = now > highest ? now : highest;
    }
  }
  const char *broken = validate(*heap);
  heap::HeapStatistics all;
  heap->statistics(&all);
  std::printf("%llu operations, %llu driver allocations, resident %.2f MiB, drift %.2f MiB%s%s\n",
              static_cast<unsigned long long>(ops),
              static_cast<unsigned long long>(all.driverAllocations),
              static_cast<double>(start) / 1048576, static_cast<double>(highest - lowest) / 1048576,
              broken == nullptr ? "" : ", ", broken == nullptr ? "" : broken);
  return broken == nullptr && highest - lowest < 1048576 ? 0 : 1;
}
