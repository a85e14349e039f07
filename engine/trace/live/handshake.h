// The handshake between a viewer (a program that shows the trace, such as the profiler) and a
// process before the first frame, which is a packet of events (wire/frame.h).
//
// The viewer sends a ClientHello. The process answers with a ServerHello and, if the answer's
// status is 0, with the stream of frames. Both structs have fixed sizes, so neither side needs a
// received length to read them. A checksum covers the whole ClientHello and the FileHeader of the
// ServerHello. TCP connections need a token, a secret text that the process expects from its
// viewers (server.h). Unix-domain sockets need none, because the operating system reports the user
// at the other end.
//
// Thread safety: plain values and pure functions.
#pragma once

#include "engine/base/socket.h"
#include "engine/trace/wire/frame.h"

#include <string>

namespace gantry::trace {

inline constexpr uint8_t kHelloMagic[8] = {'G', 'T', 'H', 'E', 'L', 'L', 'O', 1};
inline constexpr uint32_t kTokenBytes = 64; // Upper limit for the length of a token.

struct ClientHello {
  uint8_t magic[8] = {};
  uint32_t version = 0;
  uint32_t tokenLength = 0;
  char token[kTokenBytes] = {};
  uint64_t checksum = 0; // XXH3 of the bytes before this field.
};
static_assert(sizeof(ClientHello) == 88);

struct ServerHello {
  FileHeader header;
  uint32_t status = 0; // A StatusCode; 0 accepts the viewer.
  uint32_t processId = 0;
  char message[120] = {}; // Reason for a refusal; zero-terminated.
  char name[64] = {};     // File name of the executable; zero-terminated.
};
static_assert(sizeof(ServerHello) == 224);

/// Returns the viewer's hello; `token` has at most kTokenBytes bytes.
ClientHello makeClientHello(const std::string &token);
/// Returns the process's answer: acceptance if `status` is ok, otherwise a refusal with its
/// message, cut off after 119 bytes.
ServerHello makeServerHello(const Status &status);

/// Checks a viewer's hello in the process. token: the expected token; "" if none is needed. Errors:
/// kDataLoss, kVersionMismatch, kInvalidArgument for a wrong token.
Status checkClientHello(const ClientHello &hello, const std::string &token);

/// Sends the viewer's hello and receives the answer. If the process refuses the viewer, returns the
/// status in its answer.
Result<ServerHello> greet(Socket &socket, const std::string &token, int timeoutMs);

/// Fills `bytes` from the socket. Returns kFailedPrecondition if that takes longer than timeoutMs.
Status receiveAll(Socket &socket, std::span<uint8_t> bytes, int timeoutMs);

} // namespace gantry::trace
