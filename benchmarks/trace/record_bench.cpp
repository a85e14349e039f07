// trace_record_bench: measures the cost of recording an event of a trace. One thread records events
// into its ring buffer while the thread of the collector empties the ring
// (engine/trace/record/collector.h).
//
//   trace_record_bench [--json FILE]
//
// The columns for each kind of event, in nanoseconds: reading the time alone ("bare ns") and
// recording an event ("ns"), both as medians of the rounds in CPU time of the recording thread;
// their difference ("over ns"); and the 99.9th percentile of the elapsed time between consecutive
// events, which includes every delay that a caller would notice. "detached" is the CPU time of a
// call while no sink (a viewer or a file) is attached, less the time of an empty loop. Exit code 1
// if events were dropped, or if attaching or writing failed.
#include "engine/trace/record/collector.h"
#include "engine/trace/record/record.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace gantry;
using namespace gantry::trace;

constexpr int kRounds = 301;
constexpr int kEvents = 4000; // Events per round; they fit into the ring.

double cpuNs() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Returns the CPU nanoseconds of the calling thread per call of body(i).
template <typename F> double perEventNs(F &&body) {
  const double start = cpuNs();
  for (int i = 0; i < kEvents; ++i) {
    body(i);
    __asm__ volatile("" ::: "memory");
  }
  return (cpuNs() - start) / kEvents;
}

uint64_t sinkValue = 0;

void readTime(int) { sinkValue = readTicks(); }
void doNothing(int) {}
void recordMark(int i) {
  record<HostEvent>(EventType::kMark, [&](HostEvent &event) {
    event.name = 1;
    event.category = 0;
    event.value = i;
  });
}
void recordRelease(int i) {
  if (isOn())
    recordAlways<ReleaseEvent>(EventType::kRelease, 1, true, [&](ReleaseEvent &event) {
      event.sequence = static_cast<uint64_t>(i);
      event.block = static_cast<uint64_t>(i) * 3;
    });
}
void recordAllocate(int i) {
  if (isOn())
    recordAlways<BlockEvent>(EventType::kAllocate, 1, true, [&](BlockEvent &event) {
      event.sequence = static_cast<uint64_t>(i);
      event.block = static_cast<uint64_t>(i) * 3;
      event.offsetBytes = static_cast<uint64_t>(i) * 256;
      event.sizeBytes = 256;
      event.slab = 1;
      event.name = 1;
      event.span = currentSpan();
      event.kind = 0;
      std::memset(event.reserved, 0, sizeof(event.reserved));
    });
}

/// A kind of event to measure.
struct Kind {
  const char *name;
  void (*body)(int);
};

/// Median costs in nanoseconds.
struct Costs {
  double bare = 0;     // Reading the time alone.
  double recorded = 0; // Recording an event.
  double p999 = 0;     // 99.9th percentile of the time between consecutive events.
  double over() const { return recorded - bare; }
};

double nsPerTick() {
  TickClock clock;
  clock.start();
  timespec pause = {0, 20'000'000};
  nanosleep(&pause, nullptr);
  clock.advance();
  return 1e9 / static_cast<double>(clock.ticksPerSecond());
}

/// Returns the cost of a call while no sink is attached.
double measureDetached() {
  std::vector<double> empty;
  std::vector<double> detached;
  for (int round = 0; round < kRounds; ++round) {
    empty.push_back(perEventNs(doNothing));
    detached.push_back(perEventNs(recordMark));
  }
  return median(detached) - median(empty);
}

/// Returns the costs of a kind of event while a sink is attached.
Costs measureAttached(const Kind &kind) {
  Collector &collector = Collector::instance();
  std::vector<double> bare;
  std::vector<double> recorded;
  // The constructor writes all pages, so no page fault disturbs the measurement.
  std::vector<uint64_t> distances(size_t{kRounds} * kEvents);
  size_t next = 0;
  for (int round = 0; round < kRounds; ++round) {
    collector.flush(); // Empties the ring.
    bare.push_back(perEventNs(readTime));
    recorded.push_back(perEventNs(kind.body));
    // Record the same events again and take the time of each.
    collector.flush();
    uint64_t last = readTicks();
    for (int i = 0; i < kEvents; ++i) {
      kind.body(i);
      const uint64_t now = readTicks();
      distances[next++] = now - last;
      last = now;
    }
  }
  std::sort(distances.begin(), distances.end());
  const uint64_t p999 = distances[distances.size() - distances.size() / 1000];
  return {median(bare), median(recorded), nsPerTick() * static_cast<double>(p999)};
}

/// Writes the costs as JSON. Returns false and prints why if the file cannot be written.
bool writeJson(const std::string &path, std::span<const Kind> kinds, std::span<const Costs> costs,
               double detachedNs) {
  FILE *file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write %s: %s\n", path.c_str(), std::strerror(errno));
    return false;
  }
  std::fprintf(file, "{\n");
  for (size_t i = 0; i < kinds.size(); ++i)
    std::fprintf(file,
                 "  \"%s\": {\"bareNs\": %.2f, \"recordedNs\": %.2f, \"overNs\": %.2f, "
                 "\"p999Ns\": %.0f},\n",
                 kinds[i].name, costs[i].bare, costs[i].recorded, costs[i].over(), costs[i].p999);
  std::fprintf(file, "  \"detachedNs\": %.2f\n}\n", detachedNs);
  std::fclose(file);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  std::string json;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else {
      std::fprintf(stderr, "usage: trace_record_bench [--json FILE]\n");
      return 2;
    }
  }
  const double detachedNs = measureDetached();
  AttachedSink sink(
      FrameSinkOptions(), [](void *, std::span<const uint8_t>) { return Status(); }, nullptr);
  Collector &collector = Collector::instance();
  if (const Status attached = collector.attach(sink); !attached.isOk()) {
    std::fprintf(stderr, "%s\n", attached.message().c_str());
    return 1;
  }
  recordMark(0); // Allocates the ring.
  const Kind kinds[] = {{"mark (32 bytes)", recordMark},
                        {"release (32 bytes)", recordRelease},
                        {"allocate (64 bytes)", recordAllocate}};
  std::vector<Costs> costs;
  for (const Kind &kind : kinds)
    costs.push_back(measureAttached(kind));
  collector.detach(sink);
  if (const Ring::Drops drops = detail::currentRing->ring.drops(); drops.events != 0) {
    std::fprintf(stderr, "%llu events were dropped; these cost less, so the figures are invalid\n",
                 static_cast<unsigned long long>(drops.events));
    return 1;
  }
  std::printf("%-22s %8s %8s %8s %10s\n", "event, attached", "bare ns", "ns", "over ns",
              "p99.9 ns");
  for (size_t i = 0; i < std::size(kinds); ++i)
    std::printf("%-22s %8.2f %8.2f %8.2f %10.0f\n", kinds[i].name, costs[i].bare, costs[i].recorded,
                costs[i].over(), costs[i].p999);
  std::printf("detached: %.2f ns over an empty loop\n", detachedNs);
  return json.empty() || writeJson(json, kinds, costs, detachedNs) ? 0 : 1;
}
