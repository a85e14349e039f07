// What a caller says of a model's dynamic dimensions, by their names: a size, or the least and the
// most that they will have.
//
// A dimension of one size is a number from the import on (.onnx), or a symbol of that one value
// (.mlir, whose types stand). Others keep their symbol, with bounds (gantry.dim_min, .dim_max).
// Threads: as the context it is used with.
#pragma once

#include "codegen/import/import.h"

#include "llvm/ADT/StringSet.h"

namespace gantry::importer {

class DimRanges {
public:
  /// Throws ImportError (bad input) where a range is empty.
  explicit DimRanges(const std::vector<DimRange> &ranges);

  /// What is said of the dynamic dimension `name`, or null. Remembers that the model has it.
  const DimRange *find(llvm::StringRef name);
  /// Throws ImportError (bad input) with the dimensions that the model has where a range names
  /// none of them. To be called after all dimensions were asked for.
  void checkUsed() const;

private:
  const std::vector<DimRange> &ranges_;
  llvm::StringSet<> seen_;
};

} // namespace gantry::importer
