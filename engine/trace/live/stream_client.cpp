// Connecting, and receiving frames through a buffer.
#include "engine/trace/live/stream_client.h"

#include "engine/trace/wire/capture.h"
#include "engine/trace/live/handshake.h"
#include "engine/trace/record/ticks.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace gantry::trace {
namespace {

constexpr int kServerHelloMs = 5000; // Longest wait for the hello of the server.
constexpr size_t kInboxBytes = 256 << 10;

Result<Socket> connectTo(const std::string &address) {
  if (address.find('/') != std::string::npos)
    return Socket::connectUnix(address);
  const size_t colon = address.rfind(':');
  uint16_t port = 0;
  if (colon != std::string::npos) {
    const char *end = address.data() + address.size();
    const auto parsed = std::from_chars(address.data() + colon + 1, end, port);
    if (parsed.ptr == end && parsed.ec == std::errc() && port != 0 && colon > 0)
      return Socket::connectTcp(address.substr(0, colon), port);
  }
  return statusf(StatusCode::kInvalidArgument,
                 "'%s' is not an address; use a socket's path (/run/…/PID.sock) or host:port",
                 address.c_str());
}

} // namespace

Result<std::unique_ptr<StreamClient>> StreamClient::connect(const std::string &address,
                                                            const std::string &token) {
  std::unique_ptr<StreamClient> client(new StreamClient);
  GANTRY_ASSIGN_OR_RETURN(client->socket_, connectTo(address));
  GANTRY_ASSIGN_OR_RETURN([[maybe_unused]] const ServerHello hello,
                          greet(client->socket_, token, kServerHelloMs));
  client->inbox_.resize(kInboxBytes);
  return client;
}

/// Receives until `wanted` unread bytes are in the inbox; *complete is false if the deadline passed
/// first.
Status StreamClient::fill(size_t wanted, uint64_t deadlineNs, bool *complete) {
  *complete = false;
  if (begin_ + wanted > inbox_.size()) {
    std::memmove(inbox_.data(), inbox_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (wanted > inbox_.size())
      inbox_.resize(wanted);
  }
  while (end_ - begin_ < wanted) {
    int waitMs = -1;
    if (deadlineNs != UINT64_MAX) {
      const uint64_t now = monotonicNs();
      waitMs = now >= deadlineNs ? 0
                                 : static_cast<int>(std::min<uint64_t>(
                                       (deadlineNs - now + 999'999) / 1'000'000, 1 << 30));
    }
    GANTRY_ASSIGN_OR_RETURN(const size_t received,
                            socket_.receive(std::span(inbox_).subspan(end_), waitMs));
    if (received == 0)
      return {};
    end_ += received;
    bytesReceived_ += received;
  }
  *complete = true;
  return {};
}

Result<bool> StreamClient::next(uint64_t timeoutNs, FrameHeader &header,
                                std::vector<uint8_t> &raw) {
  const uint64_t now = monotonicNs();
  const uint64_t deadline = timeoutNs > UINT64_MAX - now ? UINT64_MAX : now + timeoutNs;
  const uint64_t offset = bytesReceived_ - (end_ - begin_);
  bool complete = false;
  GANTRY_RETURN_IF_ERROR(fill(sizeof(FrameHeader), deadline, &complete));
  if (!complete)
    return false;
  GANTRY_ASSIGN_OR_RETURN(
      header, parseFrameHeader(std::span(inbox_).subspan(begin_, sizeof(FrameHeader)), offset));
  const size_t whole = sizeof(FrameHeader) + header.storedBytes;
  GANTRY_RETURN_IF_ERROR(fill(whole, deadline, &complete));
  if (!complete)
    return false;
  GANTRY_RETURN_IF_ERROR(unpackFrame(
      header, std::span(inbox_).subspan(begin_ + sizeof(FrameHeader), header.storedBytes), offset,
      raw));
  begin_ += whole;
  return true;
}

} // namespace gantry::trace
