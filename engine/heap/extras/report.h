// Texts about a heap for people: the memory report, and the explanation of a HeapCode.
//
// Threads: any. Both functions read the statistics under the heap's locks.
#pragma once

#include "engine/heap/heap.h"

namespace gantry::heap {

/// Writes a report into `text`, which always ends with a zero byte: for each memory kind, the bytes
/// of its slabs (driver allocations), of live buffers and of released buffers that the device still
/// uses, the longest free range and the fragmentation; for each memory heap of the device, its
/// budget; and the buffer names with the most live bytes. Returns the length of the whole report
/// without the zero byte; a longer report than `text` can hold is cut. Allocates no host memory.
size_t writeReport(const Heap &heap, std::span<char> text);

/// Returns a Status that says what `code`, returned by the heap for this request, means. For a
/// refusal (kExhausted, kOverBudget, kTooLarge) the message contains the size that was requested,
/// the sizes that explain the refusal, and a remedy.
Status explain(const Heap &heap, HeapCode code, const BufferRequest &request);

} // namespace gantry::heap
