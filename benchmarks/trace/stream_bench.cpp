// trace_stream_bench: measures the streams of trace events to a viewer and the files of events
// (captures): events per second to a viewer, bytes per event, and the time until a viewer that
// attaches late has received a million live blocks, which are buffers of the heap.
//
//   trace_stream_bench [--seconds S] [--rate EVENTS_PER_SECOND] [TRACE ...]
//
// A heap over the fake device (tests/support/fake_device.h) replays allocation traces
// (benchmarks/heap; generated if no file is given) and records events. Events of dispatches (kernel
// launches) are added, so that every tenth event is one. A thread then records these events
// repeatedly at the given rate. They pass through the thread's ring buffer, the collector, which
// empties the rings (engine/trace/record/collector.h), and a Unix-domain socket to a reader, which
// acts as the viewer and decodes every event. The CPU time per event is the sum over all threads:
// at 200 ns, two cores can carry 10 million events per second. Other load on the machine can reduce
// the reached rate. The bytes on disk are measured with a capture file of the same events.
//
// Exit code 1 if the viewer's count of received and dropped events differs from the count of
// recorded events, if a late viewer's blocks differ from the heap's, or if something failed.
#include "benchmarks/heap/trace.h"
#include "engine/heap/heap.h"
#include "engine/trace/wire/capture.h"
#include "engine/trace/record/collector.h"
#include "engine/trace/record/record.h"
#include "engine/trace/live/server.h"
#include "tests/support/fake_device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <thread>
#include <unistd.h>

namespace {

using namespace gantry;
using trace::Event;
using trace::EventType;

constexpr uint32_t kDispatchEvery = 10;  // Every tenth event is a dispatch.
constexpr size_t kMaxEvents = 2'000'000; // Max number of operations replayed from all traces.
constexpr uint64_t kRingBytes = 64 << 20;
constexpr uint32_t kAttachRounds = 9;

template <typename T> T orDie(Result<T> result) {
  if (!result.isOk()) {
    std::fprintf(stderr, "%s\n", result.status().message().c_str());
    std::exit(1);
  }
  return result.take();
}
void orDie(const Status &status) {
  if (!status.isOk()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
}

double cpuNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}
double processCpuNs() { return cpuNs(CLOCK_PROCESS_CPUTIME_ID); }
double threadCpuNs() { return cpuNs(CLOCK_THREAD_CPUTIME_ID); }

heap::HeapPtr makeHeap() { return orDie(heap::Heap::create(test::FakeDevice::create(), {})); }

std::string socketPath() { return "/tmp/gantry-bench-" + std::to_string(getpid()) + ".sock"; }

std::unique_ptr<trace::Server> startServer() {
  trace::ServerOptions options;
  options.path = socketPath();
  return orDie(trace::Server::start(options));
}

/// Returns the events that a heap records while it replays the traces, with dispatch events added.
std::vector<Event> recordMix(const std::vector<bench::Trace> &traces) {
  const heap::HeapPtr heap = makeHeap();
  const auto server = startServer();
  const auto reader = orDie(trace::CaptureReader::connect(server->address()));
  (void)orDie(reader->read());
  std::atomic<bool> done{false};
  std::thread replay([&] {
    size_t replayed = 0;
    for (const bench::Trace &source : traces) {
      std::vector<heap::BufferHandle> handles(source.slots);
      for (const bench::TraceOp &op : source.ops) {
        if (replayed > kMaxEvents / traces.size())
          break;
        ++replayed;
        heap::BufferRequest request;
        request.sizeBytes = op.sizeBytes;
        if (op.sizeBytes == 0)
          (void)heap->release(std::exchange(handles[op.slot], {}));
        else
          (void)heap->allocate(request, &handles[op.slot]);
        if (replayed % 20000 == 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(5)); // Avoids drops.
      }
      replayed = 0;
      for (const heap::BufferHandle handle : handles)
        if (handle)
          (void)heap->release(handle);
    }
    done = true;
  });
  std::vector<Event> events;
  uint64_t deviceNs = 1'000'000;
  for (;;) {
    const bool last = done;
    const trace::Batch batch = orDie(reader->read(50'000'000));
    for (const Event &event : batch.events) {
      if (event.type() != EventType::kAllocate && event.type() != EventType::kRelease)
        continue;
      if (events.size() % kDispatchEvery == kDispatchEvery - 1) {
        trace::DispatchEvent dispatch =
            trace::makeEvent<trace::DispatchEvent>(EventType::kDispatch);
        dispatch.header.timeNs = event.header.timeNs;
        dispatch.header.thread = event.header.thread;
        dispatch.command = static_cast<uint32_t>(events.size() / kDispatchEvery % 60);
        dispatch.run = static_cast<uint32_t>(events.size() / kDispatchEvery / 60);
        dispatch.workgroups[0] = 1 + dispatch.command * 37 % 500;
        dispatch.workgroups[1] = dispatch.workgroups[2] = 1;
        dispatch.gpu.beginNs = deviceNs;
        deviceNs += 3000 + dispatch.command * 7919 % 40000 + events.size() % 61;
        dispatch.gpu.endNs = deviceNs;
        events.emplace_back(dispatch);
      }
      events.push_back(event);
    }
    if (last && batch.events.empty())
      break;
  }
  replay.join();
  return events;
}

/// Records an allocate or a release event.
void recordOne(const Event &event) {
  const bool isMemory = event.type() != EventType::kDispatch;
  if (event.type() == EventType::kRelease)
    trace::recordAlways<trace::ReleaseEvent>(event.type(), 1, isMemory, [&](auto &out) {
      out.sequence = event.release.sequence;
      out.block = event.release.block;
    });
  else
    trace::recordAlways<trace::BlockEvent>(event.type(), 1, isMemory, [&](auto &out) {
      std::memcpy(reinterpret_cast<uint8_t *>(&out) + sizeof(out.header),
                  reinterpret_cast<const uint8_t *>(&event) + sizeof(event.header),
                  sizeof(out) - sizeof(out.header));
    });
}

void recordDispatch(const Event &event) {
  trace::recordAlways<trace::DispatchEvent>(EventType::kDispatch, 0, false,
                                            [&](trace::DispatchEvent &out) {
                                              const trace::EventHeader header = out.header;
                                              out = event.dispatch;
                                              out.header = header;
                                            });
}

/// Records the events repeatedly for `seconds` at `rate` events per second while a viewer is
/// attached, and prints the measurements. Returns the exit code.
int stream(const std::vector<Event> &events, double seconds, double rate) {
  trace::detail::setRingBytes(kRingBytes);
  const auto server = startServer();
  const auto reader = orDie(trace::CaptureReader::connect(server->address()));
  (void)orDie(reader->read());
  const uint64_t bytesBefore = reader->bytesRead();
  std::atomic<uint64_t> received{0};
  std::atomic<uint64_t> dropped{0};
  std::atomic<bool> stop{false};
  double viewerCpu = 0;
  double recorderCpu = 0;
  std::thread viewer([&] {
    while (!stop) {
      const trace::Batch batch = orDie(reader->read(100'000'000));
      for (const Event &event : batch.events) {
        if (event.type() == EventType::kDrops)
          dropped += event.drops.events;
        else if (event.type() == EventType::kAllocate || event.type() == EventType::kRelease ||
                 event.type() == EventType::kDispatch)
          received.fetch_add(1, std::memory_order_relaxed);
      }
      if (batch.end)
        break;
    }
    viewerCpu = threadCpuNs();
  });
  double cpuBefore = 0;
  uint64_t recorded = 0;
  double elapsed = 0;
  std::thread([&] {
    trace::nameThread("recorder");
    // The first event of a thread allocates its ring, which takes more than 100 ms at this size.
    recordOne(events[0]);
    recorded = 1;
    cpuBefore = processCpuNs();
    const double recorderCpuBefore = threadCpuNs();
    const uint64_t start = trace::monotonicNs();
    size_t next = 1;
    while (elapsed < seconds) {
      const auto due = static_cast<uint64_t>(elapsed * rate);
      // After a pause of the machine many events are due. This limit keeps them from overflowing
      // the ring, which holds more than ten times as many.
      const uint64_t limit = recorded + 100'000;
      for (; recorded < due && recorded < limit; ++recorded) {
        const Event &event = events[next];
        if (event.type() == EventType::kDispatch)
          recordDispatch(event);
        else
          recordOne(event);
        next = next + 1 == events.size() ? 0 : next + 1;
      }
      if (recorded >= due)
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      elapsed = static_cast<double>(trace::monotonicNs() - start) * 1e-9;
    }
    recorderCpu = threadCpuNs() - recorderCpuBefore;
  }).join();
  trace::Collector::instance().flush();
  for (int i = 0; i < 600 && received + dropped < recorded; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double cpu = processCpuNs() - cpuBefore;
  stop = true;
  viewer.join();
  const double wire = static_cast<double>(reader->bytesRead() - bytesBefore);
  std::printf("stream: %.0f s, %.2f M events/s recorded, %llu dropped, count %s\n", elapsed,
              static_cast<double>(recorded) / elapsed * 1e-6,
              static_cast<unsigned long long>(dropped.load()),
              received + dropped == recorded ? "exact" : "WRONG");
  // A dropped event costs time only in the recorder, so the other costs are per received event.
  const auto arrived = static_cast<double>(received.load());
  const double recorder = recorderCpu / static_cast<double>(recorded);
  const double viewing = viewerCpu / arrived;
  const double collecting = (cpu - recorderCpu - viewerCpu) / arrived;
  const double all = recorder + collecting + viewing;
  std::printf("stream: %.2f bytes per event on the wire; %.0f ns of CPU per event: recorder %.0f, "
              "collector %.0f, viewer %.0f; %.2f cores carry 10 M/s\n",
              wire / arrived, all, recorder, collecting, viewing, all * 1e-2);
  return received + dropped == recorded ? 0 : 1;
}

/// Writes the events to a capture file until it has 10 million, decodes the file, and prints bytes
/// and CPU time.
void capture(const std::vector<Event> &events) {
  const std::string path = "/tmp/gantry-bench-" + std::to_string(getpid()) + ".gtrace";
  const auto writer = orDie(trace::CaptureWriter::create(path));
  for (size_t done = 0; done < 10'000'000; done += events.size())
    orDie(writer->append(events));
  orDie(writer->finish());
  const auto count = static_cast<double>(writer->eventsWritten());
  const double cpuBefore = processCpuNs();
  const auto reader = orDie(trace::CaptureReader::openFile(path));
  while (!orDie(reader->read()).end) {
  }
  std::printf("capture: %.1f M events, %.2f bytes per event on disk, decoded in %.0f ms of CPU\n",
              count * 1e-6, static_cast<double>(writer->bytesWritten()) / count,
              (processCpuNs() - cpuBefore) * 1e-6);
  unlink(path.c_str());
}

/// Measures the time from the connection of a viewer until it knows a million live blocks, and
/// compares their number and bytes with the heap's counters.
int attachLate() {
  const heap::HeapPtr heap = makeHeap();
  for (uint32_t i = 0; i < 1'000'000; ++i) {
    heap::BufferRequest request;
    request.sizeBytes = 1 + i * 7919ULL % 4096;
    heap::BufferHandle handle;
    if (heap->allocate(request, &handle) != heap::HeapCode::kOk) {
      std::fprintf(stderr, "allocating block %u failed\n", i);
      return 1;
    }
  }
  heap::HeapStatistics statistics;
  heap->statistics(&statistics);
  const auto server = startServer();
  std::vector<double> times;
  std::vector<double> cpu;
  bool same = true;
  for (uint32_t round = 0; round < kAttachRounds; ++round) {
    const double cpuBefore = processCpuNs();
    const uint64_t start = trace::monotonicNs();
    const auto reader = orDie(trace::CaptureReader::connect(server->address()));
    uint64_t blocks = 0;
    uint64_t bytes = 0;
    for (bool whole = false; !whole;)
      for (const Event &event : orDie(reader->read()).events) {
        blocks += event.type() == EventType::kLiveBlock ? 1 : 0;
        bytes += event.type() == EventType::kLiveBlock ? event.block.sizeBytes : 0;
        whole = whole ||
                (event.type() == EventType::kSnapshotEnd && event.header.heap == heap->traceId());
      }
    times.push_back(static_cast<double>(trace::monotonicNs() - start) * 1e-6);
    cpu.push_back((processCpuNs() - cpuBefore) * 1e-6);
    same =
        same && blocks == statistics.kinds[0].liveBuffers && bytes == statistics.kinds[0].liveBytes;
  }
  std::sort(times.begin(), times.end());
  std::sort(cpu.begin(), cpu.end());
  std::printf("late attach: %llu live blocks in %.0f ms (best %.0f), %.0f ms of CPU, both sides; "
              "medians of %u; blocks and bytes %s\n",
              static_cast<unsigned long long>(statistics.kinds[0].liveBuffers),
              times[times.size() / 2], times[0], cpu[cpu.size() / 2], kAttachRounds,
              same ? "equal the heap's" : "DIFFER from the heap's");
  return same ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  double seconds = 3;
  double rate = 10e6;
  std::vector<bench::Trace> traces;
  for (int i = 1; i < argc; ++i) {
    double *number = std::strcmp(argv[i], "--seconds") == 0 ? &seconds
                     : std::strcmp(argv[i], "--rate") == 0  ? &rate
                                                            : nullptr;
    if (number == nullptr) {
      traces.push_back(orDie(bench::readTrace(argv[i])));
      continue;
    }
    *number = i + 1 < argc ? std::atof(argv[++i]) : 0;
    if (!(*number > 0)) {
      std::fprintf(stderr, "usage: trace_stream_bench [--seconds S] [--rate R] [TRACE ...]\n");
      return 2;
    }
  }
  if (traces.empty())
    traces = bench::generateTraces(1);
  const int late = attachLate();
  const std::vector<Event> events = recordMix(traces);
  std::printf("mix: %zu events from %zu traces\n", events.size(), traces.size());
  capture(events);
  return late | stream(events, seconds, rate);
}
