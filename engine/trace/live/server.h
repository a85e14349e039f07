// The server of a process: viewers, such as the profiler, attach to the process's trace through the
// server's socket.
//
// The default is a Unix-domain socket PID.sock in the user's socket folder (engine/base/socket.h).
// Only this user can enter the folder. The server also obtains the viewer's user from the system
// and accepts only the same user and root. TCP is used only on request; each viewer must then
// present a token.
//
// After the handshake (handshake.h) a viewer receives a description of the current state and then
// all events until the viewer closes the connection. A viewer that accepts no data for one second
// is disconnected, because it would block the collector (record/collector.h) and the other viewers.
//
// Thread safety: any thread. The server has a thread of its own. While no viewer is attached, the
// thread sleeps until one connects; otherwise it also checks every 200 ms whether a viewer has
// left. At most 16 viewers are attached at a time.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gantry::trace {

struct ServerOptions {
  /// Path of the Unix-domain socket; "" for the default path.
  std::string path;
  /// If not "", listen on TCP at this address of the host; "127.0.0.1" allows local viewers only.
  std::string tcpHost;
  uint16_t tcpPort = 0; // 0: choose a free port.
  /// The token that TCP viewers must present, up to 64 bytes; "": generate a random one.
  std::string token;
};

class Server {
public:
  /// Opens the socket and starts the server's thread. Errors: kInvalidArgument for a token that is
  /// too long, those of the socket (engine/base/socket.h), and those of the thread.
  static Result<std::unique_ptr<Server>> start(const ServerOptions &options);
  /// Disconnects all viewers; each receives the end of the stream (FrameType::kEnd).
  ~Server();
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  /// Returns the address to pass to CaptureReader::connect().
  const std::string &address() const;
  /// Returns the TCP port; 0 for a Unix-domain socket.
  uint16_t port() const;
  /// Returns the token that TCP viewers must present; "" for a Unix-domain socket.
  const std::string &token() const;
  /// Returns the number of attached viewers.
  uint32_t viewers() const;

private:
  Server();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
