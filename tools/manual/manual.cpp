// Implements manual.h.
#include "tools/manual/manual.h"

#include "tools/manual/writers.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace gantry::manual {
namespace {

/// Returns today's date in UTC, or the date of SOURCE_DATE_EPOCH (seconds since 1970), which
/// reproducible builds set.
std::string pageDate() {
  const char *epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t seconds = epoch ? std::strtoll(epoch, nullptr, 10) : std::time(nullptr);
  char text[16] = "";
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

/// Writes a file. Prints a message and returns false if it cannot be written.
bool writeText(const std::filesystem::path &path, const std::string &text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    std::fprintf(stderr, "cannot write '%s'\n", path.c_str());
  return static_cast<bool>(file);
}

} // namespace

int writeManual(const CLI::App &app, const std::string &share) {
  const std::filesystem::path folder = share;
  const CommandText program = readCommands(app);
  const std::string date = pageDate();
  const std::string &name = program.program;
  bool written =
      writeText(folder / "man/man1" / (name + ".1"), manPage(program, program, date)) &&
      writeText(folder / "bash-completion/completions" / name, bashCompletion(program)) &&
      writeText(folder / "zsh/site-functions" / ("_" + name), zshCompletion(program)) &&
      writeText(folder / "fish/vendor_completions.d" / (name + ".fish"), fishCompletion(program));
  for (const CommandText &command : program.commands)
    written = written && writeText(folder / "man/man1" / (command.pageName() + ".1"),
                                   manPage(command, program, date));
  return written ? 0 : 3;
}

} // namespace gantry::manual
