// How a viewer and a process greet each other before the first frame.
//
// The viewer sends a ClientHello, the process answers with a ServerHello and, if its status is 0,
// with the stream. Both have fixed sizes and a checksum, so neither side has to trust a length. The
// token is asked of TCP connections alone; on a Unix-domain socket the system vouches for the user.
//
// Threads: values and pure functions.
#pragma once

#include "engine/base/socket.h"
#include "engine/trace/frame.h"

#include <string>

namespace gantry::trace {

inline constexpr uint8_t kHelloMagic[8] = {'G', 'T', 'H', 'E', 'L', 'L', 'O', 1};
inline constexpr uint32_t kTokenBytes = 64;

struct ClientHello {
  uint8_t magic[8] = {};
  uint32_t version = 0;
  uint32_t tokenLength = 0;
  char token[kTokenBytes] = {};
  uint64_t checksum = 0;
};
static_assert(sizeof(ClientHello) == 88);

struct ServerHello {
  FileHeader header;
  uint32_t status = 0; // a StatusCode
  uint32_t processId = 0;
  char message[120] = {}; // why not; ends with 0
  char name[64] = {};     // of the executable; ends with 0
};
static_assert(sizeof(ServerHello) == 224);

ClientHello makeClientHello(const std::string &token);
ServerHello makeServerHello(const Status &status);

/// What the process says to a viewer's hello. token: what is asked for; "" for none.
Status checkClientHello(const ClientHello &hello, const std::string &token);

/// The viewer's side: greets, and gets the answer. A refusal is its status.
Result<ServerHello> greet(Socket &socket, const std::string &token, int timeoutMs);

/// Receives exactly so many bytes within the time.
Status receiveAll(Socket &socket, std::span<uint8_t> bytes, int timeoutMs);

} // namespace gantry::trace
