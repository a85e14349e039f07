// The server of a process: a socket on which viewers attach to the process's trace.
//
// By default it is a Unix-domain socket PID.sock in the user's socket folder
// (engine/base/socket.h). Only this user can enter the folder, and the server also asks the system
// for the user at the other end. TCP is used only on request; each viewer must then present a
// token.
//
// After the handshake (handshake.h) a viewer receives a description of the current state and then
// all events until it closes the connection. A viewer that accepts no data for one second is
// disconnected, because it would block the collector and the other viewers.
//
// Thread safety: any thread. The server has a thread of its own, which sleeps while no viewer
// connects. At most 16 viewers are attached at a time.
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
  /// Opens the socket and starts the server's thread.
  static Result<std::unique_ptr<Server>> start(const ServerOptions &options);
  /// Disconnects all viewers; each receives the end of the stream (kEnd).
  ~Server();
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  /// The address that CaptureReader::connect() takes.
  const std::string &address() const;
  /// The TCP port; 0 for a Unix-domain socket.
  uint16_t port() const;
  /// The token that TCP viewers must present; "" for a Unix-domain socket.
  const std::string &token() const;
  /// Number of attached viewers.
  uint32_t viewers() const;

private:
  Server();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
