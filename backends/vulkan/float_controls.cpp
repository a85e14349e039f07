// Inserts OpCapability and OpExecutionMode into a module.
#include "backends/vulkan/float_controls.h"

#include <array>
#include <set>

namespace gantry::vulkan {

namespace {

constexpr uint32_t kMagic = 0x07230203, kVersion14 = 0x00010400;
constexpr size_t kHeaderWords = 5;
// Opcodes, execution modes and capabilities of the SPIR-V specification.
constexpr uint32_t kOpEntryPoint = 15, kOpExecutionMode = 16, kOpCapability = 17, kOpTypeFloat = 22;
constexpr uint32_t kModeDenormPreserve = 4459, kModeSignedZeroInfNanPreserve = 4461;
constexpr uint32_t kCapabilityDenormPreserve = 4464, kCapabilitySignedZeroInfNanPreserve = 4466;

uint32_t firstWord(uint32_t opcode, uint32_t words) { return words << 16 | opcode; }

/// The parts of a module that withFloatControls() reads.
struct Outline {
  std::vector<uint32_t> entryPoints;
  std::set<uint32_t> floatWidths; // In bits.
  size_t modesEnd = 0;            // The word after the last entry point or execution mode.
};

/// None if the module is not a well-formed sequence of instructions.
std::optional<Outline> outlineOf(std::span<const uint32_t> spirv) {
  if (spirv.size() < kHeaderWords || spirv[0] != kMagic)
    return std::nullopt;
  Outline outline;
  for (size_t at = kHeaderWords; at < spirv.size();) {
    const uint32_t opcode = spirv[at] & 0xFFFF, words = spirv[at] >> 16;
    if (words == 0 || words > spirv.size() - at)
      return std::nullopt;
    if (opcode == kOpEntryPoint && words > 2)
      outline.entryPoints.push_back(spirv[at + 2]);
    if (opcode == kOpEntryPoint || opcode == kOpExecutionMode)
      outline.modesEnd = at + words;
    if (opcode == kOpTypeFloat && words > 2)
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
  const auto add = [&](uint32_t capability, uint32_t mode, bool FloatWidthControls::*keeps) {
    const size_t before = modes.size();
    for (const uint32_t width : outline->floatWidths)
      if (const FloatWidthControls *kept = controls.ofWidth(width); kept && kept->*keeps)
        for (const uint32_t entryPoint : outline->entryPoints) {
          const std::array<uint32_t, 4> words{firstWord(kOpExecutionMode, 4), entryPoint, mode,
                                              width};
          modes.insert(modes.end(), words.begin(), words.end());
        }
    if (modes.size() > before) {
      capabilities.push_back(firstWord(kOpCapability, 2));
      capabilities.push_back(capability);
    }
  };
  add(kCapabilitySignedZeroInfNanPreserve, kModeSignedZeroInfNanPreserve,
      &FloatWidthControls::keepsSpecials);
  add(kCapabilityDenormPreserve, kModeDenormPreserve, &FloatWidthControls::keepsDenormals);
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
