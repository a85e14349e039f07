// Compares the recorded runs with their memory plans, and reports each difference together with the
// operator that is responsible for it. A plan gives each transient value of a program an offset in
// the arena, the memory of a session (the program bound to a device). Values that share bytes on
// purpose have the same slot.
//
// The check reads the actual placement of values (bindings), the lifetimes of their blocks, and the
// suspected leaks (growth_watch.h). It finds six kinds of differences:
//
//   offset shifted   A value was at another offset in the arena than its plan says.
//   illegal alias    Two values of different slots shared bytes while both were live, and at least
//                    one of them was not at its planned offset.
//   oversize         The block of an input or output is larger than any plan of the session needs,
//                    by more than a quarter of the need and by more than 64 KiB.
//   late free        A donated block, an input that the caller gave up to its run, was released
//                    only after the run had ended.
//   donation kept    A donated block is still live, and two later runs of the session have ended.
//   leak             GrowthWatch has a suspect.
//
// The responsible operator of a donation is the last one that uses the value. For a leak, it is the
// span, a named interval of a thread's work, in which the blocks are allocated. For any other
// difference, it is the operator that writes the value, or the last one that uses the value if no
// operator writes it.
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
  std::string op;       // The responsible operator; the blocks' name if a leak has no span.
  std::string value;    // The name of the value or block.
  std::string location; // Location in the model of the value's first command; "" if unknown.
  std::string text;     // One sentence with the numbers, for the user.
  /// Index in CaptureModel::spaces() of the arena concerned; UINT32_MAX if the finding has no
  /// arena.
  uint32_t space = UINT32_MAX;
  uint64_t beginNs = 0, endNs = 0;          // Nanoseconds from the capture's start.
  uint64_t lowAddress = 0, highAddress = 0; // Half-open range in the arena; 0 and 0 if unknown.
};

/// Returns all differences, in order of beginNs.
std::vector<Finding> checkPlans(const CaptureModel &model);

} // namespace gantry::profiler
