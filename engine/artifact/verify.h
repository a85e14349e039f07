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

/// Returns kDataLoss if a state (an input and an output that share one buffer) breaks a rule of
/// README.md. `folded` has the value of each expression, and nullopt for those that depend on a
/// symbol, a size that a run may choose. All other lists of the program must have passed their
/// checks.
Status checkStates(const Program &program, std::span<const std::optional<int64_t>> folded);

/// Returns kDataLoss if a variant (the same model compiled for another device profile) differs from
/// the root program of the file in its inputs, outputs, symbols or states. Both programs must have
/// passed the other checks.
Status checkSameInterface(const Program &root, const Program &variant);

/// Checks the descriptions of the chains of operators that are computed in strips of rows
/// (StripChain in artifact.fbs). Returns kDataLoss if one of a chain's two names is null (it may be
/// empty), or if the chain has fewer than two strips.
Status checkStrips(const Program &program);

} // namespace gantry::artifact
