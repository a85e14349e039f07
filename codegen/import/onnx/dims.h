// Dimensions as expressions over the model's dynamic input dimensions.
//
// A Dim is an mlir::AffineExpr over symbols only (semi-affine: products of symbols are allowed).
// Static dimensions are constants. Every function folds constants with checks (a 64-bit overflow is
// bad input), and keeps products in one order, so that equal dimensions are mostly the same
// expression. Symbols are at least 1. Two dimensions that are not provably different are taken as
// equal. Threads: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace gantry::importer {

using Dim = mlir::AffineExpr;
using Dims = llvm::SmallVector<mlir::AffineExpr, 4>;

std::optional<int64_t> staticDim(Dim dim);
bool isStaticOne(Dim dim);
bool allStatic(llvm::ArrayRef<Dim> dims);
/// The dims as numbers; fails (unsupported) naming `what` where one is dynamic.
llvm::SmallVector<int64_t> staticDims(llvm::ArrayRef<Dim> dims, const llvm::Twine &what);
Dims constantDims(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> dims);

Dim addDims(Dim a, Dim b);
Dim subDims(Dim a, Dim b);
Dim mulDims(Dim a, Dim b);
Dim floorDivDims(Dim a, Dim b); // b > 0; common factors cancel
Dim ceilDivDims(Dim a, Dim b);
Dim modDims(Dim a, Dim b);
Dim productOf(mlir::MLIRContext *context, llvm::ArrayRef<Dim> dims);

/// -1, 0, 1 for a<b, a==b, a>b where that holds for all values of the symbols (each at least 1).
std::optional<int> compareDims(Dim a, Dim b);

/// The symbols that occur, ascending.
llvm::SmallVector<unsigned> symbolsOf(Dim dim);
/// The value where every symbol has the value `symbol`; saturates at the ends of 64 bits.
int64_t evaluateAt(Dim dim, int64_t symbol);

/// How a size moves as its symbols grow: 1 never falls, -1 never rises, 0 constant; none: unknown.
std::optional<int> directionOf(Dim dim);

/// "[2, s0, s1 * 4]" for messages.
std::string describeDims(llvm::ArrayRef<Dim> dims);

} // namespace gantry::importer
