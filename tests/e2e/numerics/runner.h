// Runner: compiles, runs and folds the cases of one type, and judges every result.
#pragma once

#include "tests/e2e/numerics/models.h"
#include "tests/e2e/numerics/report.h"

#include <gantry/gantry.hpp>

namespace gantry::numerics {

class Runner {
public:
  /// Without a device, cases are only folded on the host. The report outlives the runner.
  Runner(const Device *device, Report &report) : device_(device), report_(report) {}

  /// Measures which types' denormal numbers the device flushes. Called before the first group.
  void measureDenormals();

  /// Runs the cases whose first input has the type.
  void runGroup(Type type, const std::vector<const Case *> &group);

private:
  /// maxBindings limits the number of the profile's bindings that are run.
  void runDevice(Type type, const Model &model, const std::string &profile,
                 size_t maxBindings = SIZE_MAX);
  void runHost(const std::vector<const Case *> &group);
  bool flushesDenormals(Type type);
  /// Checks that compilation fails with the words and, with onHost, that folding does too.
  void expectRefusal(const Case &test, const std::string &words, bool onHost);
  void judge(const Model &model, const std::vector<std::vector<uint8_t>> &results,
             const std::string &where, bool flushes);

  const Device *device_;
  Report &report_;
};

} // namespace gantry::numerics
