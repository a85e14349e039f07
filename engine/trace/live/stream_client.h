// StreamClient: the viewer's end of a connection to a process whose trace the viewer shows. It
// performs the handshake (handshake.h) and receives frames (wire/frame.h). CaptureReader
// (wire/capture.h) decodes the events in them.
//
// Thread safety: one thread at a time per object.
#pragma once

#include "engine/base/socket.h"
#include "engine/trace/wire/frame.h"

#include <memory>
#include <string>
#include <vector>

namespace gantry::trace {

class StreamClient {
public:
  /// Connects and performs the handshake. address: the path of a Unix-domain socket, which must
  /// contain a '/', or "host:port". token: the process's token for TCP; "" otherwise.
  static Result<std::unique_ptr<StreamClient>> connect(const std::string &address,
                                                       const std::string &token);

  /// Receives the next frame: the header, and the decompressed contents in `raw`. Returns false if
  /// timeoutNs passed first (UINT64_MAX: no timeout), kNotFound if the process has closed the
  /// connection, and kDataLoss for a damaged frame.
  Result<bool> next(uint64_t timeoutNs, FrameHeader &header, std::vector<uint8_t> &raw);

  /// Returns the number of bytes received so far, without the handshake.
  uint64_t bytesReceived() const { return bytesReceived_; }

private:
  StreamClient() = default;
  Status fill(size_t wanted, uint64_t deadlineNs, bool *complete);
  Socket socket_;
  std::vector<uint8_t> inbox_;
  size_t begin_ = 0; // inbox_[begin_, end_) was received but not returned yet.
  size_t end_ = 0;
  uint64_t bytesReceived_ = 0;
};

} // namespace gantry::trace
