// DimConstraints: the conditions that a model puts on its dynamic dimensions.
//
// Importers record conditions while they compute shapes: an expression is not negative, or two
// dimensions are equal. A symbol stands for a dynamic dimension (dims.h). A condition on a
// monotonic expression of one symbol becomes a bound of this symbol. Two symbols that must be equal
// become one. Every other condition becomes a requirement, which the runtime checks before a run.
// graph.cpp writes the bounds, the equal symbols and the requirements into the function's
// attributes (import.h). This class builds no IR. "Fails (bad input)" means that the function
// throws ImportError (import_error.h) of this kind. Thread safety: one thread at a time.
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

  /// Records that `dim` is at least 0. Fails (bad input) if it is static and negative, or if no
  /// size of its symbol meets all bounds.
  void requireNonNegative(Dim dim);
  /// Records that two dimensions are equal. Returns the dimension to use from now on: b if it is
  /// static, otherwise a. Fails (bad input) if no sizes make them equal.
  Dim requireEqual(Dim a, Dim b);

  /// Fails (bad input) if no size meets the bounds of all dimensions that must be equal. Called
  /// once all conditions are recorded.
  void checkEqualDims() const;

  /// Returns the bounds by symbol; symbols without bounds are absent.
  const std::map<unsigned, Bounds> &bounds() const { return bounds_; }
  /// Returns the expressions that must be at least 0 when the model runs.
  const llvm::SmallVector<Dim> &requirements() const { return requirements_; }
  /// Returns the lowest symbol that must be equal to `symbol`, which may be `symbol` itself.
  unsigned representative(unsigned symbol) const;

private:
  std::map<unsigned, Bounds> bounds_;
  std::map<unsigned, unsigned> sameAs_; // From a symbol to a lower one that it equals.
  llvm::SmallVector<Dim> requirements_;
};

} // namespace gantry::importer
