// Implements LiveCapture.
#include "profiler_gui/model/capture/live_capture.h"

#include <iterator>
#include <utility>

namespace gantry::profiler {

Result<std::unique_ptr<LiveCapture>> LiveCapture::connect(const std::string &address,
                                                          const std::string &token) {
  std::unique_ptr<LiveCapture> live(new LiveCapture());
  GANTRY_ASSIGN_OR_RETURN(live->reader_, trace::CaptureReader::connect(address, token));
  live->thread_ = std::thread([raw = live.get()] { raw->readStream(); });
  return live;
}

LiveCapture::~LiveCapture() {
  stop_ = true;
  if (thread_.joinable())
    thread_.join();
}

void LiveCapture::readStream() {
  constexpr uint64_t kReadTimeoutNs = 50'000'000; // Limits the time that the destructor waits.
  uint32_t knownNames = 1;
  while (!stop_) {
    Result<trace::Batch> batch = reader_->read(kReadTimeoutNs);
    const std::scoped_lock lock(mutex_);
    if (!batch.isOk()) {
      status_ = batch.status();
      break;
    }
    for (; knownNames < reader_->names().size(); ++knownNames)
      newNames_.emplace_back(knownNames, reader_->names()[knownNames]);
    if (waitingEvents_ + batch->events.size() > kMaxWaiting) {
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

bool LiveCapture::pump(size_t maxEvents) {
  std::vector<std::vector<trace::Event>> taken;
  {
    const std::scoped_lock lock(mutex_);
    for (auto &[id, text] : newNames_)
      names_.set(id, text);
    newNames_.clear();
    size_t count = 0;
    size_t events = 0;
    while (count < waiting_.size() && events < maxEvents)
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
  return waitingEvents_ > kMaxWaiting / 2;
}

Status LiveCapture::status() {
  const std::scoped_lock lock(mutex_);
  return status_;
}

} // namespace gantry::profiler
