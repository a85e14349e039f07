// Inserts OpCapability and OpExecutionMode instructions into a SPIR-V module.
#include "backends/vulkan/float_controls.h"

#include <array>
#include <set>
#include <spirv/unified1/spirv.hpp>

namespace gantry::vulkan {

namespace {

constexpr uint32_t kVersion14 = 0x00010400; // SPIR-V 1.4, in the format of a module's second word.
constexpr size_t kHeaderWords = 5;

uint32_t firstWord(spv::Op opcode, uint32_t words) { return words << spv::WordCountShift | opcode; }

/// The parts of a module that withFloatControls() reads.
struct Outline {
  std::vector<uint32_t> entryPoints;
  std::set<uint32_t> floatWidths; // In bits.
  size_t modesEnd = 0;            // The word after the last entry point or execution mode.
};

/// Returns nullopt if the module is not a well-formed sequence of instructions.
std::optional<Outline> outlineOf(std::span<const uint32_t> spirv) {
  if (spirv.size() < kHeaderWords || spirv[0] != spv::MagicNumber)
    return std::nullopt;
  Outline outline;
  for (size_t at = kHeaderWords; at < spirv.size();) {
    const uint32_t opcode = spirv[at] & spv::OpCodeMask, words = spirv[at] >> spv::WordCountShift;
    if (words == 0 || words > spirv.size() - at)
      return std::nullopt;
    if (opcode == spv::OpEntryPoint && words > 2)
      outline.entryPoints.push_back(spirv[at + 2]);
    if (opcode == spv::OpEntryPoint || opcode == spv::OpExecutionMode)
      outline.modesEnd = at + words;
    if (opcode == spv::OpTypeFloat && words > 2)
      outline.floatWidths.insert(spirv[at + 2]);
    at += words;
  }
  return outline;
}

} // namespace

std::optional<std::vector<uint32_t>> withFloatControls(std::span<const uint32_t> spirv,
                                                       const FloatControls &controls) {
  const std::optional<Outline> outline = outlineOf(spirv);
  if (!outline || spirv[1] < kVersion14)
    return std::nullopt;
  std::vector<uint32_t> capabilities, modes;
  const auto add = [&](spv::Capability capability, spv::ExecutionMode mode,
                       bool FloatWidthControls::*keeps) {
    const size_t before = modes.size();
    for (const uint32_t width : outline->floatWidths)
      if (const FloatWidthControls *kept = controls.ofWidth(width); kept && kept->*keeps)
        for (const uint32_t entryPoint : outline->entryPoints) {
          const std::array<uint32_t, 4> words{firstWord(spv::OpExecutionMode, 4), entryPoint,
                                              static_cast<uint32_t>(mode), width};
          modes.insert(modes.end(), words.begin(), words.end());
        }
    if (modes.size() > before) {
      capabilities.push_back(firstWord(spv::OpCapability, 2));
      capabilities.push_back(capability);
    }
  };
  add(spv::CapabilitySignedZeroInfNanPreserve, spv::ExecutionModeSignedZeroInfNanPreserve,
      &FloatWidthControls::keepsSpecials);
  add(spv::CapabilityDenormPreserve, spv::ExecutionModeDenormPreserve,
      &FloatWidthControls::keepsDenormals);
  if (modes.empty())
    return std::nullopt;
  const auto modesEnd = spirv.begin() + static_cast<std::ptrdiff_t>(outline->modesEnd);
  std::vector<uint32_t> result(spirv.begin(), spirv.begin() + kHeaderWords);
  result.insert(result.end(), capabilities.begin(), capabilities.end());
  result.insert(result.end(), spirv.begin() + kHeaderWords, modesEnd);
  result.insert(result.end(), modes.begin(), modes.end());
  result.insert(result.end(), modesEnd, spirv.end());
  return result;
}

} // namespace gantry::vulkan
