// Calls every function of gantry.h with NULL arguments, and in processes with limited resources.
//
//   limits_test null HEADER      passes NULL for each pointer argument and checks that it calls
//                                every function of HEADER (gantry.h).
//   limits_test threads          allows the user 1 to 12 threads (RLIMIT_NPROC).
//   limits_test address-space    allows the process little additional address space (RLIMIT_AS).
//
// Each limited scenario runs in a child process. Under every limit, a function must return ok, "out
// of memory" or the failure of a driver call. The test counts and lists children that die in the
// Vulkan driver, and fails if a child dies in libgantry.so.
#include "tests/engine/capi/fault_files.h"
#include "tests/support/death_site.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <grp.h>
#include <iterator>
#include <regex>
#include <set>

namespace {

using namespace gantry::test;

int checkNulls(const FaultFiles &folder, const char *header) {
  Caller caller;
  caller.withNulls = true;
  callEveryFunction(caller, folder.files, {});
  std::ifstream file(header);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex declaration(R"(GANTRY_API\s[^;(]*?\b(gantry_\w+)\()");
  std::set<std::string> missing;
  size_t declared = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
    ++declared;
    if (std::string(caller.called).find("\n" + (*at)[1].str() + "\n") == std::string::npos)
      missing.insert((*at)[1]);
  }
  for (const std::string &name : missing)
    std::fprintf(stderr, "FAILED: every_function.cpp does not call %s\n", name.c_str());
  std::printf("%zu functions of gantry.h called with NULL for each pointer argument\n", declared);
  return declared < 50 || !missing.empty() || caller.violations != 0;
}

/// Runs the scenario in a child process under the limit that limit() sets. opened: the child opens
/// the device before it sets the limit.
template <typename Limit> Death runLimited(const FaultFiles &folder, bool opened, Limit &&limit) {
  return runToDeath([&] {
    ScenarioParts parts;
    parts.device = !opened;
    if (opened && gantry_device_create(nullptr, &parts.given) != GANTRY_STATUS_OK)
      return 2;
    ScenarioFiles files = folder.files;
    if (!limit(files))
      return 2;
    Caller caller;
    caller.driverFails = true;
    callEveryFunction(caller, files, parts);
    return caller.violations != 0 ? 1 : 0;
  });
}

/// Returns 0 if the child succeeded or died outside of libgantry.so; otherwise prints the cause and
/// returns 1.
int judge(const Death &death, const char *limit, unsigned long long value) {
  if (!death.isOurs && death.code == 0)
    return 0;
  std::fprintf(stderr, "FAILED: with %s %llu: %s\n", limit, value,
               death.isAlive
                   ? (death.code == 2 ? "the limit could not be set, or there is no device"
                                      : "a call returned an unexpected status")
                   : death.place.c_str());
  return 1;
}

bool limitThreads(const FaultFiles &folder, rlim_t threads, ScenarioFiles &files) {
  // The limit does not apply to root and counts all processes of a user. The child therefore
  // becomes a user that has no other processes.
  const auto user = static_cast<uid_t>(100000 + getpid());
  const std::string home = folder.path("home-" + std::to_string(user));
  const rlimit limit = {threads, threads};
  if (setgroups(0, nullptr) != 0 || setgid(user) != 0 || setuid(user) != 0)
    return false;
  if (mkdir(home.c_str(), 0700) != 0 || setenv("HOME", home.c_str(), 1) != 0 ||
      setenv("XDG_RUNTIME_DIR", home.c_str(), 1) != 0)
    return false;
  files.capture = home + "/capture.gtrace";
  files.flight = home + "/flight.gtrace";
  return setrlimit(RLIMIT_NPROC, &limit) == 0;
}

int checkThreads(const FaultFiles &folder) {
  if (geteuid() != 0) {
    std::printf("skipped: only root can become a user without other processes\n");
    return 0;
  }
  unsetenv("GANTRY_ATTACH"); // The first device then starts the thread that viewers connect to.
  int failures = 0;
  DeathCounts deaths;
  for (rlim_t threads = 1; threads <= 12; ++threads) {
    const Death death = runLimited(
        folder, false, [&](ScenarioFiles &files) { return limitThreads(folder, threads, files); });
    deaths.add(death);
    failures += judge(death, "ulimit -u", threads);
  }
  std::printf("ulimit -u 1 to 12:\n");
  deaths.print();
  return failures != 0;
}

uint64_t addressSpaceBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(getpagesize());
}

int checkAddressSpace(const FaultFiles &folder) {
  int failures = 0;
  for (const bool opened : {false, true}) {
    DeathCounts deaths;
    for (uint64_t more = 1 << 16; more <= uint64_t{1} << 30; more += more / 3) {
      const Death death = runLimited(folder, opened, [&](ScenarioFiles &) {
        const rlimit limit = {addressSpaceBytes() + more, RLIM_INFINITY};
        return setrlimit(RLIMIT_AS, &limit) == 0;
      });
      deaths.add(death);
      failures += judge(death, "additional address space in bytes:", more);
    }
    std::printf("ulimit -v, 64 KiB to 1 GiB above what the program has %s:\n",
                opened ? "with an open device" : "before it opens a device");
    deaths.print();
  }
  return failures != 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  setenv("GANTRY_ATTACH", "0", 1); // The scenario itself calls gantry_trace_listen().
  FaultFiles folder;
  if (!folder.isReady) {
    std::fprintf(stderr, "the models cannot be written\n");
    return 1;
  }
  if (mode == "null" && argc == 3)
    return checkNulls(folder, argv[2]);
  setenv("GANTRY_VALIDATION", "0", 1); // The validation layers end the process at such limits.
  if (mode == "threads")
    return checkThreads(folder);
  if (mode == "address-space")
    return checkAddressSpace(folder);
  std::fprintf(stderr, "usage: limits_test null HEADER | threads | address-space\n");
  return 1;
}
