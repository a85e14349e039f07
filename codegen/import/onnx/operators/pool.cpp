// Imports MaxPool, AveragePool, LpPool and their global forms.
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/operators/reduce.h"
#include "codegen/import/onnx/operators/windows.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>

namespace gantry::importer {

namespace {

using Accumulate = std::function<Scalar(BodyBuilder &, Scalar element, Scalar accumulator)>;

// Returns, for each spatial axis, the number of padding elements after the data that the windows
// need. With ceil_mode, the last window may extend beyond the padding of the node's attributes.
llvm::SmallVector<Dim> paddingAfter(const Windows &w, llvm::ArrayRef<Dim> input) {
  llvm::SmallVector<Dim> result;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    mlir::MLIRContext *context = input[0].getContext();
    auto number = [&](int64_t value) { return mlir::getAffineConstantExpr(value, context); };
    if (!w.ceilMode) {
      result.push_back(w.padHigh[i]);
      continue;
    }
    Dim reach = addDims(mulDims(subDims(w.outputs[i], number(1)), number(w.strides[i])),
                        number(w.extent(i)));
    Dim beyond = subDims(reach, addDims(input[2 + i], w.padLow[i]));
    auto known = staticDim(beyond);
    result.push_back(known ? number(std::max<int64_t>(*known, 0))
                           : addDims(w.padHigh[i], number(w.strides[i] - 1)));
  }
  return result;
}

// Reduces each window of a tensor that is already padded.
Tensor poolWindows(ImportContext &import, const Tensor &padded, const Windows &w, Number init,
                   const Accumulate &accumulate) {
  const unsigned spatial = w.kernel.size(), firstTap = 2 + spatial, loops = firstTap + spatial;
  GenericSpec spec;
  spec.reduction.assign(loops, false);
  llvm::SmallVector<mlir::AffineExpr> in{import.loop(0), import.loop(1)}, taps, out = in;
  spec.resultDims = {padded.dims[0], padded.dims[1]};
  for (unsigned i = 0; i < spatial; ++i) {
    spec.reduction[firstTap + i] = true;
    in.push_back(import.loop(2 + i) * w.strides[i] + import.loop(firstTap + i) * w.dilations[i]);
    taps.push_back(import.loop(firstTap + i));
    out.push_back(import.loop(2 + i));
    spec.resultDims.push_back(w.outputs[i]);
  }
  spec.resultType = padded.type;
  spec.resultMap = import.map(loops, out);
  spec.init = init;
  spec.inputs.push_back({padded, import.map(loops, in)});
  spec.inputs.push_back({import.window(w.kernel, padded.type), import.map(loops, taps)});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar acc) {
    return accumulate(b, x[0], acc);
  };
  return import.generic(spec);
}

Tensor padAndPool(ImportContext &import, const Tensor &x, const Windows &w, Number padding,
                  const Accumulate &accumulate) {
  llvm::SmallVector<Dim> low(2, import.number(0)), high(2, import.number(0));
  low.append(w.padLow);
  high.append(paddingAfter(w, x.dims));
  return poolWindows(import, pad(import, x, low, high, padding), w, padding, accumulate);
}

Tensor poolInput(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (x.rank() < 3)
    failBadInput("a pool needs [N, C, spatial...], but its input has the shape " +
                 describeDims(x.dims));
  return x;
}

Scalar addUp(BodyBuilder &b, Scalar element, Scalar sum) { return b.add(sum, element); }

void importMaxPool(ImportContext &import, const Node &node) {
  Tensor x = poolInput(import, node);
  Windows w = readWindows(node, x.dims, {});
  Tensor result = padAndPool(
      import, x, w, lowestOf(x.type),
      [](BodyBuilder &b, Scalar element, Scalar maximum) { return b.max(maximum, element); });
  import.setOutput(node, 0, result);
}

// Returns, for each window along one axis, the number of its elements that are not padding.
llvm::SmallVector<double> windowCounts(const Windows &w, size_t axis, int64_t size) {
  const int64_t low = *staticDim(w.padLow[axis]);
  llvm::SmallVector<double> counts;
  for (int64_t o = 0; o < *staticDim(w.outputs[axis]); ++o) {
    int64_t count = 0;
    for (int64_t k = 0; k < w.kernel[axis]; ++k) {
      int64_t at = o * w.strides[axis] - low + k * w.dilations[axis];
      count += at >= 0 && at < size;
    }
    counts.push_back(static_cast<double>(count));
  }
  return counts;
}

void importAveragePool(ImportContext &import, const Node &node) {
  Tensor x = poolInput(import, node);
  Windows w = readWindows(node, x.dims, {});
  const bool includePad = node.intAttribute("count_include_pad", 0) != 0;
  const size_t spatial = w.kernel.size();
  const Number zero = numberOf(x.type, 0);
  Tensor sum = padAndPool(import, x, w, zero, addUp);
  // Each sum is divided by the number of elements of its window, without padding unless includePad
  // is set. This number is the product of `uniform` and of one operand for each axis along which
  // the windows have different numbers of elements.
  double uniform = 1;
  llvm::SmallVector<Tensor> operands{sum};
  for (size_t i = 0; i < spatial; ++i) {
    bool padded = staticDim(w.padLow[i]) != 0 || staticDim(w.padHigh[i]) != 0 || w.ceilMode;
    auto size = staticDim(x.dims[2 + i]);
    if (!padded || includePad) { // The elements that ceil_mode adds are padding too.
      uniform *= static_cast<double>(w.kernel[i]);
      continue;
    }
    Dims shape(spatial - i, import.number(1));
    if (size) {
      auto counts = windowCounts(w, i, *size);
      if (llvm::all_equal(counts) && !counts.empty()) {
        uniform *= counts[0];
        continue;
      }
      shape[0] = w.outputs[i];
      Tensor list = import.fromConstant(makeFloats(x.type, {int64_t(counts.size())}, counts));
      operands.push_back(reshape(import, list, shape));
      continue;
    }
    // The counts along a dynamic axis are computed by the same pool over ones.
    Windows line;
    line.kernel = {w.kernel[i]};
    line.strides = {w.strides[i]};
    line.dilations = {w.dilations[i]};
    line.padLow = {w.padLow[i]};
    line.padHigh = {w.padHigh[i]};
    line.outputs = {w.outputs[i]};
    line.ceilMode = w.ceilMode;
    Tensor ones = broadcastTo(import, import.scalar(x.type, 1),
                              {import.number(1), import.number(1), x.dims[2 + i]});
    Tensor counts = padAndPool(import, ones, line, zero, addUp);
    shape[0] = w.outputs[i];
    operands.push_back(reshape(import, counts, shape));
  }
  Tensor y = import.elementwise(operands, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    Scalar value = in[0];
    for (size_t i = 1; i < in.size(); ++i)
      value = b.div(value, in[i]);
    return uniform == 1 ? value : b.div(value, b.constant(x.type, uniform));
  });
  import.setOutput(node, 0, y);
}

// Returns |x|^p for each element: the terms of a p-norm.
Tensor powered(ImportContext &import, const Tensor &x, double p) {
  return import.elementwise({x}, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    if (p == 2)
      return b.mul(in[0], in[0]);
    Scalar magnitude = b.unary(Unary::kAbs, in[0]);
    return p == 1 ? magnitude : b.power(magnitude, b.constant(x.type, p));
  });
}

// Returns the p-th root of each element: the p-norm from a sum of such terms.
Tensor rooted(ImportContext &import, const Tensor &x, double p) {
  return import.elementwise({x}, x.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in) {
    if (p == 2)
      return b.unary(Unary::kSqrt, in[0]);
    return p == 1 ? in[0] : b.power(in[0], b.constant(x.type, 1 / p));
  });
}

// Returns the attribute p, the order of the norm.
double normOrder(const Node &node) {
  return node.opset() < 2 ? node.floatAttribute("p", 2) : double(node.intAttribute("p", 2));
}

void importLpPool(ImportContext &import, const Node &node) {
  Tensor x = poolInput(import, node);
  Windows w = readWindows(node, x.dims, {});
  const Number zero = numberOf(x.type, 0);
  double p = normOrder(node);
  Tensor sum = padAndPool(import, powered(import, x, p), w, zero, addUp);
  import.setOutput(node, 0, rooted(import, sum, p));
}

llvm::SmallVector<int64_t> spatialAxes(const Tensor &x) {
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 2; i < x.rank(); ++i)
    axes.push_back(i);
  return axes;
}

void importGlobalAveragePool(ImportContext &import, const Node &node) {
  Tensor x = poolInput(import, node);
  import.setOutput(node, 0, reduceMean(import, x, spatialAxes(x), true));
}

void importGlobalMaxPool(ImportContext &import, const Node &node) {
  Tensor x = poolInput(import, node);
  import.setOutput(node, 0, reduceMax(import, x, spatialAxes(x), true));
}

void importGlobalLpPool(ImportContext &import, const Node &node) {
  Tensor x = poolInput(import, node);
  double p = normOrder(node);
  import.setOutput(
      node, 0, rooted(import, reduceSum(import, powered(import, x, p), spatialAxes(x), true), p));
}

} // namespace

void addPoolOperators(OperatorTable &table) {
  table["MaxPool"] = importMaxPool;
  table["AveragePool"] = importAveragePool;
  table["LpPool"] = importLpPool;
  table["GlobalAveragePool"] = importGlobalAveragePool;
  table["GlobalMaxPool"] = importGlobalMaxPool;
  table["GlobalLpPool"] = importGlobalLpPool;
}

} // namespace gantry::importer
