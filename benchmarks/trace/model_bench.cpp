// trace_model_bench: measures the cost of tracing for a running model.
//
//   trace_model_bench [--pairs N] [--dim NAME=N …] ARTIFACT …
//
// Row "attached": a viewer in a process of its own is attached to this process's socket
// (engine/trace/live/server.h), so events are recorded and sent, and GPU timestamps are taken.
// Blocks of runs with and without the viewer alternate in pairs, and the order alternates from pair
// to pair. The figure is the additional CPU time of this process in percent (on a software device
// this includes the kernels): the mean over the pairs and its one-sided 95 % upper bound (Student's
// t). The row "noise" is the same figure for two blocks without a viewer.
//
// The kernels of a software device take most of the CPU time, and their time varies by 10 %, which
// hides the cost of tracing. A second figure therefore leaves out the busiest thread. If the driver
// has one thread for kernels (LP_NUM_THREADS=1 for lavapipe), it is the busiest one. The second
// figure is the additional CPU time of all other threads, divided by the CPU time of a run. It
// includes the driver's cost of timestamps and the thread that serves the viewer.
//
// Row "detached": an upper bound for the cost of the recording calls while neither a viewer nor a
// file (a sink) receives the events. This cost is too small to measure directly. The bound is the
// number of events of a run (counted in a recording), times the cost of a call without a sink
// (measured in this process, less an empty loop), divided by the CPU time of a run.
//
// Exit code 1, with a line on stderr, if something failed; 2 without an ARTIFACT.
#include "benchmarks/kernels/measure.h"
#include "benchmarks/models/model_run.h"
#include "engine/trace/wire/capture.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <fstream>
#include <map>
#include <thread>
#include <unistd.h>

namespace gantry::bench {
namespace {

constexpr std::chrono::milliseconds kPollInterval{2};
constexpr std::chrono::milliseconds kSettle{50}; // Pause before each block.
constexpr uint32_t kSettlingRuns = 2;            // Runs before each block that are not measured.
constexpr uint32_t kMinRuns = 100;               // Min number of runs in a block.
constexpr double kBlockSeconds = 1.5;            // Approximate min time of a block.

struct Options {
  std::vector<std::string> artifacts, dimTexts;
  std::string viewer; // If not "", this process is the viewer of the process with this id.
  uint32_t pairs = 24;
};

/// Attaches to the process with the given id and receives its events until one of the processes
/// ends. Returns the exit code.
int runViewer(const std::string &process) {
  const auto endpoints = trace::findEndpoints();
  if (!endpoints.isOk())
    return 1;
  for (const trace::Endpoint &endpoint : *endpoints) {
    if (std::to_string(endpoint.processId) != process)
      continue;
    const auto reader = trace::CaptureReader::connect(endpoint.address);
    if (!reader.isOk())
      return 1;
    for (;;) {
      const auto batch = (*reader)->read();
      if (!batch.isOk() || batch->end)
        return 0;
    }
  }
  return 1;
}

/// A viewer process that is attached to this process during the object's life. The constructor
/// waits until it has attached, the destructor until recording has stopped.
class Viewer {
public:
  Viewer() {
    const std::string process = std::to_string(getpid());
    const char *arguments[] = {"viewer", "--viewer", process.c_str(), nullptr};
    if (posix_spawn(&child_, "/proc/self/exe", nullptr, nullptr,
                    const_cast<char *const *>(arguments), environ) != 0)
      throw GpuError("the viewer process could not be started");
    while (gantry_trace_viewers() == 0) {
      if (waitpid(child_, nullptr, WNOHANG) == child_)
        throw GpuError("the viewer could not attach; is GANTRY_ATTACH=0 set?");
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  ~Viewer() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    while (gantry_trace_is_on() != 0)
      std::this_thread::sleep_for(kPollInterval);
  }
  Viewer(const Viewer &) = delete;
  Viewer &operator=(const Viewer &) = delete;

private:
  pid_t child_ = 0;
};

struct Estimate {
  double mean = 0;
  double upper = 0; // One-sided 95 % upper bound.
};

Estimate estimate(const std::vector<double> &values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values)
    mean += value / count;
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  // The 95 % quantile of the normal distribution; Fisher's series converts it to Student's.
  constexpr double kNormal = 1.6449;
  const double t = kNormal + (kNormal * kNormal * kNormal + kNormal) / (4 * (count - 1));
  return {mean, mean + t * std::sqrt(squares / (count - 1) / count)};
}

/// Records some runs to a file and returns the number of events per run, including events of the
/// heap.
double eventsPerRun(ModelRun &model) {
  const std::string path = "/tmp/gantry-bench-" + std::to_string(getpid()) + ".gtrace";
  if (gantry_trace_start_file(path.c_str()) != GANTRY_STATUS_OK)
    throw GpuError(gantry_last_error());
  (void)model.seconds();
  if (gantry_trace_stop_file() != GANTRY_STATUS_OK)
    throw GpuError(gantry_last_error());
  const auto reader = trace::CaptureReader::openFile(path);
  unlink(path.c_str());
  if (!reader.isOk())
    throw GpuError(reader.status().message());
  double events = 0;
  double runs = 0;
  for (bool end = false; !end;) {
    const auto batch = (*reader)->read();
    if (!batch.isOk())
      throw GpuError(batch.status().message());
    for (const trace::Event &event : batch->events) {
      runs += event.type() == trace::EventType::kRun ? 1 : 0;
      events += runs > 0 ? 1 : 0;
    }
    end = batch->end;
  }
  return events / runs;
}

/// Returns the nanoseconds of a recording call while no sink receives the events, less the time of
/// an empty loop; the median of many rounds.
double detachedCallNs() {
  constexpr int kCalls = 20000;
  constexpr int kRounds = 101;
  std::vector<double> costs;
  for (int round = 0; round < kRounds; ++round) {
    double start = cpuSeconds();
    for (int i = 0; i < kCalls; ++i)
      __asm__ volatile("" ::: "memory");
    const double empty = cpuSeconds() - start;
    start = cpuSeconds();
    for (int i = 0; i < kCalls; ++i) {
      gantry_trace_mark(0, i);
      __asm__ volatile("" ::: "memory");
    }
    costs.push_back((cpuSeconds() - start - empty) * 1e9 / kCalls);
  }
  return medianOf(costs);
}

/// Returns the CPU seconds of each thread of this process.
std::map<std::string, double> threadSeconds() {
  std::map<std::string, double> seconds;
  for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task")) {
    double ns = 0;
    std::ifstream(thread.path() / "schedstat") >> ns;
    seconds[thread.path().filename().string()] = ns * 1e-9;
  }
  return seconds;
}

/// CPU time of one run, averaged over a block of runs.
struct Block {
  double seconds = 0; // CPU time of all threads.
  double others = 0;  // CPU time of all threads except the busiest.
};

Block blockOf(ModelRun &model, uint32_t runs) {
  std::map<std::string, double> before = threadSeconds();
  Block block;
  block.seconds = model.secondsOf(runs);
  double all = 0;
  double busiest = 0;
  for (const auto &[thread, seconds] : threadSeconds()) {
    all += seconds - before[thread];
    busiest = std::max(busiest, seconds - before[thread]);
  }
  block.others = (all - busiest) / runs;
  return block;
}

void measure(Runtime &runtime, const std::string &artifact, const Options &options) {
  ModelRun model(runtime, artifact, parseDims(options.dimTexts));
  // On a software device only some runs have timestamps (engine/program/session_trace.h). A block
  // is long enough to include such runs.
  const auto runs = std::max<uint32_t>(
      kMinRuns, static_cast<uint32_t>(kBlockSeconds / std::max(model.seconds(), 1e-6)));
  std::vector<double> attached, attachedOthers, noise, noiseOthers, seconds;
  for (uint32_t pair = 0; pair < options.pairs; ++pair) {
    // A pause and two runs precede each block. After them the caches are warm and the viewer has
    // received the initial state, so the figure does not include the cost of attaching.
    auto settled = [&] {
      std::this_thread::sleep_for(kSettle);
      (void)model.secondsOf(kSettlingRuns);
      return blockOf(model, runs);
    };
    auto watched = [&] {
      const Viewer viewer;
      return settled();
    };
    const bool first = pair % 2 == 0;
    const Block before = first ? watched() : settled();
    const Block after = first ? settled() : watched();
    const Block &with = first ? before : after;
    const Block &without = first ? after : before;
    const Block again = settled();
    attached.push_back(with.seconds / without.seconds - 1);
    attachedOthers.push_back((with.others - without.others) / without.seconds);
    noise.push_back(again.seconds / without.seconds - 1);
    noiseOthers.push_back((again.others - without.others) / without.seconds);
    seconds.push_back(without.seconds);
  }
  const double events = eventsPerRun(model);
  const double call = detachedCallNs();
  const double run = medianOf(seconds);
  std::printf("%-20s %9.3f ms a run\n", std::filesystem::path(artifact).stem().c_str(), run * 1e3);
  const auto row = [](const char *what, const Estimate &all, const Estimate &others) {
    std::printf("  %-9s %+7.2f %% (at most %+6.2f %%)   without the kernels' thread %+6.2f %% (at "
                "most %+6.2f %%)\n",
                what, all.mean * 100, all.upper * 100, others.mean * 100, others.upper * 100);
  };
  row("attached", estimate(attached), estimate(attachedOthers));
  row("noise", estimate(noise), estimate(noiseOthers));
  std::printf("  detached  %7.4f %%: %.0f events at %.2f ns\n", events * call * 1e-9 / run * 100,
              events, call);
  std::fflush(stdout);
}

} // namespace
} // namespace gantry::bench

int main(int argc, char **argv) {
  using namespace gantry::bench;
  Options options;
  CLI::App app("The cost of tracing for a running model");
  app.add_option("ARTIFACT", options.artifacts, "compiled models (.gantry)");
  app.add_option("--dim", options.dimTexts, "the size of a dynamic dimension")->type_name("NAME=N");
  app.add_option("--pairs", options.pairs, "pairs of blocks, with and without a viewer (24)")
      ->check(CLI::Range(20, 1000));
  app.add_option("--viewer", options.viewer)->group(""); // Used by the program itself.
  CLI11_PARSE(app, argc, argv);
  if (!options.viewer.empty())
    return runViewer(options.viewer);
  int failed = options.artifacts.empty() ? 2 : 0;
  try {
    Runtime runtime("");
    std::printf("CPU time of a run; pairs: %u\n", options.pairs);
    for (const std::string &artifact : options.artifacts)
      measure(runtime, artifact, options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    failed = 1;
  }
  return failed;
}
