// The parsed result of gantry_program_describe(): the tensors with their lifetimes and places in
// the arena, the commands, the kernels and the plan. docs/artifact-json.md has the schema.
//
// A dynamic program that was described without sizes has expressions instead of numbers; these
// fields are absent here (std::nullopt), and dims hold the expression as text.
//
// Threads: a Description is a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

struct ValueInfo {
  std::string name;    // The tensor's name in the model.
  std::string op;      // The operators that compute it: "Conv_12 + Relu_13".
  std::string storage; // "input", "output", "constant", "transient", "host"
  std::string type;    // "f32"
  std::vector<std::string> dims;
  std::optional<uint64_t> sizeBytes;
  std::optional<uint64_t> offset;     // Transients: offset in the arena, in bytes.
  uint32_t firstUse = 0, lastUse = 0; // Command indices, inclusive.
  int64_t slot = -1;                  // Transients with equal slots share storage.
};

struct CommandInfo {
  std::string name;
  std::string kind; // "dispatch", "copy"
  std::string kernel;
  std::string workgroups; // "8x4x1"
  std::optional<uint64_t> flops, bytes;
  uint64_t sharedBytes = 0;
  bool barrierBefore = false;
};

/// One variant of a kernel.
struct VariantInfo {
  std::string binding, tile;
  uint64_t sharedBytes = 0, boxesBytes = 0, subgroupSize = 0;
  std::vector<std::string> ladder; // Compared tiles, each with its result.
};

struct KernelInfo {
  std::string name;
  std::vector<VariantInfo> variants;
};

struct SymbolInfo {
  std::string name;
  int64_t max = 0; // Largest size; 0: no bound.
};

struct Description {
  std::string name, source, producer, profile;
  std::vector<std::string> variants; // Profiles of all variants of the artifact.
  bool dynamic = false;
  bool bounded = false; // A dynamic program that was planned once for all sizes within its bounds.
  std::vector<SymbolInfo> symbols;
  std::vector<ValueInfo> values;
  std::vector<CommandInfo> commands;
  std::vector<KernelInfo> kernels;
  size_t kernelCount = 0;
  std::optional<uint64_t> arenaBytes, lowerBoundBytes, constantBytes;
  uint32_t peakCommand = 0;
  std::optional<uint64_t> modelOrderBytes; // Lower bound in the model's own order of dispatches.
  uint32_t modelOrderStages = 0, orderStages = 0;
  struct Budget {
    uint64_t bytes = 0, beforeBytes = 0, recomputedBytes = 0;
    uint32_t recomputed = 0, moved = 0;
  };
  std::optional<Budget> budget;

  bool sized = false; // All sizes are numbers.

  /// Whether every value has its size and place.
  bool planned() const { return sized && arenaBytes.has_value() && lowerBoundBytes.has_value(); }
};

/// Throws ToolError(kInternal) if the text does not follow the schema.
Description parseDescription(std::string_view json);

/// Returns what the order of the dispatches saves: "saves 1.2 MiB (23 %) over the model's own, in
/// 60 stages instead of 48". Empty if it is the model's own order or nothing is known.
std::string orderText(const Description &description);

/// Returns the steps that keep the program within its memory budget, one string each with the bytes
/// that it saves. Empty without a budget.
std::vector<std::string> budgetText(const Description &description);

/// Returns arena height ÷ lower bound; 1 for an empty arena.
double planRatio(const Description &description);

/// Returns the indices in `values` of the transients that are alive at a command, the largest
/// first.
std::vector<size_t> aliveAt(const Description &description, uint32_t command);

/// "1x64x55x55".
std::string dimsText(const ValueInfo &value);

} // namespace gantry::tool
