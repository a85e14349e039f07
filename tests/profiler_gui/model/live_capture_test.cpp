// Tests LiveCapture, which watches a running process, against a trace server in the same process.
#include "profiler_gui/model/capture/live_capture.h"

#include "engine/trace/record/record.h"
#include "engine/trace/live/server.h"
#include "tests/support/scratch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace gantry::profiler {
namespace {

void recordBlock(uint64_t number) {
  trace::recordAlways<trace::BlockEvent>(trace::EventType::kAllocate, 77, true,
                                         [&](trace::BlockEvent &event) {
                                           const trace::EventHeader header = event.header;
                                           event = trace::BlockEvent();
                                           event.header = header;
                                           event.sequence = number;
                                           event.block = number;
                                           event.offsetBytes = 4096 * number;
                                           event.sizeBytes = 1000 + number;
                                           event.slab = 0;
                                         });
}

TEST(LiveCapture, BlocksOfARunningProcessArriveWhileItRuns) {
  const test::ScratchFolder folder;
  trace::ServerOptions options;
  options.path = folder.path("live.sock");
  Result<std::unique_ptr<trace::Server>> server = trace::Server::start(options);
  ASSERT_TRUE(server.isOk()) << server.status().message();
  Result<std::unique_ptr<LiveCapture>> live = LiveCapture::connect((*server)->address(), "");
  ASSERT_TRUE(live.isOk()) << live.status().message();

  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!trace::isOn() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(trace::isOn());
  constexpr uint64_t kBlocks = 500;
  uint64_t expected = 0;
  for (uint64_t number = 1; number <= kBlocks; ++number) {
    recordBlock(number);
    expected += 1000 + number;
  }
  const auto liveBytes = [&]() -> uint64_t {
    for (const Heap &heap : (*live)->model().heaps()) {
      if (heap.id == 77)
        return heap.live.last();
    }
    return 0;
  };
  while (liveBytes() != expected && std::chrono::steady_clock::now() < until) {
    (*live)->pump(100);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(liveBytes(), expected);
  EXPECT_EQ((*live)->model().droppedEvents(), 0u);

  server->reset(); // The stream ends, as it does when a process exits.
  while (!(*live)->ended() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE((*live)->ended());
}

TEST(LiveCapture, ConnectingToAnAddressWithoutServerFails) {
  const test::ScratchFolder folder;
  EXPECT_FALSE(LiveCapture::connect(folder.path("absent.sock"), "").isOk());
}

} // namespace
} // namespace gantry::profiler
