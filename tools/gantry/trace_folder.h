// A folder with every operator's result: what `run --trace-layers` writes and `diff` compares.
//
//   OUT/index.json     {"format": "gantry-trace", "version": 1, "model": ..., "device": ...,
//                       "tensors": [{"name", "op", "order", "file", "type", "shape"}, ...]}
//   OUT/<file>.npy     one file a tensor, named after it with what a file name cannot hold replaced
//
// `order` is the place in the execution. A folder without index.json is read as a set of plain .npy
// files, each the tensor whose name (as it is, or made a file name) the file has; this is how
// values from elsewhere, such as PyTorch's, take part.
//
// Threads: pure functions and values.
#pragma once

#include "tools/gantry/compare.h"
#include "tools/gantry/file.h"
#include "tools/gantry/tensor.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gantry::tool {

struct TraceEntry {
  std::string name, op, file;
  uint64_t order = 0;
};

/// The tensors must be given in execution order. Files appear in `files`, not yet committed.
class TraceWriter {
public:
  TraceWriter(std::filesystem::path folder, std::string model, std::string device);
  void add(const std::string &name, const std::string &op, const Tensor &tensor);
  /// Writes index.json and puts everything in place.
  void finish();
  size_t count() const { return count_; }

private:
  std::filesystem::path folder_;
  std::string model_, device_, entries_;
  std::map<std::string, int> used_; // lower-case file names, for file systems without case
  size_t count_ = 0;
  FileSet files_;
};

class TraceFolder {
public:
  /// Throws ToolError(kBadInput) if it is no folder, or its index.json is damaged.
  explicit TraceFolder(std::filesystem::path folder);
  bool hasIndex() const { return hasIndex_; }
  /// By order; empty without an index.
  const std::vector<TraceEntry> &entries() const { return entries_; }
  /// The file of a tensor, or an empty path.
  std::filesystem::path find(const std::string &name) const;

private:
  std::filesystem::path folder_;
  std::vector<TraceEntry> entries_;
  bool hasIndex_ = false;
};

struct TraceDifference {
  TraceEntry entry;
  Comparison comparison;
};

struct TraceDiff {
  std::vector<TraceDifference> compared; // in execution order
  std::vector<std::string> onlyInA, onlyInB;
};

/// Compares the tensors that both have, in the execution order of whichever has an index (A first).
/// Throws ToolError(kBadInput) where neither has one, or nothing is in both.
TraceDiff diffTraces(const TraceFolder &a, const TraceFolder &b, const Tolerance &tolerance);

} // namespace gantry::tool
