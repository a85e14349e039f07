// Compiles, runs and folds the cases of one type, and judges every result.
#pragma once

#include "tests/e2e/numerics/models.h"
#include "tests/e2e/numerics/report.h"

#include <gantry/gantry.hpp>

namespace gantry::numerics {

class Runner {
public:
  /// device: null to fold on the host alone. The report outlives the runner.
  Runner(const Device *device, Report &report) : device_(device), report_(report) {}

  /// Finds out which types' denormal numbers the device flushes; before the first group.
  void measureDenormals();

  /// The cases whose first input is of the type.
  void runGroup(Type type, const std::vector<const Case *> &group);

private:
  /// mostBindings: how many of the profile's bindings are run.
  void runDevice(Type type, const Model &model, const std::string &profile,
                 size_t mostBindings = SIZE_MAX);
  void runHost(const std::vector<const Case *> &group);
  bool flushesDenormals(Type type);
  /// Compilation must fail with the words; where the host refuses, too, so must folding.
  void expectRefusal(const Case &test, const std::string &words, bool onHost);
  void judge(const Model &model, const std::vector<std::vector<uint8_t>> &results,
             const std::string &where, bool flushes);

  const Device *device_;
  Report &report_;
};

} // namespace gantry::numerics
