// Implements shape_exprs.h.
#include "codegen/emit/shape_exprs.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <algorithm>

namespace gantry::codegen {

using namespace mlir;
using artifact::ExprOp;

uint32_t ShapeExprs::intern(ExprOp op, uint32_t lhs, uint32_t rhs, int64_t value) {
  auto [found, inserted] =
      known_.try_emplace({op, lhs, rhs, value}, static_cast<uint32_t>(program_.exprs.size()));
  if (inserted)
    program_.exprs.push_back(artifact::Expr(op, lhs, rhs, value));
  return found->second;
}

uint32_t ShapeExprs::constant(int64_t value) { return intern(ExprOp::constant, 0, 0, value); }

std::optional<int64_t> ShapeExprs::constantValue(uint32_t expr) const {
  const artifact::Expr &node = program_.exprs[expr];
  if (node.op() == ExprOp::constant)
    return node.value();
  return std::nullopt;
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

uint32_t ShapeExprs::binary(ExprOp op, uint32_t lhs, uint32_t rhs) {
  auto a = constantValue(lhs), b = constantValue(rhs);
  if (a && b) {
    int64_t result = 0;
    bool overflow = false;
    bool divides = op == ExprOp::floor_div || op == ExprOp::ceil_div || op == ExprOp::mod;
    if (!(divides && *b <= 0)) {
      switch (op) {
      case ExprOp::add:
        overflow = __builtin_add_overflow(*a, *b, &result);
        break;
      case ExprOp::sub:
        overflow = __builtin_sub_overflow(*a, *b, &result);
        break;
      case ExprOp::mul:
        overflow = __builtin_mul_overflow(*a, *b, &result);
        break;
      case ExprOp::floor_div:
        result = floorDivide(*a, *b);
        break;
      case ExprOp::ceil_div:
        result = floorDivide(*a, *b) + (*a % *b != 0 ? 1 : 0);
        break;
      case ExprOp::mod:
        result = *a - floorDivide(*a, *b) * *b;
        break;
      case ExprOp::min:
        result = std::min(*a, *b);
        break;
      case ExprOp::max:
        result = std::max(*a, *b);
        break;
      default:
        overflow = true;
      }
      if (!overflow)
        return constant(result);
    }
  }
  if (op == ExprOp::mul && ((a && *a == 1) || (b && *b == 1)))
    return a && *a == 1 ? rhs : lhs;
  if ((op == ExprOp::floor_div || op == ExprOp::ceil_div) && b && *b == 1)
    return lhs;
  return intern(op, lhs, rhs, 0);
}

uint32_t ShapeExprs::symbol(const std::string &name, uint32_t input, uint32_t dim) {
  uint32_t index = program_.symbols.size();
  for (uint32_t i = 0; i < program_.symbols.size(); ++i) {
    const auto &known = *program_.symbols[i];
    if ((!name.empty() && known.name == name) || (known.input == input && known.dim == dim))
      index = i;
  }
  if (index == program_.symbols.size()) {
    auto added = std::make_unique<artifact::SymbolT>();
    added->name = name;
    added->input = input;
    added->dim = dim;
    program_.symbols.push_back(std::move(added));
  }
  return intern(ExprOp::symbol, 0, 0, index);
}

uint32_t ShapeExprs::of(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return constant(cast<IntegerAttr>(attribute).getInt());
  return of(cast<Value>(value));
}

uint32_t ShapeExprs::of(Value value) {
  if (auto found = values_.find(value); found != values_.end())
    return found->second;
  uint32_t result = 0;
  Operation *op = value.getDefiningOp();
  if (auto constantOp = dyn_cast_or_null<arith::ConstantIndexOp>(op)) {
    result = constant(constantOp.value());
  } else if (auto dim = dyn_cast_or_null<tensor::DimOp>(op);
             dim && isa<BlockArgument>(dim.getSource()) && dim.getConstantIndex()) {
    auto argument = cast<BlockArgument>(dim.getSource());
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    std::string name;
    const auto port = argumentAttribute<PortAttr>(function, argument.getArgNumber());
    if (port && *dim.getConstantIndex() < static_cast<int64_t>(port.getDims().size()))
      name = port.getDims()[*dim.getConstantIndex()].getName().str();
    result = symbol(
        name, argument.getArgNumber(),
        portDim(function, argument.getArgNumber(), static_cast<unsigned>(*dim.getConstantIndex())));
  } else if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    llvm::SmallVector<uint32_t> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(of(operand));
    llvm::ArrayRef<uint32_t> all(operands);
    result =
        of(map.getResult(0), all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
  } else {
    ok_ = false;
    if (op)
      op->emitError("this size is not an expression of the inputs' dimensions");
    result = constant(0);
  }
  values_[value] = result;
  return result;
}

uint32_t ShapeExprs::of(AffineExpr expr, llvm::ArrayRef<uint32_t> dims,
                        llvm::ArrayRef<uint32_t> symbols) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return constant(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return dims[cast<AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::SymbolId:
    return symbols[cast<AffineSymbolExpr>(expr).getPosition()];
  default:
    break;
  }
  auto operation = cast<AffineBinaryOpExpr>(expr);
  uint32_t lhs = of(operation.getLHS(), dims, symbols), rhs = of(operation.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return binary(ExprOp::add, lhs, rhs);
  case AffineExprKind::Mul:
    return binary(ExprOp::mul, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return binary(ExprOp::floor_div, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return binary(ExprOp::ceil_div, lhs, rhs);
  default:
    return binary(ExprOp::mod, lhs, rhs);
  }
}

} // namespace gantry::codegen
