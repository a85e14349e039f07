// Generates events for tests: random events of all types, and a realistic sequence of a heap's
// allocations and releases.
#pragma once

#include "engine/trace/events.h"

#include <random>
#include <vector>

namespace gantry::test {

/// Returns an event whose fields have random values: mostly small, sometimes any value.
trace::Event randomEvent(trace::EventType type, std::mt19937_64 &random);

/// Returns all event types that events.h defines.
std::vector<trace::EventType> allEventTypes();

/// Returns `count` allocations and releases of one heap, in ascending time. About half of the
/// events are releases. A later allocation reuses a released range and its block id, in which only
/// the generation is one higher.
std::vector<trace::Event> heapLife(size_t count, std::mt19937_64 &random);

/// Returns whether all bytes of the events are equal.
bool sameBytes(const trace::Event &a, const trace::Event &b);

} // namespace gantry::test
