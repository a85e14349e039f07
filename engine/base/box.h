// A box is the place of a tensor inside a larger one, for example where one input of a
// concatenation lies in the result.
//
// The larger tensor is the storage, and the box is a range of its indices along each dimension. A
// *run* is a contiguous range of bytes; the bytes of a box that is not empty form one or more runs.
// The dimensions are listed in the order in which they lie in memory, from the outermost to the
// innermost, whose elements are contiguous: a tensor whose channels lie in blocks of four has the
// dimensions (image, block, row, column, channel in block).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace gantry {

/// A range of indices along one dimension: `size` indices from `start` on, out of `extent`.
struct BoxDim {
  uint64_t extent = 1;
  uint64_t start = 0;
  uint64_t size = 1;
};

struct Box {
  uint64_t elementBytes = 1;
  std::vector<BoxDim> dims; // Empty: one element.
};

/// A range of bytes in the storage.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
};

/// Returns a box of one dimension: `sizeBytes` bytes from `offset` on, in a storage that ends
/// there.
Box boxOfRange(uint64_t offset, uint64_t sizeBytes);

/// Returns the smallest range of bytes that contains the box. The range of an empty box, one with a
/// size of 0, has 0 bytes.
ByteRange rangeOf(const Box &box);

/// Calls `body` with each run of the box, in ascending order. Adjacent runs are joined. Stops when
/// `body` returns false.
void forEachRun(const Box &box, const std::function<bool(const ByteRange &)> &body);

/// Returns whether the ranges of all dimensions lie within their extents, and the storage has less
/// than 2^63 bytes.
bool isValid(const Box &box);

} // namespace gantry
