// Computes a chain of operators in strips of rows, for the pass `strips`.
//
// A row is a slice of a tensor along one dimension; a strip is a range of rows. To compute a strip
// of the chain's result, each operator of the chain computes only the rows that the strip needs. A
// window of a convolution or a pool needs more rows than it produces, so neighboring strips overlap
// inside of the chain (the halo), and the rows of the overlap are computed twice. Each element is
// computed by the same operations as before, so the results are equal.
//
// rowsOfStrip() computes the rows, and changes nothing. computeInStrips() builds the strips.
//
// Thread safety: pure functions, and functions that change one function's IR.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <optional>

namespace gantry::codegen {

/// The indices [begin, end) of a tensor's dimension `dim`.
struct Rows {
  unsigned dim = 0;
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};

/// Operators of one block that are computed in strips together. Each has one result of a fixed
/// size. The last member's result is the chain's result. Another member is read by members only, or
/// its result is also computed as a whole for its readers outside of the chain.
struct Chain {
  llvm::SetVector<mlir::Operation *> members; // In the order of the block.
  mlir::Operation *last() const { return members.back(); }
};

/// The rows of its result that each member computes for one strip. Members that the strip does not
/// need are absent.
using StripRows = llvm::DenseMap<mlir::Operation *, Rows>;

/// Returns the rows that the members compute for the rows `result` of the last member. None if a
/// member is an operator whose rows cannot be computed separately, if its size is not fixed, or if
/// it needs all rows of another member.
std::optional<StripRows> rowsOfStrip(const Chain &chain, const Rows &result);

/// Rows that are divided into strips of equal size; the last one may be smaller.
struct Strips {
  unsigned dim = 0;
  int64_t extent = 0, rows = 0; // The number of all rows, and of the rows of a strip.
  int64_t count() const { return (extent + rows - 1) / rows; }
  Rows at(int64_t index) const { return {dim, index * rows, std::min((index + 1) * rows, extent)}; }
};

/// Replaces the chain's result by the concatenation of its strips, and erases the members that
/// nothing uses any more. rowsOfStrip() must have returned rows for each strip.
void computeInStrips(const Chain &chain, const Strips &strips);

/// Returns the number of arithmetic operations of an operator: those of its body times the number
/// of its iterations. 0 if its sizes are not fixed.
double operationsOf(mlir::Operation *op);

} // namespace gantry::codegen
