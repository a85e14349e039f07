// The error type of the tool: an exception with an exit code. main() catches it and prints it as
// exactly one line "gantry: error: ...".
//
// The message is one line with the wrong value and what would be right. It need not be escaped:
// printError() replaces control characters, which may come from a damaged model.
#pragma once

#include <stdexcept>
#include <string>

namespace gantry::tool {

/// The exit codes of the tool. docs/cli.md and `gantry --help` list them for users.
enum class ExitCode : int {
  kOk = 0,
  kBadInput = 1,    // Wrong usage, or a file that is missing, damaged or does not fit.
  kUnsupported = 2, // An operator of the model or a feature of the device is not supported.
  kIo = 3,          // The operating system refused a read or a write.
  kInternal = 4,    // A device failed, or Gantry has a defect.
  kDiffers = 5,     // Values differ, a plan grew, or no plan that fits --capacity was found.
};

class ToolError : public std::runtime_error {
public:
  ToolError(ExitCode code, const std::string &message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

private:
  ExitCode code_;
};

} // namespace gantry::tool
