// The memory plans of a capture: values with their planned offsets, commands, and the values that
// each command reads and writes.
//
// Names, locations, kernels, tiles and shapes are ids in the capture's name table; 0 is the empty
// text. Sizes and offsets are bytes. Threads: plain data; one writer, or several readers.
#pragma once

#include "engine/op_kind/op_kind.h"

#include <array>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// The storage of a planned value. The numbers equal those of trace::EntryStorage.
enum class Storage : uint8_t { kInput, kOutput, kConstant, kTransient, kHost };

/// One value of a plan.
struct PlanEntry {
  uint32_t plan = 0;   // Index in CaptureModel::plans().
  uint32_t value = 0;  // The value's number in the program.
  uint64_t offset = 0; // Planned offset, in bytes from the start of the storage.
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0; // First command that uses the value.
  uint32_t lastUse = 0;  // Last command that uses the value, inclusive.
  uint32_t name = 0;
  uint32_t op = 0;   // Name of the operator that writes the value.
  uint32_t slot = 0; // Values with the same slot share their bytes.
  Storage storage = Storage::kTransient;
  OpKind writer = OpKind::kOther; // Kind of the operator `op`.
};

/// The access of a command to a value: a read or a write.
struct Access {
  uint32_t command = 0;
  uint32_t value = 0;
  bool write = false;
};

/// One command of a plan: a kernel launch or a copy.
struct PlanCommand {
  uint32_t name = 0; // The operators that were fused into the command.
  uint32_t location = 0;
  uint32_t kernel = 0;
  uint32_t tile = 0;
  uint32_t sharedBytes = 0; // Shared memory per workgroup.
  uint32_t registers = 0;   // Per invocation; 0 when the driver does not report it.
  float flops = 0;          // Floating-point operations of one launch.
  float bytesMoved = 0;     // Bytes that one launch reads and writes.
  std::array<uint16_t, 3> workgroupSize{};
  bool isCopy = false;
  bool barrierBefore = false;
  OpKind kind = OpKind::kOther; // Derived from the command's name.
};

struct Plan {
  uint32_t id = 0;      // The plan's id in the trace.
  uint32_t session = 0; // The session's id in the trace.
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;  // No plan of these values needs fewer bytes.
  uint32_t peakCommand = 0;      // The command during which the number of live bytes is at its max.
  uint32_t shapes = 0;           // The input sizes as text: "batch=4 length=128".
  std::vector<uint32_t> entries; // Indices in CaptureModel::planEntries().
  std::vector<PlanCommand> commands;
  std::vector<Access> accesses;
  /// Begin and end of each command in an earlier run with device times, as fractions of that run
  /// from 0 to 1. They estimate the command times of runs without device times. Empty if no earlier
  /// run had a measured time for every command.
  std::vector<std::array<float, 2>> shares;
  /// The last run that was examined for `shares`, as an index in CaptureModel::runs(); UINT32_MAX:
  /// none.
  uint32_t sharesOfRun = UINT32_MAX;
  /// The last run with one dispatch event per command, as an index in CaptureModel::runs();
  /// UINT32_MAX: none.
  uint32_t lastTimedRun = UINT32_MAX;
};

} // namespace gantry::profiler
