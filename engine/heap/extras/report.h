// Texts about a heap for people: the memory report, and the explanation of a refusal.
#pragma once

#include "engine/heap/heap.h"

namespace gantry::heap {

/// Writes a report into `text`, which always ends with a zero byte: bytes that are reserved, live
/// and free per memory kind, fragmentation, budgets, and the names that hold the most bytes.
/// Returns the length of the whole report, which may be larger than `text`. Needs no host memory.
size_t writeReport(const Heap &heap, std::span<char> text);

/// Returns a Status that says what `code` means for this request, with its numbers and a remedy.
Status explain(const Heap &heap, HeapCode code, const BufferRequest &request);

} // namespace gantry::heap
