// Implements fetchTexels() of spirv.h. MLIR's SPIR-V dialect has no OpImageFetch, so the pass
// bind-buffers calls a function `texel_fetch...` (pointer to the image, coordinate) instead. This
// file replaces each call by OpLoad of the image and OpImageFetch. SPIRV-Tools then removes the
// function, because nothing calls it.
#include "codegen/targets/spirv.h"

#include <map>
#include <set>
#include <spirv/unified1/spirv.hpp>
#include <string_view>

namespace gantry::codegen {

namespace {

constexpr uint32_t kBound = 3; // The word of the header with the bound of all ids.
constexpr std::string_view kPrefix = "texel_fetch";

} // namespace

std::vector<uint32_t> fetchTexels(const std::vector<uint32_t> &words) {
  std::vector<uint32_t> result(words.begin(), words.begin() + kSpirvHeaderWords);
  std::set<uint32_t> fetches;           // The ids of functions `texel_fetch`.
  std::map<uint32_t, uint32_t> pointee; // The ids of pointees, by the ids of pointer types.
  std::map<uint32_t, uint32_t> typeOf;  // The ids of types, by the ids of variables.
  for (size_t at = kSpirvHeaderWords; at < words.size(); at += words[at] >> spv::WordCountShift) {
    const uint32_t opcode = words[at] & spv::OpCodeMask, length = words[at] >> spv::WordCountShift;
    if (opcode == spv::OpName) {
      const auto *name = reinterpret_cast<const char *>(&words[at + 2]);
      if (std::string_view(name).substr(0, kPrefix.size()) == kPrefix)
        fetches.insert(words[at + 1]);
    } else if (opcode == spv::OpTypePointer) {
      pointee[words[at + 1]] = words[at + 3];
    } else if (opcode == spv::OpVariable) {
      typeOf[words[at + 2]] = words[at + 1];
    }
    // The operands of OpFunctionCall are result type, result, function, pointer and coordinate.
    if (opcode == spv::OpFunctionCall && fetches.count(words[at + 3])) {
      const uint32_t image = result[kBound]++, pointer = words[at + 4];
      result.insert(result.end(), {4u << spv::WordCountShift | spv::OpLoad,
                                   pointee[typeOf[pointer]], image, pointer});
      result.insert(result.end(), {5u << spv::WordCountShift | spv::OpImageFetch, words[at + 1],
                                   words[at + 2], image, words[at + 5]});
    } else {
      result.insert(result.end(), words.begin() + at, words.begin() + at + length);
    }
  }
  return result;
}

} // namespace gantry::codegen
