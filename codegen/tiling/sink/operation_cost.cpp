// Implements operation_cost.h.
#include "codegen/tiling/sink/operation_cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

namespace gantry::codegen {

using namespace mlir;

/// Returns the cost of a maximum or minimum. The code for two variable operands handles NaN in
/// either operand and zeros of different sign, which takes more operations than the code for one
/// variable and one constant operand.
static double costOfExtreme(Operation *op) {
  const bool hasConstant = llvm::any_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp<arith::ConstantOp>() != nullptr;
  });
  return hasConstant ? 2 : 10;
}

double costOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case<arith::ConstantOp, linalg::IndexOp, linalg::YieldOp>([](Operation *) { return 0; })
      .Case<arith::DivFOp, arith::DivSIOp, arith::RemSIOp, math::SqrtOp, math::RsqrtOp>(
          [](Operation *) { return 6; })
      .Case<arith::MaximumFOp, arith::MinimumFOp>(costOfExtreme)
      .Case<math::ExpOp, math::ExpM1Op, math::AsinOp, math::AcosOp>(
          [](Operation *) { return kExponentialCost; })
      .Case<math::AtanOp>([](Operation *) { return 30; })
      .Case<math::LogOp, math::CoshOp>([](Operation *) { return 50; })
      .Case<math::Log1pOp, math::TanhOp, math::SinhOp, math::AtanhOp>(
          [](Operation *) { return 65; })
      .Case<arith::RemFOp>([](Operation *) { return 55; })
      .Case<math::ErfOp>([](Operation *) { return 100; })
      .Case<math::SinOp, math::CosOp, math::TanOp, math::AsinhOp, math::AcoshOp>(
          [](Operation *) { return 125; })
      .Case<math::PowFOp>([](Operation *) { return 160; })
      .Default([](Operation *) { return 1; });
}

} // namespace gantry::codegen
