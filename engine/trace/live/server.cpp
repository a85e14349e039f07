// The server's thread: accepts viewers and attaches a sink (AttachedSink in record/collector.h) for
// each of them to the collector.
#include "engine/trace/live/server.h"

#include "engine/base/log.h"
#include "engine/base/thread.h"
#include "engine/trace/record/collector.h"
#include "engine/trace/live/handshake.h"

#include <algorithm>
#include <list>
#include <unistd.h>

namespace gantry::trace {
namespace {

constexpr int kClientHelloMs = 2000; // Longest wait for the hello of a viewer.
constexpr int kSendTimeoutMs = 1000;
constexpr int kClosedPollMs = 200; // Interval of checks whether a viewer has closed its connection.
constexpr size_t kMaxViewers = 16;
/// The collector sends waiting events to a viewer after this time, about one frame of a 60 Hz
/// display.
constexpr uint64_t kLiveFlushNs = 15'000'000;

Result<std::string> randomToken() {
  static constexpr char kDigits[] = "0123456789abcdef";
  uint8_t random[32]; // Filled from the system's random source.
  if (getentropy(random, sizeof(random)) != 0)
    return Status(StatusCode::kIo, "the system gave no random bytes for a token; set a token");
  std::string token;
  for (const uint8_t byte : random)
    token += kDigits[byte % 16];
  return token;
}

} // namespace

struct Server::Impl {
  explicit Impl(Listener opened) : listener(std::move(opened)) {}

  struct Viewer {
    explicit Viewer(Socket given) : socket(std::move(given)), attached(options(), write, this) {
      attached.failed = [](void *user) { static_cast<Viewer *>(user)->gone = true; };
      attached.flushNs = kLiveFlushNs;
    }
    static FrameSinkOptions options() {
      FrameSinkOptions chosen;
      chosen.codec = FrameCodec::kLz4;
      return chosen;
    }
    static Status write(void *user, std::span<const uint8_t> frame) {
      return static_cast<Viewer *>(user)->socket.send(frame, kSendTimeoutMs);
    }
    Socket socket;
    AttachedSink attached;
    std::atomic<bool> gone{false};
  };

  void run();
  void welcome(Socket socket);
  void disconnect(Viewer &viewer);
  void removeGone();

  Listener listener;
  std::string address;
  std::string token;
  bool unixDomain = false;
  std::atomic<bool> quit{false};
  mutable std::mutex mutex; // Protects `viewers`.
  std::list<std::unique_ptr<Viewer>> viewers;
  Thread thread;
};

void Server::Impl::run() {
  while (!quit.load()) {
    Result<std::optional<Socket>> accepted = listener.accept(viewers.empty() ? -1 : kClosedPollMs);
    if (!accepted.isOk()) {
      logf(LogLevel::kWarn, "the trace server stopped accepting viewers: %s",
           accepted.status().message().c_str());
      return;
    }
    removeGone();
    if (accepted->has_value() && !quit.load())
      welcome(std::move(**accepted));
  }
}

void Server::Impl::welcome(Socket socket) {
  ClientHello hello;
  auto *bytes = reinterpret_cast<uint8_t *>(&hello);
  Status status;
  if (unixDomain) {
    const Result<uint32_t> user = socket.peerUser();
    if (!user.isOk())
      status = user.status();
    else if (*user != currentUser() && *user != 0)
      status =
          statusf(StatusCode::kInvalidArgument,
                  "this process belongs to user %u, the viewer to user %u; run the viewer as the "
                  "process's user or as root",
                  currentUser(), *user);
  }
  if (status.isOk() && viewers.size() >= kMaxViewers)
    status = statusf(StatusCode::kFailedPrecondition,
                     "%zu viewers are attached already; close one of them", viewers.size());
  if (status.isOk()) {
    if (!receiveAll(socket, {bytes, sizeof(hello)}, kClientHelloMs).isOk())
      return;
    status = checkClientHello(hello, token);
  }
  const ServerHello answer = makeServerHello(status);
  const Status sent =
      socket.send({reinterpret_cast<const uint8_t *>(&answer), sizeof(answer)}, kSendTimeoutMs);
  if (!status.isOk() || !sent.isOk())
    return;
  auto viewer = std::make_unique<Viewer>(std::move(socket));
  if (const Status attached = Collector::instance().attach(viewer->attached); !attached.isOk()) {
    logf(LogLevel::kWarn, "attaching a viewer failed: %s", attached.message().c_str());
    return;
  }
  const std::lock_guard<std::mutex> locked(mutex);
  viewers.push_back(std::move(viewer));
}

void Server::Impl::disconnect(Viewer &viewer) {
  Collector::instance().detach(viewer.attached);
  if (viewer.gone.load())
    return;
  FrameHeader header;
  header.type = FrameType::kEnd;
  FramePacker packer(FrameCodec::kRaw);
  if (const auto frame = packer.pack(header, {}); frame.isOk())
    (void)viewer.socket.send(*frame, kSendTimeoutMs); // Fails if the viewer has closed.
}

/// Detaches viewers whose connection was closed or failed. A viewer must send nothing after its
/// hello, so a viewer that sends data is detached, too.
void Server::Impl::removeGone() {
  std::list<std::unique_ptr<Viewer>> gone;
  {
    const std::lock_guard<std::mutex> locked(mutex);
    for (auto at = viewers.begin(); at != viewers.end();) {
      const auto next = std::next(at);
      uint8_t byte = 0;
      const Result<size_t> received = (*at)->socket.receive({&byte, 1}, 0);
      if ((*at)->gone.load() || !received.isOk() || *received != 0)
        gone.splice(gone.end(), viewers, at);
      at = next;
    }
  }
  for (const auto &viewer : gone)
    Collector::instance().detach(viewer->attached);
}

Server::Server() = default;

Result<std::unique_ptr<Server>> Server::start(const ServerOptions &options) {
  std::unique_ptr<Server> server(new Server);
  if (options.token.size() > kTokenBytes)
    return statusf(StatusCode::kInvalidArgument, "the token has %zu bytes; valid are 1 to %u",
                   options.token.size(), kTokenBytes);
  if (!options.tcpHost.empty()) {
    GANTRY_ASSIGN_OR_RETURN(Listener listener,
                            Listener::listenTcp(options.tcpHost, options.tcpPort));
    server->impl_ = std::make_unique<Impl>(std::move(listener));
    server->impl_->address = options.tcpHost + ":" + std::to_string(server->impl_->listener.port());
    server->impl_->token = options.token;
    if (options.token.empty()) {
      GANTRY_ASSIGN_OR_RETURN(server->impl_->token, randomToken());
    }
  } else {
    std::string path = options.path;
    if (path.empty()) {
      GANTRY_ASSIGN_OR_RETURN(const std::string folder, userSocketDirectory(true));
      removeDeadSockets(folder); // Killed processes do not delete their sockets.
      path = folder + "/" + std::to_string(getpid()) + ".sock";
    }
    GANTRY_ASSIGN_OR_RETURN(Listener listener, Listener::listenUnix(path));
    server->impl_ = std::make_unique<Impl>(std::move(listener));
    server->impl_->address = path;
    server->impl_->unixDomain = true;
  }
  Impl *impl = server->impl_.get();
  GANTRY_ASSIGN_OR_RETURN(impl->thread, Thread::start("gantry-viewers", [impl] { impl->run(); }));
  return server;
}

Server::~Server() {
  if (impl_ == nullptr)
    return;
  if (impl_->thread.isStarted()) {
    impl_->quit = true;
    impl_->listener.wake();
    impl_->thread.join();
  }
  for (const auto &viewer : impl_->viewers)
    impl_->disconnect(*viewer);
}

const std::string &Server::address() const { return impl_->address; }
uint16_t Server::port() const { return impl_->listener.port(); }
const std::string &Server::token() const { return impl_->token; }
uint32_t Server::viewers() const {
  const std::lock_guard<std::mutex> locked(impl_->mutex);
  return static_cast<uint32_t>(
      std::count_if(impl_->viewers.begin(), impl_->viewers.end(),
                    [](const auto &viewer) { return !viewer->gone.load(); }));
}

} // namespace gantry::trace
