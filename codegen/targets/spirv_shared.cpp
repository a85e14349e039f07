// Implements sharedBytesOf() of spirv.h, which reads the size of a module's shared memory from its
// words.
#include "codegen/targets/spirv.h"

#include <map>
#include <spirv/unified1/spirv.hpp>

namespace gantry::codegen {

uint32_t sharedBytesOf(const std::vector<uint32_t> &words) {
  // The sizes of types, the values of constants, and the pointees of pointer types, by their ids.
  std::map<uint32_t, uint32_t> bytes, constants, pointee;
  uint32_t total = 0;
  for (size_t at = kSpirvHeaderWords; at < words.size(); at += words[at] >> spv::WordCountShift) {
    const uint32_t *op = &words[at];
    const uint32_t length = op[0] >> spv::WordCountShift;
    switch (op[0] & spv::OpCodeMask) {
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      bytes[op[1]] = op[2] / 8;
      break;
    case spv::OpTypeVector:
      bytes[op[1]] = bytes[op[2]] * op[3];
      break;
    case spv::OpTypeArray:
      bytes[op[1]] = bytes[op[2]] * constants[op[3]];
      break;
    case spv::OpTypeStruct:
      for (uint32_t member = 2; member < length; ++member)
        bytes[op[1]] += bytes[op[member]];
      break;
    case spv::OpTypePointer:
      pointee[op[1]] = op[3];
      break;
    case spv::OpConstant:
      constants[op[2]] = op[3];
      break;
    case spv::OpVariable:
      if (op[3] == spv::StorageClassWorkgroup)
        total += bytes[pointee[op[1]]];
      break;
    default:
      break;
    }
  }
  return total;
}

} // namespace gantry::codegen
