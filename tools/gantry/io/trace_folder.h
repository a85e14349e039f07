// A folder with the results of all operators of a run. `gantry run --trace-layers` writes such a
// folder, and `gantry diff` compares two of them.
//
//   OUT/index.json     {"format": "gantry-trace", "version": 1, "model": ..., "device": ...,
//                       "tensors": [{"name", "op", "order", "file", "type", "shape"}, ...]}
//   OUT/<file>.npy     one file per tensor, named by sanitiseFileName()
//
// `order` is the position in the execution. A folder without index.json is read as a set of .npy
// files, each named after its tensor (unchanged or by sanitiseFileName()), so that values from
// other programs, such as PyTorch, can be compared.
//
// Threads: one thread per object.
#pragma once

#include "tools/gantry/report/compare.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/io/tensor.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gantry::tool {

/// One tensor of the folder.
struct TraceEntry {
  std::string name, op, file;
  uint64_t order = 0;
};

/// Writes such a folder. The caller adds the tensors in execution order and then calls finish(),
/// which makes the files visible. If finish() is not called, the destructor removes all of them.
class TraceWriter {
public:
  TraceWriter(std::filesystem::path folder, std::string model, std::string device);
  void add(const std::string &name, const std::string &op, const Tensor &tensor);
  /// Writes index.json and commits all files.
  void finish();
  size_t count() const { return count_; }

private:
  std::filesystem::path folder_;
  std::string model_, device_, entries_;
  std::map<std::string, int> used_; // File names in lower case: some file systems ignore case.
  size_t count_ = 0;
  FileSet files_;
};

class TraceFolder {
public:
  /// Throws ToolError(kBadInput) if the path is not a folder or its index.json is damaged.
  explicit TraceFolder(std::filesystem::path folder);
  bool hasIndex() const { return hasIndex_; }
  /// The tensors in execution order; empty without an index.json.
  const std::vector<TraceEntry> &entries() const { return entries_; }
  /// Returns the file of a tensor, or an empty path.
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
  std::vector<TraceDifference> compared; // Compared tensors in execution order.
  std::vector<std::string> onlyInA, onlyInB;
};

/// Compares the tensors that both folders have, in the execution order of A's index, else of B's.
/// Throws ToolError(kBadInput) if neither has an index or no tensor is in both.
TraceDiff diffTraces(const TraceFolder &a, const TraceFolder &b, const Tolerance &tolerance);

} // namespace gantry::tool
