// Compares what happened with what was planned, and names the operator where they differ.
//
// Six differences are looked for, in what runs say about where their values lay (bindings), in the
// lives of the blocks involved, and in what grows from step to step (watch.h):
//
//   offset shifted   a value lay elsewhere in the arena than its plan says
//   illegal alias    two values, alive at the same time and not of one slot, shared bytes, and one
//   of
//                    them did not lie where it was planned
//   oversize         a block taken for one value is larger than any plan of the session needs: by a
//                    quarter and at least 64 KiB
//   late free        a donated block was given back only after its run had ended
//   donation kept    a donated block is still held though two more runs of the session have ended
//   leak             GrowthWatch has a suspect
//
// Each finding has the operator to blame: that which writes the value, or for donations the last
// that reads it. Threads: pure function.
#pragma once

#include "profiler_gui/model/capture_model.h"

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
const char *findingKindName(FindingKind kind); // "offset shifted"

struct Finding {
  FindingKind kind = FindingKind::kLeak;
  std::string op;       // to blame
  std::string value;    // the tensor or block
  std::string location; // in the model; "" where not known
  std::string text;     // one sentence with the numbers
  // where to look: an address space's window; space UINT32_MAX: time alone
  uint32_t space = UINT32_MAX;
  uint64_t beginNs = 0, endNs = 0;
  uint64_t lowAddress = 0, highAddress = 0;
};

/// All differences, in the order of time.
std::vector<Finding> checkPlans(const CaptureModel &model);

} // namespace gantry::profiler
