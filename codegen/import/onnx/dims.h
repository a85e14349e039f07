// Dim: a size as an expression over the model's dynamic input dimensions.
//
// A Dim is an mlir::AffineExpr over symbols only, one symbol per dynamic dimension; products of
// symbols are allowed (semi-affine). A static dimension is a constant. Every symbol is at least 1.
// The functions bring sums and products into one order, so that most equal dimensions are the same
// expression and can be compared by ==. Functions fail by throwing ImportError (import_error.h). A
// 64-bit overflow of constants is bad input. Thread safety: one thread at a time per MLIRContext.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace gantry::importer {

using Dim = mlir::AffineExpr;
using Dims = llvm::SmallVector<mlir::AffineExpr, 4>;

/// Returns the value of a static dimension, and nothing for a dynamic one.
std::optional<int64_t> staticDim(Dim dim);
bool isStaticOne(Dim dim);
bool allStatic(llvm::ArrayRef<Dim> dims);
/// Returns the dims as numbers. Fails (unsupported) if one is dynamic; `what` names the tensor in
/// the message.
llvm::SmallVector<int64_t> staticDims(llvm::ArrayRef<Dim> dims, const llvm::Twine &what);
Dims constantDims(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> dims);

Dim addDims(Dim a, Dim b);
Dim subDims(Dim a, Dim b);
Dim mulDims(Dim a, Dim b);
/// Returns a / b rounded down, for a positive b; common factors cancel. Fails (bad input) if b is
/// 0.
Dim floorDivDims(Dim a, Dim b);
/// Returns a / b rounded up, under the same conditions.
Dim ceilDivDims(Dim a, Dim b);
/// Returns a - floor(a / b) * b. Fails (bad input) if b is static and not positive.
Dim modDims(Dim a, Dim b);
Dim productOf(mlir::MLIRContext *context, llvm::ArrayRef<Dim> dims);

/// Returns -1 if a < b, 0 if a == b, or 1 if a > b can be proven for all values of the symbols.
/// Returns nothing if none of these can be proven.
std::optional<int> compareDims(Dim a, Dim b);

/// Returns the symbols that occur in the expression, in ascending order.
llvm::SmallVector<unsigned> symbolsOf(Dim dim);
/// Returns the value of the expression if every symbol has the value `symbol`. Sums and products
/// saturate at the limits of 64 bits.
int64_t evaluateAt(Dim dim, int64_t symbol);

/// Returns how a size changes as its symbols grow: 1 if it never falls, -1 if it never rises, 0 if
/// it is constant, and nothing if this is not known.
std::optional<int> directionOf(Dim dim);

/// Returns the dims as text for messages: "[2, s0, s1 * 4]".
std::string describeDims(llvm::ArrayRef<Dim> dims);

} // namespace gantry::importer
