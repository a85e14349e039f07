// Where a model's events come from: a .gtrace file, read whole, or a process that is being watched.
//
// A file is decoded on a thread of its own while the model takes what was decoded before.
//
// A live source reads the stream on a thread of its own, so that no frame waits for the socket; the
// user interface takes the events with pump(). Events that it has not taken yet, for example while
// the view is paused, wait, up to kMostWaiting of them. Events beyond that limit are counted as
// dropped, and the model goes on from the process's next snapshot.
//
// Threads: the methods belong to the user interface's thread.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/capture.h"
#include "profiler_gui/model/capture_model.h"
#include "profiler_gui/model/unrun.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gantry::profiler {

/// A capture that is complete.
struct LoadedCapture {
  trace::NameTable names; // of a .gtrace file
  UnrunCapture unrun;     // of an artifact
  CaptureModel model;
  bool cutOff = false; // its writer was killed; the model has all whole chunks
};

/// A .gtrace file, or an artifact (.gantry) as unrun.h shows it. kNotFound, kDataLoss and
/// kVersionMismatch as CaptureReader::openFile says.
Result<std::unique_ptr<LoadedCapture>> loadCapture(const std::string &path);

class LiveCapture {
public:
  static constexpr size_t kMostWaiting = 8u << 20; // events

  static Result<std::unique_ptr<LiveCapture>> connect(const std::string &address,
                                                      const std::string &token);
  ~LiveCapture();
  LiveCapture(const LiveCapture &) = delete;
  LiveCapture &operator=(const LiveCapture &) = delete;

  /// Hands at most about `mostEvents` of what has come to the model. True if there was anything.
  bool pump(size_t mostEvents);
  /// Whether more than half of kMostWaiting events wait. pump() is due then even while paused.
  bool isFilling();
  CaptureModel &model() { return model_; }
  bool ended() const { return ended_; }
  /// Why the stream ended; ok where the process ended it.
  Status status();

private:
  LiveCapture() = default;
  void readOn();

  std::unique_ptr<trace::CaptureReader> reader_; // of the thread, but for its start and end
  trace::NameTable names_;                       // the interface's copy
  CaptureModel model_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  // under mutex_:
  std::vector<std::vector<trace::Event>> waiting_;
  std::vector<std::pair<uint32_t, std::string>> newNames_;
  size_t waitingEvents_ = 0;
  uint64_t lost_ = 0;
  Status status_;
};

} // namespace gantry::profiler
