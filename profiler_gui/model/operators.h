// The operators of a capture as a table: what each took, in all its dispatches together.
//
// Dispatches are matched by the name of their command, across plans and sessions. Times and rates
// are of the dispatches with times of the device's alone (others are counted, and have no time);
// bytes and operations are those that the compiler counted for the shapes of the plan.
//
// The table grows with the capture: update() looks at new dispatches only.
// Threads: none of its own; one writer, or several readers.
#pragma once

#include "profiler_gui/model/capture_model.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace gantry::profiler {

struct OperatorRow {
  std::string name;
  OpKind kind = OpKind::kOther;
  uint64_t calls = 0;
  uint64_t timedCalls = 0;
  double timeNs = 0;        // Sum over the timed calls.
  double timedFlops = 0;    // Sum over the timed calls.
  double timedBytes = 0;    // Sum over the timed calls.
  double bytes = 0;         // read and written by all calls
  uint32_t sharedBytes = 0; // per workgroup, the greatest of all calls
  uint32_t longest = 0;     // the dispatch that took longest; the first one where none has times
  double longestNs = -1;

  bool timed() const { return timedCalls > 0; }
  double gflops() const { return timeNs > 0 ? timedFlops / timeNs : 0; }    // GFLOP/s
  double gigabytes() const { return timeNs > 0 ? timedBytes / timeNs : 0; } // GB/s
};

class OperatorTable {
public:
  /// Takes in the dispatches that came since the last call. Always with the same capture.
  void update(const CaptureModel &model);
  const std::vector<OperatorRow> &rows() const { return rows_; }
  const OperatorRow *find(const std::string &name) const;
  double timeNs() const { return timeNs_; } // The sum over all rows.
  /// Changes with each update() that found something.
  uint32_t dispatches() const { return seen_; }

private:
  std::vector<OperatorRow> rows_; // Ordered by first dispatch.
  std::unordered_map<std::string, uint32_t> rowOfName_;
  std::unordered_map<uint64_t, uint32_t> rowOfCommand_; // plan and command → row
  double timeNs_ = 0;
  uint32_t seen_ = 0;
};

/// kSecondTime and kRatio are of two captures that are compared.
enum class OperatorColumn : uint8_t {
  kName,
  kTime,
  kSecondTime,
  kRatio,
  kShare,
  kCalls,
  kBytes,
  kFlops,
  kTraffic,
  kShared,
};

/// One operator of one capture, or of two that are compared: a side is nullptr where its capture
/// lacks the operator.
struct OperatorLine {
  const OperatorRow *first = nullptr;
  const OperatorRow *second = nullptr;
  double timeNs = 0;       // alone: of all calls; comparing: of one run
  double secondTimeNs = 0; // Time of one run in the second capture.

  const OperatorRow &any() const { return first != nullptr ? *first : *second; }
  bool hasRatio() const { return timeNs > 0 && secondTimeNs > 0; }
  double ratio() const { return hasRatio() ? secondTimeNs / timeNs : 0; }
};

/// The lines in the order of a column; equal ones by name, those without a value last. `second` is
/// nullptr where nothing is compared; else the runs with times of each capture make its times those
/// of one run.
struct OperatorTables {
  const OperatorTable *first = nullptr;
  const OperatorTable *second = nullptr;
  uint64_t firstRuns = 0;
  uint64_t secondRuns = 0;
};
std::vector<OperatorLine> operatorLines(const OperatorTables &tables, OperatorColumn column,
                                        bool descending);

} // namespace gantry::profiler
