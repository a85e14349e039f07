// Compares what happened with what was planned, and reports each difference with the operator that
// caused it.
//
// The check reads the actual placement of values (bindings), the lives of their blocks, and the
// suspected leaks (growth_watch.h). It finds six kinds of differences:
//
//   offset shifted   A value was at another offset in the arena than its plan says.
//   illegal alias    Two values of different slots shared bytes while both were live, and at least
//                    one of them was not at its planned offset.
//   oversize         A block for one value is larger than every plan of the session needs, by more
//                    than a quarter and more than 64 KiB.
//   late free        A donated block was released only after its run had ended.
//   donation kept    A donated block is still live, and two later runs of the session have ended.
//   leak             GrowthWatch has a suspect.
//
// The operator to blame is the one that writes the value; for donations, the last one that reads
// it.
//
// Threads: a pure function.
#pragma once

#include "profiler_gui/model/capture/capture_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

enum class FindingKind : uint8_t {
  kOffsetShifted,
  kIllegalAlias,
  kOversize,
  kLateFree,
  kDonationKept,
  kLeak,
};
/// The kind as text, for example "offset shifted".
const char *findingKindName(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::kLeak;
  std::string op;              // The operator to blame.
  std::string value;           // The name of the value or block.
  std::string location;        // The location in the model; "" if unknown.
  std::string text;            // One sentence with the numbers.
  uint32_t space = UINT32_MAX; // The address space concerned; UINT32_MAX: none, only a time.
  uint64_t beginNs = 0, endNs = 0;
  uint64_t lowAddress = 0, highAddress = 0; // In the address space, half-open.
};

/// All differences, in order of begin time.
std::vector<Finding> checkPlans(const CaptureModel &model);

} // namespace gantry::profiler
