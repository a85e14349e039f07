// Implements buildGeneric, which builds or folds one linalg.generic.
#include "codegen/import/onnx/generic.h"

#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/evaluate.h"

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::importer {

namespace {

// Max number of points of an iteration space that is evaluated while importing.
constexpr int64_t kMaxFoldedPoints = int64_t(1) << 24;
// The same for a body without operands, which only computes with loop indices. The limit is lower
// because the folded result would be stored in the artifact, while the kernel that computes it is
// small.
constexpr int64_t kMaxFoldedPositions = 4096;

bool isReduction(const GenericSpec &spec) {
  return llvm::any_of(spec.reduction, [](bool reduces) { return reduces; });
}

// Returns the number of points of the iteration space; INT64_MAX if it does not fit 64 bits. All
// dims must be static.
int64_t pointCount(const GenericSpec &spec) {
  // A loop's range is the size of any dimension that it indexes directly.
  llvm::SmallVector<int64_t> ranges(spec.reduction.size(), 1);
  auto visit = [&](mlir::AffineMap map, llvm::ArrayRef<Dim> dims) {
    for (auto [expr, dim] : llvm::zip(map.getResults(), dims))
      if (auto loop = mlir::dyn_cast<mlir::AffineDimExpr>(expr))
        ranges[loop.getPosition()] = *staticDim(dim);
  };
  for (const Operand &operand : spec.inputs)
    visit(operand.map, operand.tensor.dims);
  visit(spec.resultMap, spec.resultDims);
  int64_t count = 1;
  for (int64_t range : ranges)
    if (__builtin_mul_overflow(count, range, &count))
      return INT64_MAX;
  return count;
}

// Returns whether the operation is folded.
bool mayFold(const GenericSpec &spec, bool foldEverything) {
  bool allSplats = true;
  for (const Operand &operand : spec.inputs) {
    if (!operand.tensor.constant)
      return false;
    allSplats &= operand.tensor.constant->splat;
  }
  for (const Tensor &tensor : spec.captured)
    if (!tensor.constant)
      return false;
  if (spec.usesDims || !allStatic(spec.resultDims))
    return false;
  if (foldEverything)
    return true;
  if (spec.keepsConstants)
    return false;
  // The result of an elementwise operation on splats is a splat, for which one point is evaluated.
  if (allSplats && !isReduction(spec) && spec.captured.empty() && !spec.inputs.empty())
    return true;
  if (spec.inputs.empty() && spec.captured.empty())
    return pointCount(spec) <= kMaxFoldedPositions;
  return pointCount(spec) <= kMaxFoldedPoints;
}

// Builds the operation. valueFor returns the SSA value of an operand.
class GenericEmitter {
public:
  using ValueFor = llvm::function_ref<mlir::Value(const Tensor &)>;

  GenericEmitter(ImportContext &import, const GenericSpec &spec, ValueFor valueFor, bool folding)
      : import_(import), spec_(spec), valueFor_(valueFor), folding_(folding) {}

  mlir::linalg::GenericOp emit() {
    llvm::SmallVector<mlir::Value> inputs;
    llvm::SmallVector<mlir::AffineMap> maps;
    for (const Operand &operand : spec_.inputs) {
      if (isInlined(operand.tensor))
        continue;
      inputs.push_back(valueFor_(operand.tensor));
      maps.push_back(operand.map);
    }
    maps.push_back(spec_.resultMap);
    llvm::SmallVector<std::pair<mlir::Value, DType>> captured;
    for (const Tensor &tensor : spec_.captured)
      captured.push_back({valueFor_(tensor), tensor.type});
    mlir::Value init = initialValue();
    llvm::SmallVector<mlir::utils::IteratorType> iterators;
    for (bool reduces : spec_.reduction)
      iterators.push_back(reduces ? mlir::utils::IteratorType::reduction
                                  : mlir::utils::IteratorType::parallel);
    auto op = import_.builder().create<mlir::linalg::GenericOp>(
        import_.location(), mlir::TypeRange{init.getType()}, inputs, mlir::ValueRange{init}, maps,
        iterators);
    op.getRegion().push_back(new mlir::Block);
    emitBody(op.getRegion().front(), captured);
    return op;
  }

private:
  // Returns whether an operand is a constant with one value, which becomes a constant of the body
  // instead of an operand. While the operation is folded, all operands stay operands, because the
  // evaluator reads their constants anyway.
  bool isInlined(const Tensor &tensor) const {
    if (folding_ || isReduction(spec_) || !tensor.constant || tensor.constant->window)
      return false;
    return tensor.constant->splat || tensor.constant->elementCount() == 1;
  }

  // Returns the tensor that the operation writes to. In a reduction it is filled with spec.init,
  // except when folding, because evaluateGeneric() takes spec.init as an argument.
  mlir::Value initialValue() {
    mlir::Value empty = import_.emptyTensor(spec_.resultType, spec_.resultDims);
    if (!spec_.init || folding_)
      return empty;
    mlir::Value scalar = import_.scalarValue(spec_.resultType, *spec_.init);
    return import_.builder()
        .create<mlir::linalg::FillOp>(import_.location(), scalar, empty)
        .getResult(0);
  }

  void emitBody(mlir::Block &body, llvm::ArrayRef<std::pair<mlir::Value, DType>> captured) {
    mlir::Location loc = import_.location();
    mlir::Type resultElement = mlirType(import_.mlirContext(), spec_.resultType);
    mlir::OpBuilder inner = mlir::OpBuilder::atBlockEnd(&body);
    BodyBuilder bodyBuilder(
        inner, loc, captured, [&](Dim dim) { return import_.dimValue(dim); }, folding_);
    llvm::SmallVector<Scalar> elements;
    for (const Operand &operand : spec_.inputs) {
      const Tensor &tensor = operand.tensor;
      if (isInlined(tensor)) {
        Number number = tensor.constant->at(0);
        elements.push_back(isFloat(tensor.type) ? bodyBuilder.constant(tensor.type, number.f)
                                                : bodyBuilder.constantInt(tensor.type, number.i));
        continue;
      }
      mlir::Type element = mlirType(import_.mlirContext(), tensor.type);
      elements.push_back({body.addArgument(element, loc), tensor.type});
    }
    Scalar accumulator = {body.addArgument(resultElement, loc), spec_.resultType};
    for (Scalar &element : elements)
      element = bodyBuilder.widen(element);
    Scalar yielded = spec_.body(bodyBuilder, elements, accumulator);
    // An element that the body returns unchanged is yielded in its own type, without widening and
    // rounding.
    auto extended = yielded.value.getDefiningOp<mlir::arith::ExtFOp>();
    if (extended && extended.getIn().getType() == resultElement)
      yielded = {extended.getIn(), spec_.resultType};
    if (isHalf(spec_.resultType))
      yielded = bodyBuilder.cast(yielded, spec_.resultType);
    inner.create<mlir::linalg::YieldOp>(loc, yielded.value);
    for (auto widened : llvm::make_early_inc_range(body.getOps<mlir::arith::ExtFOp>()))
      if (widened->use_empty())
        widened->erase();
  }

  ImportContext &import_;
  const GenericSpec &spec_;
  ValueFor valueFor_;
  bool folding_;
};

// Completes the record of an overflow or a division by zero in a folded tensor
// (HostTensor::inexact): sets the name of the node that is being imported, unless an operand of the
// node already had the record.
Constant withInexactNode(const Constant &folded, mlir::Location loc) {
  auto name = mlir::dyn_cast<mlir::NameLoc>(loc);
  if (!name || !folded->inexact || !folded->inexact->node.empty())
    return folded;
  auto named = std::make_shared<HostTensor>(*folded);
  named->inexact =
      std::make_shared<Inexact>(Inexact{folded->inexact->message, name.getName().str()});
  return named;
}

// Erases a block's operations, users before definitions, when the scope ends, also by an exception.
struct BlockEraser {
  mlir::Block &block;
  ~BlockEraser() {
    while (!block.empty())
      block.back().erase();
  }
};

// Builds the operation in a temporary block, with a tensor.empty in place of each operand, and
// evaluates it.
Tensor fold(ImportContext &import, const GenericSpec &spec) {
  mlir::Block scratch;
  BlockEraser eraser{scratch};
  mlir::OpBuilder &builder = import.builder();
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&scratch);
  llvm::DenseMap<mlir::Value, Constant> known;
  auto placeholder = [&](const Tensor &tensor) -> mlir::Value {
    mlir::Value value = builder.create<mlir::tensor::EmptyOp>(
        import.location(), import.tensorType(tensor.type, tensor.dims), mlir::ValueRange());
    known[value] = tensor.constant;
    return value;
  };
  auto op = GenericEmitter(import, spec, placeholder, /*folding=*/true).emit();
  Constant folded = evaluateGeneric(
      op, spec.resultType, [&](mlir::Value v) { return known.lookup(v); },
      spec.init.value_or(Number{.i = 0}));
  return import.fromConstant(withInexactNode(folded, import.location()));
}

} // namespace

Tensor buildGeneric(ImportContext &import, const GenericSpec &given) {
  GenericSpec spec = given;
  if (!spec.resultMap)
    spec.resultMap =
        mlir::AffineMap::getMultiDimIdentityMap(spec.reduction.size(), import.mlirContext());
  import.tensorType(spec.resultType, spec.resultDims); // Checks the size.
  if (spec.init && isHalf(spec.resultType)) { // Sums are accumulated in f32 and rounded once.
    const DType type = spec.resultType;
    spec.resultType = DType::kF32;
    return import.cast(buildGeneric(import, spec), type);
  }
  if (mayFold(spec, import.foldsEverything()))
    return fold(import, spec);
  auto valueFor = [&](const Tensor &tensor) { return import.valueOf(tensor); };
  auto op = GenericEmitter(import, spec, valueFor, /*folding=*/false).emit();
  return import.fromValue(spec.resultType, spec.resultDims, op.getResult(0));
}

} // namespace gantry::importer
