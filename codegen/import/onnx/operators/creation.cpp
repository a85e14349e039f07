// Imports operators that create tensors (Constant, ConstantOfShape, Range, EyeLike, OneHot), and
// Trilu.
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>

namespace gantry::importer {

namespace {

void importConstant(ImportContext &import, const Node &node) {
  Constant constant;
  if (node.hasAttribute("value")) {
    constant = node.tensorAttribute("value");
  } else if (node.hasAttribute("value_float")) {
    constant = makeFloats(DType::kF32, {}, {node.floatAttribute("value_float", 0)});
  } else if (node.hasAttribute("value_int")) {
    constant = makeInts(DType::kI64, {}, {node.intAttribute("value_int", 0)});
  } else if (auto floats = node.floatsAttribute("value_floats")) {
    constant = makeFloats(DType::kF32, {int64_t(floats->size())}, *floats);
  } else if (auto ints = node.intsAttribute("value_ints")) {
    constant = makeInts(DType::kI64, {int64_t(ints->size())}, *ints);
  } else {
    failUnsupported("a constant of strings or a sparse constant is not supported");
  }
  if (constant->name.empty()) {
    auto named = std::make_shared<HostTensor>(*constant);
    named->name = node.outputName(0).str();
    constant = named;
  }
  import.setOutput(node, 0, import.fromConstant(constant));
}

void importConstantOfShape(ImportContext &import, const Node &node) {
  Constant value = node.tensorAttribute("value");
  if (value && value->elementCount() != 1)
    failBadInput("the value of ConstantOfShape has " + llvm::Twine(value->elementCount()) +
                 " elements; it must have one");
  const DType type = value ? value->type : DType::kF32;
  Number number;
  if (value)
    number = value->at(0);
  else
    number.f = 0;
  auto dims = import.dimsInput(node, 0, "the shape");
  for (Dim dim : dims)
    if (auto known = staticDim(dim); known && *known < 0)
      failBadInput("impossible shape " + describeDims(dims));
  import.tensorType(type, dims);
  if (allStatic(dims)) {
    auto splat =
        std::make_shared<HostTensor>(*makeSplat(type, staticDims(dims, "the shape"), number));
    splat->name = node.outputName(0).str();
    return import.setOutput(node, 0, import.fromConstant(splat));
  }
  Tensor one = import.fromConstant(makeSplat(type, {}, number));
  import.setOutput(node, 0, broadcastTo(import, one, dims));
}

void importRange(ImportContext &import, const Node &node) {
  Tensor start = import.input(node, 0), limit = import.input(node, 1),
         delta = import.input(node, 2);
  const DType type = start.type;
  for (const Tensor &number : {start, limit, delta}) {
    import.requireExact(number);
    if (number.type != type)
      failBadInput("the start is " + dtypeName(type) + ", but another operand is " +
                   dtypeName(number.type));
    if (number.rank() > 1 || (number.rank() == 1 && !isStaticOne(number.dims[0])))
      failBadInput("start, limit and delta must be one number each; one has the shape " +
                   describeDims(number.dims));
  }
  if (start.constant && limit.constant && delta.constant && isFloat(type)) {
    double from = start.constant->floatAt(0), step = delta.constant->floatAt(0);
    if (step == 0)
      failBadInput("the delta of a range is 0; it must not be 0");
    double count = std::ceil((limit.constant->floatAt(0) - from) / step);
    if (!(count < 1e8))
      failBadInput("a range has " + llvm::Twine(std::to_string(count)) +
                   " elements; it must have fewer than 10^8");
    llvm::SmallVector<double> values;
    for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
      values.push_back(from + static_cast<double>(i) * step);
    return import.setOutput(
        node, 0, import.fromConstant(makeFloats(type, {int64_t(values.size())}, values)));
  }
  Dim from = import.dimsInput(node, 0, "the start")[0];
  Dim to = import.dimsInput(node, 1, "the limit")[0];
  auto step = staticDim(import.dimsInput(node, 2, "the delta")[0]);
  if (!step)
    failUnsupported("a range with a dynamic delta is not supported");
  if (*step == 0 || *step == INT64_MIN)
    failBadInput("the delta of a range is " + llvm::Twine(*step) + "; it must not be 0 or -2^63");
  Dim span = *step > 0 ? subDims(to, from) : subDims(from, to);
  Dim count = ceilDivDims(span, import.number(*step > 0 ? *step : -*step));
  if (auto known = staticDim(count); known && *known < 0)
    count = import.number(0);
  import.constraints().requireNonNegative(count);
  GenericSpec spec;
  spec.reduction = {false};
  spec.resultType = type;
  spec.resultDims = {count};
  spec.usesDims = !staticDim(from);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar>, Scalar) {
    Scalar index = b.mul(b.loopIndex(0), b.constantInt(DType::kIndex, *step));
    return b.cast(b.add(index, b.dimension(from)), type);
  };
  import.setOutput(node, 0, import.generic(spec));
}

void importEyeLike(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const DType type =
      node.hasAttribute("dtype") ? dtypeFromOnnx(int(node.intAttribute("dtype", 1))) : x.type;
  const int64_t k = node.intAttribute("k", 0);
  if (x.rank() != 2)
    failBadInput("it needs a tensor of rank 2, but has " + describeDims(x.dims));
  GenericSpec spec;
  spec.reduction = {false, false};
  spec.resultType = type;
  spec.resultDims = x.dims;
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar>, Scalar) {
    Scalar shifted = b.add(b.loopIndex(0), b.constantInt(DType::kIndex, k));
    return b.select(b.compare(Compare::kEqual, shifted, b.loopIndex(1)), b.constant(type, 1),
                    b.constant(type, 0));
  };
  import.setOutput(node, 0, import.generic(spec));
}

void importOneHot(ImportContext &import, const Node &node) {
  Tensor indices = import.input(node, 0), values = import.input(node, 2);
  auto depthInput = import.dimsInput(node, 1, "the depth");
  if (depthInput.size() != 1)
    failBadInput("the depth must be one number");
  if (values.rank() != 1 || staticDim(values.dims[0]) != 2)
    failBadInput("the values must be a list of two, off and on; they have the shape " +
                 describeDims(values.dims));
  Dim depth = depthInput[0];
  const int64_t axis = normalizeAxis(node.intAttribute("axis", -1), indices.rank() + 1);
  const unsigned rank = indices.rank() + 1;
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = values.type;
  llvm::SmallVector<mlir::AffineExpr> exprs;
  for (unsigned i = 0, from = 0; i < rank; ++i) {
    spec.resultDims.push_back(i == axis ? depth : indices.dims[from]);
    if (i == axis)
      continue;
    exprs.push_back(import.loop(i));
    ++from;
  }
  if (auto known = staticDim(depth); known && *known < 1)
    failBadInput("the depth is " + llvm::Twine(*known) + "; it must be at least 1");
  spec.usesDims = !staticDim(depth);
  spec.inputs.push_back({indices, import.map(rank, exprs)});
  spec.inputs.push_back({values, import.map(rank, {import.number(0)})});
  spec.inputs.push_back({values, import.map(rank, {import.number(1)})});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar) {
    Scalar index = b.cast(x[0], DType::kI64);
    Scalar wrapped = b.add(index, b.cast(b.dimension(depth), DType::kI64));
    index =
        b.select(b.compare(Compare::kLess, index, b.constantInt(DType::kI64, 0)), wrapped, index);
    return b.select(b.compare(Compare::kEqual, index, b.cast(b.loopIndex(axis), DType::kI64)), x[2],
                    x[1]);
  };
  import.setOutput(node, 0, import.generic(spec));
}

void importTrilu(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  int64_t k = 0;
  if (node.hasInput(1)) {
    auto list = import.intsInput(node, 1, "the diagonal");
    if (list.size() != 1)
      failBadInput("the diagonal must be one number");
    k = list[0];
  }
  if (x.rank() < 2)
    failBadInput("it needs a rank of at least 2, but has " + describeDims(x.dims));
  const bool upper = node.intAttribute("upper", 1) != 0;
  const unsigned rank = x.rank();
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = x.type;
  spec.resultDims = x.dims;
  spec.inputs.push_back({x, mlir::AffineMap::getMultiDimIdentityMap(rank, import.mlirContext())});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar) {
    Scalar diagonal = b.add(b.loopIndex(rank - 2), b.constantInt(DType::kIndex, k));
    Compare op = upper ? Compare::kGreaterEqual : Compare::kLessEqual;
    return b.select(b.compare(op, b.loopIndex(rank - 1), diagonal), in[0], b.constant(x.type, 0));
  };
  import.setOutput(node, 0, import.generic(spec));
}

} // namespace

void addCreationOperators(OperatorTable &table) {
  table["Constant"] = importConstant;
  table["ConstantOfShape"] = importConstantOfShape;
  table["Range"] = importRange;
  table["EyeLike"] = importEyeLike;
  table["OneHot"] = importOneHot;
  table["Trilu"] = importTrilu;
}

} // namespace gantry::importer
