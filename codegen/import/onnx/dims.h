// Dim: a size as an expression over the model's dynamic input dimensions.
//
// A Dim is an mlir::AffineExpr over symbols only, one symbol per dynamic dimension; products of
// symbols are allowed (semi-affine). A static dimension is a constant. Every symbol is at least 1.
// The functions bring sums and products into one order, so that most equal dimensions are the same
// expression and can be compared by ==. Dimensions that are not provably different are treated as
// equal. A 64-bit overflow of constants fails (ImportError, bad input).
// Thread safety: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace gantry::importer {

using Dim = mlir::AffineExpr;
using Dims = llvm::SmallVector<mlir::AffineExpr, 4>;

/// The value of a static dimension.
std::optional<int64_t> staticDim(Dim dim);
bool isStaticOne(Dim dim);
bool allStatic(llvm::ArrayRef<Dim> dims);
/// The dims as numbers. Fails (unsupported) where one is dynamic; `what` names the tensor in the
/// message.
llvm::SmallVector<int64_t> staticDims(llvm::ArrayRef<Dim> dims, const llvm::Twine &what);
Dims constantDims(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> dims);

Dim addDims(Dim a, Dim b);
Dim subDims(Dim a, Dim b);
Dim mulDims(Dim a, Dim b);
/// a / b rounded down, for a positive b; common factors cancel. Fails (bad input) where b is 0.
Dim floorDivDims(Dim a, Dim b);
Dim ceilDivDims(Dim a, Dim b);
/// a - floor(a / b) * b. Fails (bad input) where b is not positive.
Dim modDims(Dim a, Dim b);
Dim productOf(mlir::MLIRContext *context, llvm::ArrayRef<Dim> dims);

/// -1, 0 or 1 where a < b, a == b or a > b holds for all values of the symbols; otherwise nothing.
std::optional<int> compareDims(Dim a, Dim b);

/// The symbols that occur in the expression, ascending.
llvm::SmallVector<unsigned> symbolsOf(Dim dim);
/// The value of the expression where every symbol is `symbol`. Saturates at the limits of 64 bits.
int64_t evaluateAt(Dim dim, int64_t symbol);

/// How a size changes as its symbols grow: 1 never falls, -1 never rises, 0 constant. Nothing where
/// that is unknown.
std::optional<int> directionOf(Dim dim);

/// The dims as text for messages: "[2, s0, s1 * 4]".
std::string describeDims(llvm::ArrayRef<Dim> dims);

} // namespace gantry::importer
