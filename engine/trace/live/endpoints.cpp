// findEndpoints(): lists the processes that accept viewers. Each of them has a socket PID.sock in
// the user's socket folder.
#include "engine/base/socket.h"
#include "engine/trace/wire/capture.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <unistd.h>

namespace gantry::trace {
namespace {

std::string executableOf(uint32_t processId) {
  char path[PATH_MAX];
  const std::string link = "/proc/" + std::to_string(processId) + "/exe";
  const ssize_t length = readlink(link.c_str(), path, sizeof(path));
  if (length <= 0)
    return {};
  const std::string whole(path, static_cast<size_t>(length));
  return whole.substr(whole.rfind('/') + 1);
}

} // namespace

Result<std::vector<Endpoint>> findEndpoints() {
  std::vector<Endpoint> endpoints;
  const Result<std::string> folder = userSocketDirectory(false);
  if (folder.status().code() == StatusCode::kNotFound)
    return endpoints; // No process has created the folder yet.
  if (!folder.isOk())
    return folder.status();
  for (const std::string &name : listFolder(*folder)) {
    uint32_t processId = 0;
    const char *end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data(), end, processId);
    if (parsed.ec != std::errc() || std::string_view(parsed.ptr, end) != ".sock")
      continue;
    // A connection that closes without a hello (handshake.h) is harmless: the process treats it as
    // a viewer that left.
    const std::string path = *folder + "/" + name;
    if (Socket::connectUnix(path).isOk())
      endpoints.push_back({processId, executableOf(processId), path});
  }
  std::sort(endpoints.begin(), endpoints.end(),
            [](const Endpoint &a, const Endpoint &b) { return a.processId < b.processId; });
  return endpoints;
}

} // namespace gantry::trace
