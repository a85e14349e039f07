// Tests the server of a process and the viewers that attach to its trace: discovery, handshake,
// streaming, access rights, and peers that send damaged data.
#include "engine/trace/live/server.h"

#include "engine/base/socket.h"
#include "engine/trace/wire/capture.h"
#include "engine/trace/live/handshake.h"
#include "engine/trace/record/record.h"
#include "tests/support/scratch.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace gantry;
using namespace gantry::trace;
using namespace gantry::test;

constexpr uint64_t kSecond = 1'000'000'000;

std::unique_ptr<Server> startServer(const ServerOptions &options) {
  auto server = Server::start(options);
  EXPECT_TRUE(server.isOk()) << server.status().message();
  return server.isOk() ? server.take() : nullptr;
}

std::unique_ptr<CaptureReader> connectOrFail(const std::string &address,
                                             const std::string &token = "") {
  auto reader = CaptureReader::connect(address, token);
  EXPECT_TRUE(reader.isOk()) << reader.status().message();
  return reader.isOk() ? reader.take() : nullptr;
}

/// Reads until a host event of this type (a mark) arrives and returns its value. Fails the test and
/// returns -1 after ten seconds.
int64_t nextValue(CaptureReader &reader, EventType type) {
  static thread_local std::vector<Event> left;
  for (int i = 0; i < 100; ++i) {
    while (!left.empty()) {
      const Event event = left.front();
      left.erase(left.begin());
      if (event.type() == type)
        return event.host.value;
    }
    const Result<Batch> batch = reader.read(kSecond / 10);
    EXPECT_TRUE(batch.isOk()) << batch.status().message();
    if (!batch.isOk())
      return -1;
    left.assign(batch->events.begin(), batch->events.end());
  }
  ADD_FAILURE() << "no " << eventTypeName(type) << " arrived";
  return -1;
}

void waitUntilOff() {
  for (int i = 0; i < 500 && isOn(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(isOn());
}

class ServerTest : public testing::Test {
protected:
  void SetUp() override { setenv("XDG_RUNTIME_DIR", folder_.path(".").c_str(), 1); }
  void TearDown() override { unsetenv("XDG_RUNTIME_DIR"); }
  ScratchFolder folder_;
};

TEST_F(ServerTest, AViewerFindsTheProcessAndReceivesEvents) {
  const auto server = startServer({});
  ASSERT_NE(server, nullptr);
  EXPECT_FALSE(isOn());
  const auto endpoints = findEndpoints();
  ASSERT_TRUE(endpoints.isOk()) << endpoints.status().message();
  ASSERT_EQ(endpoints->size(), 1u);
  EXPECT_EQ((*endpoints)[0].processId, static_cast<uint32_t>(getpid()));
  EXPECT_EQ((*endpoints)[0].name, "trace_test");
  EXPECT_EQ((*endpoints)[0].address, server->address());
  {
    const auto reader = connectOrFail((*endpoints)[0].address);
    ASSERT_NE(reader, nullptr);
    EXPECT_TRUE(reader->isLive());
    EXPECT_TRUE(reader->chunks().empty());
    const Result<Batch> first = reader->read(5 * kSecond);
    ASSERT_TRUE(first.isOk());
    ASSERT_FALSE(first->events.empty());
    EXPECT_EQ(first->events[0].type(), EventType::kProcess);
    EXPECT_EQ(reader->names()[first->events[0].process.name], "trace_test");
    for (int64_t value = 1; value < 5; ++value) {
      mark(intern("tick"), value);
      EXPECT_EQ(nextValue(*reader, EventType::kMark), value);
    }
    EXPECT_EQ(server->viewers(), 1u);
  }
  waitUntilOff(); // The viewer has disconnected.
  EXPECT_EQ(server->viewers(), 0u);
}

TEST_F(ServerTest, TheEndOfTheProcessIsTheEndOfTheStream) {
  auto server = startServer({});
  ASSERT_NE(server, nullptr);
  const auto reader = connectOrFail(server->address());
  ASSERT_NE(reader, nullptr);
  const Result<Batch> first = reader->read(5 * kSecond);
  ASSERT_TRUE(first.isOk());
  mark(1, 77);
  const std::string path = server->address();
  server.reset();
  EXPECT_EQ(nextValue(*reader, EventType::kMark), 77);
  Result<Batch> last = reader->read(5 * kSecond);
  ASSERT_TRUE(last.isOk());
  EXPECT_TRUE(last->end);
  EXPECT_EQ(reader->tail(), Tail::kComplete);
  struct stat info;
  EXPECT_NE(stat(path.c_str(), &info), 0) << "the socket is still there";
  EXPECT_TRUE(findEndpoints()->empty());
}

TEST_F(ServerTest, SeveralViewersReceiveTheSameEvents) {
  const auto server = startServer({});
  ASSERT_NE(server, nullptr);
  const auto a = connectOrFail(server->address());
  const auto b = connectOrFail(server->address());
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  ASSERT_TRUE(a->read(5 * kSecond).isOk());
  ASSERT_TRUE(b->read(5 * kSecond).isOk());
  mark(1, 5);
  EXPECT_EQ(nextValue(*a, EventType::kMark), 5);
  EXPECT_EQ(nextValue(*b, EventType::kMark), 5);
}

TEST_F(ServerTest, OnlyTheUserHasAccessToTheSocketAndItsFolder) {
  const auto server = startServer({});
  ASSERT_NE(server, nullptr);
  struct stat info;
  ASSERT_EQ(stat(server->address().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(folder_.path("gantry").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(ServerTest, AFolderOpenToOthersIsRefused) {
  ASSERT_EQ(mkdir(folder_.path("gantry").c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder_.path("gantry").c_str(), 0755), 0);
  const auto server = Server::start({});
  ASSERT_FALSE(server.isOk());
  EXPECT_EQ(server.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(server.status().message().find("chmod 700"), std::string::npos);
  EXPECT_EQ(findEndpoints().status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(ServerTest, ALinkInPlaceOfTheFolderIsRefused) {
  ASSERT_EQ(mkdir(folder_.path("elsewhere").c_str(), 0700), 0);
  ASSERT_EQ(symlink(folder_.path("elsewhere").c_str(), folder_.path("gantry").c_str()), 0);
  EXPECT_EQ(Server::start({}).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(ServerTest, OtherFilesAreNotListedAndASecondServerIsRefused) {
  const std::string path = folder_.path("gantry/") + std::to_string(getpid()) + ".sock";
  ASSERT_EQ(mkdir(folder_.path("gantry").c_str(), 0700), 0);
  writeBytes(folder_.path("gantry/77.sock"), {});
  writeBytes(folder_.path("gantry/notes.txt"), {});
  EXPECT_TRUE(findEndpoints()->empty());
  const auto server = startServer({});
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(std::filesystem::path(server->address()).lexically_normal(), path);
  EXPECT_FALSE(Server::start({}).isOk()) << "two servers listen on one socket";
}

/// Creates the socket file that a killed server leaves: nobody listens on it.
void leaveDeadSocket(const std::string &path) {
  const pid_t child = fork();
  if (child == 0) {
    const auto listener = Listener::listenUnix(path);
    _exit(listener.isOk() ? 0 : 1); // _exit() runs no destructor, so the file stays.
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(std::filesystem::exists(path));
}

TEST_F(ServerTest, SocketsOfKilledProcessesAreRemovedAtTheNextStart) {
  const std::string folder = folder_.path("gantry");
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  leaveDeadSocket(folder + "/71.sock");
  // Process 1 exists but did not create this socket: process ids are reused.
  leaveDeadSocket(folder + "/1.sock");
  writeBytes(folder + "/72.sock", {}); // A regular file, which the server must not delete.
  auto live = Listener::listenUnix(folder + "/73.sock");
  ASSERT_TRUE(live.isOk());
  // No thread accepts, so the queue of connections fills up; the socket is alive nevertheless.
  std::vector<Socket> waiting;
  for (int i = 0; i < 8; ++i)
    if (auto socket = Socket::connectUnix(folder + "/73.sock"); socket.isOk())
      waiting.push_back(socket.take());
  const auto server = startServer({});
  ASSERT_NE(server, nullptr);
  EXPECT_FALSE(std::filesystem::exists(folder + "/71.sock"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/1.sock"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/72.sock"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/73.sock"));
  EXPECT_TRUE(std::filesystem::exists(server->address()));
}

TEST_F(ServerTest, TcpRequiresTheToken) {
  ServerOptions options;
  options.tcpHost = "127.0.0.1";
  const auto server = startServer(options);
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(server->token().size(), 32u);
  const auto without = CaptureReader::connect(server->address());
  ASSERT_FALSE(without.isOk());
  EXPECT_EQ(without.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(without.status().message().find("token"), std::string::npos);
  EXPECT_FALSE(CaptureReader::connect(server->address(), "wrong").isOk());
  EXPECT_FALSE(isOn());
  const auto reader = connectOrFail(server->address(), server->token());
  ASSERT_NE(reader, nullptr);
  ASSERT_TRUE(reader->read(5 * kSecond).isOk());
  mark(1, 3);
  EXPECT_EQ(nextValue(*reader, EventType::kMark), 3);
}

TEST_F(ServerTest, InvalidAddressesAreRefused) {
  for (const char *address : {"", "host", "host:", "host:99999", ":80", "host:8x"})
    EXPECT_EQ(CaptureReader::connect(address).status().code(), StatusCode::kInvalidArgument)
        << address;
  EXPECT_EQ(CaptureReader::connect(folder_.path("absent")).status().code(), StatusCode::kNotFound);
}

TEST_F(ServerTest, DamagedHellosAreRefused) {
  const auto server = startServer({});
  ASSERT_NE(server, nullptr);
  std::mt19937_64 random(5);
  for (int i = 0; i < 20; ++i) {
    auto socket = Socket::connectUnix(server->address());
    ASSERT_TRUE(socket.isOk());
    ClientHello hello = makeClientHello("");
    auto *bytes = reinterpret_cast<uint8_t *>(&hello);
    bytes[random() % sizeof(hello)] ^= static_cast<uint8_t>(1 + random() % 255);
    ASSERT_TRUE(socket->send({bytes, sizeof(hello)}, 1000).isOk());
    ServerHello answer;
    ASSERT_TRUE(
        receiveAll(*socket, {reinterpret_cast<uint8_t *>(&answer), sizeof(answer)}, 5000).isOk());
    EXPECT_NE(answer.status, 0u);
  }
  EXPECT_FALSE(isOn());
  ClientHello newer = makeClientHello("");
  EXPECT_TRUE(checkClientHello(newer, "").isOk());
  EXPECT_FALSE(checkClientHello(newer, "token").isOk());
}

// A viewer may connect to a process that sends arbitrary data. The viewer must not crash or hang.
TEST_F(ServerTest, AViewerSurvivesAHostileStream) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    const std::string path = folder_.path("hostile");
    auto listener = Listener::listenUnix(path);
    ASSERT_TRUE(listener.isOk());
    std::thread server([&] {
      auto accepted = listener->accept(5000);
      ASSERT_TRUE(accepted.isOk() && accepted->has_value());
      ClientHello hello;
      ASSERT_TRUE(receiveAll(**accepted, {reinterpret_cast<uint8_t *>(&hello), sizeof(hello)}, 5000)
                      .isOk());
      const ServerHello answer = makeServerHello({});
      ASSERT_TRUE((*accepted)
                      ->send({reinterpret_cast<const uint8_t *>(&answer), sizeof(answer)}, 1000)
                      .isOk());
      // A frame with correct checksums and invalid contents.
      std::vector<uint8_t> contents(random() % 300);
      for (uint8_t &byte : contents)
        byte = static_cast<uint8_t>(random());
      FrameHeader header;
      header.type = static_cast<FrameType>(1 + random() % 3);
      header.events = static_cast<uint32_t>(1 + random() % 20);
      FramePacker packer(FrameCodec::kLz4);
      const auto frame = packer.pack(header, contents);
      ASSERT_TRUE(frame.isOk());
      std::vector<uint8_t> bytes(frame->begin(), frame->end());
      if (random() % 2 == 0)
        bytes[random() % bytes.size()] ^= 1;
      (void)(*accepted)->send(bytes, 1000);
    });
    const auto reader = connectOrFail(path);
    ASSERT_NE(reader, nullptr);
    for (int i = 0; i < 10; ++i) {
      const Result<Batch> batch = reader->read(kSecond);
      if (!batch.isOk() || batch->end)
        break;
    }
    server.join();
  }
}

} // namespace
