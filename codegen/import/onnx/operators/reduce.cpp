// Implements reduce.h, and imports the Reduce operators, ArgMax, ArgMin and CumSum.
#include "codegen/import/onnx/operators/reduce.h"

#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

#include <limits>

namespace gantry::importer {

Number lowestOf(DType type) {
  Number n;
  if (isFloat(type))
    n.f = -std::numeric_limits<double>::infinity();
  else if (isUnsigned(type))
    n.i = 0;
  else
    n.i = std::numeric_limits<int64_t>::min() >> (64 - 8 * dtypeSize(type));
  return n;
}

Number highestOf(DType type) {
  Number n;
  if (isFloat(type))
    n.f = std::numeric_limits<double>::infinity();
  else if (type == DType::kBool)
    n.i = 1;
  else if (isUnsigned(type))
    n.i = static_cast<int64_t>(~uint64_t(0) >> (64 - 8 * dtypeSize(type)));
  else
    n.i = std::numeric_limits<int64_t>::max() >> (64 - 8 * dtypeSize(type));
  return n;
}

Tensor reduceSum(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims) {
  return import.reduce(in, axes, keepDims, in.type, numberOf(in.type, 0),
                       [](BodyBuilder &b, Scalar x, Scalar sum) { return b.add(sum, x); });
}

Tensor reduceMax(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims) {
  return import.reduce(in, axes, keepDims, in.type, lowestOf(in.type),
                       [](BodyBuilder &b, Scalar x, Scalar maximum) { return b.max(maximum, x); });
}

Tensor reduceMin(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                 bool keepDims) {
  return import.reduce(in, axes, keepDims, in.type, highestOf(in.type),
                       [](BodyBuilder &b, Scalar x, Scalar minimum) { return b.min(minimum, x); });
}

Tensor divideByCount(ImportContext &import, const Tensor &in, Dim count) {
  if (auto known = staticDim(count))
    return import.elementwise({in}, in.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
      return b.div(x[0], b.constant(in.type, static_cast<double>(*known)));
    });
  Tensor divisor = import.fromContent(in.type, {count}, true);
  return import.elementwise({in, divisor}, in.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
    return b.div(x[0], x[1]);
  });
}

Tensor reduceMean(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> axes,
                  bool keepDims) {
  Dim count = import.number(1);
  for (int64_t axis : axes)
    count = mulDims(count, in.dims[axis]);
  return divideByCount(import, reduceSum(import, in, axes, keepDims), count);
}

namespace {

struct Axes {
  llvm::SmallVector<int64_t> axes;
  bool keepDims = true;
  bool identity = false; // No axes are given, and noop_with_empty_axes is set.
};

// Reads the axes. They are an attribute in old opsets. They are an input from opset 13 on for
// ReduceSum, and from opset 18 on for the other reductions.
Axes readAxes(ImportContext &import, const Node &node, const Tensor &in) {
  Axes result;
  result.keepDims = node.intAttribute("keepdims", 1) != 0;
  std::optional<llvm::SmallVector<int64_t>> axes = node.intsAttribute("axes");
  if (node.hasInput(1))
    axes = import.intsInput(node, 1, "the axes");
  if (axes && !axes->empty()) {
    result.axes = normalizeAxes(*axes, in.rank());
    return result;
  }
  result.identity = node.intAttribute("noop_with_empty_axes", 0) != 0;
  for (int64_t i = 0; i < in.rank(); ++i)
    result.axes.push_back(i);
  return result;
}

Tensor squared(ImportContext &import, const Tensor &in) {
  return import.elementwise(
      {in}, in.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> x) { return b.mul(x[0], x[0]); });
}

Tensor applied(ImportContext &import, const Tensor &in, Unary op) {
  return import.elementwise(
      {in}, in.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) { return b.unary(op, x[0]); });
}

// Returns max + log(sum(exp(x - max))). An infinite maximum is replaced by 0, because infinity -
// infinity is NaN.
Tensor logSumExp(ImportContext &import, const Tensor &in, const Axes &a) {
  Tensor maximum = reduceMax(import, in, a.axes, true);
  maximum = import.elementwise({maximum}, in.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
    Scalar magnitude = b.unary(Unary::kAbs, x[0]);
    Scalar infinite = b.compare(Compare::kEqual, magnitude, b.constant(in.type, INFINITY));
    return b.select(infinite, b.constant(in.type, 0), x[0]);
  });
  Tensor powers =
      import.elementwise({in, maximum}, in.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
        return b.unary(Unary::kExp, b.sub(x[0], x[1]));
      });
  Tensor sum = reduceSum(import, powers, a.axes, true);
  Tensor out =
      import.elementwise({sum, maximum}, in.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
        return b.add(b.unary(Unary::kLog, x[0]), x[1]);
      });
  if (a.keepDims)
    return out;
  Dims dims;
  for (int64_t i = 0; i < in.rank(); ++i)
    if (!llvm::is_contained(a.axes, i))
      dims.push_back(in.dims[i]);
  return reshape(import, out, dims);
}

using Reduction = Tensor (*)(ImportContext &, const Tensor &, const Axes &);

template <Reduction reduction> void importReduce(ImportContext &import, const Node &node) {
  Tensor in = import.input(node, 0);
  const DType type = in.type;
  Axes axes = readAxes(import, node, in);
  // noop_with_empty_axes skips the reduction, but not a function that the operator applies to each
  // element, such as the square in ReduceSumSquare.
  if (axes.identity)
    axes.axes.clear();
  // Reductions of 16-bit floats are computed in f32 and rounded once.
  if (isHalf(type))
    in = import.cast(in, DType::kF32);
  Tensor out = axes.axes.empty() && axes.identity && in.rank() > 0 &&
                       (node.opType() == "ReduceSum" || node.opType() == "ReduceMean" ||
                        node.opType() == "ReduceMax" || node.opType() == "ReduceMin" ||
                        node.opType() == "ReduceProd")
                   ? in
                   : reduction(import, in, axes);
  import.setOutput(node, 0, import.cast(out, type));
}

Tensor sumOf(ImportContext &c, const Tensor &x, const Axes &a) {
  return reduceSum(c, x, a.axes, a.keepDims);
}
Tensor meanOf(ImportContext &c, const Tensor &x, const Axes &a) {
  // The sum of 8- and 16-bit integers, and their number, may exceed the range of their type.
  const bool isNarrow = !isFloat(x.type) && dtypeSize(x.type) < 4;
  return reduceMean(c, isNarrow ? c.cast(x, DType::kI64) : x, a.axes, a.keepDims);
}
Tensor maxOf(ImportContext &c, const Tensor &x, const Axes &a) {
  return reduceMax(c, x, a.axes, a.keepDims);
}
Tensor minOf(ImportContext &c, const Tensor &x, const Axes &a) {
  return reduceMin(c, x, a.axes, a.keepDims);
}
Tensor productOfElements(ImportContext &c, const Tensor &x, const Axes &a) {
  return c.reduce(x, a.axes, a.keepDims, x.type, numberOf(x.type, 1),
                  [](BodyBuilder &b, Scalar e, Scalar product) { return b.mul(product, e); });
}
Tensor l1Of(ImportContext &c, const Tensor &x, const Axes &a) {
  return sumOf(c, applied(c, x, Unary::kAbs), a);
}
Tensor sumSquareOf(ImportContext &c, const Tensor &x, const Axes &a) {
  return sumOf(c, squared(c, x), a);
}
Tensor l2Of(ImportContext &c, const Tensor &x, const Axes &a) {
  if (isFloat(x.type))
    return applied(c, sumSquareOf(c, x, a), Unary::kSqrt);
  // The sum of squares of integers may overflow even if the norm does not.
  return c.cast(applied(c, sumSquareOf(c, c.cast(x, DType::kF64), a), Unary::kSqrt), x.type);
}
Tensor logSumOf(ImportContext &c, const Tensor &x, const Axes &a) {
  return applied(c, sumOf(c, x, a), Unary::kLog);
}

// Imports ArgMax or ArgMin. A linalg.generic of the importer has only one result (generic.h), so
// there are two reductions: one for the extreme value, and one for the lowest (or highest) position
// with this value.
template <bool isMax> void importArg(ImportContext &import, const Node &node) {
  Tensor in = import.input(node, 0);
  const int64_t axis = normalizeAxis(node.intAttribute("axis", 0), std::max<int64_t>(in.rank(), 1));
  if (in.rank() == 0) // The only element is at position 0.
    return import.setOutput(node, 0, import.scalar(DType::kI64, 0));
  if (staticDim(in.dims[axis]) == 0)
    failBadInput("axis " + llvm::Twine(axis) + " has size 0, so it has no maximum or minimum");
  const bool last = node.intAttribute("select_last_index", 0) != 0;
  const bool keepDims = node.intAttribute("keepdims", 1) != 0;
  Tensor extreme =
      isMax ? reduceMax(import, in, {axis}, true) : reduceMin(import, in, {axis}, true);
  const unsigned rank = in.rank();
  llvm::SmallVector<mlir::AffineExpr> extremeExprs, results;
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.reduction[axis] = true;
  for (unsigned i = 0; i < rank; ++i) {
    bool here = i == axis;
    extremeExprs.push_back(here ? import.number(0) : import.loop(i));
    if (here && !keepDims)
      continue;
    results.push_back(here ? import.number(0) : import.loop(i));
    spec.resultDims.push_back(here ? import.number(1) : in.dims[i]);
  }
  spec.resultType = DType::kI64;
  spec.resultMap = import.map(rank, results);
  Number start;
  start.i = last ? -1 : INT64_MAX;
  spec.init = start;
  spec.inputs.push_back({in, mlir::AffineMap::getMultiDimIdentityMap(rank, import.mlirContext())});
  spec.inputs.push_back({extreme, import.map(rank, extremeExprs)});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar best) {
    Scalar here = b.cast(b.loopIndex(axis), DType::kI64);
    Scalar hit = b.compare(Compare::kEqual, x[0], x[1]);
    if (isFloat(in.type)) // If there is a NaN, it is the extreme value, but not equal to itself.
      hit = b.orBits(hit, b.isNaN(x[0]));
    Scalar candidate = b.select(hit, here, b.constantInt(DType::kI64, start.i));
    return last ? b.max(best, candidate) : b.min(best, candidate);
  };
  import.setOutput(node, 0, import.generic(spec));
}

// The kind of a prefix sum. Each element of the result is the sum of the elements before its
// position (`reverse`: after it). The sum includes the element at the position itself, unless
// `exclusive` is set.
struct PrefixSum {
  bool exclusive = false, reverse = false;
};

// Computes a prefix sum as a reduction over the whole axis with a mask. The work is quadratic in
// the size of the axis.
Tensor maskedPrefixSum(ImportContext &import, const Tensor &in, int64_t axis, PrefixSum kind) {
  const unsigned rank = in.rank(), loops = rank + 1;
  GenericSpec spec;
  spec.reduction.assign(loops, false);
  spec.reduction[rank] = true;
  llvm::SmallVector<mlir::AffineExpr> source, results;
  for (unsigned i = 0; i < rank; ++i) {
    source.push_back(import.loop(i == axis ? rank : i));
    results.push_back(import.loop(i));
  }
  spec.resultType = in.type;
  spec.resultDims = in.dims;
  spec.resultMap = import.map(loops, results);
  spec.init = numberOf(in.type, 0);
  spec.inputs.push_back({in, import.map(loops, source)});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar sum) {
    Scalar from = b.loopIndex(rank), to = b.loopIndex(axis);
    Compare op = kind.reverse ? (kind.exclusive ? Compare::kGreater : Compare::kGreaterEqual)
                              : (kind.exclusive ? Compare::kLess : Compare::kLessEqual);
    return b.add(sum, b.select(b.compare(op, from, to), x[0], b.constant(in.type, 0)));
  };
  return import.generic(spec);
}

// Computes a prefix sum. If the axis is long, it is divided into blocks: the result is the prefix
// sum in each block, plus the sum of the blocks before it, which is a prefix sum over the blocks
// (G. Blelloch, "Prefix sums and their applications", 1990).
Tensor prefixSum(ImportContext &import, const Tensor &in, int64_t axis, PrefixSum kind) {
  constexpr int64_t kBlock = 32, kMaxRank = 8;
  const std::optional<int64_t> size = staticDim(in.dims[axis]);
  if (!size || *size <= 2 * kBlock || in.rank() == kMaxRank)
    return maskedPrefixSum(import, in, axis, kind);
  const int64_t count = (*size + kBlock - 1) / kBlock, padding = count * kBlock - *size;
  const Dims none(in.rank(), import.number(0));
  Dims after(none), divided(in.dims), whole(in.dims);
  after[axis] = import.number(padding);
  whole[axis] = import.number(count * kBlock);
  divided[axis] = import.number(count);
  divided.insert(divided.begin() + axis + 1, import.number(kBlock));
  const Tensor blocks =
      reshape(import, pad(import, in, none, after, numberOf(in.type, 0)), divided);
  const Tensor inBlocks = maskedPrefixSum(import, blocks, axis + 1, kind);
  const Tensor sums = reduceSum(import, blocks, {axis + 1}, /*keepDims=*/false);
  const Tensor before = prefixSum(import, sums, axis, {/*exclusive=*/true, kind.reverse});
  Dims column(divided);
  column[axis + 1] = import.number(1);
  const Tensor result = import.elementwise(
      {inBlocks, reshape(import, before, column)}, in.type,
      [](BodyBuilder &b, llvm::ArrayRef<Scalar> x) { return b.add(x[0], x[1]); });
  return slice(import, reshape(import, result, whole), none, in.dims,
               llvm::SmallVector<int64_t>(in.rank(), 1));
}

void importCumSum(ImportContext &import, const Node &node) {
  Tensor in = import.input(node, 0);
  auto axisInput = import.intsInput(node, 1, "the axis");
  if (axisInput.size() != 1)
    failBadInput("the axis must be one number");
  const int64_t axis = normalizeAxis(axisInput[0], in.rank());
  const PrefixSum kind{node.intAttribute("exclusive", 0) != 0,
                       node.intAttribute("reverse", 0) != 0};
  // The partial sums of 16-bit floats are not rounded to 16 bits.
  const bool isNarrow = isFloat(in.type) && dtypeSize(in.type) < 4;
  const Tensor wide = isNarrow ? import.cast(in, DType::kF32) : in;
  import.setOutput(node, 0, import.cast(prefixSum(import, wide, axis, kind), in.type));
}

} // namespace

void addReduceOperators(OperatorTable &table) {
  table["ReduceSum"] = importReduce<sumOf>;
  table["ReduceMean"] = importReduce<meanOf>;
  table["ReduceMax"] = importReduce<maxOf>;
  table["ReduceMin"] = importReduce<minOf>;
  table["ReduceProd"] = importReduce<productOfElements>;
  table["ReduceL1"] = importReduce<l1Of>;
  table["ReduceL2"] = importReduce<l2Of>;
  table["ReduceSumSquare"] = importReduce<sumSquareOf>;
  table["ReduceLogSum"] = importReduce<logSumOf>;
  table["ReduceLogSumExp"] = importReduce<logSumExp>;
  table["ArgMax"] = importArg<true>;
  table["ArgMin"] = importArg<false>;
  table["CumSum"] = importCumSum;
}

} // namespace gantry::importer
