// Verifies an artifact's metadata against the rules of README.md, so that code that reads a Program
// need not check them again. Private to engine/artifact: the reader and the writer call it.
//
// Threads: pure functions.
#pragma once

#include "engine/artifact/artifact.h"

#include <optional>

namespace gantry::artifact {

/// Runs the FlatBuffers verifier, which checks offsets and sizes, and then all rules of README.md.
/// Returns kDataLoss, with the element and the offending value in the message, if a rule is broken.
/// `metadata` must be aligned to 16 bytes; constantsBytes is the size of the constants section.
Status verifyMetadata(std::span<const uint8_t> metadata, uint64_t constantsBytes);

/// Returns kDataLoss if a state breaks a rule of README.md. `folded` has the value of each
/// expression, and nullopt for those that depend on a symbol. All other lists of the program must
/// have passed their checks.
Status checkStates(const Program &program, std::span<const std::optional<int64_t>> folded);

/// Returns kDataLoss if a variant differs from the root program in its inputs, outputs, symbols or
/// states.
/// Both programs must have passed the other checks.
Status checkSameInterface(const Program &root, const Program &variant);

/// Returns kDataLoss if a StripChain (artifact.fbs) lacks the string of a name, which may be empty,
/// or has fewer than two strips.
Status checkStrips(const Program &program);

} // namespace gantry::artifact
