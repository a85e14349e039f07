// Problems whose items have different alignments, made coarser: sizes rounded up to multiples of
// larger alignments. Any placement of the coarser problem is one of the original.
//
// Where alignments differ, small remainders decide which item may lie on which without a gap, and a
// search drowns in them. Most sizes can be rounded up for nothing: those alive only at steps that
// have room below the capacity. What is left is nearly a problem of one alignment, which the
// exact search finds as easily as any other; but rounding may also take away what was needed, so
// several roundings are tried.
//
// Threads: pure functions. Deterministic.
#pragma once

#include "engine/plan/problem.h"

#include <optional>

namespace gantry::plan {

/// Which sizes are rounded up beyond what their own alignments ask, and how far.
struct RoundingStyle {
  /// To which of the problem's alignments, in this order: the second smallest, the largest.
  bool toSecond = false;
  bool toLargest = false;
  /// Which come first: those that lose the fewest bytes × steps, else the fewest bytes.
  bool byArea = false;
  /// How much of the room between the bound and the capacity the rounding may take, in eighths.
  uint32_t eighths = 0;
};

/// Whether items have different alignments.
bool hasMixedAlignments(const Problem &problem);

/// The problem with each size a multiple of its item's alignment, except of fixed items and those
/// with segments.
Problem roundedToOwnAlignment(const Problem &problem);

/// The same with further sizes rounded up as long as no step holds more than the capacity allows.
/// Nothing where the capacity is below the bound of the rounded sizes.
std::optional<Problem> roundedFreely(const Problem &problem, const RoundingStyle &style,
                                     uint64_t capacity);

} // namespace gantry::plan
