// Checks of the memory of inputs and outputs.
#include "engine/program/arguments.h"

#include <cinttypes>

namespace gantry::program {

namespace {

Status checkMemory(const char *kind, const Port &port, const TensorArgument &argument,
                   const TensorShape &shape, uint64_t needed) {
  const char *name = port.name.c_str();
  if (argument.data && argument.buffer)
    return statusf(StatusCode::kInvalidArgument,
                   "%s '%s': both data and buffer are set; set only one of them", kind, name);
  if (!argument.data && !argument.buffer && needed > 0)
    return statusf(StatusCode::kInvalidArgument,
                   "%s '%s': neither data nor buffer is set; set one of them", kind, name);
  if (argument.sizeBytes < needed)
    return statusf(StatusCode::kInvalidArgument,
                   "%s '%s': %" PRIu64 " bytes given, %s needs %" PRIu64, kind, name,
                   argument.sizeBytes, shapeText(shape).c_str(), needed);
  if (argument.buffer && (argument.offset > argument.buffer.sizeBytes() ||
                          needed > argument.buffer.sizeBytes() - argument.offset))
    return statusf(StatusCode::kInvalidArgument,
                   "%s '%s': %" PRIu64 " bytes from offset %" PRIu64
                   " on are not inside its buffer of %" PRIu64 " bytes",
                   kind, name, needed, argument.offset, argument.buffer.sizeBytes());
  return {};
}

/// The range [begin, end) of a buffer that one argument uses, and the argument's name for messages.
struct BufferUse {
  uint64_t block; // The buffer's handle.
  uint64_t begin;
  uint64_t end;
  std::string name;
  std::optional<uint32_t> state; // The state whose buffer this is; nullopt if it is no state's.
};

bool overlap(const BufferUse &a, const BufferUse &b) {
  // One state's ports may share their bytes, and different states never overlap (State::bind).
  if (a.state && b.state)
    return false;
  return a.block == b.block && a.begin < b.end && b.begin < a.end;
}

Status overlapError(const BufferUse &a, const BufferUse &b) {
  return statusf(StatusCode::kInvalidArgument,
                 "%s and %s overlap in the same buffer; an output needs bytes of its own",
                 a.name.c_str(), b.name.c_str());
}

} // namespace

Status checkArguments(const Program &program, std::span<const TensorArgument> inputs,
                      std::span<const TensorArgument> outputs,
                      std::span<const OutputShape> outputShapes) {
  if (outputs.size() != program.outputs().size())
    return statusf(StatusCode::kInvalidArgument, "%zu outputs given; the program has %zu",
                   outputs.size(), program.outputs().size());
  std::vector<BufferUse> read, written;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port &port = program.inputs()[i];
    GANTRY_ASSIGN_OR_RETURN(const uint64_t size, byteSize(inputs[i].shape, port.name));
    GANTRY_RETURN_IF_ERROR(checkMemory("input", port, inputs[i], inputs[i].shape, size));
    if (inputs[i].buffer)
      read.push_back({inputs[i].buffer.block(), inputs[i].offset, inputs[i].offset + size,
                      "input '" + port.name + "'", port.state});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Port &port = program.outputs()[i];
    const uint64_t size = outputShapes[i].sizeBytes;
    GANTRY_RETURN_IF_ERROR(checkMemory("output", port, outputs[i], outputShapes[i].shape, size));
    if (outputs[i].buffer)
      written.push_back({outputs[i].buffer.block(), outputs[i].offset, outputs[i].offset + size,
                         "output '" + port.name + "'", port.state});
  }
  for (size_t i = 0; i < written.size(); ++i) {
    for (const BufferUse &other : read)
      if (overlap(written[i], other))
        return overlapError(other, written[i]);
    for (size_t j = 0; j < i; ++j)
      if (overlap(written[i], written[j]))
        return overlapError(written[j], written[i]);
  }
  return {};
}

} // namespace gantry::program
