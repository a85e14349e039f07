// Plans as a capture tells them: entries, commands and who reads and writes what.
// Threads: values; one writer, or several readers.
#pragma once

#include "engine/op_kind/op_kind.h"

#include <array>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

enum class Storage : uint8_t { kInput, kOutput, kConstant, kTransient, kHost };

/// One value of a plan. Texts are names of the capture.
struct PlanEntry {
  uint32_t plan = 0;  // index in CaptureModel::plans()
  uint32_t value = 0; // of the program
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  uint32_t firstUse = 0; // commands, inclusive
  uint32_t lastUse = 0;
  uint32_t name = 0;
  uint32_t op = 0;
  uint32_t slot = 0;
  Storage storage = Storage::kTransient;
  OpKind writer = OpKind::kOther; // Kind of the operator `op`.
};

struct Access {
  uint32_t command = 0;
  uint32_t value = 0;
  bool write = false;
};

struct PlanCommand {
  uint32_t name = 0;
  uint32_t location = 0;
  uint32_t kernel = 0;
  uint32_t tile = 0;
  uint32_t sharedBytes = 0;
  uint32_t registers = 0; // 0: not known
  float flops = 0;
  float bytesMoved = 0;
  std::array<uint16_t, 3> workgroupSize{};
  bool isCopy = false;
  bool barrierBefore = false;
  OpKind kind = OpKind::kOther; // Derived from the command's name.
};

struct Plan {
  uint32_t id = 0; // the capture's own number
  uint32_t session = 0;
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;
  uint32_t peakCommand = 0;
  uint32_t shapes = 0;
  std::vector<uint32_t> entries; // indices in CaptureModel::planEntries()
  std::vector<PlanCommand> commands;
  std::vector<Access> accesses;
  /// When each command began and ended in a run with times, as parts of that run; for runs without.
  std::vector<std::array<float, 2>> shares;
  uint32_t sharesOfRun = UINT32_MAX; // indices in CaptureModel::runs()
  uint32_t lastTimedRun = UINT32_MAX;

  uint32_t invocations(uint32_t command) const {
    const auto &size = commands[command].workgroupSize;
    return static_cast<uint32_t>(size[0]) * size[1] * size[2];
  }
};

} // namespace gantry::profiler
