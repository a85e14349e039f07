// Implements sharedBytesOf() of spirv.h, which reads the size of a module's shared memory from its
// words.
#include "codegen/targets/spirv.h"

#include <map>

namespace gantry::codegen {

namespace {

constexpr uint32_t kHeaderWords = 5, kWorkgroup = 4;
constexpr uint32_t kOpTypeInt = 21, kOpTypeFloat = 22, kOpTypeVector = 23, kOpTypeArray = 28,
                   kOpTypeStruct = 30, kOpTypePointer = 32, kOpConstant = 43, kOpVariable = 59;

} // namespace

uint32_t sharedBytesOf(const std::vector<uint32_t> &words) {
  // The sizes of types, the values of constants, and the pointees of pointer types, by their ids.
  std::map<uint32_t, uint32_t> bytes, constants, pointee;
  uint32_t total = 0;
  for (size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16) {
    const uint32_t *op = &words[at];
    const uint32_t length = op[0] >> 16;
    switch (op[0] & 0xffff) {
    case kOpTypeInt:
    case kOpTypeFloat:
      bytes[op[1]] = op[2] / 8;
      break;
    case kOpTypeVector:
      bytes[op[1]] = bytes[op[2]] * op[3];
      break;
    case kOpTypeArray:
      bytes[op[1]] = bytes[op[2]] * constants[op[3]];
      break;
    case kOpTypeStruct:
      for (uint32_t member = 2; member < length; ++member)
        bytes[op[1]] += bytes[op[member]];
      break;
    case kOpTypePointer:
      pointee[op[1]] = op[3];
      break;
    case kOpConstant:
      constants[op[2]] = op[3];
      break;
    case kOpVariable:
      if (op[3] == kWorkgroup)
        total += bytes[pointee[op[1]]];
      break;
    default:
      break;
    }
  }
  return total;
}

} // namespace gantry::codegen
