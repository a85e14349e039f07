// How the tool fails: one exception type with the exit code, thrown where the fault is found and
// reported once, by main(), as exactly one line "gantry: error: ...".
//
// The message names the value that was wrong and what would be right. It needs no newline; control
// characters in it (names out of a damaged model) are made harmless when it is printed.
#pragma once

#include <stdexcept>
#include <string>

namespace gantry::tool {

/// docs/cli.md and `gantry --help` list these.
enum class ExitCode : int {
  kOk = 0,
  kBadInput = 1,    // usage, or a file that is missing, damaged or does not fit
  kUnsupported = 2, // the model has operators, or the artifact needs features, that are not there
  kIo = 3,          // the operating system refused a read or a write
  kInternal = 4,    // a device failed, or a defect in Gantry
  kDiffers = 5,     // a comparison was made and is not within its tolerance
};

class ToolError : public std::runtime_error {
public:
  ToolError(ExitCode code, const std::string &message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

private:
  ExitCode code_;
};

} // namespace gantry::tool
