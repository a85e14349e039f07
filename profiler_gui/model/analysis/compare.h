// Compares two captures: which names hold more or fewer bytes in the second one, and which
// operators take longer.
//
// Heaps are matched by name and sessions by program name; the n-th of a name is matched with the
// n-th. The bytes of a heap's blocks are those at the time of the heap's peak, so the differences
// of all names add up to the difference of the peaks, except for blocks that were allocated or
// released in the same nanosecond. The bytes of an arena's values are those at the arena's peak
// over all runs.
//
// In arrays of two, index 0 is the first capture and 1 the second. Names are texts because name ids
// differ between captures. Threads: a pure function.
#pragma once

#include "profiler_gui/model/capture/capture_model.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

/// A heap or a session's arena in both captures; 0 if a capture lacks it.
struct ComparedMemory {
  std::string name;
  std::array<uint64_t, 2> peakBytes{};
  std::array<uint64_t, 2> peakNs{};
  std::array<uint64_t, 2> reservedBytes{}; // Peak of the slabs' bytes, or size of the arena.
};

/// The blocks, values or dispatches of one name in both captures; 0 if a capture lacks it.
struct ComparedRow {
  std::string name;
  std::array<uint64_t, 2> bytes{};
  std::array<double, 2> timeNs{};
  std::array<double, 2> count{};

  int64_t bytesMore() const { return static_cast<int64_t>(bytes[1] - bytes[0]); }
  double timeMore() const { return timeNs[1] - timeNs[0]; }
};

struct Comparison {
  std::vector<ComparedMemory> heaps;
  std::vector<ComparedMemory> arenas;
  /// By block name: bytes at the peak of the heap, mean life, number of blocks.
  std::vector<ComparedRow> blocks;
  /// By value name: bytes at the peak of the arena, mean life, number of blocks in the arena.
  std::vector<ComparedRow> values;
  /// By operator: bytes of the values that it writes at the peak of the arena; device time and
  /// number of dispatches per run, as a mean over the runs with device times.
  std::vector<ComparedRow> operators;
  std::array<double, 2> runNs{}; // Mean duration of the runs that ended.
};

/// Compares two captures. Rows are sorted by the size of their difference, largest first: blocks
/// and values by bytes, operators by time. Equal differences are sorted by name.
Comparison compareCaptures(const CaptureModel &first, const CaptureModel &second);

} // namespace gantry::profiler
