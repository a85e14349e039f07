// What recording costs: one thread, the collector emptying its ring on another.
//
//   trace_record_bench [--json FILE]
//
// Per kind of event, the cost over reading the time alone, both by the CPU time of the thread, in
// alternating rounds of one run; the figure is the median of the rounds. p99.9 is of the distances
// between the times that consecutive events carry, so it has everything in it that a caller would
// feel. Detached is the cost of a call while nobody listens, over an empty loop.
#include "engine/trace/collector.h"
#include "engine/trace/record.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace gantry;
using namespace gantry::trace;

constexpr int kRounds = 301;
constexpr int kEvents = 4000; // of a round: they fit into the ring

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
void nothing(int) {}
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

struct Row {
  const char *name;
  void (*body)(int);
};

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
  const Row rows[] = {{"mark (32 bytes)", recordMark},
                      {"release (32 bytes)", recordRelease},
                      {"allocate (64 bytes)", recordAllocate}};

  std::vector<double> empty;
  std::vector<double> detached;
  for (int round = 0; round < kRounds; ++round) {
    empty.push_back(perEventNs(nothing));
    detached.push_back(perEventNs(recordMark));
  }

  AttachedSink sink(
      FrameSinkOptions(), [](void *, std::span<const uint8_t>) { return Status(); }, nullptr);
  Collector &collector = Collector::instance();
  collector.attach(sink);
  recordMark(0); // makes the ring
  std::string table;
  std::string fields;
  char line[200];
  for (const Row &row : rows) {
    std::vector<double> bare;
    std::vector<double> recorded;
    std::vector<uint64_t> distances(size_t{kRounds} * kEvents); // touched before it is timed
    size_t next = 0;
    for (int round = 0; round < kRounds; ++round) {
      collector.flush(); // the ring is empty
      bare.push_back(perEventNs(readTime));
      recorded.push_back(perEventNs(row.body));
      // The same again, with the time of each.
      collector.flush();
      uint64_t last = readTicks();
      for (int i = 0; i < kEvents; ++i) {
        row.body(i);
        const uint64_t now = readTicks();
        distances[next++] = now - last;
        last = now;
      }
    }
    TickClock clock;
    clock.start();
    timespec pause = {0, 20'000'000};
    nanosleep(&pause, nullptr);
    clock.advance();
    const double nsPerTick = 1e9 / static_cast<double>(clock.ticksPerSecond());
    std::sort(distances.begin(), distances.end());
    const double p999 =
        nsPerTick * static_cast<double>(distances[distances.size() - distances.size() / 1000]);
    const double over = median(recorded) - median(bare);
    std::snprintf(line, sizeof(line), "%-22s %8.2f %8.2f %8.2f %10.0f\n", row.name, median(bare),
                  median(recorded), over, p999);
    table += line;
    std::snprintf(line, sizeof(line),
                  "  \"%s\": {\"bareNs\": %.2f, \"recordedNs\": %.2f, \"overNs\": %.2f, "
                  "\"p999Ns\": %.0f},\n",
                  row.name, median(bare), median(recorded), over, p999);
    fields += line;
  }
  collector.detach(sink);
  const Ring::Drops drops = detail::currentRing->ring.drops();
  if (drops.events != 0) { // a dropped event costs less
    std::fprintf(stderr, "%llu events were dropped: the figures are void\n",
                 static_cast<unsigned long long>(drops.events));
    return 1;
  }
  std::printf("%-22s %8s %8s %8s %10s\n%s", "event, attached", "bare ns", "ns", "over ns",
              "p99.9 ns", table.c_str());
  std::printf("detached: %.2f ns over an empty loop\n", median(detached) - median(empty));
  if (!json.empty()) {
    FILE *file = std::fopen(json.c_str(), "w");
    if (file == nullptr) {
      std::fprintf(stderr, "cannot write %s: %s\n", json.c_str(), std::strerror(errno));
      return 1;
    }
    std::fprintf(file, "{\n%s  \"detachedNs\": %.2f\n}\n", fields.c_str(),
                 median(detached) - median(empty));
    std::fclose(file);
  }
  return 0;
}
