// The process-wide table of texts. Events refer to a text by its id. The table only grows.
//
// Thread safety: any thread. intern() takes a lock and may allocate memory, so callers intern a
// name when they create the thing that has it (a buffer, a program), not when they record events.
#pragma once

#include "engine/trace/wire/frame.h"

#include <cstdint>
#include <string_view>

namespace gantry::trace {

/// Returns the id of a text. A text in the table keeps its id. Returns 0 for "", and for a new text
/// if the table is full (kMaxNameId names) or the host has too little memory. Bytes beyond
/// kMaxNameBytes are cut off.
uint32_t intern(std::string_view text);

/// Adds the names from id `first` on to the builder. Returns the first id that is not assigned yet.
uint32_t copyNames(uint32_t first, NamesBuilder &builder);

/// Like copyNames(), for crashes: waits for no lock and allocates no memory. Returns false if
/// another thread holds the table's lock. Adds only names that fit into the memory
/// that the builder has reserved, and sets *first to the id after the last added name.
bool tryCopyNames(uint32_t *first, NamesBuilder &builder);

} // namespace gantry::trace
