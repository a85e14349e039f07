// DimRanges: the sizes that a caller states for a model's dynamic dimensions, by name.
//
// A dimension with exactly one size becomes static in an .onnx model. In an .mlir model, whose
// types are kept, and with a wider range, it stays a symbol with bounds (gantry.port). Thread
// safety: none; find() records the name.
#pragma once

#include "codegen/import/import.h"

#include "llvm/ADT/StringSet.h"

namespace gantry::importer {

class DimRanges {
public:
  /// Refers to `ranges`, which must outlive this object. Fails (ImportError, bad input) where a
  /// range is empty or begins below 1.
  explicit DimRanges(const std::vector<DimRange> &ranges);

  /// Returns the range of the dynamic dimension `name`, or null where none was stated. Records that
  /// the model has this dimension.
  const DimRange *find(llvm::StringRef name);
  /// Fails (ImportError, bad input) where a range names a dimension that was never looked up, and
  /// lists those that were. Called after all dimensions of the model were looked up.
  void checkUsed() const;

private:
  const std::vector<DimRange> &ranges_;
  llvm::StringSet<> seen_;
};

} // namespace gantry::importer
