// Names of the status codes, and formatting of messages.
#include "engine/base/status.h"

#include "engine/base/out_of_memory.h"

#include <cstdarg>
#include <cstdio>
#include <new>

namespace gantry {

const char *statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::kOk:
    return "ok";
  case StatusCode::kInvalidArgument:
    return "invalid argument";
  case StatusCode::kNotFound:
    return "not found";
  case StatusCode::kUnsupported:
    return "unsupported";
  case StatusCode::kOutOfMemory:
    return "out of memory";
  case StatusCode::kDataLoss:
    return "data loss";
  case StatusCode::kVersionMismatch:
    return "version mismatch";
  case StatusCode::kDeviceLost:
    return "device lost";
  case StatusCode::kIo:
    return "input/output error";
  case StatusCode::kFailedPrecondition:
    return "failed precondition";
  case StatusCode::kInternal:
    return "internal error";
  }
  return "unknown status";
}

Status statusf(StatusCode code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string message;
  // Without exceptions, std::string cannot report a failed allocation; it ends the process. In a
  // process without a reserve (out_of_memory.h), a trial allocation shows whether the host has
  // memory for the message. If not, the status keeps its code and gets a short text that
  // std::string stores inline.
  void *probe = nullptr;
  if (growHostReserve == nullptr) {
    probe = ::operator new(length > 0 ? static_cast<size_t>(length) + 1 : 1, std::nothrow);
    ::operator delete(probe);
  }
  if (probe == nullptr && growHostReserve == nullptr) {
    message = "no host memory";
  } else if (length > 0) {
    message.resize(static_cast<size_t>(length));
    // vsnprintf writes its terminating zero over the zero that follows the string's characters.
    std::vsnprintf(message.data(), message.size() + 1, format, again);
  }
  va_end(again);
  return {code, std::move(message)};
}

} // namespace gantry
