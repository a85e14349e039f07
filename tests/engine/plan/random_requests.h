// Random requests for the planner's property tests and the fuzz test.
#pragma once

#include "engine/plan/plan.h"

#include <random>

namespace gantry::plan {

struct RandomShape {
  uint32_t count = 6;
  uint32_t commands = 9;
  uint64_t maxSizeBytes = 9;
  uint32_t maxCommands = 4;      // The longest lifetime of a value.
  uint32_t maxAlignmentBits = 0; // Alignments go up to 2 to this power; 0: all are 1.
};

std::vector<Value> randomValues(std::mt19937_64 &random, const RandomShape &shape);

/// Pins about a third of the values where a plan has them, so that a plan with the pins exists.
std::vector<Pin> randomPins(std::mt19937_64 &random, const std::vector<Value> &values);

} // namespace gantry::plan
