// The viewer's end of a stream: frames from a socket.
//
// Threads: one at a time.
#pragma once

#include "engine/base/socket.h"
#include "engine/trace/frame.h"

#include <memory>
#include <string>
#include <vector>

namespace gantry::trace {

class StreamClient {
public:
  /// address: a socket's path (it has a '/'), or "host:port".
  static Result<std::unique_ptr<StreamClient>> connect(const std::string &address,
                                                       const std::string &token);

  /// The next frame's header, and its contents in `raw`; false when timeoutNs passed first.
  /// kNotFound when the process has gone without ending the stream.
  Result<bool> next(uint64_t timeoutNs, FrameHeader &header, std::vector<uint8_t> &raw);

  uint64_t bytesReceived() const { return bytesReceived_; }

private:
  StreamClient() = default;
  Status fill(size_t wanted, uint64_t deadlineNs, bool *there);
  Socket socket_;
  std::vector<uint8_t> inbox_;
  size_t begin_ = 0; // of what was not read yet
  size_t end_ = 0;
  uint64_t bytesReceived_ = 0;
};

} // namespace gantry::trace
