// Implements loadCapture(), with a decoding thread that works a few batches ahead of the model.
#include "profiler_gui/model/capture/load_capture.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace gantry::profiler {
namespace {

/// Decodes a capture file on a thread of its own, up to kMaxReady pieces ahead of next().
class DecodeAhead {
public:
  /// A copy of one batch of the reader.
  struct Piece {
    std::vector<trace::Event> events;
    std::vector<std::pair<uint32_t, std::string>> names; // New names that the events may use.
    bool end = false;                                    // Whether this is the last piece.
  };

  explicit DecodeAhead(trace::CaptureReader &reader)
      : reader_(reader), thread_([this] { decode(); }) {}
  ~DecodeAhead() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  DecodeAhead(const DecodeAhead &) = delete;
  DecodeAhead &operator=(const DecodeAhead &) = delete;

  /// Waits for the next piece. Do not call next() again after the last piece or an error.
  Result<Piece> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty(); });
    Result<Piece> piece = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return piece;
  }

  /// Takes the memory of a piece's events, which a later piece reuses.
  void recycle(std::vector<trace::Event> &&events) {
    const std::scoped_lock lock(mutex_);
    spare_.push_back(std::move(events));
  }

private:
  static constexpr size_t kMaxReady = 4;

  Result<Piece> decodeOne() {
    GANTRY_ASSIGN_OR_RETURN(const trace::Batch batch, reader_.read());
    Piece piece;
    {
      const std::scoped_lock lock(mutex_);
      if (!spare_.empty()) {
        piece.events = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    piece.events.assign(batch.events.begin(), batch.events.end());
    for (; knownNames_ < reader_.names().size(); ++knownNames_)
      piece.names.emplace_back(knownNames_, reader_.names()[knownNames_]);
    piece.end = batch.end;
    return piece;
  }

  void decode() {
    for (bool more = true; more;) {
      Result<Piece> piece = decodeOne();
      more = piece.isOk() && !piece->end;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || ready_.size() < kMaxReady; });
      if (stop_)
        return;
      ready_.push_back(std::move(piece));
      lock.unlock();
      changed_.notify_all();
    }
  }

  trace::CaptureReader &reader_; // Used by the decoding thread only.
  uint32_t knownNames_ = 1;      // The smallest id that decodeOne() has not looked at.
  std::mutex mutex_;             // Guards ready_, spare_ and stop_.
  std::condition_variable changed_;
  std::deque<Result<Piece>> ready_;
  std::vector<std::vector<trace::Event>> spare_;
  bool stop_ = false;
  std::thread thread_; // Declared last: the thread uses the other members as soon as it exists.
};

} // namespace

Result<std::unique_ptr<LoadedCapture>> loadCapture(const std::string &path) {
  auto loaded = std::make_unique<LoadedCapture>();
  if (path.ends_with(".gantry")) {
    GANTRY_ASSIGN_OR_RETURN(loaded->unrun, openUnrun(path));
    loaded->model.setModelled(); // The times of the events are invented.
    loaded->model.ingest(loaded->unrun.events, loaded->unrun.names);
    loaded->model.finish();
    return loaded;
  }
  GANTRY_ASSIGN_OR_RETURN(const std::unique_ptr<trace::CaptureReader> reader,
                          trace::CaptureReader::openFile(path));
  {
    DecodeAhead ahead(*reader);
    for (bool more = true; more;) {
      GANTRY_ASSIGN_OR_RETURN(DecodeAhead::Piece piece, ahead.next());
      for (const auto &[id, text] : piece.names)
        loaded->names.set(id, text);
      loaded->model.ingest(piece.events, loaded->names);
      ahead.recycle(std::move(piece.events));
      more = !piece.end;
    }
  }
  // The pieces lack a name that the reader got after a name with a larger id, because decodeOne()
  // looks at each id only once. The reader's table has all names, so it replaces the collected
  // ones.
  loaded->names = reader->names();
  loaded->model.finish();
  loaded->cutOff = reader->tail() == trace::Tail::kCutOff;
  return loaded;
}

} // namespace gantry::profiler
