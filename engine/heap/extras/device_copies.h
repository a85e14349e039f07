// Submissions that compaction and spilling make themselves, and waiting for them.
//
// Threads: the growth lock of the heap is held. Errors: HeapCode, with the driver's message kept by
// the heap.
#pragma once

#include "engine/heap/heap_parts.h"

namespace gantry::heap {

/// Waits for a submission whose command list or memory is freed next. A wait that fails says
/// nothing about the work, so it is repeated: the device may still use what is to be freed.
HeapCode settle(HeapParts &parts, uint64_t ticket);

/// Copies between a range of device memory and the host, and waits. Memory that the host sees is
/// read and written directly, other memory through staging memory of at most 16 MiB.
HeapCode copyWithHost(HeapParts &parts, device::Memory &memory, uint64_t offsetBytes, uint8_t *host,
                      uint64_t sizeBytes, bool toHost);

} // namespace gantry::heap
