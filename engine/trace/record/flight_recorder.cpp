// The two segments of the flight recorder, and the functions that write them on request and in a
// crash.
#include "engine/trace/record/flight_recorder.h"

#include "engine/base/crash.h"
#include "engine/base/out_of_memory.h"
#include "engine/trace/wire/capture_file.h"
#include "engine/trace/record/collector.h"

#include <array>
#include <new>
#include <unistd.h>

namespace gantry::trace {
namespace {

constexpr uint64_t kFlushNs = 250'000'000;
constexpr uint64_t kMinPauseNs = 250'000'000; // Min time between two descriptions.
// An encoded event takes at most 200 bytes, so a frame of this many events fits into a segment.
constexpr uint32_t kChunkEvents = 4096;
constexpr uint64_t kCrashPatienceNs = 1'500'000'000;
// write() requests at most this many descriptions, because other threads may fill the segments
// faster than a description is made.
constexpr int kDescribeAttempts = 3;

FrameSinkOptions flightOptions() {
  FrameSinkOptions options;
  options.chunkEvents = kChunkEvents;
  return options;
}

std::string withProcessId(std::string path) {
  for (size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at))
    path.replace(at, 2, std::to_string(getpid()));
  return path;
}

} // namespace

struct FlightRecorder::Impl {
  struct Segment {
    std::unique_ptr<uint8_t[]> bytes; // Untouched bytes take no physical pages.
    std::atomic<uint64_t> used{0};    // Size of the whole frames in the segment.
    uint64_t beginNs = 0;
    bool isDescribed = false; // Whether the segment contains a description of the live state.
  };

  Impl(const FlightOptions &options, std::string path)
      : segmentBytes(options.maxBytes / 2), periodNs(options.seconds * 1'000'000'000),
        crashPath(std::move(path)), attached(flightOptions(), append, this) {
    attached.flushNs = kFlushNs;
    attached.isStale = isStale;
    attached.renew = renew;
    attached.failed = [](void *user) {
      static_cast<Impl *>(user)->hasFailed.store(true, std::memory_order_release);
    };
  }

  static Status append(void *user, std::span<const uint8_t> frame);
  static bool isStale(void *user);
  static void renew(void *user);
  static void onCrash(void *user, int signal);
  static void writeRaw(void *user, std::span<const uint8_t> bytes) {
    static_cast<Impl *>(user)->file.write(bytes);
  }
  void rotate();
  Segment &newer() { return segments[current.load(std::memory_order_acquire)]; }
  Segment &older() { return segments[1 - current.load(std::memory_order_acquire)]; }

  const uint64_t segmentBytes;
  const uint64_t periodNs;
  const std::string crashPath;
  std::mutex mutex; // Protects the segments, except in a crash, which takes no lock.
  Segment segments[2];
  std::atomic<uint32_t> current{0};
  bool isFull = false;                  // Whether a frame did not fit: a description is due.
  std::atomic<bool> isWanted{false};    // Whether write() waits for a description.
  uint64_t lastRenewNs = 0;             // Used by the collector's thread only.
  std::array<uint32_t, 8> crashNames{}; // Ids of "killed by ...", in the order of crashSignals().
  bool takesCrashes = false;
  std::atomic<bool> hasFailed{false};
  CrashFile file;
  AttachedSink attached;
};

/// Empties the older segment and makes it the newer one.
void FlightRecorder::Impl::rotate() {
  const uint32_t next = 1 - current.load(std::memory_order_relaxed);
  segments[next].used.store(0, std::memory_order_release);
  segments[next].beginNs = monotonicNs();
  segments[next].isDescribed = false;
  current.store(next, std::memory_order_release);
}

/// Appends a frame. This function, isStale() and renew() run on the collector's thread.
Status FlightRecorder::Impl::append(void *user, std::span<const uint8_t> frame) {
  auto *self = static_cast<Impl *>(user);
  const std::lock_guard<std::mutex> locked(self->mutex);
  if (frame.size() > self->segmentBytes)
    return statusf(StatusCode::kOutOfMemory,
                   "a frame of %zu bytes exceeds half of the flight recorder's memory (%llu bytes);"
                   " use a larger maxBytes",
                   frame.size(), static_cast<unsigned long long>(self->segmentBytes));
  if (self->newer().used.load(std::memory_order_relaxed) + frame.size() > self->segmentBytes) {
    self->rotate();
    self->isFull = true;
    self->attached.sink.resendNames();
  }
  Segment &segment = self->newer();
  const uint64_t used = segment.used.load(std::memory_order_relaxed);
  std::memcpy(segment.bytes.get() + used, frame.data(), frame.size());
  segment.used.store(used + frame.size(), std::memory_order_release);
  return {};
}

bool FlightRecorder::Impl::isStale(void *user) {
  auto *self = static_cast<Impl *>(user);
  if (self->isWanted.exchange(false))
    return true;
  const uint64_t now = monotonicNs();
  if (now - self->lastRenewNs < kMinPauseNs)
    return false;
  return self->isFull || now - self->newer().beginNs >= self->periodNs;
}

void FlightRecorder::Impl::renew(void *user) {
  auto *self = static_cast<Impl *>(user);
  const std::lock_guard<std::mutex> locked(self->mutex);
  self->lastRenewNs = monotonicNs();
  if (!self->isFull) // If a segment was full, append() has rotated already.
    self->rotate();
  self->isFull = false;
  self->newer().isDescribed = true;
  self->attached.sink.resendNames();
}

void FlightRecorder::Impl::onCrash(void *user, int signal) {
  auto *self = static_cast<Impl *>(user);
  if (!self->file.create(self->crashPath.c_str()))
    return;
  const FileHeader header = makeFileHeader();
  self->file.write({reinterpret_cast<const uint8_t *>(&header), sizeof(header)});
  Collector &collector = Collector::instance();
  const bool paused = collector.pauseForCrash(kCrashPatienceNs);
  for (Segment *segment : {&self->older(), &self->newer()})
    self->file.write({segment->bytes.get(), segment->used.load(std::memory_order_acquire)});
  if (paused) {
    FrameSink &sink = self->attached.sink;
    sink.beginRaw(writeRaw, self);
    collector.takeForCrash(self->attached);
    const std::span<const int> signals = crashSignals();
    for (size_t i = 0; i < signals.size(); ++i)
      if (signals[i] == signal && i < self->crashNames.size())
        collector.markForCrash(self->attached, self->crashNames[i], signal);
    sink.flush();
    sink.endRaw();
    // If the process survives, recording continues in empty segments: the events that the file
    // contains are discarded.
    for (Segment &segment : self->segments)
      segment.used.store(0, std::memory_order_release);
    self->isFull = true;
  }
  self->file.close();
  collector.resumeAfterCrash();
}

FlightRecorder::FlightRecorder() = default;

Result<std::unique_ptr<FlightRecorder>> FlightRecorder::start(const FlightOptions &options) {
  if (options.seconds == 0 || options.seconds > 86400)
    return statusf(StatusCode::kInvalidArgument,
                   "a flight recorder cannot keep %llu seconds; valid are 1 to 86400",
                   static_cast<unsigned long long>(options.seconds));
  if (options.maxBytes < kMinFlightBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "a flight recorder of %llu bytes is too small; the minimum is %llu",
                   static_cast<unsigned long long>(options.maxBytes),
                   static_cast<unsigned long long>(kMinFlightBytes));
  std::unique_ptr<FlightRecorder> recorder(new FlightRecorder);
  auto impl = std::make_unique<Impl>(options, withProcessId(options.crashPath));
  for (Impl::Segment &segment : impl->segments) {
    segment.bytes.reset(new (std::nothrow) uint8_t[impl->segmentBytes]);
    if (segment.bytes == nullptr)
      return statusf(StatusCode::kOutOfMemory,
                     "the host has too little memory for a flight recorder of %llu bytes",
                     static_cast<unsigned long long>(options.maxBytes));
    segment.beginNs = monotonicNs();
  }
  const std::span<const int> signals = crashSignals();
  for (size_t i = 0; i < signals.size() && i < impl->crashNames.size(); ++i)
    impl->crashNames[i] = intern(std::string("killed by ") + crashSignalName(signals[i]));
  impl->lastRenewNs = monotonicNs();
  impl->segments[0].isDescribed = true; // attach() describes the state to the new sink.
  impl->attached.sink.reserveForRaw();
  GANTRY_RETURN_IF_ERROR(Collector::instance().attach(impl->attached));
  recorder->impl_ = std::move(impl);
  if (!recorder->impl_->crashPath.empty()) {
    recorder->impl_->takesCrashes = setCrashHandler(Impl::onCrash, recorder->impl_.get());
    if (!recorder->impl_->takesCrashes)
      return Status(StatusCode::kFailedPrecondition,
                    "another flight recorder of this process handles crashes; stop it first");
  }
  return recorder;
}

FlightRecorder::~FlightRecorder() {
  if (impl_ == nullptr)
    return;
  if (impl_->takesCrashes)
    clearCrashHandler();
  Collector::instance().detach(impl_->attached);
}

Status FlightRecorder::write(const std::string &path) {
  Collector::instance().flush();
  if (impl_->hasFailed.load(std::memory_order_acquire)) // The collector dropped the sink.
    return impl_->attached.sink.status();
  std::vector<uint8_t> kept;
  for (int attempt = 0; attempt < kDescribeAttempts; ++attempt) {
    {
      const std::lock_guard<std::mutex> locked(impl_->mutex);
      if (impl_->segments[0].isDescribed || impl_->segments[1].isDescribed)
        break;
    }
    // The events since the last description filled both segments: request a new description.
    impl_->isWanted.store(true);
    Collector::instance().flush();
  }
  {
    const std::lock_guard<std::mutex> locked(impl_->mutex);
    GANTRY_RETURN_IF_ERROR(tryResize(kept, impl_->older().used.load() + impl_->newer().used.load(),
                                     "the flight recorder's events"));
    kept.clear();
    for (const Impl::Segment *segment : {&impl_->older(), &impl_->newer()})
      kept.insert(kept.end(), segment->bytes.get(), segment->bytes.get() + segment->used.load());
  }
  GANTRY_ASSIGN_OR_RETURN(auto file, CaptureFile::create(path));
  for (uint64_t offset = 0; offset < kept.size();) {
    const std::span<const uint8_t> rest = std::span<const uint8_t>(kept).subspan(offset);
    GANTRY_ASSIGN_OR_RETURN(const FrameHeader header, parseFrameHeader(rest, offset));
    const uint64_t bytes = sizeof(header) + header.storedBytes;
    GANTRY_RETURN_IF_ERROR(file->write(rest.first(bytes)));
    offset += bytes;
  }
  return file->finish();
}

} // namespace gantry::trace
