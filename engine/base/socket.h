// Stream sockets, which carry live traces to a viewer: Unix-domain sockets in a folder of the user,
// and TCP sockets.
//
// The engine uses sockets through this header only, so a port to another platform replaces
// socket.cpp. It is not a network library: there is no encryption and no authentication beyond
// peerUser().
//
// Errors: kNotFound if no process listens at the address or the host name does not exist; kIo for
// every other refusal of the system, with the system's text; kInvalidArgument for an address that
// cannot exist. Messages name the address. Times are in milliseconds.
// Threads: distinct objects may be used from distinct threads. On one Socket, one thread may send
// while another thread receives.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gantry {

/// One end of a connection. Closed by its destructor. Movable.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket &&other) noexcept;
  Socket &operator=(Socket &&other) noexcept;
  ~Socket();

  static Result<Socket> connectUnix(const std::string &path);
  /// `host` is a host name or a numeric address.
  static Result<Socket> connectTcp(const std::string &host, uint16_t port);

  bool isOpen() const { return descriptor_ >= 0; }
  /// Sends all bytes. Returns kFailedPrecondition if the other end accepts no byte for timeoutMs,
  /// and kIo if the other end has closed the connection.
  Status send(std::span<const uint8_t> bytes, int timeoutMs);
  /// Waits for data and stores it at the start of `bytes`. Returns the number of bytes received, or
  /// 0 if timeoutMs passed first (-1: no timeout). Returns kNotFound if the other end has closed
  /// the connection.
  Result<size_t> receive(std::span<uint8_t> bytes, int timeoutMs);
  /// Returns the system's user id of the process at the other end of a Unix-domain socket.
  Result<uint32_t> peerUser() const;
  /// Ends the connection and makes blocked calls of other threads return.
  void shutdown();

private:
  friend class Listener;
  int descriptor_ = -1;
};

/// A socket that accepts connections. The destructor closes it and deletes the path of a
/// Unix-domain socket. Movable.
class Listener {
public:
  /// Listens at `path`, whose folder must exist. A socket file that no process listens on any more
  /// is replaced. Only the user may connect (mode 0600).
  static Result<Listener> listenUnix(const std::string &path);
  /// Port 0 means any free port, which port() then returns. The host "127.0.0.1" accepts
  /// connections from the same machine only.
  static Result<Listener> listenTcp(const std::string &host, uint16_t port);
  Listener(Listener &&other) noexcept;
  Listener &operator=(Listener &&) = delete;
  ~Listener();

  /// Waits for a connection. Returns nullopt if timeoutMs passed first (-1: no timeout), wake() was
  /// called, a signal interrupted the wait, or the connection could not be accepted.
  Result<std::optional<Socket>> accept(int timeoutMs);
  /// Makes the current accept() and all later calls return nullopt. May be called from any thread.
  void wake();
  /// The TCP port; 0 for a Unix-domain socket.
  uint16_t port() const { return port_; }

private:
  Listener() = default;
  std::string path_; // Path of a Unix-domain socket; empty for TCP.
  int descriptor_ = -1;
  int wakeRead_ = -1; // The two ends of the pipe that wake() writes to.
  int wakeWrite_ = -1;
  uint16_t port_ = 0;
};

/// Returns the folder for this user's sockets: $XDG_RUNTIME_DIR/gantry, or else /tmp/gantry-UID. A
/// missing folder is created with mode 0700 if `create` is true, and gives kNotFound if it is
/// false. Returns kFailedPrecondition if the folder belongs to another user, is accessible to
/// others, or is a link, because another user could then replace the sockets in it.
Result<std::string> userSocketDirectory(bool create);

/// Deletes the Unix-domain sockets in a folder on which no process listens any more. A killed
/// process leaves such a socket. The socket of a running process is never deleted.
void removeDeadSockets(const std::string &folder);

/// Returns the sorted names of a folder's entries that are not hidden; the list is empty if the
/// folder cannot be read.
std::vector<std::string> listFolder(const std::string &path);

/// Returns the effective user id of this process.
uint32_t currentUser();

} // namespace gantry
