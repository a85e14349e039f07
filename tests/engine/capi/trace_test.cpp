// Tests the functions gantry_trace_* and the environment variables of traces, as an application and
// as a viewer (a program that attaches to the application and receives its events). The
// application's part uses libgantry.so; the viewer's part uses engine/trace, which is linked into
// the test.
#include "tests/engine/trace/capture_contents.h"
#include "tests/support/child_process.h"
#include "tests/support/scratch.h"

#include <gantry/gantry.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>

namespace {

using namespace gantry::trace;
using gantry::test::Contents;
using gantry::test::readAll;
using gantry::test::runInChild;
using gantry::test::ScratchFolder;

/// Returns a TCP port of this machine that is free now.
uint16_t freePort() {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(probe, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
  socklen_t length = sizeof(address);
  EXPECT_EQ(getsockname(probe, reinterpret_cast<sockaddr *>(&address), &length), 0);
  close(probe);
  return ntohs(address.sin_port);
}

/// Waits until gantry_trace_is_on() returns `wanted`; returns false after ten seconds. The trace
/// server (engine/trace/live/server.h) needs some milliseconds to notice that a viewer has attached
/// or left.
bool becomes(int32_t wanted) {
  for (int i = 0; i < 1000; ++i) {
    if (gantry_trace_is_on() == wanted)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(CApiTrace, EqualNamesHaveOneId) {
  EXPECT_EQ(gantry_trace_name(nullptr), 0u);
  EXPECT_EQ(gantry_trace_name(""), 0u);
  const uint32_t id = gantry_trace_name("a name");
  EXPECT_NE(id, 0u);
  EXPECT_EQ(gantry_trace_name("a name"), id);
  EXPECT_NE(gantry_trace_name("another"), id);
}

TEST(CApiTrace, RecordsToAFile) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("run.gtrace");
  EXPECT_EQ(gantry_trace_is_on(), 0);
  gantry_trace_mark(gantry_trace_name("before"), 1);
  ASSERT_EQ(gantry_trace_start_file(path.c_str()), GANTRY_STATUS_OK) << gantry_last_error();
  EXPECT_EQ(gantry_trace_is_on(), 1);
  EXPECT_EQ(gantry_trace_start_file(scratch.path("second.gtrace").c_str()),
            GANTRY_STATUS_FAILED_PRECONDITION);
  EXPECT_NE(std::string(gantry_last_error()).find(path), std::string::npos);
  std::thread([] {
    gantry_trace_name_thread("loader");
    gantry_trace_name_thread(nullptr); // Has no effect.
    gantry_trace_begin_span(gantry_trace_name("load"));
    gantry_trace_mark(gantry_trace_name("first byte"), -7);
    gantry_trace_counter(gantry_trace_name("queue"), int64_t{1} << 40);
    gantry_trace_end_span();
    gantry_trace_end_span(); // Has no effect, because no span is open.
  }).join();
  ASSERT_EQ(gantry_trace_stop_file(), GANTRY_STATUS_OK) << gantry_last_error();
  EXPECT_EQ(gantry_trace_is_on(), 0);
  EXPECT_EQ(gantry_trace_stop_file(), GANTRY_STATUS_FAILED_PRECONDITION);
  gantry_trace_mark(gantry_trace_name("after"), 1);

  const Contents file = readAll(path);
  EXPECT_TRUE(file.named(EventType::kMark, "before").empty());
  EXPECT_TRUE(file.named(EventType::kMark, "after").empty());
  const auto marks = file.named(EventType::kMark, "first byte");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].host.value, -7);
  const auto counters = file.named(EventType::kCounter, "queue");
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].host.value, int64_t{1} << 40);
  const auto begins = file.named(EventType::kSpanBegin, "load");
  const auto ends = file.named(EventType::kSpanEnd, "load");
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_LE(begins[0].header.timeNs, marks[0].header.timeNs);
  EXPECT_LE(marks[0].header.timeNs, ends[0].header.timeNs);
  std::string thread;
  for (const Event &event : file.events)
    if (event.type() == EventType::kThread && event.header.thread == marks[0].header.thread)
      thread = file.names[event.thread.name];
  EXPECT_EQ(thread, "loader");
}

TEST(CApiTrace, TheErrorNamesAFileThatCannotBeWritten) {
  const ScratchFolder scratch;
  EXPECT_EQ(gantry_trace_start_file(nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gantry_last_error()).find("path"), std::string::npos);
  const std::string nowhere = scratch.path("absent") + "/run.gtrace";
  EXPECT_NE(gantry_trace_start_file(nowhere.c_str()), GANTRY_STATUS_OK);
  EXPECT_NE(std::string(gantry_last_error()).find(nowhere), std::string::npos);
  EXPECT_EQ(gantry_trace_is_on(), 0);
}

TEST(CApiTrace, TheFlightRecorderWritesOnRequest) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("last.gtrace");
  EXPECT_EQ(gantry_trace_write_flight_recorder(path.c_str()), GANTRY_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(gantry_trace_start_flight_recorder(nullptr, 0, 1000), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gantry_last_error()).find("1000 bytes"), std::string::npos);
  EXPECT_EQ(gantry_trace_start_flight_recorder(nullptr, 86401, 0), GANTRY_STATUS_INVALID_ARGUMENT);
  ASSERT_EQ(gantry_trace_start_flight_recorder(nullptr, 0, 0), GANTRY_STATUS_OK)
      << gantry_last_error();
  EXPECT_EQ(gantry_trace_start_flight_recorder(nullptr, 5, 0), GANTRY_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(gantry_trace_write_flight_recorder(nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
  gantry_trace_mark(gantry_trace_name("tick"), 1);
  ASSERT_EQ(gantry_trace_write_flight_recorder(path.c_str()), GANTRY_STATUS_OK)
      << gantry_last_error();
  EXPECT_EQ(readAll(path).named(EventType::kMark, "tick").size(), 1u);
  gantry_trace_mark(gantry_trace_name("tick"), 2);
  ASSERT_EQ(gantry_trace_write_flight_recorder(path.c_str()), GANTRY_STATUS_OK);
  EXPECT_EQ(readAll(path).named(EventType::kMark, "tick").size(), 2u);
  gantry_trace_stop_flight_recorder();
  gantry_trace_stop_flight_recorder(); // Has no effect, because the recorder is stopped.
  EXPECT_EQ(gantry_trace_is_on(), 0);
}

TEST(CApiTrace, ViewersConnectByTcpOnlyWithTheToken) {
  const uint16_t port = freePort();
  EXPECT_EQ(gantry_trace_listen("127.0.0.1", port, nullptr), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_trace_listen("127.0.0.1", port, ""), GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_trace_listen("127.0.0.1", port, std::string(65, 'x').c_str()),
            GANTRY_STATUS_INVALID_ARGUMENT);
  ASSERT_EQ(gantry_trace_listen("127.0.0.1", port, "secret"), GANTRY_STATUS_OK)
      << gantry_last_error();
  const std::string address = "127.0.0.1:" + std::to_string(port);
  EXPECT_FALSE(CaptureReader::connect(address, "Secret").isOk());
  EXPECT_FALSE(CaptureReader::connect(address, "").isOk());
  EXPECT_EQ(gantry_trace_is_on(), 0) << "no viewer was accepted";
  {
    const auto reader = CaptureReader::connect(address, "secret");
    ASSERT_TRUE(reader.isOk()) << reader.status().message();
    const auto first = (*reader)->read();
    ASSERT_TRUE(first.isOk()) << first.status().message();
    ASSERT_FALSE(first->events.empty());
    EXPECT_EQ(first->events[0].type(), EventType::kProcess);
    EXPECT_EQ(gantry_trace_is_on(), 1);
  }
  EXPECT_TRUE(becomes(0)) << "the viewer has gone";
  gantry_trace_stop_listening();
  EXPECT_FALSE(CaptureReader::connect(address, "secret").isOk());
}

TEST(CApiTrace, ListensAtSeveralEndpointsAndReturnsThePort) {
  const ScratchFolder scratch;
  setenv("XDG_RUNTIME_DIR", scratch.path("").c_str(), 1);
  uint16_t first = 0, second = 0;
  ASSERT_EQ(gantry_trace_listen(nullptr, 0, nullptr), GANTRY_STATUS_OK) << gantry_last_error();
  EXPECT_EQ(gantry_trace_listen(nullptr, 0, nullptr), GANTRY_STATUS_FAILED_PRECONDITION);
  ASSERT_EQ(gantry_trace_listen_tcp("127.0.0.1", 0, "secret", &first), GANTRY_STATUS_OK)
      << gantry_last_error();
  ASSERT_EQ(gantry_trace_listen_tcp("127.0.0.1", 0, "secret", &second), GANTRY_STATUS_OK);
  EXPECT_NE(first, 0);
  EXPECT_NE(second, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(gantry_trace_listen_tcp("127.0.0.1", 0, "secret", nullptr),
            GANTRY_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(gantry_trace_listen_tcp(nullptr, 0, "secret", &first), GANTRY_STATUS_INVALID_ARGUMENT);
  {
    const auto found = findEndpoints();
    ASSERT_TRUE(found.isOk());
    ASSERT_EQ(found->size(), 1u);
    std::vector<std::unique_ptr<CaptureReader>> viewers;
    for (const auto &[address, token] :
         {std::pair<std::string, std::string>((*found)[0].address, ""),
          {"127.0.0.1:" + std::to_string(first), "secret"},
          {"127.0.0.1:" + std::to_string(second), "secret"}}) {
      auto reader = CaptureReader::connect(address, token);
      ASSERT_TRUE(reader.isOk()) << address << ": " << reader.status().message();
      const auto batch = (*reader)->read();
      ASSERT_TRUE(batch.isOk());
      viewers.push_back(reader.take());
    }
    for (int i = 0; i < 1000 && gantry_trace_viewers() != 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(gantry_trace_viewers(), 3u);
  }
  gantry_trace_stop_listening();
  EXPECT_EQ(gantry_trace_viewers(), 0u);
  EXPECT_TRUE(findEndpoints()->empty());
}

TEST(CApiTrace, ViewersOfTheUserFindTheProcess) {
  const ScratchFolder scratch;
  setenv("XDG_RUNTIME_DIR", scratch.path("").c_str(), 1);
  ASSERT_EQ(gantry_trace_listen(nullptr, 0, nullptr), GANTRY_STATUS_OK) << gantry_last_error();
  const auto found = findEndpoints();
  ASSERT_TRUE(found.isOk()) << found.status().message();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].processId, static_cast<uint32_t>(getpid()));
  {
    const auto reader = CaptureReader::connect((*found)[0].address);
    ASSERT_TRUE(reader.isOk()) << reader.status().message();
    gantry_trace_stop_listening(); // The viewer sees the end of the stream.
    for (bool end = false; !end;) {
      const auto batch = (*reader)->read();
      ASSERT_TRUE(batch.isOk()) << batch.status().message();
      end = batch->end;
    }
    EXPECT_EQ((*reader)->tail(), Tail::kComplete);
  }
  EXPECT_TRUE(findEndpoints()->empty());
}

// ---- environment variables, each in its own process --------------------------------------------

/// Records an event while a device is open. Opening the device reads the environment variables.
void openAndMark(int64_t value) {
  gantry_device_t *device = nullptr;
  if (gantry_device_create(nullptr, &device) != GANTRY_STATUS_OK)
    _exit(3);
  gantry_trace_mark(gantry_trace_name("from the child"), value);
  gantry_device_release(device);
}

TEST(CApiTrace, AnEnvironmentVariableStartsARecording) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("run.gtrace");
  const int status = runInChild([&] {
    setenv("GANTRY_ATTACH", "0", 1);
    setenv("GANTRY_TRACE", path.c_str(), 1);
    openAndMark(5);
    std::exit(0); // The exit handler completes the file with its index (frame.h).
  });
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const Contents file = readAll(path);
  const auto marks = file.named(EventType::kMark, "from the child");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].host.value, 5);
}

TEST(CApiTrace, AForkedChildEndsAndLeavesTheTracesToItsParent) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("run.gtrace");
  const int status = runInChild([&] {
    setenv("XDG_RUNTIME_DIR", scratch.path("").c_str(), 1); // Viewers may attach.
    setenv("GANTRY_TRACE", path.c_str(), 1);
    openAndMark(7);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      std::exit(0);
    }
    int ended = -1;
    waitpid(child, &ended, 0);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
      _exit(4);
    openAndMark(8);
    std::exit(0);
  });
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(readAll(path).named(EventType::kMark, "from the child").size(), 2u);
}

TEST(CApiTrace, EnvironmentVariablesStartAFlightRecorderForACrash) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("crash.gtrace");
  auto crash = [&](const char *seconds) {
    return runInChild([&] {
      const rlimit none = {0, 0};
      setrlimit(RLIMIT_CORE, &none);
      setenv("GANTRY_ATTACH", "0", 1);
      setenv("GANTRY_FLIGHT_RECORDER", path.c_str(), 1);
      setenv("GANTRY_FLIGHT_SECONDS", seconds, 1);
      openAndMark(6);
      std::abort();
    });
  };
  const int refused = crash("5s"); // An invalid number: the process runs without a flight recorder.
  ASSERT_TRUE(WIFSIGNALED(refused)) << refused;
  EXPECT_EQ(WTERMSIG(refused), SIGABRT);
  EXPECT_FALSE(std::filesystem::exists(path));
  const int status = crash("5");
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  const Contents left = readAll(path);
  EXPECT_EQ(left.named(EventType::kMark, "from the child").size(), 1u);
  const auto killed = left.named(EventType::kMark, "killed by SIGABRT");
  ASSERT_EQ(killed.size(), 1u);
  EXPECT_EQ(killed[0].host.value, SIGABRT);
}

} // namespace
