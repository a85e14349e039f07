// A loaded artifact: ports, commands, kernels and constants, bound to no device.
//
// Threads: immutable after load; may be used from several threads and by several sessions.
// Errors: kNotFound and kIo for the file, kDataLoss where it is damaged, kVersionMismatch where it
// is newer than this library. Constants are verified when a session uploads them.
#pragma once

#include "engine/artifact/artifact.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

  const artifact::Program &metadata() const { return artifact_->program(); }
  const artifact::Artifact &artifact() const { return *artifact_; }
  /// Per expression: its value, where it depends on no symbol.
  const std::vector<std::optional<int64_t>> &knownExprs() const { return knownExprs_; }
  const std::vector<Port> &inputs() const { return inputs_; }
  const std::vector<Port> &outputs() const { return outputs_; }

  /// Everything in the artifact as JSON; docs/artifact-json.md has the schema. symbols: the values
  /// of a dynamic program's symbols, for which the plan is then made; without them, sizes are shown
  /// as expressions.
  Result<std::string> describe(std::optional<std::span<const int64_t>> symbols) const;

private:
  static Result<std::shared_ptr<const Program>> make(std::unique_ptr<artifact::Artifact> artifact);
  std::unique_ptr<artifact::Artifact> artifact_;
  std::vector<std::optional<int64_t>> knownExprs_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
};

} // namespace gantry::program
