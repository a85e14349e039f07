// The parsed result of gantry_program_describe(), which describes a compiled program: the tensors
// with their lifetimes and their places in the arena, the memory of the tensors that exist only
// during a run (transients); the commands; the kernels; and the plan of the arena.
// docs/artifact-json.md has the schema.
//
// A dynamic program has dimensions whose sizes (symbols) are known only at run time. If it is
// described without sizes for them, the description has expressions instead of numbers: the fields
// are std::nullopt here, and `dims` have the expressions as text.
//
// Threads: a Description is a plain value; the functions are pure.
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
  std::string storage; // "input", "output", "constant", "transient", "host" (kept in host memory)
  std::string type;    // "f32"
  std::vector<std::string> dims;
  std::optional<uint64_t> sizeBytes;
  std::optional<uint64_t> offset;     // For transients: offset in the arena, in bytes.
  uint32_t firstUse = 0, lastUse = 0; // Command indices, inclusive.
  int64_t slot = -1;                  // Transients with the same slot number share storage.
  int64_t base = -1;                  // Index of the value that this value is a part of; -1: none.
};

struct CommandInfo {
  std::string name;
  std::string kind; // "dispatch", "copy"
  std::string kernel;
  std::string workgroups; // "8x4x1"
  std::optional<uint64_t> flops, bytes;
  uint64_t sharedBytes = 0;
  bool barrierBefore = false;
  bool isPartial = false; // Whether the command writes only some elements of its result.
  std::string copyReason; // Why the command copies a tensor; empty if it computes something.
  /// Indices of the values that the command writes, and of those that it reads, without the operand
  /// whose place the result takes.
  std::vector<size_t> written, read;
};

/// One variant of a kernel: the kernel as it was generated for one binding, which is a way to
/// access buffers ("storage-buffer", "address" or "texel").
struct VariantInfo {
  std::string binding, tile;
  uint64_t sharedBytes = 0; // Shared memory of a workgroup.
  /// Sum of the sizes of the kernel's arrays in shared memory. Arrays may share storage, so the sum
  /// may exceed sharedBytes.
  uint64_t boxesBytes = 0;
  /// predictedCost: the kernel's cost by the compiler's cost model; 0: not known. accesses: the
  /// number of loads and stores of one invocation, without those of shared memory; vectorAccesses:
  /// how many of them are of vectors.
  uint64_t predictedCost = 0, accesses = 0, vectorAccesses = 0;
  std::vector<uint64_t>
      dimMultiples;          // Element i: dynamic size i of the kernel must be a multiple of it.
  uint64_t subgroupSize = 0; // The required subgroup size; 0: any.
  /// The compiler's remarks on the choice of the tile (the part of the result that one invocation
  /// or workgroup computes), above all the tiles that it compared, each with the outcome.
  std::vector<std::string> comparison;
};

struct KernelInfo {
  std::string name;
  std::vector<VariantInfo> variants;
};

struct SymbolInfo {
  std::string name;
  int64_t max = 0; // Max size; 0: no bound.
};

struct Description {
  std::string name, source, producer, profile;
  std::vector<std::string> variants; // Profiles of all variants of the artifact.
  bool dynamic = false;
  bool bounded = false; // Whether a dynamic program was planned once for all sizes up to limits.
  std::vector<SymbolInfo> symbols;
  std::vector<ValueInfo> values;
  std::vector<CommandInfo> commands;
  std::vector<KernelInfo> kernels;
  size_t kernelCount = 0;
  /// lowerBoundBytes: the largest sum of the sizes of the transients that are alive at one command;
  /// no arena can be smaller.
  std::optional<uint64_t> arenaBytes, lowerBoundBytes, constantBytes;
  uint32_t peakCommand = 0;
  std::optional<uint64_t> modelOrderBytes; // Lower bound in the model's own order of dispatches.
  /// Number of stages (commands between two barriers) in the model's and in the chosen order.
  uint32_t modelOrderStages = 0, orderStages = 0;
  /// How the compiler reduced the arena to a memory budget (a limit that the user sets): it
  /// recomputes tensors, then moves tensors to the host.
  struct Budget {
    uint64_t bytes = 0;                 // The budget.
    uint64_t beforeBytes = 0;           // Lower bound before the reduction.
    uint64_t recomputedBytes = 0;       // Lower bound with the recomputed tensors only.
    uint32_t recomputed = 0, moved = 0; // Recomputed dispatches; moves to the host and back.
  };
  std::optional<Budget> budget;
  /// A chain of operators that is computed in strips of rows, one strip after the other, so that
  /// the tensors inside of the chain need less memory.
  struct StripChain {
    std::string first, last; // The names of the first and the last operator; may be empty.
    uint32_t count = 0;      // Number of strips.
    int64_t savedBytes = 0;  // By how much the strips lower the peak of live bytes.
    uint64_t operations = 0; // Arithmetic operations that the strips add.
  };
  std::vector<StripChain> strips;
  uint64_t modelOperations = 0; // Arithmetic operations without strips; 0 if there are no strips.

  bool sized = false; // Whether all sizes are numbers.

  /// Returns whether all sizes are numbers and the arena has been planned.
  bool planned() const { return sized && arenaBytes.has_value() && lowerBoundBytes.has_value(); }
};

/// Throws ToolError(kInternal) if the text does not follow the schema.
Description parseDescription(std::string_view json);

/// Returns how much memory the chosen order of the dispatches saves: "saves 1.2 MiB (23 %) over the
/// model's own order, in 60 stages instead of 48". Empty if it saves nothing or this is not known.
std::string orderText(const Description &description);

/// Returns lines about the memory budget: first the budget, then one line about the recomputed
/// dispatches and one about the moved tensors, each with the bytes saved. Empty without a budget.
std::vector<std::string> budgetText(const Description &description);

/// Returns a line for each chain of strips: "Conv_0 to MaxPool_2 in 4 strips: saves 2.3 MiB, adds
/// 0.4 % arithmetic (3.1 million operations)".
std::vector<std::string> stripsText(const Description &description);

/// Returns the arena's size ÷ lower bound; 1 for an empty arena.
double planRatio(const Description &description);

/// Returns the indices in `values` of the transients that are alive at a command, the largest
/// first.
std::vector<size_t> aliveAt(const Description &description, uint32_t command);

/// Returns a value's dimensions as text: "1x64x55x55", or "scalar".
std::string dimsText(const ValueInfo &value);

} // namespace gantry::tool
