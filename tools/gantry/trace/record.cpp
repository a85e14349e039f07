// gantry record: runs a command and records its memory and dispatches (kernel launches) to a file.
//
// The runtime in the command's process does the recording, because GANTRY_TRACE is set in its
// environment. This process waits for the command, forwards signals to it, and checks the recording
// afterwards. If the command succeeded but the recording is missing or incomplete, the exit code is
// that of an I/O error.
#include "engine/trace/wire/capture.h"

#include "tools/gantry/commands/commands.h"
#include "tools/gantry/report/terminal.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gantry::tool {

namespace {

struct RecordOptions {
  std::string output;
  std::vector<std::string> command;
};

/// The output file, with its state before the command ran.
class Output {
public:
  /// Creates the file if it does not exist; an existing file keeps its content until the command
  /// records to it. Throws ToolError if the path cannot be written.
  explicit Output(const std::string &path) : path_(path) {
    struct stat info {};
    isNew_ = ::stat(path.c_str(), &info) != 0;
    if (!isNew_ && !S_ISREG(info.st_mode))
      throw ToolError(ExitCode::kIo,
                      fmt::format("cannot record to '{}': it is not a regular file", path));
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
      throw ToolError(ExitCode::kIo,
                      fmt::format("cannot record to '{}': {}", path, std::strerror(errno)));
    ::fstat(file, &before_);
    ::close(file);
  }
  ~Output() { removeIfEmpty(); }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  /// Removes the file if it was created and nothing was recorded.
  void removeIfEmpty() const {
    struct stat now {};
    if (isNew_ && ::stat(path_.c_str(), &now) == 0 && now.st_size == 0)
      ::unlink(path_.c_str());
  }

  /// Returns whether the file has content and has changed since the constructor.
  bool wasWritten() const {
    struct stat now {};
    return ::stat(path_.c_str(), &now) == 0 && now.st_size > 0 &&
           (now.st_size != before_.st_size || now.st_ino != before_.st_ino ||
            now.st_mtim.tv_sec != before_.st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != before_.st_mtim.tv_nsec);
  }

private:
  std::string path_;
  struct stat before_ {};
  bool isNew_ = false;
};

constexpr int kPassedOn[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
volatile sig_atomic_t commandProcess = 0;

/// Forwards a signal to the command. A signal from the terminal (Ctrl-C) is not forwarded, because
/// the terminal sends it to the command too.
void passOn(int signal, siginfo_t *info, void *) {
  if (info->si_code != SI_KERNEL && commandProcess > 0)
    kill(static_cast<pid_t>(commandProcess), signal);
}

/// Runs the command to its end. Returns the status of waitpid().
int runCommand(const std::vector<std::string> &command) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);

  sigset_t passed, before, handled;
  sigemptyset(&passed);
  sigemptyset(&handled);
  for (const int signal : kPassedOn)
    sigaddset(&passed, signal);
  sigprocmask(SIG_BLOCK, &passed, &before); // Blocked until the child process is known.
  for (const int signal : kPassedOn) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)
      continue; // An ignored signal (nohup) is ignored by the command as well.
    action = {};
    action.sa_sigaction = passOn;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(signal, &action, nullptr);
    sigaddset(&handled, signal);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &before);
  posix_spawnattr_setsigdefault(&attributes, &handled);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  commandProcess = error == 0 ? child : 0;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    throw ToolError(error == ENOENT ? ExitCode::kBadInput : ExitCode::kIo,
                    fmt::format("cannot start '{}': {}", command[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw ToolError(ExitCode::kInternal,
                      fmt::format("cannot wait for '{}': {}", command[0], std::strerror(errno)));
  return status;
}

/// Returns what is wrong with the recording, or nothing if it is good. A recording that lacks its
/// end (Tail::kCutOff) is good if the command was killed.
std::optional<std::string> faultOf(const RecordOptions &options, const Output &output,
                                   bool killed) {
  if (!output.wasWritten())
    return fmt::format("nothing was recorded to '{}': '{}' did not open a Gantry device, or could "
                       "not write the file",
                       options.output, options.command[0]);
  const auto reader = trace::CaptureReader::openFile(options.output);
  if (!reader.isOk())
    return fmt::format("the recording failed: {}", reader.status().message());
  if ((*reader)->tail() == trace::Tail::kCutOff && !killed)
    return fmt::format("the recording '{}' is incomplete: the disk is full or has a limit, or '{}' "
                       "ended without running its exit handlers",
                       options.output, options.command[0]);
  return std::nullopt;
}

ExitCode record(const RecordOptions &options) {
  if (setenv("GANTRY_TRACE", options.output.c_str(), 1) != 0 ||
      setenv("GANTRY_TRACE_TIMES", "all", 0) != 0)
    throw ToolError(ExitCode::kInternal,
                    std::string("cannot set GANTRY_TRACE: ") + std::strerror(errno));
  const Output output(options.output);
  const int status = runCommand(options.command);
  const std::optional<std::string> fault = faultOf(options, output, WIFSIGNALED(status));
  if (WIFSIGNALED(status)) { // This process ends by the same signal as the command.
    if (fault)
      printError(*fault);
    output.removeIfEmpty(); // The signal below skips destructors.
    const int signal = WTERMSIG(status);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return static_cast<ExitCode>(128 + signal);
  }
  if (fault && WEXITSTATUS(status) == 0)
    throw ToolError(ExitCode::kIo, *fault);
  if (fault)
    printError(*fault);
  return static_cast<ExitCode>(WEXITSTATUS(status));
}

} // namespace

void addRecord(CLI::App &app, Action &action) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App *command =
      app.add_subcommand("record", "Run a command and record its memory and dispatches to a file");
  command->add_option("-o,--output", options->output, "The .gtrace file")
      ->type_name("FILE")
      ->required();
  options::remainder(*command, "COMMAND", options->command, "The command with its arguments");
  command->footer(examples({"gantry record -o run.gtrace -- gantry bench model.gantry",
                            "gantry record -o train.gtrace -- ./my-program --steps 100"}));
  command->callback([options, &action] { action = [options] { return record(*options); }; });
}

} // namespace gantry::tool
