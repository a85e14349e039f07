// Runner: compiles, runs and folds the cases of one type, and compares every result with its
// reference.
#pragma once

#include "tests/e2e/numerics/models.h"
#include "tests/e2e/numerics/report.h"

#include <gantry/gantry.hpp>

namespace gantry::numerics {

class Runner {
public:
  /// Without a device (null), cases are only folded on the host. The report must outlive the
  /// runner.
  Runner(const Device *device, Report &report) : device_(device), report_(report) {}

  /// Measures for which types the device flushes denormal numbers. Call it before the first group.
  void measureDenormals();

  /// Runs the cases whose first input has the type.
  void runGroup(Type type, const std::vector<const Case *> &group);

private:
  /// Runs the model with the first maxBindings bindings of the profile.
  void runDevice(Type type, const Model &model, const std::string &profile,
                 size_t maxBindings = SIZE_MAX);
  void runHost(const std::vector<const Case *> &group);
  bool flushesDenormals(Type type);
  /// Checks that compilation fails with a message that contains the words. onHost: checks the same
  /// for folding.
  void expectRefusal(const Case &test, const std::string &words, bool onHost);
  void judge(const Model &model, const std::vector<std::vector<uint8_t>> &results,
             const std::string &where, bool flushes);

  const Device *device_;
  Report &report_;
};

} // namespace gantry::numerics
