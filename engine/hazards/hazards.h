// Barriers between commands, and the checks that commands do not disturb each other.
//
// A program is a list of commands that read and write ranges of memory. placeBarriers() finds the
// barriers that they need. The two checkers judge a finished program: checkHazards() its barriers,
// checkStorage() its assignment of storage.
//
// Threads: pure functions. Units: bytes.
#pragma once

#include "engine/base/box.h"
#include "engine/base/status.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::hazards {

/// A range of bytes that a command reads or writes in one memory object. Space 0 is the arena;
/// constants, inputs and outputs have other numbers.
struct Access {
  uint32_t space = 0;
  uint64_t offset = 0; // In bytes.
  uint64_t sizeBytes = 0;
  bool write = false;
};

struct Command {
  std::vector<Access> accesses;
  /// All earlier commands finish, and their writes are visible, before this command starts.
  bool barrierBefore = false;
};

/// Sets barrierBefore on the commands that need a barrier and clears it on all others. A command
/// needs a barrier when it conflicts with a command since the last barrier: write after read, read
/// after write, or write after write on overlapping bytes of one space.
void placeBarriers(std::vector<Command> &commands);

/// Checks that a barrier lies between each pair of conflicting commands. The check shares no code
/// with placeBarriers(). Returns kOk, or kInternal with a message that names the pair and the
/// bytes.
Status checkHazards(const std::vector<Command> &commands);

// ---- values that share a storage ---------------------------------------------------------------

/// The place of a value in the arena. A storage is the range of the arena in which a value lies,
/// together with its parts: the values that are boxes in it (box.h).
struct StoredValue {
  uint64_t offset = 0; // The storage's offset, in bytes.
  Box box;             // The value's bytes in the storage.
  /// The index of the value that covers the whole storage: the value itself, unless it is a part of
  /// another value.
  uint32_t storage = 0;
  bool isFilledBefore = false; // The value has its contents before the first command.
};

/// The values that a command reads and writes, as indices. If `inPlace` is set, the written value
/// may take the place of this value, which the command also reads.
struct StorageCommand {
  std::vector<uint32_t> reads;
  std::vector<uint32_t> writes;
  std::optional<uint32_t> inPlace;
  /// The command writes only some bytes of its result; the others keep what they have in `inPlace`.
  /// The result may then be larger than `inPlace` (a state that grows).
  bool isPartial = false;
};

/// Checks that no value is overwritten before its last reader, by executing the commands on a map
/// from bytes to the values that wrote them last. Each command must read only bytes that were last
/// written as bytes of the same value, or of another value of the same storage. A command must not
/// write bytes that it reads, except for `inPlace`, nor the bytes of another part of the same
/// storage. The check knows neither lifetimes nor the planner's slots (plan/slots.h), and shares no
/// code with the assignment of storage. Returns kOk, or kInternal with a message that names the
/// command, the values and the bytes.
Status checkStorage(const std::vector<StoredValue> &values,
                    const std::vector<StorageCommand> &commands);

} // namespace gantry::hazards
