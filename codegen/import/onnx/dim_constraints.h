// DimConstraints: what a model assumes of its dynamic dimensions.
//
// Importers state assumptions while they compute shapes: an expression is not negative, or two
// dimensions are equal. Over one symbol an assumption becomes a bound on that symbol; two plain
// symbols that must be equal become one; everything else is a requirement, which the program checks
// when it runs. graph.cpp writes all three into the function's attributes (import.h).
// This class builds no IR. Thread safety: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/dims.h"

#include <map>

namespace gantry::importer {

class DimConstraints {
public:
  struct Bounds {
    int64_t min = 1;
    int64_t max = 0; // 0: no upper bound.
  };

  /// Records that `dim` is at least 0. Fails (bad input) where no size meets all bounds.
  void requireNonNegative(Dim dim);
  /// Records that two dimensions are equal. Returns the one to use from now on: the static one,
  /// otherwise the first. Fails (bad input) where they cannot be equal.
  Dim requireEqual(Dim a, Dim b);

  /// The bounds by symbol; symbols without bounds are absent.
  const std::map<unsigned, Bounds> &bounds() const { return bounds_; }
  /// Expressions that must be at least 0 when the model runs.
  const llvm::SmallVector<Dim> &requirements() const { return requirements_; }
  /// The lowest symbol that is equal to `symbol`.
  unsigned representative(unsigned symbol) const;

private:
  std::map<unsigned, Bounds> bounds_;
  std::map<unsigned, unsigned> sameAs_; // From a symbol to a lower one that it equals.
  llvm::SmallVector<Dim> requirements_;
};

} // namespace gantry::importer
