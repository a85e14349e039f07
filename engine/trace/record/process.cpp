// Reads the facts about the process from /proc.
#include "engine/trace/record/process.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <ctime>
#include <unistd.h>

namespace gantry::trace {

std::string executableName() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0)
    return {};
  const std::string whole(path, static_cast<size_t>(length));
  return whole.substr(whole.rfind('/') + 1);
}

std::string commandLine() {
  std::string line;
  if (FILE *file = std::fopen("/proc/self/cmdline", "rb"); file != nullptr) {
    char part[4096];
    line.assign(part, std::fread(part, 1, sizeof(part), file));
    std::fclose(file);
  }
  while (!line.empty() && line.back() == '\0')
    line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

std::string producerName() { return "gantry " GANTRY_VERSION; }

uint64_t wallClockNs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace gantry::trace
