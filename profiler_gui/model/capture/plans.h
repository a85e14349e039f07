// The memory plans of a capture. A plan belongs to a session, a compiled program that is bound to a
// device, and to one set of input sizes. It has the program's commands in order, the values
// (tensors) with their planned offsets, and the values that each command reads and writes.
//
// A transient is a value that only commands of the same run use. The transients lie in the
// session's arena, one block of memory in which the plan gives each of them an offset.
//
// Names, locations, kernels, tiles and shapes are ids in the capture's name table; 0 is the empty
// text. Sizes and offsets are bytes. Threads: plain data; one writer, or several readers.
#pragma once

#include "engine/op_kind/op_kind.h"

#include <array>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

/// The storage of a planned value. kHost is memory of the host, to which values are moved for a
/// while if the arena must fit into a budget. The numbers equal those of trace::EntryStorage.
enum class Storage : uint8_t { kInput, kOutput, kConstant, kTransient, kHost };

/// One value of a plan.
struct PlanEntry {
  uint32_t plan = 0;  // Index in CaptureModel::plans().
  uint32_t value = 0; // The value's number in the program.
  /// Planned offset of a transient in the arena, of a constant in the session's block of constants,
  /// or of a host value in the session's host memory. Meaningless for inputs and outputs.
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0; // First command that uses the value.
  uint32_t lastUse = 0;  // Last command that uses the value, inclusive.
  uint32_t name = 0;
  uint32_t op = 0; // Name of the operator that writes the value.
  /// Values with the same slot share bytes on purpose, for example an operand and a result that is
  /// computed in its place.
  uint32_t slot = 0;
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
  uint32_t name = 0;        // The operators that were fused into the command.
  uint32_t location = 0;    // Source location in the model.
  uint32_t kernel = 0;      // 0 for a copy.
  uint32_t tile = 0;        // The parts of the result that a workgroup and an invocation compute.
  uint32_t sharedBytes = 0; // Shared memory per workgroup.
  uint32_t registers = 0;   // Per invocation; 0 when the driver does not report it.
  float flops = 0;          // Floating-point operations of one launch.
  float bytesMoved = 0;     // Bytes that one launch reads and writes.
  std::array<uint16_t, 3> workgroupSize{};
  bool isCopy = false;
  bool barrierBefore = false;   // Whether a memory barrier precedes the command.
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
  /// The last run from which ProgramHistory tried to compute `shares`, as an index in
  /// CaptureModel::runs(); UINT32_MAX: none. If not all times of that run were measured, `shares`
  /// is from an earlier run.
  uint32_t sharesOfRun = UINT32_MAX;
  /// The last ended run that has as many dispatches and copies as the plan has commands, as an
  /// index in CaptureModel::runs(); UINT32_MAX: none.
  uint32_t lastTimedRun = UINT32_MAX;
};

} // namespace gantry::profiler
