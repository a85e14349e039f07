#include "codegen/passes/padding_value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace gantry::codegen {

using namespace mlir;

namespace {

using Known = std::optional<double>;

Known evaluateUnary(Operation &op, double x) {
  if (isa<arith::NegFOp>(op))
    return -x;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return x;
  if (isa<math::AbsFOp>(op))
    return std::fabs(x);
  if (isa<math::SqrtOp>(op))
    return std::sqrt(x);
  if (isa<math::ExpOp>(op))
    return std::exp(x);
  if (isa<math::TanhOp>(op))
    return std::tanh(x);
  if (isa<math::ErfOp>(op))
    return std::erf(x);
  if (isa<math::FloorOp>(op))
    return std::floor(x);
  if (isa<math::CeilOp>(op))
    return std::ceil(x);
  return std::nullopt;
}

Known evaluateBinary(Operation &op, double x, double y) {
  if (isa<arith::AddFOp>(op))
    return x + y;
  if (isa<arith::SubFOp>(op))
    return x - y;
  if (isa<arith::MulFOp>(op))
    return x * y;
  if (isa<arith::DivFOp>(op))
    return x / y;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op) && !std::isnan(x) && !std::isnan(y))
    return std::max(x, y);
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op) && !std::isnan(x) && !std::isnan(y))
    return std::min(x, y);
  return std::nullopt;
}

/// Returns whether the comparison of two numbers holds; none if one is a NaN.
Known compare(arith::CmpFOp op, double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::nullopt;
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::UEQ:
    return x == y;
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UNE:
    return x != y;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return x < y;
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return x <= y;
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return x > y;
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return x >= y;
  case arith::CmpFPredicate::ORD:
    return 1;
  case arith::CmpFPredicate::UNO:
    return 0;
  default:
    return std::nullopt;
  }
}

class BodyEvaluator {
public:
  BodyEvaluator(Block &body, llvm::ArrayRef<Known> arguments) : body_(body) {
    for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
      values_[argument] = value;
  }

  Known result() {
    for (Operation &op : body_.without_terminator())
      if (op.getNumResults() == 1)
        values_[op.getResult(0)] = evaluate(op);
    return valueOf(body_.getTerminator()->getOperand(0));
  }

private:
  Known valueOf(Value value) const {
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        return number.getValueAsDouble();
    return values_.lookup(value);
  }

  Known evaluate(Operation &op) const {
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      const Known condition = valueOf(select.getCondition());
      if (condition)
        return valueOf(*condition != 0 ? select.getTrueValue() : select.getFalseValue());
      const Known a = valueOf(select.getTrueValue()), b = valueOf(select.getFalseValue());
      return a == b ? a : std::nullopt;
    }
    llvm::SmallVector<double, 2> operands;
    for (Value operand : op.getOperands()) {
      const Known known = valueOf(operand);
      if (!known)
        return std::nullopt;
      operands.push_back(*known);
    }
    if (auto comparison = dyn_cast<arith::CmpFOp>(op))
      return compare(comparison, operands[0], operands[1]);
    return operands.size() == 1   ? evaluateUnary(op, operands[0])
           : operands.size() == 2 ? evaluateBinary(op, operands[0], operands[1])
                                  : std::nullopt;
  }

  Block &body_;
  llvm::DenseMap<Value, Known> values_;
};

} // namespace

std::optional<double> evaluateBody(linalg::GenericOp op,
                                   llvm::ArrayRef<std::optional<double>> arguments) {
  return BodyEvaluator(op.getRegion().front(), arguments).result();
}

bool ignoresZeros(linalg::GenericOp reduction, unsigned loop) {
  for (double accumulator : {1.25, -1.25}) {
    llvm::SmallVector<Known> arguments;
    for (OpOperand *use : reduction.getDpsInputOperands())
      arguments.push_back(reduction.getMatchingIndexingMap(use).isFunctionOfDim(loop) ? Known(0.0)
                                                                                      : Known());
    arguments.push_back(accumulator);
    if (evaluateBody(reduction, arguments) != accumulator)
      return false;
  }
  return true;
}

} // namespace gantry::codegen
