// Writes a synthetic capture of a training loop: make_capture OUT.gtrace [STEPS [SEED [FAULT]]].
//
// STEPS is the number of runs. FAULT selects a difference from the plan (plan_check.h): 0 none, 1
// offset shifted, 2 late free, 3 leak, 4 oversize, 5 illegal alias, 6 donation kept.
#include "tests/support/synthetic_capture.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_capture OUT.gtrace [STEPS [SEED [FAULT 0-6]]]\n");
    return 2;
  }
  gantry::test::SyntheticOptions options;
  if (argc > 2)
    options.steps = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
  if (argc > 3)
    options.seed = std::strtoull(argv[3], nullptr, 10);
  if (argc > 4)
    options.fault = static_cast<gantry::test::Fault>(std::strtoul(argv[4], nullptr, 10) % 7);
  const gantry::Status status = gantry::test::makeSyntheticCapture(options).save(argv[1]);
  if (!status.isOk())
    std::fprintf(stderr, "make_capture: %s\n", status.message().c_str());
  return status.isOk() ? 0 : 1;
}
