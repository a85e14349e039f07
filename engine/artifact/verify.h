// Everything that readers of a Program rely on, checked once; private to engine/artifact. README.md
// lists the rules. The FlatBuffers verifier has passed before; this is about meaning.
#pragma once

#include "engine/artifact/artifact.h"

namespace gantry::artifact {

/// Runs the FlatBuffers verifier and all checks of meaning. kDataLoss with the thing and the
/// number. metadata starts at a multiple of 16 bytes.
Status verifyMetadata(std::span<const uint8_t> metadata, uint64_t constantsBytes);

/// Whether a variant has the ports and symbols of the program that it stands beside. Both passed
/// the other checks.
Status checkSameInterface(const Program &root, const Program &variant);

} // namespace gantry::artifact
