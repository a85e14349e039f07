// Implements the evaluation of linalg bodies for known values.
#include "codegen/passes/padding_value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace gantry::codegen {

using namespace mlir;

namespace {

using Known = std::optional<double>; // None: the value is not known.

/// Returns whether `type` is an integer type that can represent the number, taken as signed. If the
/// exact result of an operation fits, the operation does not wrap.
bool fitsInteger(double number, Type type) {
  return type.isInteger() &&
         std::fabs(number) < std::ldexp(1.0, static_cast<int>(type.getIntOrFloatBitWidth()) - 1);
}

Known evaluateUnary(Operation &op, double x) {
  if (isa<arith::NegFOp>(op))
    return -x;
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp>(op))
    return x;
  if (isa<arith::ExtUIOp>(op) && x >= 0)
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
  const Known integer = isa<arith::AddIOp>(op)   ? Known(x + y)
                        : isa<arith::SubIOp>(op) ? Known(x - y)
                        : isa<arith::MulIOp>(op) ? Known(x * y)
                                                 : std::nullopt;
  return integer && fitsInteger(*integer, op.getResult(0).getType()) ? integer : std::nullopt;
}

/// Returns 1 if the comparison of the two numbers holds, otherwise 0; none if one is a NaN.
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

/// Evaluates the operations of one body in order.
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
    if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        return number.getValueAsDouble();
      if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
        return static_cast<double>(number.getValue().getSExtValue());
    }
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
    if (isa<arith::MulIOp>(op) &&
        (valueOf(op.getOperand(0)) == 0.0 || valueOf(op.getOperand(1)) == 0.0))
      return 0.0;
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

bool ignoresZeros(linalg::GenericOp reduction, unsigned loop, bool onlyOfConstants) {
  const bool integers = reduction.getRegionOutputArgs().front().getType().isInteger();
  for (double accumulator : {integers ? 5 : 1.25, integers ? -5 : -1.25}) {
    llvm::SmallVector<Known> arguments;
    for (OpOperand *use : reduction.getDpsInputOperands()) {
      const bool isZero = reduction.getMatchingIndexingMap(use).isFunctionOfDim(loop) &&
                          (!onlyOfConstants || use->get().getDefiningOp<arith::ConstantOp>());
      arguments.push_back(isZero ? Known(0.0) : Known());
    }
    arguments.push_back(accumulator);
    if (evaluateBody(reduction, arguments) != accumulator)
      return false;
  }
  return true;
}

} // namespace gantry::codegen
