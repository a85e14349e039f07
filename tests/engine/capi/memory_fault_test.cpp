// Makes the allocations of libgantry.so fail in turn, with the preloaded library failing_malloc.c.
// Every function must return a status, the process must not die, no block may leak, and every
// function must work again when memory is available.
//
//   memory_fault_test            runs all tests.
//   memory_fault_test --measure  prints the number of allocations and their bytes without failures.
#include "tests/engine/capi/fault_files.h"
#include "tests/support/death_site.h"
#include "tests/support/failing_malloc.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace {

using namespace gantry::test;

/// The functions of the preloaded library.
struct Injector {
  int (*watch)(const char *) = nullptr;
  void (*start)(FailingMallocPlan) = nullptr;
  void (*stop)() = nullptr;
  FailingMallocCounts (*counts)() = nullptr;

  bool load() {
    watch = reinterpret_cast<int (*)(const char *)>(dlsym(RTLD_DEFAULT, "failingMallocWatch"));
    start =
        reinterpret_cast<void (*)(FailingMallocPlan)>(dlsym(RTLD_DEFAULT, "failingMallocStart"));
    stop = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "failingMallocStop"));
    counts =
        reinterpret_cast<FailingMallocCounts (*)()>(dlsym(RTLD_DEFAULT, "failingMallocCounts"));
    return watch != nullptr && start != nullptr && stop != nullptr && counts != nullptr &&
           watch("libgantry.so") != 0;
  }
};

Injector injector;
int failures = 0;

void expect(bool holds, const char *what, unsigned long long number) {
  if (holds)
    return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s (%llu)\n", what, number);
}

struct Outcome {
  FailingMallocCounts counts;
  int refusals;
};

Outcome runOnce(const ScenarioFiles &files, const ScenarioParts &parts, FailingMallocPlan plan) {
  Caller caller;
  injector.start(plan);
  callEveryFunction(caller, files, parts);
  injector.stop();
  if (parts.given != nullptr)
    gantry_device_trim(parts.given, 0); // The number of cached slabs differs from run to run.
  failures += caller.violations;
  return {injector.counts(), caller.refusals};
}

/// Returns the number of live blocks of libgantry.so. Waits up to a second until at most `expected`
/// are left, because the thread of a stopped recording frees its last block when it ends.
unsigned long long liveBlocks(unsigned long long expected) {
  unsigned long long live = injector.counts().liveBlocks;
  for (int wait = 0; live > expected && wait < 1000; ++wait) {
    usleep(1000);
    live = injector.counts().liveBlocks;
  }
  return live;
}

/// Runs the scenario for k = 1, 1 + step, 1 + 2 step, … until no allocation fails in a run. The
/// k-th allocation of each run fails, and with `persistent` all later allocations too.
void sweep(const char *title, const ScenarioFiles &files, const ScenarioParts &parts,
           bool persistent, unsigned long long step) {
  for (int warmUp = 0; warmUp < 3; ++warmUp) // Allocates objects that live until the process ends.
    runOnce(files, parts, {});
  unsigned long long baseline = liveBlocks(0);
  unsigned long long refusals = 0, runs = 0;
  for (unsigned long long k = 1;; k += step, ++runs) {
    const int before = failures;
    const Outcome outcome = runOnce(files, parts, {k, 0, persistent ? 1 : 0});
    refusals += outcome.refusals > 0;
    // The number of objects that live until the process ends may grow once, for example by the
    // event ring (engine/trace) of another thread. A leak grows again when the same failure is
    // repeated.
    if (const unsigned long long live = liveBlocks(baseline); live > baseline) {
      runOnce(files, parts, {k, 0, persistent ? 1 : 0});
      const unsigned long long again = liveBlocks(live);
      expect(again <= live, "blocks leaked", again - live);
      baseline = live;
    }
    if (failures != before)
      std::fprintf(stderr, "... %s, allocation %llu of libgantry.so\n", title, k);
    if (outcome.counts.failed == 0)
      break;
  }
  const Outcome after = runOnce(files, parts, {});
  expect(after.refusals == 0, "calls refused although there is memory again",
         static_cast<unsigned long long>(after.refusals));
  expect(refusals > 0, "no failed allocation made a call fail", refusals);
  std::printf("%-40s %5llu allocations failed%s, %5llu runs refused a call, baseline %llu blocks\n",
              title, runs, persistent ? " with all later ones" : "", refusals, baseline);
  std::fflush(stdout);
}

/// Loads and runs a program of 1500 commands while all allocations from the k-th on fail, for about
/// 60 values of k. Tests that the memory reserve (engine/base/memory_reserve.h) suffices to return
/// an error.
void exhaustWithLargeProgram(FaultFiles &folder) {
  TestModel model;
  const uint32_t dim = model.symbol("n", 0, 0, 1, 64);
  uint32_t value = model.input("in", ElementType::f32, {dim});
  for (int i = 0; i < 1500; ++i)
    value = model.apply(TestKernel::kTwice, {value}, "Twice_" + std::to_string(i));
  model.output("out", value);
  const std::string path = folder.path("large.gantry");
  if (!model.write(path).isOk())
    return expect(false, "the large program cannot be written", 0);
  gantry_device_t *device = nullptr;
  if (gantry_device_create(nullptr, &device) != GANTRY_STATUS_OK)
    return expect(false, "no device", 0);
  gantry_session_options_t options = {};
  options.struct_size = sizeof(options);
  options.cache_path = "";
  float in[16] = {}, out[16];
  gantry_tensor_t input = {}, output = {};
  input.rank = 1;
  input.dims[0] = 16;
  input.data = in;
  input.size_bytes = output.size_bytes = sizeof(in);
  output.data = out;
  unsigned long long calls = 0, runs = 0, refused = 0;
  for (unsigned long long k = 0; k <= calls; k += k == 0 ? 1 : calls / 60 + 1, ++runs) {
    injector.start({k, 0, 1});
    gantry_program_t *program = nullptr;
    gantry_session_t *session = nullptr;
    char *json = nullptr;
    if (gantry_program_load(path.c_str(), &program) == GANTRY_STATUS_OK &&
        gantry_program_describe(program, nullptr, 0, &json) == GANTRY_STATUS_OK &&
        gantry_session_create(program, device, &options, &session) == GANTRY_STATUS_OK &&
        gantry_session_run(session, &input, 1, &output, 1) == GANTRY_STATUS_OK) {
      expect(k == 0 || runs > 50, "a run succeeded although allocations failed", k);
    } else {
      ++refused;
    }
    gantry_free(json);
    gantry_session_release(session);
    gantry_program_release(program);
    injector.stop();
    if (k == 0)
      calls = injector.counts().watchedCalls;
  }
  expect(refused > 0, "nothing was refused", runs);
  std::printf("%-40s %5llu runs in which allocations failed, %5llu refused a call\n",
              "a program of 1500 commands", runs, refused);
  gantry_device_release(device);
}

/// Makes single allocations of the driver and of the run-time libraries fail, each in a child
/// process. Counts and lists children that die outside of libgantry.so; a child that dies in
/// libgantry.so fails the test.
void sampleDriver(const ScenarioFiles &files, unsigned long long samples) {
  const unsigned long long calls = runOnce(files, {}, {}).counts.otherCalls;
  DeathCounts deaths;
  for (unsigned long long i = 0; i < samples; ++i) {
    const unsigned long long k = 1 + i * calls / samples;
    const Death death = runToDeath([&] {
      Caller caller;
      injector.start({0, k, 0});
      callEveryFunction(caller, files, {});
      injector.stop();
      return 0; // Any status is allowed, because the driver may return any.
    });
    deaths.add(death);
    expect(!death.isOurs, death.place.c_str(), k);
  }
  std::printf("Allocation calls of other modules (%llu of %llu sampled):\n", samples, calls);
  deaths.print();
}

} // namespace

int main(int argc, char **argv) {
  if (!injector.load()) {
    std::fprintf(stderr, "memory_fault_test needs LD_PRELOAD=libfailing_malloc.so\n");
    return 1;
  }
  setenv("GANTRY_ATTACH", "0", 1);     // The scenario itself calls gantry_trace_listen().
  setenv("GANTRY_VALIDATION", "0", 1); // The validation layers end a process without memory.
  FaultFiles folder;
  if (!folder.isReady) {
    std::fprintf(stderr, "the models cannot be written\n");
    return 1;
  }
  if (argc > 1 && std::string(argv[1]) == "--measure") {
    for (int run = 0; run < 4; ++run) {
      const FailingMallocCounts counts = runOnce(folder.files, {}, {}).counts;
      std::printf("libgantry.so: %llu allocations, peak %llu bytes, largest block %llu bytes, "
                  "%llu blocks left; other modules: %llu allocations\n",
                  counts.watchedCalls, counts.peakBytes, counts.largestBytes, counts.liveBlocks,
                  counts.otherCalls);
    }
    return failures != 0;
  }
  // Sweep the functions of devices first, then all others on one open device, which is faster than
  // opening a device in each run.
  ScenarioParts device;
  device.runs = device.traces = false;
  sweep("devices", folder.files, device, false, 1);
  sweep("devices", folder.files, device, true, 5);
  ScenarioParts rest;
  rest.device = false;
  if (gantry_device_create(nullptr, &rest.given) != GANTRY_STATUS_OK) {
    std::fprintf(stderr, "no device: %s\n", gantry_last_error());
    return 1;
  }
  ScenarioParts traces = rest, runs = rest;
  traces.runs = runs.traces = false;
  sweep("traces", folder.files, traces, false, 1);
  sweep("traces", folder.files, traces, true, 3);
  sweep("programs, sessions, runs", folder.files, runs, false, 1);
  sweep("programs, sessions, runs", folder.files, runs, true, 1);
  gantry_device_release(rest.given);
  exhaustWithLargeProgram(folder);
  sampleDriver(folder.files, 40);
  return failures != 0;
}
