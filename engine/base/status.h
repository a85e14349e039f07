// Status and Result: how the engine and the backends report failure without exceptions.
//
// Callers branch on the code; the message is for people. A message names the object and the
// offending value, says what would be valid, and quotes a failed driver call
// ("vkAllocateMemory(64.0 MiB) returned VK_ERROR_OUT_OF_DEVICE_MEMORY"). A status is reported once,
// at the top: the C API stores it for gantry_last_error().
//
// Threads: both types are values; distinct objects may be used from distinct threads.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gantry {

/// The numbers equal those of gantry_status_t in gantry/gantry.h (asserted in engine/capi).
enum class StatusCode : int32_t {
  kOk = 0,
  kInvalidArgument = 1,    // An argument is not valid.
  kNotFound = 2,           // A file, device or name does not exist.
  kUnsupported = 3,        // The request is valid, but this device or build cannot do it.
  kOutOfMemory = 4,        // Host or device memory is exhausted.
  kDataLoss = 5,           // A file is damaged.
  kVersionMismatch = 6,    // A file is newer than this build.
  kDeviceLost = 7,         // The device stopped responding.
  kIo = 8,                 // The operating system refused a read or a write.
  kFailedPrecondition = 9, // The call is valid, but not in the object's present state.
  kInternal = 10,          // A defect in Gantry.
};

/// Returns the lower-case words for a code: "invalid argument".
const char *statusCodeName(StatusCode code);

/// Success, or a code with a message.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status ok() { return {}; }
  bool isOk() const { return code_ == StatusCode::kOk; }
  explicit operator bool() const = delete; // Its meaning would be ambiguous; call isOk().
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// A value, or the status that explains why there is none. The status is never ok without a value.
/// The operators * and -> and take() require a value.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { assert(!status_.isOk()); }
  bool isOk() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  T take() { return std::move(*value_); }

private:
  std::optional<T> value_;
  Status status_;
};

/// Makes a status with a printf-style message.
Status statusf(StatusCode code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// NOLINTBEGIN(bugprone-macro-parentheses): decl is a declaration, which parentheses would break.
/// Evaluates an expression of type Status. Returns the status from the calling function if it is
/// not ok.
#define GANTRY_RETURN_IF_ERROR(expr)                                                               \
  do {                                                                                             \
    if (auto gantryStatus_ = (expr); !gantryStatus_.isOk())                                        \
      return gantryStatus_;                                                                        \
  } while (false)

#define GANTRY_CONCAT_(a, b) a##b
#define GANTRY_CONCAT(a, b) GANTRY_CONCAT_(a, b)
/// Assigns the value of a Result to a declaration. Returns the status from the calling function if
/// there is no value. Example:
/// GANTRY_ASSIGN_OR_RETURN(auto file, openFile(path));
#define GANTRY_ASSIGN_OR_RETURN(decl, expr)                                                        \
  GANTRY_ASSIGN_OR_RETURN_(GANTRY_CONCAT(gantryResult_, __LINE__), decl, expr)
#define GANTRY_ASSIGN_OR_RETURN_(tmp, decl, expr)                                                  \
  auto tmp = (expr);                                                                               \
  if (!tmp.isOk())                                                                                 \
    return tmp.status();                                                                           \
  decl = tmp.take()
// NOLINTEND(bugprone-macro-parentheses)

} // namespace gantry
