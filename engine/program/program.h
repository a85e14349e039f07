// A loaded artifact (a compiled model): its ports, which are its inputs and outputs, and its
// commands, kernels and constants. A Program is bound to no device; a session (session.h) binds it
// to one.
//
// An artifact may hold several variants of a model, each compiled for one device profile. The
// program that load() returns describes the first variant, the baseline, and lets sessions choose
// among all variants. variant() returns one variant as a Program of its own over the same file. All
// variants have the same inputs, outputs, states (StatePort), and symbols. A symbol is a size that
// each run may choose, such as a batch size.
//
// Errors: kNotFound or kIo if the file cannot be read, kDataLoss if it is damaged, kVersionMismatch
// if it is newer than this library. Constants are verified when a session uploads them.
// Threads: a Program is immutable after load() and may be used from several threads and by several
// sessions.
#pragma once

#include "engine/artifact/artifact.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::program {

inline constexpr int64_t kDynamic = -1;

/// One input or output.
struct Port {
  std::string name;
  artifact::ElementType type = artifact::ElementType::f32;
  std::vector<int64_t> dims;         // kDynamic if a dimension depends on the inputs of a run.
  std::vector<std::string> dimNames; // "batch"; "" if the dimension has no name.
  // Whether the port is an input that a run copies into the arena, the memory for the values that
  // commands pass to each other. Other values may reuse its bytes there after its last use.
  bool donated = false;
  std::optional<uint32_t>
      state; // Index in Program::states() of the state that the port belongs to.
};

/// An input and an output that share one buffer across runs, or an input that lies in such a
/// buffer and that runs only read.
struct StatePort {
  std::string name; // The input's name.
  uint32_t input = 0;
  std::optional<uint32_t> output;
  uint64_t capacityBytes = 0;      // Size of the buffer.
  std::optional<uint32_t> initial; // Index of the constant that is the state's first value.
  /// The order of the value's elements in the buffer: row-major, with dimension order[i] of the
  /// ports as dimension i. Empty for row-major order of the ports' dimensions.
  std::vector<uint8_t> order;
};

/// A loaded artifact, or one variant of it.
class Program {
public:
  static Result<std::shared_ptr<const Program>> load(const std::string &path);
  /// Loads from memory, which must stay valid and unchanged for the program's lifetime.
  static Result<std::shared_ptr<const Program>> loadMemory(std::span<const uint8_t> bytes);

  const artifact::Program &metadata() const { return *metadata_; }
  const artifact::Artifact &artifact() const { return *artifact_; }
  /// The number of variants in the artifact, at least 1.
  size_t variantCount() const;
  /// The device profile of variant `index`, which is below variantCount().
  std::string_view variantProfile(size_t index) const;
  /// Returns variant `index` as a program of its own. Sessions of that program run this variant.
  Result<std::shared_ptr<const Program>> variant(size_t index) const;
  /// Returns whether sessions choose among the variants; false for the result of variant().
  bool isWhole() const { return whole_; }
  /// The file that the program was loaded from; "" for memory.
  const std::string &path() const { return path_; }
  /// Returns true to the first caller only. Sessions use it to log the advice about variants
  /// (variant_choice.h) once per program.
  bool claimAdvice() const { return !advised_.exchange(true, std::memory_order_relaxed); }
  /// The value of each shape expression (Expr in artifact.fbs); nullopt if it depends on a symbol.
  const std::vector<std::optional<int64_t>> &knownExprs() const { return knownExprs_; }
  const std::vector<Port> &inputs() const { return inputs_; }
  const std::vector<Port> &outputs() const { return outputs_; }
  const std::vector<StatePort> &states() const { return states_; }

  /// Returns the contents of the artifact as JSON; docs/artifact-json.md describes the schema. For
  /// a program with symbols, `symbols` holds their values, and the memory plan is made for these
  /// values; with nullopt, sizes are shown as expressions.
  Result<std::string> describe(std::optional<std::span<const int64_t>> symbols) const;

private:
  static Result<std::shared_ptr<const Program>>
  make(std::shared_ptr<const artifact::Artifact> artifact, const artifact::Program &metadata,
       std::string path, bool whole);
  const artifact::Program &variantMetadata(size_t index) const;
  const artifact::Program &baseline() const { return artifact_->program(); }
  std::shared_ptr<const artifact::Artifact> artifact_;
  const artifact::Program *metadata_ = nullptr; // The artifact's baseline or one of its variants.
  std::string path_;
  bool whole_ = true;
  mutable std::atomic<bool> advised_{false};
  std::vector<std::optional<int64_t>> knownExprs_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::vector<StatePort> states_;
};

} // namespace gantry::program
