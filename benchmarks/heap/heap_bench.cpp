// heap_bench: measures what a buffer costs in time and in memory, through the public C API, and
// compares the time with mimalloc and glibc in the same run.
//
//   heap_bench [--json FILE] [--seed N] [--rounds N] [TRACE | FOLDER ...]
//
// A buffer is created by gantry_buffer_create_kind() and released by gantry_buffer_release(). If no
// trace or folder is given, traces are generated from the seed. The pattern "random2000" is always
// measured: 2,000 buffers of random sizes up to 64 KiB, released in a random order. Each round runs
// all allocators. A time is the CPU time of the thread in the fastest round. The footprint is the
// peak of the bytes that the runtime's heap, which owns the device's memory, holds from the driver
// (reserved), divided by the peak of the bytes of live buffers, in the first replay of the trace.
#include "benchmarks/heap/contestants.h"
#include "benchmarks/heap/trace.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <thread>

namespace gantry::bench {
namespace {

using Device = std::unique_ptr<gantry_device_t, decltype(&gantry_device_release)>;

Device openDevice() {
  gantry_device_t *device = nullptr;
  if (gantry_device_create(nullptr, &device) != GANTRY_STATUS_OK) {
    std::fprintf(stderr, "heap_bench: %s\n", gantry_last_error());
    std::exit(1);
  }
  return {device, gantry_device_release};
}

double cpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The names of buffers: 1,000 different ones, as in a large model.
const std::vector<std::string> &names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> made;
    for (int i = 0; i < 1000; ++i)
      made.push_back("encoder/layer." + std::to_string(i) + "/activations");
    return made;
  }();
  return kNames;
}

// Replays the trace and returns the ns per operation.
template <typename Contestant> double timed(const Trace &trace, Contestant &contestant) {
  const double start = cpuNs();
  replay(trace, contestant);
  const double ns = (cpuNs() - start) / static_cast<double>(trace.ops.size());
  contestant.finish();
  return ns;
}

/// Returns a trace that 20 times allocates 2,000 buffers of random sizes up to 64 KiB and frees
/// them in a random order.
Trace randomPattern(uint64_t seed) {
  std::mt19937_64 random(seed);
  Trace trace;
  trace.name = "random2000";
  trace.slots = 2000;
  std::vector<uint32_t> order(trace.slots);
  std::iota(order.begin(), order.end(), 0U);
  for (int round = 0; round < 20; ++round) {
    uint64_t live = 0;
    for (uint32_t slot = 0; slot < trace.slots; ++slot) {
      trace.ops.push_back({1 + random() % 65536, slot, 1});
      live += trace.ops.back().sizeBytes;
    }
    trace.peakLiveBytes = std::max(trace.peakLiveBytes, live);
    std::shuffle(order.begin(), order.end(), random);
    for (const uint32_t slot : order)
      trace.ops.push_back({0, slot, 1});
  }
  return trace;
}

// ---- time --------------------------------------------------------------------------------------

// The times of the fastest rounds, in ns per operation. `harness` is the cost of the replay itself.
// `oneName` is the time of buffers that all have the same name; `manyNames` is the time of buffers
// that have the names of names().
struct Times {
  double harness = 1e9;
  double glibc = 1e9;
  double mimalloc = 1e9;
  double oneName = 1e9;
  double manyNames = 1e9;
};

Times measureTimes(const Trace &trace, int rounds) {
  Times best;
  Nothing nothing(trace.slots);
  MiMalloc mi(trace.slots);
  Glibc glibc(trace.slots);
  const Device device = openDevice();
  Buffers oneName(trace.slots, device.get(), std::span(names()).first(1));
  Buffers manyNames(trace.slots, device.get(), names());
  for (int round = 0; round < rounds; ++round) {
    best.harness = std::min(best.harness, timed(trace, nothing));
    best.mimalloc = std::min(best.mimalloc, timed(trace, mi));
    // Whichever of `oneName` and `manyNames` runs second finds more data in the processor's caches,
    // so their order alternates.
    if (round % 2 == 0)
      best.manyNames = std::min(best.manyNames, timed(trace, manyNames));
    best.oneName = std::min(best.oneName, timed(trace, oneName));
    if (round % 2 != 0)
      best.manyNames = std::min(best.manyNames, timed(trace, manyNames));
    best.glibc = std::min(best.glibc, timed(trace, glibc));
  }
  return best;
}

// Replays the trace in several threads on one device. Returns the CPU time of all threads in ns,
// divided by the operations of all threads.
double timedThreads(const Trace &trace, size_t threads, gantry_device_t *device) {
  std::vector<double> ns(threads);
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> running;
  for (size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      Buffers buffers(trace.slots, device, names());
      start.arrive_and_wait();
      ns[t] = timed(trace, buffers);
    });
  }
  for (std::thread &thread : running)
    thread.join();
  return std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(threads);
}

// Times in ns per operation, with 1, 2 and 4 threads.
struct ThreadTimes {
  double one = 1e9;
  double two = 1e9;
  double four = 1e9;
};

ThreadTimes measureThreads(const Trace &trace, int rounds) {
  ThreadTimes best;
  const Device devices[] = {openDevice(), openDevice(), openDevice()};
  for (int round = 0; round < 2 * rounds; ++round) {
    best.one = std::min(best.one, timedThreads(trace, 1, devices[0].get()));
    best.two = std::min(best.two, timedThreads(trace, 2, devices[1].get()));
    best.four = std::min(best.four, timedThreads(trace, 4, devices[2].get()));
  }
  return best;
}

// ---- footprint ---------------------------------------------------------------------------------

struct Footprint {
  double reserved = 0;           // Peak reserved / peak live bytes in the first replay.
  uint64_t driverAllocations[3]; // Number of driver allocations in each of three replays.
};

Footprint measureFootprint(const Trace &trace) {
  Footprint result;
  const Device device = openDevice();
  Buffers buffers(trace.slots, device.get(), names());
  gantry_memory_statistics_t statistics = {};
  statistics.struct_size = sizeof statistics;
  uint64_t before = 0;
  for (uint64_t &allocations : result.driverAllocations) {
    replay(trace, buffers);
    (void)gantry_device_memory_statistics(device.get(), GANTRY_MEMORY_DEVICE, &statistics);
    if (before == 0)
      result.reserved = static_cast<double>(statistics.peak_reserved_bytes) /
                        static_cast<double>(trace.peakLiveBytes);
    buffers.finish();
    allocations = statistics.driver_allocations - before;
    before = statistics.driver_allocations;
  }
  return result;
}

// ---- the table ---------------------------------------------------------------------------------

void report(const std::vector<Trace> &traces, int rounds, nlohmann::json &json) {
  std::printf(
      "ns per operation with one thread; CPU time per operation with 2 and 4 threads, divided "
      "by that\nwith one; peak reserved / peak live bytes; driver allocations in three "
      "replays\n\n");
  std::printf("%-18s %7s %7s %8s %8s %7s %6s %6s %9s %20s\n", "trace", "harness", "glibc",
              "mimalloc", "1 name", "1000", "2 / 1", "4 / 1", "reserved", "driver allocations");
  double logSum = 0;
  for (const Trace &trace : traces) {
    const Times t = measureTimes(trace, rounds);
    const ThreadTimes threads = measureThreads(trace, rounds);
    const Footprint f = measureFootprint(trace);
    std::printf("%-18s %7.1f %7.1f %8.1f %8.1f %7.1f %6.2f %6.2f %9.3f %8llu %5llu %5llu\n",
                trace.name.c_str(), t.harness, t.glibc, t.mimalloc, t.oneName, t.manyNames,
                threads.two / threads.one, threads.four / threads.one, f.reserved,
                static_cast<unsigned long long>(f.driverAllocations[0]),
                static_cast<unsigned long long>(f.driverAllocations[1]),
                static_cast<unsigned long long>(f.driverAllocations[2]));
    std::fflush(stdout);
    logSum += std::log(t.oneName);
    json[trace.name] = {
        {"harness", t.harness},     {"glibc", t.glibc},
        {"mimalloc", t.mimalloc},   {"oneName", t.oneName},
        {"manyNames", t.manyNames}, {"threads", {threads.one, threads.two, threads.four}},
        {"reserved", f.reserved},   {"driverAllocations", f.driverAllocations}};
  }
  std::printf("geometric mean with one name: %.1f ns\n",
              std::exp(logSum / static_cast<double>(traces.size())));
}

} // namespace
} // namespace gantry::bench

int main(int argc, char **argv) {
  using namespace gantry;
  using namespace gantry::bench;
  uint64_t seed = 1;
  int rounds = 7;
  std::string json;
  std::vector<std::string> paths;
  CLI::App app("Measures what a buffer costs through the public C API, beside malloc and mimalloc");
  app.add_option("--json", json, "Also write the figures to this file");
  app.add_option("--seed", seed, "Seed of random2000 and of the generated traces");
  app.add_option("--rounds", rounds, "Repetitions; the smallest time of all counts")
      ->check(CLI::PositiveNumber);
  app.add_option("TRACE", paths,
                 "Traces, or folders with traces; without them, traces are generated");
  app.footer("Example: heap_bench --rounds 8 --json heap.json traces/");
  CLI11_PARSE(app, argc, argv);
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto &entry : std::filesystem::directory_iterator(path))
      if (entry.path().string().find(".trace") != std::string::npos)
        files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Trace> traces = {randomPattern(seed)};
  for (const std::string &file : files) {
    Result<Trace> trace = readTrace(file);
    if (!trace.isOk()) {
      std::fprintf(stderr, "heap_bench: %s\n", trace.status().message().c_str());
      return 1;
    }
    traces.push_back(trace.take());
  }
  if (files.empty()) {
    std::printf("no traces were given; they are generated from seed %llu\n",
                static_cast<unsigned long long>(seed));
    for (Trace &trace : generateTraces(seed))
      traces.push_back(std::move(trace));
  }
  nlohmann::json results;
  report(traces, rounds, results);
  if (!json.empty()) {
    std::ofstream out(json);
    out << results.dump(2) << '\n';
    if (!out) {
      std::fprintf(stderr, "heap_bench: cannot write %s\n", json.c_str());
      return 1;
    }
  }
  return 0;
}
