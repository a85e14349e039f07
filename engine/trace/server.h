// Letting viewers in: a socket on which this process can be attached to.
//
// By default a Unix-domain socket PID.sock in the user's folder for sockets (engine/base/socket.h),
// which only this user can enter, and whose other end is asked for its user besides. TCP is opened
// only when it is asked for, and then every viewer must bring a token.
//
// A viewer that connects is greeted (handshake.h), told what is there, and then what happens, until
// it closes. One that takes nothing for a second is let go, since it holds up the others.
//
// Threads: any. The listener has a thread of its own, which sleeps while nobody connects.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gantry::trace {

struct ServerOptions {
  /// "" for the default path; a path for a Unix-domain socket elsewhere.
  std::string path;
  /// Not "": TCP instead, on this host's address ("127.0.0.1" unless others may come).
  std::string tcpHost;
  uint16_t tcpPort = 0; // 0: one that is free
  /// Of TCP; "": a random one is made. 1 to 64 bytes.
  std::string token;
};

class Server {
public:
  static Result<std::unique_ptr<Server>> start(const ServerOptions &options);
  /// Lets all viewers go, in order: they see the stream's end.
  ~Server();
  Server(const Server &) = delete;
  Server &operator=(const Server &) = delete;

  /// What CaptureReader::connect takes.
  const std::string &address() const;
  /// Of TCP: the port that is listened on. 0 for a Unix-domain socket.
  uint16_t port() const;
  const std::string &token() const;
  uint32_t viewers() const;

private:
  Server();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gantry::trace
