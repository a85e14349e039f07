// Stream sockets on POSIX systems, and the folder of Unix-domain sockets.
#include "engine/base/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace gantry {

namespace {

Status systemError(const std::string &address, const char *doing, int error) {
  const bool absent = error == ENOENT || error == ECONNREFUSED;
  return statusf(absent ? StatusCode::kNotFound : StatusCode::kIo, "cannot %s %s: %s", doing,
                 address.c_str(), std::strerror(error));
}

Result<sockaddr_un> unixAddress(const std::string &path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return statusf(StatusCode::kInvalidArgument,
                   "the socket's path %s has %zu bytes; it must have 1 to %zu", path.c_str(),
                   path.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

void closeDescriptor(int &descriptor) {
  if (descriptor >= 0)
    ::close(std::exchange(descriptor, -1));
}

/// Waits until the descriptor is ready for the poll events. Returns false after timeoutMs.
bool waitFor(int descriptor, short events, int timeoutMs) {
  pollfd waiting = {descriptor, events, 0};
  int ready = 0;
  do
    ready = ::poll(&waiting, 1, timeoutMs);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// Returns "folder/.name" for "folder/name". listFolder() does not list such names.
std::string hiddenName(const std::string &path) {
  const size_t slash = path.rfind('/') + 1; // 0 if there is no slash.
  return path.substr(0, slash) + "." + path.substr(slash);
}

/// Returns whether the path is a Unix-domain socket on which no process listens. The function does
/// not block: a stopped process whose queue of connections is full counts as listening.
bool isDeadSocket(const std::string &path) {
  struct stat info;
  const Result<sockaddr_un> address = unixAddress(path);
  if (!address.isOk() || ::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode))
    return false;
  int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0)
    return false;
  const bool refused =
      ::connect(descriptor, reinterpret_cast<const sockaddr *>(&*address), sizeof(*address)) != 0 &&
      errno == ECONNREFUSED;
  closeDescriptor(descriptor);
  return refused;
}

/// Resolves a host name and calls use(descriptor, address) with a new socket for each address until
/// one call succeeds. Returns that socket; the caller owns it.
template <typename F>
Result<int> withTcpAddresses(const std::string &host, uint16_t port, bool passive, F &&use) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = passive ? AI_PASSIVE : 0;
  addrinfo *found = nullptr;
  const std::string service = std::to_string(port);
  const std::string name = host + ":" + service;
  if (const int error = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &found); error != 0)
    return statusf(StatusCode::kNotFound, "cannot find %s: %s", host.c_str(),
                   ::gai_strerror(error));
  int last = 0;
  int result = -1;
  for (const addrinfo *at = found; at != nullptr && result < 0; at = at->ai_next) {
    const int descriptor = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || !use(descriptor, *at)) {
      last = errno;
      if (descriptor >= 0)
        ::close(descriptor);
      continue;
    }
    result = descriptor;
  }
  ::freeaddrinfo(found);
  if (result < 0)
    return systemError(name, passive ? "listen on" : "connect to", last);
  return result;
}

} // namespace

// ---- connections -------------------------------------------------------------------------------

Socket::Socket(Socket &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() { closeDescriptor(descriptor_); }

Result<Socket> Socket::connectUnix(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(const sockaddr_un address, unixAddress(path));
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.descriptor_ < 0)
    return systemError(path, "connect to", errno);
  if (::connect(socket.descriptor_, reinterpret_cast<const sockaddr *>(&address),
                sizeof(address)) != 0)
    return systemError(path, "connect to", errno);
  return socket;
}

Result<Socket> Socket::connectTcp(const std::string &host, uint16_t port) {
  GANTRY_ASSIGN_OR_RETURN(
      const int descriptor,
      withTcpAddresses(host, port, false, [](int made, const addrinfo &address) {
        return ::connect(made, address.ai_addr, address.ai_addrlen) == 0;
      }));
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return Socket(descriptor);
}

Status Socket::send(std::span<const uint8_t> bytes, int timeoutMs) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return systemError("the other end", "send to", errno);
    if (!waitFor(descriptor_, POLLOUT, timeoutMs))
      return statusf(StatusCode::kFailedPrecondition, "the other end has taken nothing for %d ms",
                     timeoutMs);
  }
  return {};
}

Result<size_t> Socket::receive(std::span<uint8_t> bytes, int timeoutMs) {
  if (bytes.empty())
    return size_t{0};
  for (;;) {
    const ssize_t received = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received > 0)
      return static_cast<size_t>(received);
    if (received == 0 || errno == ECONNRESET)
      return Status(StatusCode::kNotFound, "the other end has closed the connection");
    if (errno == EINTR)
      continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return systemError("the other end", "receive from", errno);
    if (!waitFor(descriptor_, POLLIN, timeoutMs))
      return size_t{0};
  }
}

Result<uint32_t> Socket::peerUser() const {
  ucred peer = {};
  socklen_t length = sizeof(peer);
  if (::getsockopt(descriptor_, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return systemError("the other end", "read the user id of", errno);
  return static_cast<uint32_t>(peer.uid);
}

void Socket::shutdown() {
  if (descriptor_ >= 0)
    ::shutdown(descriptor_, SHUT_RDWR);
}

// ---- listeners ---------------------------------------------------------------------------------

Listener::Listener(Listener &&other) noexcept
    : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)),
      wakeRead_(std::exchange(other.wakeRead_, -1)),
      wakeWrite_(std::exchange(other.wakeWrite_, -1)), port_(other.port_) {}

Listener::~Listener() {
  if (descriptor_ >= 0 && !path_.empty())
    ::unlink(path_.c_str());
  closeDescriptor(descriptor_);
  closeDescriptor(wakeRead_);
  closeDescriptor(wakeWrite_);
}

Result<Listener> Listener::listenUnix(const std::string &path) {
  GANTRY_RETURN_IF_ERROR(unixAddress(path).status());
  // The socket is bound under a hidden name and renamed once it listens. A socket that has its
  // final name and refuses connections therefore has no process, and removeDeadSockets() may delete
  // it.
  const std::string hidden = hiddenName(path);
  GANTRY_ASSIGN_OR_RETURN(const sockaddr_un address, unixAddress(hidden));
  Listener listener;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return systemError(path, "listen on", errno);
  listener.wakeRead_ = ends[0];
  listener.wakeWrite_ = ends[1];
  listener.descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener.descriptor_ < 0)
    return systemError(path, "listen on", errno);
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0 && !isDeadSocket(path))
    return systemError(path, "listen on", EADDRINUSE);
  ::unlink(hidden.c_str());
  if (::bind(listener.descriptor_, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) !=
      0)
    return systemError(path, "listen on", errno);
  listener.path_ = hidden; // From here on the destructor deletes the path.
  if (::chmod(hidden.c_str(), 0600) != 0 || ::listen(listener.descriptor_, 8) != 0 ||
      ::rename(hidden.c_str(), path.c_str()) != 0)
    return systemError(path, "listen on", errno);
  listener.path_ = path;
  return listener;
}

Result<Listener> Listener::listenTcp(const std::string &host, uint16_t port) {
  Listener listener;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return systemError(host, "listen on", errno);
  listener.wakeRead_ = ends[0];
  listener.wakeWrite_ = ends[1];
  GANTRY_ASSIGN_OR_RETURN(
      listener.descriptor_, withTcpAddresses(host, port, true, [](int made, const addrinfo &at) {
        const int yes = 1;
        ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        return ::bind(made, at.ai_addr, at.ai_addrlen) == 0 && ::listen(made, 8) == 0 &&
               ::fcntl(made, F_SETFL, O_NONBLOCK) == 0;
      }));
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  char service[16] = "";
  if (::getsockname(listener.descriptor_, reinterpret_cast<sockaddr *>(&bound), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr *>(&bound), length, nullptr, 0, service,
                    sizeof(service), NI_NUMERICSERV) != 0)
    return systemError(host, "listen on", errno);
  listener.port_ = static_cast<uint16_t>(std::strtoul(service, nullptr, 10));
  return listener;
}

Result<std::optional<Socket>> Listener::accept(int timeoutMs) {
  pollfd waiting[2] = {{descriptor_, POLLIN, 0}, {wakeRead_, POLLIN, 0}};
  const int ready = ::poll(waiting, 2, timeoutMs);
  if (ready < 0 && errno != EINTR)
    return systemError(path_, "wait on", errno);
  if (ready <= 0 || (waiting[1].revents & POLLIN) != 0)
    return std::optional<Socket>();
  Socket socket(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.isOpen())
    return std::optional<Socket>(); // For example, the other end has closed the connection.
  return std::optional<Socket>(std::move(socket));
}

void Listener::wake() {
  const char byte = 0;
  // If the pipe is full, the write fails, and the bytes in the pipe wake accept().
  (void)!::write(wakeWrite_, &byte, 1);
}

// ---- folders -----------------------------------------------------------------------------------

void removeDeadSockets(const std::string &folder) {
  for (const std::string &name : listFolder(folder)) {
    std::string path = folder;
    path.append("/").append(name);
    if (isDeadSocket(path))
      ::unlink(path.c_str());
  }
}

uint32_t currentUser() { return static_cast<uint32_t>(::geteuid()); }

Result<std::string> userSocketDirectory(bool create) {
  const char *runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string path = runtime != nullptr && runtime[0] == '/'
                               ? std::string(runtime) + "/gantry"
                               : "/tmp/gantry-" + std::to_string(currentUser());
  if (create && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return systemError(path, "create", errno);
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0)
    return systemError(path, "inspect", errno);
  if (!S_ISDIR(info.st_mode))
    return statusf(StatusCode::kFailedPrecondition,
                   "%s is not a folder; delete it, or set XDG_RUNTIME_DIR", path.c_str());
  if (info.st_uid != currentUser())
    return statusf(StatusCode::kFailedPrecondition,
                   "%s belongs to user %u, not to this one (%u); set XDG_RUNTIME_DIR to a folder "
                   "of your own",
                   path.c_str(), static_cast<unsigned>(info.st_uid), currentUser());
  if ((info.st_mode & 0077) != 0)
    return statusf(StatusCode::kFailedPrecondition,
                   "%s is open to other users (mode %03o); chmod 700 it", path.c_str(),
                   static_cast<unsigned>(info.st_mode & 0777));
  return path;
}

std::vector<std::string> listFolder(const std::string &path) {
  std::vector<std::string> names;
  DIR *folder = ::opendir(path.c_str());
  if (folder == nullptr)
    return names;
  while (const dirent *entry = ::readdir(folder))
    if (entry->d_name[0] != '.')
      names.emplace_back(entry->d_name);
  ::closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace gantry
