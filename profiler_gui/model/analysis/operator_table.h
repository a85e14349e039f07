// The operators of a capture as a table with one row per operator: calls, time, bytes and rates,
// summed over all dispatches of the operator.
//
// A dispatch is the execution of one command, a kernel launch or a copy. A command has the names of
// the operators that were fused into it; here, they count as one operator. Dispatches whose
// commands have the same name belong to one row, across plans and sessions. Times and rates cover
// only dispatches with device times; calls and bytes cover all dispatches. Bytes and floating-point
// operations are the compiler's counts for the shapes of the plan.
//
// update() processes only dispatches that are new since the last call, so the table can follow a
// live capture. Threads: one writer, or several readers.
#pragma once

#include "profiler_gui/model/capture/capture_model.h"

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
  double timeNs = 0;        // Sum over the timed calls, in ns.
  double timedFlops = 0;    // Floating-point operations of the timed calls.
  double timedBytes = 0;    // Bytes read and written by the timed calls.
  double bytes = 0;         // Bytes read and written by all calls.
  uint32_t sharedBytes = 0; // Shared memory per workgroup, the max of all calls.
  /// Index of the operator's longest dispatch; of its first dispatch if none has times.
  uint32_t longest = 0;
  double longestNs = -1; // Duration of the longest dispatch; -1 if none has times.

  bool timed() const { return timedCalls > 0; }
  /// Rate in GFLOP/s; 0 without times.
  double gflops() const { return timeNs > 0 ? timedFlops / timeNs : 0; }
  /// Rate in GB/s; 0 without times.
  double gigabytes() const { return timeNs > 0 ? timedBytes / timeNs : 0; }
};

class OperatorTable {
public:
  /// Adds the dispatches that are new since the last call. Always pass the same capture.
  void update(const CaptureModel &model);
  const std::vector<OperatorRow> &rows() const { return rows_; }
  /// The row of the operator with this name, or nullptr.
  const OperatorRow *find(const std::string &name) const;
  /// The sum of timeNs over all rows.
  double timeNs() const { return timeNs_; }
  /// The number of dispatches that update() has processed.
  uint32_t dispatches() const { return seen_; }

private:
  std::vector<OperatorRow> rows_; // Ordered by first dispatch.
  std::unordered_map<std::string, uint32_t> rowOfName_;
  std::unordered_map<uint64_t, uint32_t> rowOfCommand_; // Plan and command to row.
  double timeNs_ = 0;
  uint32_t seen_ = 0;
};

/// The columns of the table. kSecondTime and kRatio exist only when two captures are compared.
/// kShare is the operator's share of the time of all operators, kFlops the rate in GFLOP/s,
/// kTraffic the rate in GB/s, kShared the shared memory.
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

/// One line of the table on the screen: an operator of one capture, or of two captures that are
/// compared. A side is nullptr if its capture lacks the operator.
struct OperatorLine {
  const OperatorRow *first = nullptr;
  const OperatorRow *second = nullptr;
  double timeNs = 0;       // Time of all calls; with two captures, time per run.
  double secondTimeNs = 0; // Time per run in the second capture.

  /// The row of the first capture, or of the second if the first lacks the operator.
  const OperatorRow &any() const { return first != nullptr ? *first : *second; }
  bool hasRatio() const { return timeNs > 0 && secondTimeNs > 0; }
  double ratio() const { return hasRatio() ? secondTimeNs / timeNs : 0; }
};

/// The tables to list. `second` is nullptr for one capture. If two captures are compared, each
/// capture's times are divided by firstRuns or secondRuns, its number of runs with device times.
struct OperatorTables {
  const OperatorTable *first = nullptr;
  const OperatorTable *second = nullptr;
  uint64_t firstRuns = 0;
  uint64_t secondRuns = 0;
};
/// Returns the lines sorted by a column. Lines with equal values are sorted by name; lines without
/// a value come last in both directions.
std::vector<OperatorLine> operatorLines(const OperatorTables &tables, OperatorColumn column,
                                        bool descending);

} // namespace gantry::profiler
