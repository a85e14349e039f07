// Two captures side by side: what the second one holds more or less than the first, and what takes
// longer.
//
// Heaps are matched by their names, sessions by their programs', the first with the first and so
// on. Bytes of a heap are those held at the moment of its peak, so that the differences of all
// names add up to the difference of the peaks (but for blocks that came or went in the same
// nanosecond). Bytes of an arena are those that its values held at the fullest moment of all its
// runs.
//
// Index 0 is the first capture, 1 the second. Texts and not ids: each capture has its own names.
// Threads: pure function.
#pragma once

#include "profiler_gui/model/capture_model.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

/// A heap, or a session's arena.
struct ComparedMemory {
  std::string name;
  std::array<uint64_t, 2> peakBytes{};
  std::array<uint64_t, 2> peakNs{};
  std::array<uint64_t, 2> reservedBytes{}; // slabs at their peak; the planned arena
};

/// What has one name in both captures; 0 where a capture lacks it.
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
  /// By name of block: bytes at the peak of its heap, mean life, number of blocks.
  std::vector<ComparedRow> blocks;
  /// By name of value: bytes at the fullest moment of its arena, mean life, number of lives.
  std::vector<ComparedRow> values;
  /// By operator: bytes of what it writes at the fullest moment of the arena, device time of one
  /// run, dispatches of one run; the mean of the runs that have times.
  std::vector<ComparedRow> operators;
  std::array<double, 2> runNs{}; // the mean of all runs that ended
};

/// Rows are ordered by how much they differ: blocks and values in bytes, operators in time.
Comparison compareCaptures(const CaptureModel &first, const CaptureModel &second);

} // namespace gantry::profiler
