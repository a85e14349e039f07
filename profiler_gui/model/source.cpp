#include "profiler_gui/model/source.h"

#include <condition_variable>
#include <deque>
#include <utility>

namespace gantry::profiler {

namespace {

/// A file, decoded ahead of its reader by a few batches.
class FileAhead {
public:
  struct Piece {
    std::vector<trace::Event> events;
    std::vector<std::pair<uint32_t, std::string>> names; // new ones, which the events may use
    bool end = false;
  };

  explicit FileAhead(trace::CaptureReader &reader)
      : reader_(reader), thread_([this] { decode(); }) {}
  ~FileAhead() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  FileAhead(const FileAhead &) = delete;
  FileAhead &operator=(const FileAhead &) = delete;

  Result<Piece> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty(); });
    Result<Piece> piece = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return piece;
  }

  /// Takes memory back, to be filled again.
  void recycle(std::vector<trace::Event> &&events) {
    const std::scoped_lock lock(mutex_);
    spare_.push_back(std::move(events));
  }

private:
  static constexpr size_t kMostReady = 4;

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
      changed_.wait(lock, [&] { return stop_ || ready_.size() < kMostReady; });
      if (stop_)
        return;
      ready_.push_back(std::move(piece));
      lock.unlock();
      changed_.notify_all();
    }
  }

  trace::CaptureReader &reader_; // of the thread
  uint32_t knownNames_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Result<Piece>> ready_;              // under mutex_
  std::vector<std::vector<trace::Event>> spare_; // under mutex_
  bool stop_ = false;                            // under mutex_
  std::thread thread_;                           // the last member: it uses the others
};

} // namespace

Result<std::unique_ptr<LoadedCapture>> loadCapture(const std::string &path) {
  auto loaded = std::make_unique<LoadedCapture>();
  if (path.ends_with(".gantry")) {
    GANTRY_ASSIGN_OR_RETURN(loaded->unrun, openUnrun(path));
    loaded->model.setModelled();
    loaded->model.ingest(loaded->unrun.events, loaded->unrun.names);
    loaded->model.finish();
    return loaded;
  }
  GANTRY_ASSIGN_OR_RETURN(const std::unique_ptr<trace::CaptureReader> reader,
                          trace::CaptureReader::openFile(path));
  {
    FileAhead ahead(*reader);
    for (bool more = true; more;) {
      GANTRY_ASSIGN_OR_RETURN(FileAhead::Piece piece, ahead.next());
      for (const auto &[id, text] : piece.names)
        loaded->names.set(id, text);
      loaded->model.ingest(piece.events, loaded->names);
      ahead.recycle(std::move(piece.events));
      more = !piece.end;
    }
  }
  loaded->names = reader->names(); // also those that were told out of order
  loaded->model.finish();
  loaded->cutOff = reader->tail() == trace::Tail::kCutOff;
  return loaded;
}

Result<std::unique_ptr<LiveCapture>> LiveCapture::connect(const std::string &address,
                                                          const std::string &token) {
  std::unique_ptr<LiveCapture> live(new LiveCapture());
  GANTRY_ASSIGN_OR_RETURN(live->reader_, trace::CaptureReader::connect(address, token));
  live->thread_ = std::thread([raw = live.get()] { raw->readOn(); });
  return live;
}

LiveCapture::~LiveCapture() {
  stop_ = true;
  if (thread_.joinable())
    thread_.join();
}

void LiveCapture::readOn() {
  constexpr uint64_t kPatienceNs = 50'000'000;
  uint32_t knownNames = 1;
  while (!stop_) {
    Result<trace::Batch> batch = reader_->read(kPatienceNs);
    const std::scoped_lock lock(mutex_);
    if (!batch.isOk()) {
      status_ = batch.status();
      break;
    }
    for (; knownNames < reader_->names().size(); ++knownNames)
      newNames_.emplace_back(knownNames, reader_->names()[knownNames]);
    if (waitingEvents_ + batch->events.size() > kMostWaiting) {
      lost_ += batch->events.size();
    } else if (!batch->events.empty()) {
      waiting_.emplace_back(batch->events.begin(), batch->events.end());
      waitingEvents_ += batch->events.size();
    }
    if (batch->end)
      break;
  }
  ended_ = true;
}

bool LiveCapture::pump(size_t mostEvents) {
  std::vector<std::vector<trace::Event>> taken;
  {
    const std::scoped_lock lock(mutex_);
    for (auto &[id, text] : newNames_)
      names_.set(id, text);
    newNames_.clear();
    size_t count = 0;
    size_t events = 0;
    while (count < waiting_.size() && events < mostEvents)
      events += waiting_[count++].size();
    taken.assign(std::make_move_iterator(waiting_.begin()),
                 std::make_move_iterator(waiting_.begin() + static_cast<ptrdiff_t>(count)));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(count));
    waitingEvents_ -= events;
    if (lost_ > 0)
      model_.countDropped(lost_);
    lost_ = 0;
  }
  for (const std::vector<trace::Event> &events : taken)
    model_.ingest(events, names_);
  if (!taken.empty())
    model_.update();
  return !taken.empty();
}

bool LiveCapture::isFilling() {
  const std::scoped_lock lock(mutex_);
  return waitingEvents_ > kMostWaiting / 2;
}

Status LiveCapture::status() {
  const std::scoped_lock lock(mutex_);
  return status_;
}

} // namespace gantry::profiler
