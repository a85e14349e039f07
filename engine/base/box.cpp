// Computes the runs and the enclosing range of a box.
#include "engine/base/box.h"

namespace gantry {

namespace {

bool isEmpty(const Box &box) {
  for (const BoxDim &dim : box.dims)
    if (dim.size == 0)
      return true;
  return box.elementBytes == 0;
}

/// Calls `body` with each run of the part of the box that has given indices in the dimensions
/// before `d`; `offset` is the byte offset of these indices. For given indices before dimension
/// `contiguous`, the box is one run. Returns false if `body` did.
bool walk(const Box &box, const std::vector<uint64_t> &strides, size_t d, size_t contiguous,
          uint64_t offset, const std::function<bool(const ByteRange &)> &body) {
  if (d == box.dims.size())
    return body({offset, box.elementBytes});
  const BoxDim &dim = box.dims[d];
  offset += dim.start * strides[d];
  if (d >= contiguous) {
    uint64_t start = offset, bytes = dim.size * strides[d];
    for (size_t inner = d + 1; inner < box.dims.size(); ++inner)
      start += box.dims[inner].start * strides[inner];
    return body({start, bytes});
  }
  for (uint64_t i = 0; i < dim.size; ++i)
    if (!walk(box, strides, d + 1, contiguous, offset + i * strides[d], body))
      return false;
  return true;
}

/// Returns the distance in bytes between neighbouring elements along each dimension.
std::vector<uint64_t> stridesOf(const Box &box) {
  std::vector<uint64_t> strides(box.dims.size());
  uint64_t stride = box.elementBytes;
  for (size_t d = box.dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= box.dims[d].extent;
  }
  return strides;
}

} // namespace

Box boxOfRange(uint64_t offset, uint64_t sizeBytes) {
  return {1, {{offset + sizeBytes, offset, sizeBytes}}};
}

ByteRange rangeOf(const Box &box) {
  if (isEmpty(box))
    return {};
  const std::vector<uint64_t> strides = stridesOf(box);
  ByteRange range{0, box.elementBytes};
  for (size_t d = 0; d < box.dims.size(); ++d) {
    range.offset += box.dims[d].start * strides[d];
    range.sizeBytes += (box.dims[d].size - 1) * strides[d];
  }
  return range;
}

void forEachRun(const Box &box, const std::function<bool(const ByteRange &)> &body) {
  if (isEmpty(box))
    return;
  // After the loop: the last dimension in which the box lacks an index, or 0 if it lacks none.
  size_t contiguous = box.dims.size();
  while (contiguous > 0) {
    --contiguous;
    if (box.dims[contiguous].size != box.dims[contiguous].extent)
      break;
  }
  walk(box, stridesOf(box), 0, contiguous, 0, body);
}

bool isValid(const Box &box) {
  uint64_t bytes = box.elementBytes;
  for (const BoxDim &dim : box.dims) {
    if (dim.start > dim.extent || dim.size > dim.extent - dim.start ||
        __builtin_mul_overflow(bytes, dim.extent, &bytes))
      return false;
  }
  return bytes <= INT64_MAX;
}

} // namespace gantry
