// Implements evaluateGeneric: translates the body of a linalg.generic into steps over numbered
// slots (evaluate_steps.h), and runs the steps for every point of the iteration space.
#include "codegen/import/onnx/evaluate.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/import/onnx/body.h"
#include "codegen/import/onnx/evaluate_compare.h"
#include "codegen/import/onnx/evaluate_steps.h"

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::importer {

namespace arith = mlir::arith;

namespace {

// The linear position in a tensor, in elements, as a function of the loop indices: base +
// sum(coefficients * loop indices) if the indexing map is linear, otherwise sum(results of the map
// * strides). A splat has position 0 everywhere.
struct Address {
  llvm::SmallVector<int64_t> coefficients; // One per loop.
  int64_t base = 0;
  bool linear = true;
  mlir::AffineMap map;
  llvm::SmallVector<int64_t> strides;
};

int64_t evaluateExpr(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> loops) {
  using K = mlir::AffineExprKind;
  if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  auto binary = mlir::cast<mlir::AffineBinaryOpExpr>(expr);
  int64_t a = evaluateExpr(binary.getLHS(), loops), b = evaluateExpr(binary.getRHS(), loops);
  int64_t quotient = b == 0 ? 0 : a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  switch (expr.getKind()) {
  case K::Add:
    return a + b;
  case K::Mul:
    return a * b;
  case K::FloorDiv:
    return quotient;
  case K::CeilDiv:
    return quotient + (a != quotient * b);
  default:
    return a - quotient * b;
  }
}

bool isLinear(mlir::AffineExpr expr) {
  auto binary = mlir::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  bool known =
      expr.getKind() == mlir::AffineExprKind::Add || expr.getKind() == mlir::AffineExprKind::Mul;
  return known && isLinear(binary.getLHS()) && isLinear(binary.getRHS());
}

int64_t evaluateAddress(const Address &address, llvm::ArrayRef<int64_t> loops) {
  int64_t position = address.base;
  if (address.linear) {
    for (size_t i = 0; i < loops.size(); ++i)
      position += address.coefficients[i] * loops[i];
    return position;
  }
  for (auto [expr, stride] : llvm::zip(address.map.getResults(), address.strides))
    position += evaluateExpr(expr, loops) * stride;
  return position;
}

Address makeAddress(mlir::AffineMap map, llvm::ArrayRef<int64_t> dims, bool splat) {
  Address address;
  address.map = map;
  address.coefficients.assign(map.getNumDims(), 0);
  if (splat)
    return address;
  address.strides = rowMajorStrides(dims);
  if (!llvm::all_of(map.getResults(), isLinear)) {
    address.linear = false;
    return address;
  }
  llvm::SmallVector<int64_t> point(map.getNumDims(), 0);
  auto position = [&] {
    int64_t sum = 0;
    for (auto [expr, stride] : llvm::zip(map.getResults(), address.strides))
      sum += evaluateExpr(expr, point) * stride;
    return sum;
  };
  address.base = position();
  for (size_t i = 0; i < point.size(); ++i) {
    point[i] = 1;
    address.coefficients[i] = position() - address.base;
    point[i] = 0;
  }
  return address;
}

// Translates a body into steps. Constants become the initial contents of their slots and need no
// step. `kept` keeps the tensors alive that the steps refer to.
class Translator {
public:
  Translator(Machine &machine, llvm::function_ref<Constant(mlir::Value)> known,
             std::vector<Constant> &kept)
      : machine_(machine), known_(known), kept_(kept) {}

  bool usesIndex() const { return usesIndex_; }
  int slot(mlir::Value value) {
    auto [it, added] = slots_.try_emplace(value, int(machine_.slots.size()));
    if (added)
      machine_.slots.push_back(Number{.i = 0});
    return it->second;
  }

  void translate(mlir::Operation &op) {
    Step step;
    step.out = slot(op.getResult(0));
    step.kind = kindOf(op.getResult(0).getType());
    if (auto constant = mlir::dyn_cast<arith::ConstantOp>(op))
      return setConstant(constant, step);
    if (auto index = mlir::dyn_cast<mlir::linalg::IndexOp>(op)) {
      usesIndex_ = true;
      step.predicate = int(index.getDim());
      step.run = [](Machine &m, const Step &s) { m.slots[s.out].i = m.loops[s.predicate]; };
      machine_.steps.push_back(step);
      return;
    }
    if (auto extract = mlir::dyn_cast<mlir::tensor::ExtractOp>(op))
      return addExtract(extract, step);
    step.a = slot(op.getOperand(0));
    step.operand = kindOf(op.getOperand(0).getType());
    step.b = op.getNumOperands() > 1 ? slot(op.getOperand(1)) : step.a;
    step.c = op.getNumOperands() > 2 ? slot(op.getOperand(2)) : step.a;
    if (auto cmp = mlir::dyn_cast<arith::CmpFOp>(op)) {
      step.predicate = int(cmp.getPredicate());
      step.run = [](Machine &m, const Step &s) {
        m.slots[s.out].i =
            compareFloats(arith::CmpFPredicate(s.predicate), m.slots[s.a].f, m.slots[s.b].f);
      };
    } else if (auto cmp = mlir::dyn_cast<arith::CmpIOp>(op)) {
      step.predicate = int(cmp.getPredicate());
      step.run = [](Machine &m, const Step &s) {
        m.slots[s.out].i = compareIntegers(arith::CmpIPredicate(s.predicate), m.slots[s.a].i,
                                           m.slots[s.b].i, s.operand.bits);
      };
    } else {
      step.run = arithmeticStep(op);
      step.isSelect = mlir::isa<arith::SelectOp>(op);
      if (op.hasAttr(codegen::GantryDialect::ExactAttrHelper::getNameStr()))
        makeExact(op, step);
    }
    if (!step.run)
      failUnsupported("cannot evaluate " + op.getName().getStringRef() + " while importing");
    machine_.steps.push_back(step);
  }

private:
  void setConstant(arith::ConstantOp constant, const Step &step) {
    Number &slot = machine_.slots[step.out];
    if (auto number = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue()))
      slot.f = number.getValueAsDouble();
    else
      slot.i =
          signExtend(mlir::cast<mlir::IntegerAttr>(constant.getValue()).getValue().getSExtValue(),
                     step.kind.bits);
  }

  void addExtract(mlir::tensor::ExtractOp extract, Step &step) {
    Constant tensor = known_(extract.getTensor());
    kept_.push_back(tensor);
    step.tensor = tensor.get();
    step.strides = rowMajorStrides(tensor->dims);
    for (mlir::Value index : extract.getIndices())
      step.indices.push_back(slot(index));
    step.run = runExtract;
    machine_.steps.push_back(step);
  }

  Machine &machine_;
  llvm::function_ref<Constant(mlir::Value)> known_;
  std::vector<Constant> &kept_;
  llvm::DenseMap<mlir::Value, int> slots_;
  bool usesIndex_ = false;
};

// The evaluation of one operation.
class Evaluation {
public:
  Evaluation(mlir::linalg::GenericOp op, DType resultType,
             llvm::function_ref<Constant(mlir::Value)> known)
      : op_(op), resultType_(resultType), ranges_(op.getStaticLoopRanges()),
        resultDims_(mlir::cast<mlir::RankedTensorType>(op.getResult(0).getType()).getShape()) {
    Translator translator(machine_, known, kept_);
    mlir::Block &body = *op.getBody();
    for (mlir::BlockArgument argument : body.getArguments())
      argumentSlots_.push_back(translator.slot(argument));
    for (mlir::Operation &inner : body.without_terminator())
      translator.translate(inner);
    yielded_ = translator.slot(body.getTerminator()->getOperand(0));
    if (llvm::any_of(machine_.steps, [](const Step &step) { return step.isExact != nullptr; }))
      machine_.wrong.assign(machine_.slots.size(), 0);
    machine_.loops.assign(ranges_.size(), 0);
    readInputs(known, op.getNumParallelLoops() == op.getNumLoops() && !translator.usesIndex());
  }

  Constant run(Number init) {
    return isUniform_ && !llvm::is_contained(resultDims_, 0) ? runOnce() : runAllPoints(init);
  }

private:
  void readInputs(llvm::function_ref<Constant(mlir::Value)> known, bool isElementwise) {
    auto maps = op_.getIndexingMapsArray();
    isUniform_ = isElementwise;
    for (int64_t i = 0; i < op_.getNumDpsInputs(); ++i) {
      inputs_.push_back(known(op_.getDpsInputOperand(i)->get()));
      const HostTensor &input = *inputs_.back();
      if (!machine_.inexact)
        machine_.inexact = input.inexact;
      const bool uniform = input.splat || input.window;
      isUniform_ &= uniform;
      addresses_.push_back(makeAddress(maps[i], input.dims, uniform));
    }
  }

  void loadInputs() {
    for (size_t i = 0; i < inputs_.size(); ++i)
      machine_.slots[argumentSlots_[i]] =
          toSlot(inputs_[i]->type, inputs_[i]->at(evaluateAddress(addresses_[i], machine_.loops)));
  }

  // Evaluates one point, whose result is that of every element.
  Constant runOnce() {
    loadInputs();
    machine_.run();
    machine_.check(yielded_);
    auto splat = std::make_shared<HostTensor>(
        *makeSplat(resultType_, resultDims_, roundTo(resultType_, machine_.slots[yielded_])));
    splat->inexact = machine_.inexact;
    return splat;
  }

  Constant runAllPoints(Number init) {
    uint8_t *out = nullptr;
    auto result = makeDense(resultType_, resultDims_, out);
    const uint64_t size = dtypeSize(resultType_);
    const int64_t count = result->elementCount();
    std::vector<Number> accumulators(count, toSlot(resultType_, init));
    Address outAddress = makeAddress(op_.getIndexingMapsArray().back(), resultDims_, false);
    if (!llvm::is_contained(ranges_, 0)) {
      do {
        loadInputs();
        const int64_t position = evaluateAddress(outAddress, machine_.loops);
        machine_.slots[argumentSlots_.back()] = accumulators[position];
        machine_.run();
        machine_.check(yielded_);
        accumulators[position] = machine_.slots[yielded_];
      } while (nextPoint());
    }
    for (int64_t i = 0; i < count; ++i)
      storeElement(resultType_, out + i * size, accumulators[i]);
    result->inexact = machine_.inexact;
    return result;
  }

  // Moves to the next point of the iteration space. Returns whether there is one.
  bool nextPoint() {
    for (size_t k = ranges_.size(); k-- > 0;) {
      if (++machine_.loops[k] < ranges_[k])
        return true;
      machine_.loops[k] = 0;
    }
    return false;
  }

  mlir::linalg::GenericOp op_;
  DType resultType_;
  llvm::SmallVector<int64_t> ranges_;
  llvm::ArrayRef<int64_t> resultDims_;
  Machine machine_;
  std::vector<Constant> kept_;
  llvm::SmallVector<int> argumentSlots_; // Inputs first, then the accumulator.
  int yielded_ = 0;
  std::vector<Constant> inputs_;
  std::vector<Address> addresses_;
  bool isUniform_ = false; // All elements of the result are equal: elementwise on splats.
};

} // namespace

Constant evaluateGeneric(mlir::linalg::GenericOp op, DType resultType,
                         llvm::function_ref<Constant(mlir::Value)> known, Number init) {
  return Evaluation(op, resultType, known).run(init);
}

} // namespace gantry::importer
