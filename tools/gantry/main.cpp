// The main function of the gantry tool: parses the command line, runs one command, and reports an
// error in one line. docs/cli.md is the tool's manual.
#include "tools/gantry/application.h"
#include "tools/gantry/interrupt.h"
#include "tools/gantry/report/terminal.h"
#include "tools/options/parse.h"

#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <sys/resource.h>
#include <system_error>

namespace {

using namespace gantry::tool;

/// Returns a message for a failed system request. For a thread that cannot be started, the C++
/// library only says "Resource temporarily unavailable"; this function adds the limit on processes
/// and the remedy.
std::string systemErrorText(const std::system_error &error) {
  if (error.code() != std::errc::resource_unavailable_try_again)
    return fmt::format("the operating system refused a request: {}", error.what());
  rlimit limit{};
  std::string allowed;
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    allowed = fmt::format(" {} processes and threads are allowed:", limit.rlim_cur);
  return fmt::format("cannot start a thread ({});{} raise the limit (`ulimit -u`), or end other "
                     "programs of this user",
                     error.what(), allowed);
}

int runTool(int argc, char **argv) {
  CLI::App app;
  Action action;
  buildApplication(app, action);
  if (const auto text = gantry::options::parse(app, {argv + 1, argv + argc})) {
    print(*text);
    finishOutput();
    return 0;
  }
  ExitCode code = action();
  finishOutput();
  return static_cast<int>(code);
}

/// Reports the exception that is being handled in one line, and returns the exit code.
int reportException() noexcept {
  try {
    throw;
  } catch (const gantry::options::UsageError &error) {
    printError(error.what());
    return static_cast<int>(ExitCode::kBadInput);
  } catch (const ToolError &error) {
    printError(error.what());
    return static_cast<int>(error.code());
  } catch (const std::system_error &error) { // For example a thread that cannot be started.
    printError(systemErrorText(error));
  } catch (const std::bad_alloc &) {
    printError("the host has too little memory for this command");
  } catch (const std::exception &error) {
    printError(error.what());
  } catch (...) {
    printError("an unknown exception occurred; this is a defect in Gantry");
  }
  return static_cast<int>(ExitCode::kInternal);
}

/// The terminate handler. For an uncaught exception it prints the exception's message. If there is
/// no exception, a library has called std::terminate after printing a message of its own.
[[noreturn]] void endTool() noexcept {
  std::_Exit(std::current_exception() ? reportException() : static_cast<int>(ExitCode::kInternal));
}

} // namespace

int main(int argc, char **argv) {
  std::set_terminate(endTool);
  handleInterrupts();
  try {
    return runTool(argc, argv);
  } catch (...) {
    return reportException();
  }
}
