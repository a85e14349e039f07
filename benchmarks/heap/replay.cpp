// heap_bench: what a buffer costs, in time and in memory, beside mimalloc and glibc in the same
// run.
//
//   heap_bench [--json FILE] [--seed N] [--rounds N] [TRACE ... | FOLDER]
//
// Without a trace or a folder of them, traces are generated from the seed. Times are CPU time of
// the thread, the smallest of the rounds, contestants in turn within each; the fake driver stands
// below the heap, so no GPU is needed. Footprints are peak reserved / peak live, live as asked for.
#include "benchmarks/heap/contestants.h"
#include "benchmarks/heap/trace.h"
#include "engine/heap/step_plan.h"
#include "tests/support/fake_device.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <fstream>
#include <numeric>
#include <span>
#include <thread>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gantry::bench {
namespace {

double cpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

uint64_t ticks() {
#if defined(__x86_64__)
  unsigned core = 0;
  return __rdtscp(&core);
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
#endif
}

double nsPerTick() {
  timespec a{};
  timespec b{};
  clock_gettime(CLOCK_MONOTONIC, &a);
  const uint64_t from = ticks();
  do
    clock_gettime(CLOCK_MONOTONIC, &b);
  while ((b.tv_sec - a.tv_sec) * 1e9 + static_cast<double>(b.tv_nsec - a.tv_nsec) < 5e7);
  return ((b.tv_sec - a.tv_sec) * 1e9 + static_cast<double>(b.tv_nsec - a.tv_nsec)) /
         static_cast<double>(ticks() - from);
}

std::shared_ptr<test::FakeDevice> bigDevice() {
  test::FakeConfig config;
  config.heaps[0].sizeBytes = uint64_t{1} << 40;
  return test::FakeDevice::create(config);
}

heap::HeapPtr makeHeap(const heap::HeapOptions &options = {}) {
  auto made = heap::Heap::create(bigDevice(), options);
  if (!made.isOk()) {
    std::fprintf(stderr, "heap_bench: %s\n", made.status().message().c_str());
    std::exit(1);
  }
  return made.take();
}

template <typename Contestant> double timed(const Trace &trace, Contestant &contestant) {
  const double start = cpuNs();
  replay(trace, contestant);
  const double ns = (cpuNs() - start) / static_cast<double>(trace.ops.size());
  contestant.finish();
  return ns;
}

// ---- time --------------------------------------------------------------------------------------

struct Times {
  double floor = 1e9;
  double mi = 1e9;
  double glibc = 1e9;
  double bare = 1e9;
  double heap = 1e9;
};

Times measureTimes(const Trace &trace, int rounds) {
  Times best;
  Nothing nothing(trace.slots);
  MiMalloc mi(trace.slots);
  Glibc glibc(trace.slots);
  Bare bare(trace.slots);
  const heap::HeapPtr heap = makeHeap();
  Refcounted refcounted(trace.slots, *heap);
  for (int round = 0; round < rounds; ++round) {
    best.floor = std::min(best.floor, timed(trace, nothing));
    best.mi = std::min(best.mi, timed(trace, mi));
    best.bare = std::min(best.bare, timed(trace, bare));
    best.heap = std::min(best.heap, timed(trace, refcounted));
    best.glibc = std::min(best.glibc, timed(trace, glibc));
  }
  return best;
}

template <typename Contestant>
double tail(const Trace &trace, Contestant &contestant, double nsTick) {
  std::vector<uint32_t> samples;
  samples.reserve(trace.ops.size());
  for (const TraceOp &op : trace.ops) {
    const uint64_t start = ticks();
    if (op.sizeBytes != 0)
      contestant.allocate(op.slot, op.sizeBytes, op.alignment);
    else
      contestant.free(op.slot);
    samples.push_back(static_cast<uint32_t>(std::min<uint64_t>(ticks() - start, UINT32_MAX)));
  }
  contestant.finish();
  const size_t at = samples.size() - 1 - samples.size() / 1000;
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at),
                   samples.end());
  return samples[at] * nsTick;
}

struct Tails {
  double empty = 1e9;
  double cold = 1e9; // from an empty heap on, with every driver call
  double warm = 1e9; // the second time
  double mi = 1e9;
};

Tails measureTails(const Trace &trace, int rounds, double nsTick) {
  Tails best;
  Nothing nothing(trace.slots);
  MiMalloc mi(trace.slots);
  for (int round = 0; round < rounds; ++round) {
    const heap::HeapPtr heap = makeHeap(); // from the first slab on, every time
    Refcounted refcounted(trace.slots, *heap);
    best.empty = std::min(best.empty, tail(trace, nothing, nsTick));
    best.cold = std::min(best.cold, tail(trace, refcounted, nsTick));
    best.warm = std::min(best.warm, tail(trace, refcounted, nsTick));
    best.mi = std::min(best.mi, tail(trace, mi, nsTick));
  }
  return best;
}

// Each of n threads replays the trace, all on one heap or each on its own; CPU time of all /
// operations of all.
double timedThreads(const Trace &trace, int threads, std::span<const heap::HeapPtr> heaps) {
  std::vector<double> ns(static_cast<size_t>(threads));
  std::barrier start(threads);
  std::vector<std::thread> running;
  for (size_t t = 0; t < ns.size(); ++t) {
    running.emplace_back([&, t] {
      Refcounted refcounted(trace.slots, *heaps[t % heaps.size()]);
      start.arrive_and_wait();
      ns[t] = timed(trace, refcounted);
    });
  }
  for (std::thread &thread : running)
    thread.join();
  return std::accumulate(ns.begin(), ns.end(), 0.0) / threads;
}

struct ThreadTimes {
  double one = 1e9;
  double two = 1e9;
  double four = 1e9;
  double apart = 1e9; // four threads, each on a heap of its own
};

// More rounds than elsewhere: a heap that four threads fill has met their worst coincidence late.
ThreadTimes measureThreads(const Trace &trace, int rounds) {
  ThreadTimes best;
  std::array<heap::HeapPtr, 7> heaps;
  for (heap::HeapPtr &heap : heaps)
    heap = makeHeap();
  const std::span<const heap::HeapPtr> all = heaps;
  for (int round = 0; round < 4 * rounds; ++round) {
    best.one = std::min(best.one, timedThreads(trace, 1, all.subspan(0, 1)));
    best.two = std::min(best.two, timedThreads(trace, 2, all.subspan(1, 1)));
    best.four = std::min(best.four, timedThreads(trace, 4, all.subspan(2, 1)));
    best.apart = std::min(best.apart, timedThreads(trace, 4, all.subspan(3, 4)));
  }
  return best;
}

// ---- footprint ---------------------------------------------------------------------------------

struct Footprint {
  double online = 0;
  double compacted = 0; // with a compaction of at most 16 MiB every 256 operations
  double atEnd = 0;     // after compaction
  double planned = 0;   // second run of a recorded step
  uint64_t second = 0;  // driver allocations in a second replay on the warm heap
  uint64_t third = 0;   // and in a third
};

double peakOverLive(const heap::Heap &heap, const Trace &trace) {
  heap::HeapStatistics all;
  heap.statistics(&all);
  return static_cast<double>(all.kinds[0].peakReservedBytes) /
         static_cast<double>(trace.peakLiveBytes);
}

// The whole trace is one step, what is left over freed at its end: recorded once, then planned.
double plannedOverLive(const Trace &trace) {
  const heap::HeapPtr heap = makeHeap();
  heap::StepPlan plan(*heap, heap::MemoryKind::kDevice);
  std::vector<heap::StepAllocation> slots(trace.slots);
  std::vector<bool> alive(trace.slots);
  const auto step = [&] {
    bool fine = plan.begin() == heap::HeapCode::kOk;
    for (const TraceOp &op : trace.ops) {
      if (op.sizeBytes != 0)
        fine = fine &&
               plan.allocate(op.sizeBytes, op.alignment, &slots[op.slot]) == heap::HeapCode::kOk;
      else
        fine = fine && plan.free(slots[op.slot]) == heap::HeapCode::kOk;
      alive[op.slot] = op.sizeBytes != 0;
    }
    for (uint32_t i = 0; i < trace.slots; ++i)
      if (alive[i])
        fine = fine && plan.free(slots[i]) == heap::HeapCode::kOk;
    return fine && plan.end() == heap::HeapCode::kOk;
  };
  if (!step() || !step() || plan.statistics().deviations != 0)
    return 0;
  return static_cast<double>(plan.statistics().arenaBytes) /
         static_cast<double>(trace.peakLiveBytes);
}

Footprint measureFootprint(const Trace &trace) {
  Footprint result;
  {
    const heap::HeapPtr heap = makeHeap();
    Refcounted refcounted(trace.slots, *heap);
    replay(trace, refcounted);
    result.online = peakOverLive(*heap, trace);
    refcounted.finish();
    heap::HeapStatistics before;
    heap->statistics(&before);
    for (uint64_t *late : {&result.second, &result.third}) {
      replay(trace, refcounted);
      refcounted.finish();
      heap::HeapStatistics after;
      heap->statistics(&after);
      *late = after.driverAllocations - before.driverAllocations;
      before = after;
    }
  }
  {
    const heap::HeapPtr heap = makeHeap();
    Refcounted refcounted(trace.slots, *heap);
    refcounted.movable = true;
    size_t count = 0;
    for (const TraceOp &op : trace.ops) {
      if (op.sizeBytes != 0)
        refcounted.allocate(op.slot, op.sizeBytes, op.alignment);
      else
        refcounted.free(op.slot);
      if (++count % 256 == 0)
        (void)heap->compact(16 << 20);
    }
    result.compacted = peakOverLive(*heap, trace);
    heap::CompactResult moved;
    do {
      if (heap->compact(64 << 20, &moved) != heap::HeapCode::kOk)
        break;
    } while (moved.more);
    (void)heap->trim();
    heap::HeapStatistics all;
    heap->statistics(&all);
    if (all.kinds[0].liveBytes != 0)
      result.atEnd = static_cast<double>(all.kinds[0].reservedBytes) /
                     static_cast<double>(all.kinds[0].liveBytes);
  }
  result.planned = plannedOverLive(trace);
  return result;
}

} // namespace
} // namespace gantry::bench

int main(int argc, char **argv) {
  using namespace gantry;
  using namespace gantry::bench;
  uint64_t seed = 1;
  int rounds = 7;
  std::string json;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else if (argument == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else if (argument.starts_with("--")) {
      std::fprintf(stderr, "heap_bench: '%s': --json FILE, --seed N, --rounds N, traces\n",
                   argv[i]);
      return 2;
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto &entry : std::filesystem::directory_iterator(argument))
        if (entry.path().string().find(".trace") != std::string::npos)
          files.push_back(entry.path().string());
    } else {
      files.push_back(argument);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Trace> traces;
  for (const std::string &file : files) {
    Result<Trace> trace = readTrace(file);
    if (!trace.isOk()) {
      std::fprintf(stderr, "heap_bench: %s\n", trace.status().message().c_str());
      return 1;
    }
    traces.push_back(trace.take());
  }
  if (traces.empty()) {
    std::printf("no recorded traces: generated ones, seed %llu\n",
                static_cast<unsigned long long>(seed));
    traces = generateTraces(seed);
  }
  nlohmann::json report;

  for (const uint64_t limit : {uint64_t{65536}, UINT64_MAX}) {
    std::printf("\nns per operation, one thread, %s (heap: reference-counted buffers)\n",
                limit == UINT64_MAX ? "all sizes" : "sizes up to 64 KiB");
    std::printf("%-18s %8s %8s %8s %8s %8s %9s %9s\n", "trace", "harness", "glibc", "mimalloc",
                "bare", "heap", "heap/mi", "heap/bare");
    double logSum = 0;
    for (const Trace &whole : traces) {
      const Trace trace = upTo(whole, limit);
      const Times t = measureTimes(trace, rounds);
      std::printf("%-18s %8.1f %8.1f %8.1f %8.1f %8.1f %9.2f %9.2f\n", trace.name.c_str(), t.floor,
                  t.glibc, t.mi, t.bare, t.heap, t.heap / t.mi, t.heap / t.bare);
      logSum += std::log(t.heap);
      report[limit == UINT64_MAX ? "all" : "small"][trace.name] = {
          {"glibc", t.glibc}, {"mimalloc", t.mi}, {"bare", t.bare}, {"heap", t.heap}};
    }
    std::printf("geometric mean of heap: %.1f ns\n",
                std::exp(logSum / static_cast<double>(traces.size())));
  }

  const double nsTick = nsPerTick();
  std::printf("\np99.9 of single calls, ns (cold: from an empty heap on; warm: the second time)\n"
              "%-18s %8s %8s %8s %8s %12s\n",
              "trace", "empty", "mimalloc", "cold", "warm", "warm - empty");
  for (const Trace &trace : traces) {
    const Tails t = measureTails(trace, rounds, nsTick);
    std::printf("%-18s %8.0f %8.0f %8.0f %8.0f %12.0f\n", trace.name.c_str(), t.empty, t.mi, t.cold,
                t.warm, t.warm - t.empty);
    report["p999"][trace.name] = {
        {"empty", t.empty}, {"mimalloc", t.mi}, {"cold", t.cold}, {"warm", t.warm}};
  }

  std::printf(
      "\nthreads, CPU ns per operation, every thread replays the trace on one heap; last on four\n"
      "heaps, which share nothing but the machine\n"
      "%-18s %8s %8s %8s %8s %12s\n",
      "trace", "1", "2", "4", "4 / 1", "4 heaps / 1");
  for (const Trace &trace : traces) {
    const ThreadTimes t = measureThreads(trace, rounds);
    std::printf("%-18s %8.1f %8.1f %8.1f %8.2f %12.2f\n", trace.name.c_str(), t.one, t.two, t.four,
                t.four / t.one, t.apart / t.one);
    report["threads"][trace.name] = {t.one, t.two, t.four, t.apart};
  }

  std::printf("\npeak reserved / peak live\n%-18s %8s %10s %8s %8s   late allocations: %s\n",
              "trace", "online", "compacted", "at end", "planned", "second replay, third");
  for (const Trace &trace : traces) {
    const Footprint f = measureFootprint(trace);
    std::printf("%-18s %8.3f %10.3f %8.3f %8.3f %20llu %6llu\n", trace.name.c_str(), f.online,
                f.compacted, f.atEnd, f.planned, static_cast<unsigned long long>(f.second),
                static_cast<unsigned long long>(f.third));
    report["footprint"][trace.name] = {{"online", f.online},
                                       {"compacted", f.compacted},
                                       {"atEnd", f.atEnd},
                                       {"planned", f.planned},
                                       {"lateAllocations", {f.second, f.third}}};
  }
  if (!json.empty()) {
    std::ofstream out(json);
    out << report.dump(2) << '\n';
    if (!out) {
      std::fprintf(stderr, "heap_bench: cannot write %s\n", json.c_str());
      return 1;
    }
  }
  return 0;
}
