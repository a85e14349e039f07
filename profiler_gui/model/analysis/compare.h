// Compares two captures: how many bytes more or fewer the blocks and values of each name have in
// the second one, and how much longer each operator takes. A block is a range of memory that a heap
// allocated.
// A value is a tensor in the arena, the memory of a session (a program that is bound to a device).
//
// Heaps are matched by name, and sessions by program name. If several have the same name, the n-th
// of the first capture is matched with the n-th of the second.
//
// The bytes of a block name are those of the blocks that are live at the peak of their heap. The
// differences of all names therefore add up to the difference of the heaps' peaks, unless blocks
// were allocated or released in the same nanosecond as a peak. The bytes of a value name are those
// of the values that are live at the peak of their arena, which is the moment with the most live
// bytes in all runs.
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

/// A heap or a session's arena in both captures. The numbers of a capture that lacks it are 0.
struct ComparedMemory {
  std::string name;
  std::array<uint64_t, 2> peakBytes{};
  std::array<uint64_t, 2> peakNs{};
  std::array<uint64_t, 2> reservedBytes{}; // Peak of the slabs' bytes, or size of the arena.
};

/// The blocks, values or dispatches of one name in both captures. The numbers of a capture without
/// this name are 0. The lists of Comparison define what bytes, timeNs and count are.
struct ComparedRow {
  std::string name;
  std::array<uint64_t, 2> bytes{};
  std::array<double, 2> timeNs{};
  std::array<double, 2> count{};

  /// The second capture's bytes or time minus the first capture's.
  int64_t bytesMore() const { return static_cast<int64_t>(bytes[1] - bytes[0]); }
  double timeMore() const { return timeNs[1] - timeNs[0]; }
};

struct Comparison {
  std::vector<ComparedMemory> heaps;
  std::vector<ComparedMemory> arenas;
  /// One row per block name: the bytes at the peak of the heap, the mean lifetime, and the number
  /// of blocks.
  std::vector<ComparedRow> blocks;
  /// One row per value name: the bytes at the peak of the arena, the mean lifetime, and how many
  /// times all runs together stored the value in the arena.
  std::vector<ComparedRow> values;
  /// One row per operator: the bytes of its results that are live at the peak of the arena; its
  /// device time per run and its dispatches per run, both as means over the runs with device times.
  std::vector<ComparedRow> operators;
  std::array<double, 2> runNs{}; // Mean duration of the runs that ended.
};

/// Compares two captures. Rows are sorted by the size of their difference, largest first: blocks
/// and values by bytes, operators by time. Equal differences are sorted by name.
Comparison compareCaptures(const CaptureModel &first, const CaptureModel &second);

} // namespace gantry::profiler
