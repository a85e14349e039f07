// Computes a chain of operators in strips of rows, for the pass `strips`.
//
// A row consists of the elements of a tensor that have one index along one dimension; a strip is a
// range of rows. To compute a strip of the chain's result, each operator of the chain computes only
// the rows that the strip needs. A window of a convolution or a pool reads more rows than it
// produces. Neighbouring strips therefore need some of the same rows inside of the chain (the
// halo), which are computed for each of the strips. Each element is computed by the same operations
// as without strips, so the results are equal.
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
/// size. The last member's result is the chain's result. The strips of the other members' results
/// are read by members only. If such a result has readers outside of the chain, it is also computed
/// as a whole for them.
struct Chain {
  llvm::SetVector<mlir::Operation *> members; // In the order of the block.
  mlir::Operation *last() const { return members.back(); }
};

/// For each member of a chain, the rows of the member's result that it computes for one strip.
/// Members that the strip does not need are absent.
using StripRows = llvm::DenseMap<mlir::Operation *, Rows>;

/// Returns the rows that each member must compute so that the last member has the rows `result`.
/// None if the rows of a member cannot be computed separately, if the size of a member's result is
/// not fixed, if a member needs all rows of another member, or if members need rows of the same
/// member along different dimensions.
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

/// Returns the number of arithmetic operations of a linalg.generic: those of its body times the
/// number of iterations of its loops. 0 if its sizes are not fixed, and for other operators.
double operationsOf(mlir::Operation *op);

} // namespace gantry::codegen
