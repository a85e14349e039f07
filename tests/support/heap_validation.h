// Checks every invariant that links the components of a heap: the records of its buffers
// (engine/heap/buffer_record.h), the blocks of its pools (engine/base/tlsf.h), the arenas, the
// slabs and the totals.
#pragma once

#include "engine/heap/heap.h"

namespace gantry::heap {

/// Returns nullptr, or a sentence that names the broken invariant. No other thread may use the heap
/// meanwhile. Cost: linear in records and blocks.
const char *validate(const Heap &heap);

} // namespace gantry::heap
