// Declares MemorySink, a sink of the collector (collector.h): it receives all recorded events like
// a viewer or a capture file, keeps their frames in memory and decodes them.
#pragma once

#include "engine/trace/wire/capture.h"
#include "engine/trace/record/collector.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace gantry::test {

/// The sink is attached to the process's collector from its construction until stop() or its
/// destruction. A failure to attach or to decode fails the test.
class MemorySink {
public:
  explicit MemorySink(const trace::FrameSinkOptions &options = trace::FrameSinkOptions())
      : attached_(options, write, this) {
    const trace::FileHeader header = trace::makeFileHeader();
    const auto *begin = reinterpret_cast<const uint8_t *>(&header);
    bytes_.assign(begin, begin + sizeof(header));
    const Status attached = trace::Collector::instance().attach(attached_);
    EXPECT_TRUE(attached.isOk()) << attached.message();
  }
  ~MemorySink() { stop(); }
  MemorySink(const MemorySink &) = delete;
  MemorySink &operator=(const MemorySink &) = delete;

  void stop() {
    if (!stopped_)
      trace::Collector::instance().detach(attached_);
    stopped_ = true;
  }
  /// Stops the sink and returns all its events. names() is valid afterwards.
  std::vector<trace::Event> events() {
    stop();
    std::vector<trace::Event> all;
    auto reader = trace::CaptureReader::fromMemory(bytes_);
    EXPECT_TRUE(reader.isOk()) << reader.status().message();
    if (!reader.isOk())
      return all;
    for (bool end = false; !end;) {
      const Result<trace::Batch> batch = (*reader)->read();
      EXPECT_TRUE(batch.isOk()) << batch.status().message();
      if (!batch.isOk())
        return all;
      all.insert(all.end(), batch->events.begin(), batch->events.end());
      end = batch->end;
    }
    names_ = (*reader)->names();
    return all;
  }
  const trace::NameTable &names() const { return names_; }
  const std::vector<uint8_t> &bytes() const { return bytes_; }
  /// While true, the sink blocks the collector, like a viewer that hangs.
  std::atomic<bool> hangs{false};

private:
  static Status write(void *user, std::span<const uint8_t> frame) {
    auto *self = static_cast<MemorySink *>(user);
    while (self->hangs.load())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    self->bytes_.insert(self->bytes_.end(), frame.begin(), frame.end());
    return {};
  }
  trace::AttachedSink attached_;
  std::vector<uint8_t> bytes_;
  trace::NameTable names_;
  bool stopped_ = false;
};

/// Returns the events of one type, in their order.
inline std::vector<trace::Event> ofType(const std::vector<trace::Event> &events,
                                        trace::EventType type) {
  std::vector<trace::Event> found;
  for (const trace::Event &event : events)
    if (event.type() == type)
      found.push_back(event);
  return found;
}

} // namespace gantry::test
