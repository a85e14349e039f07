// Implements tensors.h.
#include "engine/capi/tensors.h"

#include "engine/capi/donations.h"

#include <cinttypes>

namespace gantry::capi {

Status prefixed(const std::string &prefix, const Status &status) {
  return {status.code(), prefix + ": " + status.message()};
}

Result<program::TensorShape> readShape(const gantry_tensor_t &tensor, const char *kind,
                                       size_t index) {
  const int type = rawValue(tensor.type);
  if (type < 0 || type > GANTRY_TYPE_BOOL)
    return statusf(StatusCode::kInvalidArgument, "%s %zu: type %d does not exist", kind, index,
                   type);
  if (tensor.rank > GANTRY_MAX_RANK)
    return statusf(StatusCode::kInvalidArgument, "%s %zu: rank %u; the rank is at most %d", kind,
                   index, tensor.rank, GANTRY_MAX_RANK);
  program::TensorShape shape;
  shape.type = static_cast<artifact::ElementType>(type);
  shape.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  return shape;
}

Status readMemory(const gantry_tensor_t &tensor, heap::Heap &heap, const char *kind, size_t index,
                  program::TensorArgument &argument) {
  argument.data = tensor.data;
  argument.offset = tensor.offset;
  argument.sizeBytes = tensor.size_bytes;
  if (!tensor.buffer)
    return {};
  const heap::BufferHandle buffer = handleOf(tensor.buffer);
  if (heap::Heap::of(buffer) != &heap)
    return statusf(StatusCode::kInvalidArgument, "%s %zu: its buffer belongs to another device",
                   kind, index);
  argument.buffer = program::Storage::share(heap, buffer);
  if (!argument.buffer)
    return prefixed(std::string(kind) + " " + std::to_string(index), staleBuffer(buffer));
  const uint64_t bufferBytes = gantry_buffer_size(tensor.buffer);
  if (tensor.offset > bufferBytes || tensor.size_bytes > bufferBytes - tensor.offset)
    return statusf(StatusCode::kInvalidArgument,
                   "%s %zu: %" PRIu64 " bytes from offset %" PRIu64
                   " on are not inside its buffer of %" PRIu64 " bytes",
                   kind, index, tensor.size_bytes, tensor.offset, bufferBytes);
  return {};
}

void fillShape(const program::TensorShape &shape, uint64_t sizeBytes, gantry_tensor_t *tensor) {
  tensor->type = static_cast<gantry_type_t>(shape.type);
  tensor->rank = static_cast<uint32_t>(shape.dims.size());
  std::memset(tensor->dims, 0, sizeof(tensor->dims));
  for (size_t d = 0; d < shape.dims.size(); ++d)
    tensor->dims[d] = shape.dims[d];
  tensor->size_bytes = sizeBytes;
}

} // namespace gantry::capi
