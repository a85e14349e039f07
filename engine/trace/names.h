// Texts that events refer to by number: one table for the process, which only grows.
//
// Threads: any. Interning takes a lock and may take memory, so it is done where names are made (a
// buffer's name, a program's operators), not where events are.
#pragma once

#include "engine/trace/frame.h"

#include <cstdint>
#include <string_view>

namespace gantry::trace {

/// The id of a text, the same one for the same text; 0 for "". Texts beyond kMaxNameBytes are cut.
/// When the table is full (kMaxNameId names), 0.
uint32_t intern(std::string_view text);

/// Adds the names from id `first` on to the builder; returns the first id that is not there yet.
uint32_t copyNames(uint32_t first, NamesBuilder &builder);

/// The same for crashes: gives up where another thread holds the table's lock, and adds no more
/// than the builder has reserved memory for.
bool tryCopyNames(uint32_t *first, NamesBuilder &builder);

} // namespace gantry::trace
