// Making, checking and exchanging the hello messages.
#include "engine/trace/live/handshake.h"

#include "engine/trace/record/process.h"
#include "engine/trace/record/ticks.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gantry::trace {
namespace {

uint64_t checksumOf(const ClientHello &hello) {
  return XXH3_64bits(&hello, offsetof(ClientHello, checksum));
}

/// Compares in constant time, so that the duration does not reveal how much of a token is right.
bool sameToken(const char *given, size_t length, const std::string &token) {
  if (length != token.size())
    return false;
  uint32_t different = 0;
  for (size_t i = 0; i < length; ++i)
    different |= static_cast<uint32_t>(given[i] ^ token[i]);
  return different == 0;
}

} // namespace

ClientHello makeClientHello(const std::string &token) {
  ClientHello hello;
  std::memcpy(hello.magic, kHelloMagic, sizeof(kHelloMagic));
  hello.version = kVersion;
  hello.tokenLength = static_cast<uint32_t>(std::min<size_t>(token.size(), kTokenBytes));
  std::memcpy(hello.token, token.data(), hello.tokenLength);
  hello.checksum = checksumOf(hello);
  return hello;
}

ServerHello makeServerHello(const Status &status) {
  ServerHello hello;
  hello.header = makeFileHeader();
  hello.status = static_cast<uint32_t>(status.code());
  hello.processId = static_cast<uint32_t>(getpid());
  std::strncpy(hello.message, status.message().c_str(), sizeof(hello.message) - 1);
  std::strncpy(hello.name, executableName().c_str(), sizeof(hello.name) - 1);
  return hello;
}

Status checkClientHello(const ClientHello &hello, const std::string &token) {
  if (std::memcmp(hello.magic, kHelloMagic, sizeof(kHelloMagic)) != 0 ||
      hello.checksum != checksumOf(hello) || hello.tokenLength > kTokenBytes)
    return Status(StatusCode::kDataLoss, "the client's hello is not that of a Gantry viewer");
  if (hello.version != kVersion)
    return statusf(StatusCode::kVersionMismatch,
                   "the viewer uses version %u of the stream format, this process version %u",
                   hello.version, kVersion);
  if (!token.empty() && !sameToken(hello.token, hello.tokenLength, token))
    return Status(StatusCode::kInvalidArgument,
                  "the token is wrong; use the one that the process printed");
  return {};
}

Status receiveAll(Socket &socket, std::span<uint8_t> bytes, int timeoutMs) {
  const uint64_t deadline = monotonicNs() + static_cast<uint64_t>(timeoutMs) * 1'000'000;
  while (!bytes.empty()) {
    const uint64_t now = monotonicNs();
    const int left = now < deadline ? static_cast<int>((deadline - now) / 1'000'000) : 0;
    GANTRY_ASSIGN_OR_RETURN(const size_t received, socket.receive(bytes, left));
    if (received == 0 && monotonicNs() >= deadline)
      return statusf(StatusCode::kFailedPrecondition, "the peer did not answer within %d ms",
                     timeoutMs);
    bytes = bytes.subspan(received);
  }
  return {};
}

Result<ServerHello> greet(Socket &socket, const std::string &token, int timeoutMs) {
  const ClientHello hello = makeClientHello(token);
  GANTRY_RETURN_IF_ERROR(
      socket.send({reinterpret_cast<const uint8_t *>(&hello), sizeof(hello)}, timeoutMs));
  ServerHello answer;
  auto *bytes = reinterpret_cast<uint8_t *>(&answer);
  GANTRY_RETURN_IF_ERROR(receiveAll(socket, {bytes, sizeof(answer)}, timeoutMs));
  GANTRY_RETURN_IF_ERROR(checkFileHeader({bytes, sizeof(answer)}, "the stream"));
  answer.message[sizeof(answer.message) - 1] = '\0';
  answer.name[sizeof(answer.name) - 1] = '\0';
  if (answer.status > static_cast<uint32_t>(StatusCode::kInternal))
    return statusf(StatusCode::kDataLoss, "the process answered with the unknown status %u",
                   answer.status);
  if (answer.status != 0)
    return Status(static_cast<StatusCode>(answer.status), answer.message);
  return answer;
}

} // namespace gantry::trace
