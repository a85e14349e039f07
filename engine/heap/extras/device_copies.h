// Copies between device memory and host memory, for spilling; and a wait that is repeated when it
// fails, for callers that free a command list after the wait.
//
// Threads: the caller holds the growth lock (growth.h). Errors: HeapCode; the heap keeps the
// driver's message (Heap::lastDriverMessage). Units: bytes.
#pragma once

#include "engine/heap/heap_components.h"

namespace gantry::heap {

/// Waits for a submission, so that the caller may free its command list and memory. After a failed
/// wait the device may still use them, so the wait is repeated, up to 1000 times or until the
/// device is lost. Then the code of the last failure is returned.
HeapCode settle(HeapComponents &components, uint64_t ticket);

/// Copies sizeBytes from `memory`, starting at offsetBytes, to `host` (toHost) or in the other
/// direction, after all earlier submissions, and waits. Mapped memory is copied by the CPU, other
/// memory through a staging allocation of at most 16 MiB.
HeapCode copyWithHost(HeapComponents &components, device::Memory &memory, uint64_t offsetBytes,
                      uint8_t *host, uint64_t sizeBytes, bool toHost);

} // namespace gantry::heap
