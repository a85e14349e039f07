// Random requests for the planner's property tests and fuzzing: values, and constraints that do not
// contradict each other by themselves (pins are taken from a plan, so that one with them exists).
#pragma once

#include "engine/plan/plan.h"

#include <random>

namespace gantry::plan {

struct RandomShape {
  uint32_t count = 6;
  uint32_t commands = 9;
  uint64_t largest = 9;
  uint32_t longest = 4;       // commands that a value lives, at most
  uint32_t mostAlignment = 0; // as a power of two; 0: everything is aligned to 1
};

std::vector<Value> randomValues(std::mt19937_64 &random, const RandomShape &shape);

struct RandomConstraints {
  bool pins = false;
  bool gaps = false;
  bool sharings = false; // optional ones
  bool required = false; // and required ones, of pairs that exclude no other
  bool zones = false;
};

/// Constraints under which a plan exists.
Constraints randomConstraints(std::mt19937_64 &random, const std::vector<Value> &values,
                              const RandomConstraints &which);

} // namespace gantry::plan
