// Builds the sizes of the program's tensors as expressions over symbols, the dynamic dimensions of
// the program's inputs.
//
// All expressions are in one pool, Program.exprs of the artifact (engine/artifact/artifact.fbs),
// where equal expressions occur once (hash-consing). The functions add expressions to the pool,
// fold constants, and return indices into the pool.
//
// Thread safety: one thread at a time.
#pragma once

#include "engine/artifact/artifact.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <tuple>

namespace gantry::codegen {

class ShapeExprs {
public:
  /// Adds expressions and symbols to `program`, which must outlive this object.
  explicit ShapeExprs(artifact::ProgramT &program) : program_(program) {}

  uint32_t constant(int64_t value);
  /// Returns lhs op rhs. floor_div rounds down, ceil_div rounds up, and mod is the remainder of
  /// floor_div. Operations on two constants are folded, unless they divide by a number below 1 or
  /// overflow 64 bits.
  uint32_t binary(artifact::ExprOp op, uint32_t lhs, uint32_t rhs);
  uint32_t mul(uint32_t lhs, uint32_t rhs) { return binary(artifact::ExprOp::mul, lhs, rhs); }
  uint32_t add(uint32_t lhs, uint32_t rhs) { return binary(artifact::ExprOp::add, lhs, rhs); }
  uint32_t ceilDiv(uint32_t lhs, int64_t rhs) {
    return binary(artifact::ExprOp::ceil_div, lhs, constant(rhs));
  }
  uint32_t min(uint32_t lhs, int64_t rhs) {
    return binary(artifact::ExprOp::min, lhs, constant(rhs));
  }

  /// Returns the expression of an index value: a constant, tensor.dim of a function argument, or
  /// affine.apply on these. If another operation defines the value, emits an error on that
  /// operation and returns the constant 0; ok() returns false from then on.
  uint32_t of(mlir::Value value);
  uint32_t of(mlir::OpFoldResult value);
  bool ok() const { return ok_; }
  /// Returns the affine expression, with `symbols` substituted for its symbols.
  uint32_t of(mlir::AffineExpr expr, llvm::ArrayRef<uint32_t> symbols) {
    return of(expr, {}, symbols);
  }

  /// Returns the expression for the symbol of dimension `dim` of input `input`. Adds the symbol if
  /// the program does not have it. Dimensions with the same name share a symbol, unless the name is
  /// empty.
  uint32_t symbol(const std::string &name, uint32_t input, uint32_t dim);

  /// Returns the value of a constant expression, and nothing for any other.
  std::optional<int64_t> constantValue(uint32_t expr) const;

private:
  uint32_t intern(artifact::ExprOp op, uint32_t lhs, uint32_t rhs, int64_t value);
  uint32_t of(mlir::AffineExpr expr, llvm::ArrayRef<uint32_t> dims,
              llvm::ArrayRef<uint32_t> symbols);

  artifact::ProgramT &program_;
  std::map<std::tuple<artifact::ExprOp, uint32_t, uint32_t, int64_t>, uint32_t> known_;
  llvm::DenseMap<mlir::Value, uint32_t> values_;
  bool ok_ = true;
};

} // namespace gantry::codegen
