// Imports Softmax and the normalisations, each as a few reductions and elementwise operations.
#include "codegen/import/onnx/fold_scale.h"
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/operators/reduce.h"
#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

namespace {

// Returns the axes that Softmax and LogSoftmax reduce: `axis`, or before opset 13 all axes from
// `axis` on.
llvm::SmallVector<int64_t> softmaxAxes(const Node &node, const Tensor &x) {
  const bool flattens = node.opset() < 13;
  const int64_t axis = normalizeAxis(node.intAttribute("axis", flattens ? 1 : -1), x.rank());
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = axis; i < (flattens ? x.rank() : axis + 1); ++i)
    axes.push_back(i);
  return axes;
}

void importSoftmax(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  auto axes = softmaxAxes(node, x);
  Tensor maximum = reduceMax(import, x, axes, true);
  Tensor powers =
      import.elementwise({x, maximum}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        return b.unary(Unary::kExp, b.sub(in[0], in[1]));
      });
  Tensor sum = reduceSum(import, powers, axes, true);
  Tensor result =
      import.elementwise({powers, sum}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        return b.div(in[0], in[1]);
      });
  import.setOutput(node, 0, result);
}

void importLogSoftmax(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  auto axes = softmaxAxes(node, x);
  Tensor maximum = reduceMax(import, x, axes, true);
  Tensor shifted =
      import.elementwise({x, maximum}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        return b.sub(in[0], in[1]);
      });
  Tensor powers =
      import.elementwise({shifted}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        return b.unary(Unary::kExp, in[0]);
      });
  Tensor sum = reduceSum(import, powers, axes, true);
  Tensor result =
      import.elementwise({shifted, sum}, x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        return b.sub(in[0], b.unary(Unary::kLog, in[1]));
      });
  import.setOutput(node, 0, result);
}

void importBatchNormalization(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (x.rank() < 2)
    failBadInput("it needs [N, C, ...], but its input has the shape " + describeDims(x.dims));
  auto [factor, shift] = batchNormScale(import, node);
  Dims column(x.rank() - 1, import.number(1));
  column[0] = factor.dims[0];
  Tensor y = import.elementwise({x, reshape(import, import.cast(factor, x.type), column),
                                 reshape(import, import.cast(shift, x.type), column)},
                                x.type, [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
                                  return b.add(b.mul(in[0], in[1]), in[2]);
                                });
  import.setOutput(node, 0, y);
}

struct Moments {
  Tensor mean;    // Set only if moments() is called with `centred`.
  Tensor inverse; // 1 / sqrt(variance + epsilon)
};

// Computes the mean, then the mean of the squared distances from it. Two passes avoid the
// cancellation of E[x^2] - E[x]^2. If `centred` is false, distances are measured from 0.
Moments moments(ImportContext &import, const Tensor &x, llvm::ArrayRef<int64_t> axes,
                double epsilon, bool centred = true) {
  Moments m;
  Dim count = import.number(1);
  for (int64_t axis : axes)
    count = mulDims(count, x.dims[axis]);
  GenericSpec spec;
  const unsigned rank = x.rank();
  spec.reduction.assign(rank, false);
  for (int64_t axis : axes)
    spec.reduction[axis] = true;
  llvm::SmallVector<mlir::AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i) {
    exprs.push_back(spec.reduction[i] ? import.number(0) : import.loop(i));
    spec.resultDims.push_back(spec.reduction[i] ? import.number(1) : x.dims[i]);
  }
  spec.resultType = x.type;
  spec.resultMap = import.map(rank, exprs);
  spec.init = Number{.f = 0};
  spec.inputs.push_back({x, mlir::AffineMap::getMultiDimIdentityMap(rank, import.mlirContext())});
  if (centred) {
    m.mean = reduceMean(import, x, axes, true);
    spec.inputs.push_back({m.mean, spec.resultMap});
  }
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar sum) {
    Scalar distance = centred ? b.sub(in[0], in[1]) : in[0];
    return b.add(sum, b.mul(distance, distance));
  };
  Tensor variance = divideByCount(import, import.generic(spec), count);
  m.inverse =
      import.elementwise({variance}, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        Scalar sum = b.add(in[0], b.constant(x.type, epsilon));
        return b.div(b.constant(x.type, 1), b.unary(Unary::kSqrt, sum));
      });
  return m;
}

// Returns (x - mean) * inverse * scale + bias. Scale and bias broadcast; the bias may be absent.
Tensor normalized(ImportContext &import, const Tensor &x, const Moments &m, const Tensor &scale,
                  const std::optional<Tensor> &bias) {
  llvm::SmallVector<Tensor> operands{x, m.mean, m.inverse, scale};
  if (bias)
    operands.push_back(*bias);
  return import.elementwise(operands, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    Scalar value = b.mul(b.mul(b.sub(in[0], in[1]), in[2]), in[3]);
    return bias ? b.add(value, in[4]) : value;
  });
}

void importInstanceNormalization(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (x.rank() < 3)
    failBadInput("it needs [N, C, spatial...], but its input has the shape " +
                 describeDims(x.dims));
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 2; i < x.rank(); ++i)
    axes.push_back(i);
  Dims column(x.rank() - 1, import.number(1));
  column[0] = x.dims[1];
  Tensor scale = reshape(import, import.input(node, 1), column);
  Tensor bias = reshape(import, import.input(node, 2), column);
  Moments m = moments(import, x, axes, node.floatAttribute("epsilon", 1e-5));
  import.setOutput(node, 0, normalized(import, x, m, scale, bias));
}

// Imports LayerNormalization. Normalises in f32 (f64 for f64), as stash_type = 1 specifies, and
// casts the result back.
void importLayerNormalization(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), scale = import.input(node, 1);
  std::optional<Tensor> bias = import.optionalInput(node, 2);
  const int64_t axis = normalizeAxis(node.intAttribute("axis", -1), x.rank());
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = axis; i < x.rank(); ++i)
    axes.push_back(i);
  const DType type = x.type == DType::kF64 ? DType::kF64 : DType::kF32;
  Tensor wide = import.cast(x, type);
  Moments m = moments(import, wide, axes, node.floatAttribute("epsilon", 1e-5));
  if (bias)
    bias = import.cast(*bias, type);
  Tensor y = normalized(import, wide, m, import.cast(scale, type), bias);
  import.setOutput(node, 0, import.cast(y, x.type));
  import.setOutput(node, 1, m.mean);
  import.setOutput(node, 2, m.inverse);
}

void importRmsNormalization(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), scale = import.input(node, 1);
  const int64_t axis = normalizeAxis(node.intAttribute("axis", -1), x.rank());
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = axis; i < x.rank(); ++i)
    axes.push_back(i);
  const DType type = x.type == DType::kF64 ? DType::kF64 : DType::kF32;
  Tensor wide = import.cast(x, type);
  Moments m = moments(import, wide, axes, node.floatAttribute("epsilon", 1e-5), /*centred=*/false);
  Tensor y = import.elementwise(
      {wide, m.inverse, import.cast(scale, type)}, type,
      [](BodyBuilder &b, llvm::ArrayRef<Scalar> in) { return b.mul(b.mul(in[0], in[1]), in[2]); });
  import.setOutput(node, 0, import.cast(y, x.type));
}

void importGroupNormalization(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), scale = import.input(node, 1), bias = import.input(node, 2);
  const int64_t groups = node.intAttribute("num_groups", 0);
  auto channels = x.rank() < 2 ? std::nullopt : staticDim(x.dims[1]);
  if (!channels || groups < 1 || *channels % groups != 0)
    failBadInput("num_groups is " + llvm::Twine(groups) + " for an input of the shape " +
                 describeDims(x.dims) +
                 "; it must divide the number of channels (dimension 1), which must be static");
  Dims apart = x.dims;
  apart[1] = import.number(*channels / groups);
  apart.insert(apart.begin() + 1, import.number(groups));
  llvm::SmallVector<int64_t> axes;
  for (size_t i = 2; i < apart.size(); ++i)
    axes.push_back(i);
  Tensor split = reshape(import, x, apart);
  Moments m = moments(import, split, axes, node.floatAttribute("epsilon", 1e-5));
  // Scale and bias have one value per group up to opset 20, and one per channel from opset 21 on.
  auto column = [&](const Tensor &parameter) {
    Dims dims(apart.size() - 1, import.number(1));
    dims[0] = import.number(groups);
    if (parameter.rank() == 1 && staticDim(parameter.dims[0]) == *channels && *channels != groups)
      dims[1] = apart[2];
    return reshape(import, parameter, dims);
  };
  Tensor y = normalized(import, split, m, column(scale), column(bias));
  import.setOutput(node, 0, reshape(import, y, x.dims));
}

void importMeanVarianceNormalization(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  auto axes = node.intsAttribute("axes").value_or(llvm::SmallVector<int64_t>{0, 2, 3});
  Moments m = moments(import, x, normalizeAxes(axes, x.rank()), 1e-9);
  import.setOutput(node, 0, normalized(import, x, m, import.scalar(x.type, 1), std::nullopt));
}

void importLpNormalization(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const int64_t axis = normalizeAxis(node.intAttribute("axis", -1), x.rank());
  const int64_t p = node.intAttribute("p", 2);
  if (p != 1 && p != 2)
    failBadInput("p is " + llvm::Twine(p) + "; it must be 1 or 2");
  Tensor powers = import.elementwise({x}, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    return p == 2 ? b.mul(in[0], in[0]) : b.unary(Unary::kAbs, in[0]);
  });
  Tensor sum = reduceSum(import, powers, {axis}, true);
  Tensor result =
      import.elementwise({x, sum}, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        Scalar norm = p == 2 ? b.unary(Unary::kSqrt, in[1]) : in[1];
        // If the norm is 0, the result is 0.
        Scalar zero = b.constant(x.type, 0);
        return b.select(b.compare(Compare::kEqual, norm, zero), zero, b.div(in[0], norm));
      });
  import.setOutput(node, 0, result);
}

// Imports LRN: x / (bias + alpha / size * s) ^ beta, where s is the sum of squares over `size`
// neighbouring channels.
void importLrn(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (x.rank() < 3)
    failBadInput("it needs [N, C, spatial...], but its input has the shape " +
                 describeDims(x.dims));
  const int64_t size = node.intAttribute("size", 0);
  if (size < 1 || size > (int64_t(1) << 31))
    failBadInput("size is " + llvm::Twine(size) + "; it must be from 1 to 2^31");
  const double alpha = node.floatAttribute("alpha", 1e-4), beta = node.floatAttribute("beta", 0.75);
  const double bias = node.floatAttribute("bias", 1);
  const unsigned rank = x.rank(), loops = rank + 1;
  llvm::SmallVector<Dim> low(rank, import.number(0)), high = low;
  low[1] = import.number((size - 1) / 2);
  high[1] = import.number(size - 1 - (size - 1) / 2);
  Tensor padded = pad(import, x, low, high, Number{.f = 0});
  GenericSpec spec;
  spec.reduction.assign(loops, false);
  spec.reduction[rank] = true;
  llvm::SmallVector<mlir::AffineExpr> exprs, results;
  for (unsigned i = 0; i < rank; ++i) {
    results.push_back(import.loop(i));
    exprs.push_back(i == 1 ? import.loop(1) + import.loop(rank) : import.loop(i));
  }
  spec.resultType = x.type;
  spec.resultDims = x.dims;
  spec.resultMap = import.map(loops, results);
  spec.init = Number{.f = 0};
  spec.inputs.push_back({padded, import.map(loops, exprs)});
  spec.inputs.push_back({import.window({size}, x.type), import.map(loops, {import.loop(rank)})});
  spec.body = [](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar sum) {
    return b.add(sum, b.mul(in[0], in[0]));
  };
  Tensor squares = import.generic(spec);
  Tensor result =
      import.elementwise({x, squares}, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
        Scalar scaled = b.mul(in[1], b.constant(x.type, alpha / static_cast<double>(size)));
        Scalar base = b.add(scaled, b.constant(x.type, bias));
        return b.div(in[0], b.power(base, b.constant(x.type, beta)));
      });
  import.setOutput(node, 0, result);
}

} // namespace

void addNormOperators(OperatorTable &table) {
  table["Softmax"] = importSoftmax;
  table["LogSoftmax"] = importLogSoftmax;
  table["BatchNormalization"] = importBatchNormalization;
  table["InstanceNormalization"] = importInstanceNormalization;
  table["LayerNormalization"] = importLayerNormalization;
  table["RMSNormalization"] = importRmsNormalization;
  table["GroupNormalization"] = importGroupNormalization;
  table["MeanVarianceNormalization"] = importMeanVarianceNormalization;
  table["LpNormalization"] = importLpNormalization;
  table["LRN"] = importLrn;
}

} // namespace gantry::importer
