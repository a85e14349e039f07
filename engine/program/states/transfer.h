// Copies between host memory and buffers of the device's heap, outside of runs. permuteDims()
// permutes the dimensions of a tensor in host memory.
//
// Memory that the host sees is copied by the host. Other memory goes through a staging buffer of at
// most 16 MiB. The functions wait until the copy is done. They do not wait for runs: the caller
// ensures that no run in flight uses the bytes.
//
// Errors: those of Storage::allocate, for the staging buffer, and those of the device.
// Threads: as Heap (engine/heap/heap.h). Units: bytes.
#pragma once

#include "engine/program/storage.h"

namespace gantry::program {

/// Copies `bytes` to the buffer, from `offset` on. After a failure, `isTouched` says whether bytes
/// of the buffer may have changed.
Status writeBuffer(const std::shared_ptr<heap::Heap> &heap, const Storage &target, uint64_t offset,
                   std::span<const uint8_t> bytes, bool &isTouched);

/// Copies bytes.size() bytes from the buffer, from `offset` on, to `bytes`.
Status readBuffer(const std::shared_ptr<heap::Heap> &heap, const Storage &source, uint64_t offset,
                  std::span<uint8_t> bytes);

/// Copies a dense row-major tensor to `target` such that dimension i of the result is dimension
/// order[i] of the source. dims: the extents of the source. The spans have the same size.
void permuteDims(std::span<const uint8_t> source, std::span<const int64_t> dims,
                 std::span<const uint8_t> order, uint64_t elementBytes, std::span<uint8_t> target);

} // namespace gantry::program
