// Watches a running process: reads its event stream and adds the events to a model.
//
// A separate thread reads the stream, so that no frame waits for the socket. The user interface's
// thread takes the events with pump(). Events that were not taken yet, for example because the view
// is paused, wait in memory. If more than kMaxWaiting events would wait, the new events are dropped
// and counted. The model is then incorrect until the process sends its next snapshot, a list of all
// slabs and blocks that are alive.
//
// Captures in files are read by load_capture.h.
//
// Threads: all methods belong to the user interface's thread.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/wire/capture.h"
#include "profiler_gui/model/capture/capture_model.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gantry::profiler {

class LiveCapture {
public:
  static constexpr size_t kMaxWaiting = 8u << 20; // Max number of waiting events.

  /// Connects to a process and starts to read. `address` is a socket's path or "host:port". `token`
  /// is the access token that the process was given; only TCP needs it. Errors: those of
  /// CaptureReader::connect().
  static Result<std::unique_ptr<LiveCapture>> connect(const std::string &address,
                                                      const std::string &token);
  /// Stops the reading thread; takes up to 50 ms.
  ~LiveCapture();
  LiveCapture(const LiveCapture &) = delete;
  LiveCapture &operator=(const LiveCapture &) = delete;

  /// Adds waiting events to the model, in batches until at least `maxEvents` are added or none
  /// wait. Returns whether any events were added.
  bool pump(size_t maxEvents);
  /// Whether more than half of kMaxWaiting events wait. Call pump() then even if the view is
  /// paused, so that no events are dropped.
  bool isFilling();
  CaptureModel &model() { return model_; }
  /// Whether the stream has ended. Events may still be waiting.
  bool ended() const { return ended_; }
  /// The reason why the stream ended: ok if the process closed it, else the reader's error. ok
  /// while the stream is open.
  Status status();

private:
  LiveCapture() = default;
  void readStream();

  std::unique_ptr<trace::CaptureReader> reader_; // Used by the reading thread while it runs.
  trace::NameTable names_;                       // The names that model_ refers to.
  CaptureModel model_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  std::mutex mutex_; // Guards all members below.
  std::vector<std::vector<trace::Event>> waiting_;
  std::vector<std::pair<uint32_t, std::string>> newNames_;
  size_t waitingEvents_ = 0;
  uint64_t lost_ = 0; // Events dropped since the last pump().
  Status status_;
};

} // namespace gantry::profiler
