// A replacement for gantry-profiler without a window, for cli_test.py. It attaches to a process
// like gantry-profiler, reads all events, and writes the number of events of each type to the file
// STAND_IN_OUTPUT, in lines such as "dispatch 3".
//
// With STAND_IN_EXIT=N, the program only ends with exit code N.
#include "engine/trace/wire/capture.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

int main(int argc, char **argv) {
  using namespace gantry::trace;
  if (const char *code = std::getenv("STAND_IN_EXIT"); code != nullptr)
    return std::atoi(code);
  const char *output = std::getenv("STAND_IN_OUTPUT");
  if (argc != 3 || std::strcmp(argv[1], "--attach") != 0 || output == nullptr) {
    std::fprintf(stderr, "usage: STAND_IN_OUTPUT=FILE gantry-profiler --attach PROCESS\n");
    return 2;
  }
  const auto endpoints = findEndpoints();
  if (!endpoints.isOk())
    return 3;
  for (const Endpoint &endpoint : *endpoints) {
    if (std::to_string(endpoint.processId) != argv[2])
      continue;
    const auto reader = CaptureReader::connect(endpoint.address);
    if (!reader.isOk())
      return 4;
    std::map<std::string, int> counts;
    for (bool end = false; !end;) {
      const auto batch = (*reader)->read();
      if (!batch.isOk())
        return 5;
      for (const Event &event : batch->events)
        counts[eventTypeName(event.type())] += 1;
      end = batch->end;
    }
    const std::string partial = std::string(output) + ".partial";
    std::ofstream file(partial);
    for (const auto &[name, count] : counts)
      file << name << " " << count << "\n";
    file.close();
    return std::rename(partial.c_str(), output) == 0 ? 0 : 6;
  }
  return 7;
}
