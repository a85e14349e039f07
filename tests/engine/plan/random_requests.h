// Random requests for the planner's property tests and the fuzz test.
#pragma once

#include "engine/plan/plan.h"

#include <random>

namespace gantry::plan {

/// Limits of a random request.
struct RandomShape {
  uint32_t count = 6;            // Number of values.
  uint32_t commands = 9;         // Number of commands.
  uint64_t maxSizeBytes = 9;     // Sizes are 0 to this size.
  uint32_t maxCommands = 4;      // Max lifetime of a value, in commands.
  uint32_t maxAlignmentBits = 0; // Alignments are powers of 2 from 2^0 to 2^maxAlignmentBits.
};

/// Returns values with random sizes, lifetimes and alignments.
std::vector<Value> randomValues(std::mt19937_64 &random, const RandomShape &shape);

} // namespace gantry::plan
