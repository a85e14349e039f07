// Events for tests: of all types with random fields, and the life of a heap as one really has it.
#pragma once

#include "engine/trace/events.h"

#include <random>
#include <vector>

namespace gantry::test {

/// Every field that its type has gets a random value: often small, sometimes any.
trace::Event randomEvent(trace::EventType type, std::mt19937_64 &random);

/// All types that there are.
std::vector<trace::EventType> allEventTypes();

/// Blocks of one heap that come and go, `count` events: slots are reused with the next generation,
/// at their old place, about every other event is a release.
std::vector<trace::Event> heapLife(size_t count, std::mt19937_64 &random);

bool sameBytes(const trace::Event &a, const trace::Event &b);

} // namespace gantry::test
