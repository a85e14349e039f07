// Sizes of the program's function as expressions of the artifact: a hash-consed pool.
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
  explicit ShapeExprs(artifact::ProgramT &program) : program_(program) {}

  uint32_t constant(int64_t value);
  /// Folds constants; indices are into Program.exprs.
  uint32_t binary(artifact::ExprOp op, uint32_t lhs, uint32_t rhs);
  uint32_t mul(uint32_t lhs, uint32_t rhs) { return binary(artifact::ExprOp::mul, lhs, rhs); }
  uint32_t add(uint32_t lhs, uint32_t rhs) { return binary(artifact::ExprOp::add, lhs, rhs); }
  uint32_t ceilDiv(uint32_t lhs, int64_t rhs) {
    return binary(artifact::ExprOp::ceil_div, lhs, constant(rhs));
  }
  uint32_t min(uint32_t lhs, int64_t rhs) {
    return binary(artifact::ExprOp::min, lhs, constant(rhs));
  }

  /// An index value: a constant, tensor.dim of a function argument, or affine arithmetic on those.
  /// Other ops are an error on the op, and false is returned through ok().
  uint32_t of(mlir::Value value);
  uint32_t of(mlir::OpFoldResult value);
  bool ok() const { return ok_; }
  /// An affine expression of symbols that are expressions themselves.
  uint32_t of(mlir::AffineExpr expr, llvm::ArrayRef<uint32_t> symbols) {
    return of(expr, {}, symbols);
  }

  /// The symbol of a dynamic dimension of an input: equal names are one symbol.
  uint32_t symbol(const std::string &name, uint32_t input, uint32_t dim);

  /// The value of an expression that is constant.
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
