// Implements profiler_window.h.
#include "tools/gantry/runtime/profiler_window.h"

#include "tools/gantry/error.h"

#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gantry/gantry.h>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace gantry::tool {
namespace {

constexpr const char *kName = "gantry-profiler";
constexpr std::chrono::milliseconds kPollInterval{20};
constexpr std::chrono::seconds kAttachTimeout{60};

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value != nullptr && value[0] != '\0';
}

std::string ownFolder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0)
    return {};
  const std::string whole(path, static_cast<size_t>(length));
  return whole.substr(0, whole.rfind('/'));
}

std::string findProgram() {
  std::string folders = ownFolder();
  if (const char *path = std::getenv("PATH"); path != nullptr)
    folders += std::string(":") + path;
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    std::string program = folder + "/" + kName;
    if (!folder.empty() && access(program.c_str(), X_OK) == 0)
      return program;
  }
  throw ToolError(ExitCode::kBadInput,
                  fmt::format("--profile needs {}, which is neither in this tool's folder ({}) nor "
                              "on PATH; install it, or record the run with `gantry record`",
                              kName, ownFolder()));
}

/// Describes the end of a process from its waitpid() status: "ended with exit code 1".
std::string endText(int status) {
  return WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                             : fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

} // namespace

ProfilerWindow::ProfilerWindow() {
  const char *attach = std::getenv("GANTRY_ATTACH");
  if (attach != nullptr && std::strcmp(attach, "0") == 0)
    throw ToolError(ExitCode::kBadInput,
                    "--profile attaches a viewer, but GANTRY_ATTACH=0 forbids it; unset it");
  // On a software device the runtime by default measures the dispatches of only some runs. `gantry
  // run` has a single run, which must be measured.
  setenv("GANTRY_TRACE_TIMES", "all", 0);
  program_ = findProgram();
  if (!isSet("DISPLAY") && !isSet("WAYLAND_DISPLAY"))
    throw ToolError(ExitCode::kBadInput,
                    "--profile opens a window, but there is no display (DISPLAY and "
                    "WAYLAND_DISPLAY are not set); record the run with `gantry record`");
}

void ProfilerWindow::open() const {
  const std::string process = std::to_string(getpid());
  const char *arguments[] = {kName, "--attach", process.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  // This tool's standard output is for results, so the profiler prints to standard error.
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_init(&attributes);
  // The profiler gets a POSIX session of its own, so that the window stays open when the terminal's
  // job ends.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = 0;
  const int error = posix_spawn(&child, program_.c_str(), &actions, &attributes,
                                const_cast<char *const *>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw ToolError(ExitCode::kIo,
                    fmt::format("cannot start {}: {}", program_, std::strerror(error)));
  const auto start = std::chrono::steady_clock::now();
  while (gantry_trace_viewers() == 0) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      throw ToolError(ExitCode::kIo, fmt::format("{} {} before it attached to this process",
                                                 program_, endText(status)));
    if (std::chrono::steady_clock::now() - start > kAttachTimeout)
      throw ToolError(ExitCode::kIo, fmt::format("{} did not attach to this process in {} seconds",
                                                 program_, kAttachTimeout.count()));
    std::this_thread::sleep_for(kPollInterval);
  }
}

} // namespace gantry::tool
