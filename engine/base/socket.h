// Stream sockets: Unix-domain ones in a folder of the user's own, and TCP ones where they are asked
// for. The only place of the engine that asks the operating system for sockets; another platform
// fills in socket.cpp.
//
// Errors: kNotFound where nobody listens, kIo for what the system refused, with its words;
// kInvalidArgument for an address that cannot be. Messages name the address. Threads: distinct
// objects may be used from distinct threads; one may send while another receives.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gantry {

/// A connection. Movable.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket &&other) noexcept;
  Socket &operator=(Socket &&other) noexcept;
  ~Socket();

  static Result<Socket> connectUnix(const std::string &path);
  /// host: a name or a number.
  static Result<Socket> connectTcp(const std::string &host, uint16_t port);

  bool isOpen() const { return descriptor_ >= 0; }
  /// Sends all of it, or fails: kFailedPrecondition when the other end takes nothing for timeoutMs,
  /// kIo when it is gone.
  Status send(std::span<const uint8_t> bytes, int timeoutMs);
  /// At least one byte, into the front of `bytes`; 0 when timeoutMs passed first (-1: for ever).
  /// kNotFound when the other end has closed.
  Result<size_t> receive(std::span<uint8_t> bytes, int timeoutMs);
  /// The user at the other end of a Unix-domain socket, as the system knows it.
  Result<uint32_t> peerUser() const;
  /// Makes blocked calls of other threads return.
  void shutdown();

private:
  friend class Listener;
  int descriptor_ = -1;
};

/// Waits for connections. Movable. A Unix-domain one deletes its path at the end.
class Listener {
public:
  /// The folder must be there. A path on which nobody listens any more is taken over.
  static Result<Listener> listenUnix(const std::string &path);
  /// port 0: one that is free; port() tells which. host "127.0.0.1" unless others may come.
  static Result<Listener> listenTcp(const std::string &host, uint16_t port);
  Listener(Listener &&other) noexcept;
  Listener &operator=(Listener &&) = delete;
  ~Listener();

  /// A connection, or none when timeoutMs passed first or wake() was called.
  Result<std::optional<Socket>> accept(int timeoutMs);
  /// From any thread: a blocked accept() returns.
  void wake();
  uint16_t port() const { return port_; }

private:
  Listener() = default;
  std::string path_;
  int descriptor_ = -1;
  int wakeRead_ = -1;
  int wakeWrite_ = -1;
  uint16_t port_ = 0;
};

/// The folder for sockets of this user: $XDG_RUNTIME_DIR/gantry, or /tmp/gantry-UID. It is made
/// where it is absent and `create` says so. kFailedPrecondition where it belongs to another user,
/// is open to others, or is a link: someone else may have put it there.
Result<std::string> userSocketDirectory(bool create);

/// Deletes the Unix-domain sockets of a folder on which no process listens any more: those of
/// processes that were killed. The socket of a process that lives is never touched.
void removeDeadSockets(const std::string &folder);

/// Names of the entries of a folder; empty where it is absent.
std::vector<std::string> listFolder(const std::string &path);

uint32_t currentUser();

} // namespace gantry
