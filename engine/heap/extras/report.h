// Texts about a heap for people: the memory report, and the explanation of a HeapCode.
//
// Threads: any. Both functions read the statistics under the heap's locks.
#pragma once

#include "engine/heap/heap.h"

namespace gantry::heap {

/// Writes a report into `text`, which always ends with a zero byte: bytes that are reserved, live
/// and free per memory kind, fragmentation, budgets, and the names that hold the most bytes.
/// Returns the length of the whole report without the zero byte; a longer report than `text` can
/// hold is cut. Allocates no host memory.
size_t writeReport(const Heap &heap, std::span<char> text);

/// Returns a Status that says what `code`, returned by the heap for this request, means. The
/// message has the numbers of the request and of the heap and, for most codes, a remedy.
Status explain(const Heap &heap, HeapCode code, const BufferRequest &request);

} // namespace gantry::heap
