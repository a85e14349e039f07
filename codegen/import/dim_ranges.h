// DimRanges: the ranges of sizes that a caller gives for a model's dynamic dimensions, by name.
//
// A dimension whose range has exactly one size becomes static in an .onnx model. A dimension with a
// wider range, and every dynamic dimension of an .mlir model, stays dynamic, and the range is
// written into the attribute gantry.port. Thread safety: one thread at a time, because find()
// records the name.
#pragma once

#include "codegen/import/import.h"

#include "llvm/ADT/StringSet.h"

namespace gantry::importer {

class DimRanges {
public:
  /// Keeps a reference to `ranges`, which must outlive this object. Throws ImportError (kBadInput
  /// in import.h) if a range is empty or begins below 1.
  explicit DimRanges(const std::vector<DimRange> &ranges);

  /// Returns the range of the dynamic dimension `name`, or null if the caller gave none. Records
  /// that the model has this dimension.
  const DimRange *find(llvm::StringRef name);
  /// Throws ImportError (kBadInput) if a range names a dimension that find() was never called for;
  /// the message lists the model's dynamic dimensions. Called after find() was called for each of
  /// these.
  void checkUsed() const;

private:
  const std::vector<DimRange> &ranges_;
  llvm::StringSet<> seen_;
};

} // namespace gantry::importer
