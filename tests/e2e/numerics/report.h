// Report: collects the results of the special-value test (main.cpp), prints failures, and writes
// docs/numerics.md.
#pragma once

#include "tests/e2e/numerics/operators.h"

namespace gantry::numerics {

class Report {
public:
  /// Counts a wrong result, and prints it up to a limit per case and place (profile and binding, or
  /// the host).
  void failure(const Case &test, const std::string &where, const std::string &what);
  /// Counts and prints a failure that belongs to no single result.
  void problem(const std::string &what);
  /// Records the right results of one case. maxUlp is their largest error; `flushed` is the number
  /// of results that are right only if the device may flush denormal numbers.
  void passed(const Case &test, bool onHost, size_t count, double maxUlp, size_t flushed);
  /// Records whether the device flushes denormal numbers of the type.
  void denormals(Type type, bool flushes);

  bool anyFlushes() const;

  int failures() const { return failures_; }
  int64_t compared() const { return compared_; }
  /// Returns the text of docs/numerics.md.
  std::string markdown() const;

private:
  struct Row {
    std::set<Type> deviceTypes, hostTypes, flushedTypes;
    double deviceUlp = 0, hostUlp = 0;
    bool isExact = true;
  };
  Row &row(const Case &test);

  std::map<std::string, Row> rows_;
  std::map<Type, bool> flushes_;
  std::map<std::string, int> perCase_;
  int failures_ = 0;
  int64_t compared_ = 0;
};

} // namespace gantry::numerics
