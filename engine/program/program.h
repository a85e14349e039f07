// A loaded artifact: ports, commands, kernels and constants, bound to no device.
//
// An artifact may hold the model compiled for several device profiles. The program that load()
// returns is the first of these variants, the baseline; variants() are all of them, each a Program
// of its own over the same file. Inputs, outputs and symbols are the same in all.
//
// Threads: immutable after load; may be used from several threads and by several sessions.
// Errors: kNotFound and kIo for the file, kDataLoss where it is damaged, kVersionMismatch where it
// is newer than this library. Constants are verified when a session uploads them.
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
  std::vector<int64_t> dims;         // kDynamic where the inputs decide
  std::vector<std::string> dimNames; // "batch", "" where it has none
  bool donated = false;              // an input that lies in the arena, which runs reuse
};

class Program {
public:
  static Result<std::shared_ptr<const Program>> load(const std::string &path);
  /// The memory stays valid and unchanged for the program's life.
  static Result<std::shared_ptr<const Program>> loadMemory(std::span<const uint8_t> bytes);

  const artifact::Program &metadata() const { return *metadata_; }
  const artifact::Artifact &artifact() const { return *artifact_; }
  /// How many variants the artifact has: at least 1.
  size_t variantCount() const;
  /// The device profile of variant `index`, which is below variantCount().
  std::string_view variantProfile(size_t index) const;
  /// Variant `index` alone: a program that sessions run as it is, without a choice.
  Result<std::shared_ptr<const Program>> variant(size_t index) const;
  /// Whether sessions may choose among the variants: not where variant() made the program.
  bool isWhole() const { return whole_; }
  /// The file that it was loaded from; "" for memory.
  const std::string &path() const { return path_; }
  /// Returns true for the first caller: what is said of a program is said once.
  bool claimAdvice() const { return !advised_.exchange(true, std::memory_order_relaxed); }
  /// Per expression: its value, where it depends on no symbol.
  const std::vector<std::optional<int64_t>> &knownExprs() const { return knownExprs_; }
  const std::vector<Port> &inputs() const { return inputs_; }
  const std::vector<Port> &outputs() const { return outputs_; }

  /// Everything in the artifact as JSON; docs/artifact-json.md has the schema. symbols: the values
  /// of a dynamic program's symbols, for which the plan is then made; without them, sizes are shown
  /// as expressions.
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
};

} // namespace gantry::program
