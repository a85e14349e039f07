// Imports Resize and Upsample: nearest, linear and cubic, in all coordinate modes except
// tf_crop_and_resize. Along dynamic dimensions, cubic and some coordinate modes are not supported.
//
// Interpolation is separable. For each output position, each resized axis has 1, 2 or 4 taps. A tap
// is an input position and a weight.
//
// For static sizes, the weights are in small constant tables. The position of the first tap is
// floor((a * o + b) / c) for the output position o and some integers a, b and c, so each
// combination of taps (one per axis) is an operand whose indexing map has this expression. A kernel
// then knows which elements neighbouring outputs share. A tap outside of the input stands for the
// edge of the input. It reads a padding of zeros instead, and its weight is added to that of the
// tap that reads the edge. If a coordinate mode has no such expression, the positions are in tables
// too, and the body reads the elements by these positions.
//
// For dynamic sizes, the body computes the taps. Nearest upsampling by an integer factor needs no
// taps: the operand's indexing map divides the output position by the factor.
#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>

namespace gantry::importer {

namespace {

// The node's attributes, with the defaults of ONNX.
struct Mode {
  std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  double cubic = -0.75;
  bool excludeOutside = false;
};

// One axis that is resized.
struct Axis {
  int64_t axis = 0, in = 1, out = 1; // The sizes `in` and `out` are set only if both are static.
  double scale = 1;                  // Output size / input size; 0: computed at run time.
  bool dynamic = false;              // Whether a size is dynamic.
  Dim inDim, outDim;
  // For each output position, the position of its first tap, which may lie outside of the input.
  std::vector<int64_t> first;
  std::vector<std::vector<int64_t>> positions; // Indexed by tap, then by output position.
  std::vector<std::vector<double>> weights;    // Indexed in the same way.
  size_t taps() const { return positions.size(); }
};

// Returns the input coordinate that corresponds to an output position.
double originalCoordinate(const Mode &mode, const Axis &a, int64_t at) {
  const double x = static_cast<double>(at), in = double(a.in), out = double(a.out);
  if (mode.coordinates == "half_pixel")
    return (x + 0.5) / a.scale - 0.5;
  if (mode.coordinates == "pytorch_half_pixel")
    return a.out > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
  if (mode.coordinates == "align_corners")
    // The scaled length may be a fraction, as in ONNX's reference implementation.
    return a.scale * in > 1 && a.out > 1 ? x * (in - 1) / (a.scale * in - 1) : 0;
  if (mode.coordinates == "asymmetric")
    return x / a.scale;
  if (mode.coordinates == "tf_half_pixel_for_nn")
    return (x + 0.5) / a.scale;
  if (mode.coordinates == "half_pixel_symmetric") {
    double adjustment = out / (a.scale * in), center = in / 2;
    return center * (1 - adjustment) + (x + 0.5) / a.scale - 0.5;
  }
  failUnsupported("the coordinate mode \"" + mode.coordinates + "\" is not supported");
}

int64_t nearestPosition(const Mode &mode, double x) {
  if (mode.nearest == "round_prefer_floor")
    return static_cast<int64_t>(std::ceil(x - 0.5));
  if (mode.nearest == "round_prefer_ceil")
    return static_cast<int64_t>(std::floor(x + 0.5));
  if (mode.nearest == "floor")
    return static_cast<int64_t>(std::floor(x));
  if (mode.nearest == "ceil")
    return static_cast<int64_t>(std::ceil(x));
  failBadInput("the nearest_mode \"" + mode.nearest +
               "\" is not valid; it must be round_prefer_floor, round_prefer_ceil, floor or ceil");
}

// Fills the tables of taps for an axis with static sizes.
void computeTaps(const Mode &mode, Axis &a) {
  const size_t taps = mode.mode == "nearest" ? 1 : mode.mode == "linear" ? 2 : 4;
  a.positions.assign(taps, {});
  a.weights.assign(taps, {});
  for (int64_t o = 0; o < a.out; ++o) {
    const double x = originalCoordinate(mode, a, o);
    const double base = std::floor(x), t = x - base;
    double weights[4] = {1 - t, t, 0, 0};
    int64_t first = static_cast<int64_t>(base);
    if (taps == 1) {
      first = nearestPosition(mode, x);
      weights[0] = 1;
    } else if (taps == 4) {
      // The kernel is that of R. Keys, "Cubic convolution interpolation for digital image
      // processing", 1981.
      const double c = mode.cubic, u = 1 - t;
      first -= 1;
      weights[0] = ((c * (t + 1) - 5 * c) * (t + 1) + 8 * c) * (t + 1) - 4 * c;
      weights[1] = ((c + 2) * t - (c + 3)) * t * t + 1;
      weights[2] = ((c + 2) * u - (c + 3)) * u * u + 1;
      weights[3] = ((c * (u + 1) - 5 * c) * (u + 1) + 8 * c) * (u + 1) - 4 * c;
    }
    if (mode.excludeOutside && taps == 4) {
      double sum = 0;
      for (size_t k = 0; k < taps; ++k) {
        int64_t at = first + int64_t(k);
        if (at < 0 || at >= a.in)
          weights[k] = 0;
        sum += weights[k];
      }
      for (double &weight : weights)
        weight /= sum;
    }
    a.first.push_back(first);
    for (size_t k = 0; k < taps; ++k) {
      a.positions[k].push_back(std::clamp<int64_t>(first + int64_t(k), 0, a.in - 1));
      a.weights[k].push_back(weights[k]);
    }
  }
}

// Returns the factor if every output position o reads the input position o / factor, rounded down.
// Otherwise returns nothing.
std::optional<int64_t> wholeFactor(const Mode &mode, const Axis &a) {
  if (a.dynamic) {
    const bool exact = (mode.coordinates == "asymmetric" && mode.nearest == "floor") ||
                       (mode.coordinates == "half_pixel" && mode.nearest == "round_prefer_floor");
    bool whole = a.scale >= 1 && a.scale == std::floor(a.scale);
    if (mode.mode != "nearest" || !exact || !whole)
      return std::nullopt;
    return static_cast<int64_t>(a.scale);
  }
  if (a.taps() != 1 || a.out % a.in != 0)
    return std::nullopt;
  const int64_t factor = a.out / a.in;
  for (int64_t o = 0; o < a.out; ++o)
    if (a.positions[0][o] != o / factor)
      return std::nullopt;
  return factor;
}

// The quotient floor((a * o + b) / c), as a function of the output position o.
struct Division {
  int64_t a, b, c;
  int64_t at(int64_t o) const { return llvm::divideFloorSigned(a * o + b, c); }
};

// Returns the scale as a fraction (numerator, denominator).
std::pair<int64_t, int64_t> fractionOf(const Axis &axis) {
  constexpr int64_t kMaxDenominator = 64;
  constexpr double kTolerance = 1e-6;
  for (int64_t denominator = 1; denominator <= kMaxDenominator; ++denominator) {
    const double numerator = axis.scale * static_cast<double>(denominator);
    if (numerator >= 1 - kTolerance && std::fabs(numerator - std::round(numerator)) < kTolerance)
      return {static_cast<int64_t>(std::round(numerator)), denominator};
  }
  return {axis.out, axis.in};
}

// Returns the quotient that equals the position of the first tap for every output position, if any.
std::optional<Division> firstTap(const Mode &mode, const Axis &axis) {
  const auto [up, down] = fractionOf(axis);
  // The input coordinate is (a * o + b) / c.
  Division x{down, 0, up}; // asymmetric
  if (mode.coordinates == "align_corners")
    x = {(axis.in - 1) * down, 0, std::max<int64_t>(axis.in * up - down, 1)};
  else if (mode.coordinates == "tf_half_pixel_for_nn")
    x = {2 * down, down, 2 * up};
  else if (mode.coordinates != "asymmetric")
    x = {2 * down, down - up, 2 * up};
  if (axis.taps() == 4) {
    x.b -= x.c;
  } else if (axis.taps() == 1) {
    if (mode.nearest == "ceil")
      x.b += x.c - 1;
    else if (mode.nearest == "round_prefer_floor")
      x = {2 * x.a, 2 * x.b + x.c - 1, 2 * x.c};
    else if (mode.nearest == "round_prefer_ceil")
      x = {2 * x.a, 2 * x.b + x.c, 2 * x.c};
  }
  for (int64_t o = 0; o < axis.out; ++o)
    if (x.at(o) != axis.first[o])
      return std::nullopt;
  return x;
}

// Adds the weights of taps outside of the input to those of the taps that read the input's edge.
// Returns false if an output position has a tap outside of the input, but none that reads the edge.
bool moveWeightsInside(Axis &axis) {
  for (int64_t o = 0; o < axis.out; ++o)
    for (size_t k = 0; k < axis.taps(); ++k) {
      const int64_t at = axis.first[o] + static_cast<int64_t>(k), inside = axis.positions[k][o];
      if (at == inside)
        continue;
      const int64_t edge = inside - axis.first[o];
      if (edge < 0 || edge >= static_cast<int64_t>(axis.taps()))
        return false;
      axis.weights[edge][o] += axis.weights[k][o];
      axis.weights[k][o] = 0;
    }
  return true;
}

// Returns a table of taps in row-major order of the output position and the tap, so that a kernel
// binds one buffer for all taps.
template <typename T>
std::vector<T> tableOf(const Axis &axis, const std::vector<std::vector<T>> &byTap) {
  std::vector<T> table;
  for (int64_t o = 0; o < axis.out; ++o)
    for (const std::vector<T> &values : byTap)
      table.push_back(values[o]);
  return table;
}

Tensor weightsOf(ImportContext &import, DType type, const Axis &axis) {
  return import.fromConstant(
      makeFloats(type, {axis.out, static_cast<int64_t>(axis.taps())}, tableOf(axis, axis.weights)));
}

// Interpolates with one operand for each combination of taps. Returns nothing if a position has no
// expression, or if there are too many combinations.
std::optional<Tensor> interpolateByMaps(ImportContext &import, const Tensor &x, const Mode &mode,
                                        std::vector<Axis> axes, const Dims &dims) {
  constexpr size_t kMaxCombinations = 16;
  const unsigned rank = x.rank();
  llvm::SmallVector<mlir::AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i)
    exprs.push_back(import.loop(i));
  Dims low(rank, import.number(0)), high = low;
  size_t combinations = 1;
  for (Axis &axis : axes) {
    combinations *= axis.taps();
    const std::optional<Division> first =
        axis.dynamic || combinations > kMaxCombinations ? std::nullopt : firstTap(mode, axis);
    if (!first || !moveWeightsInside(axis))
      return std::nullopt;
    const int64_t before = std::max<int64_t>(0, -axis.first.front());
    const int64_t last = axis.first.back() + static_cast<int64_t>(axis.taps()) - 1;
    low[axis.axis] = import.number(before);
    high[axis.axis] = import.number(std::max<int64_t>(0, last - (axis.in - 1)));
    exprs[axis.axis] = (import.loop(axis.axis) * first->a + first->b).floorDiv(first->c) + before;
  }
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = x.type;
  spec.resultDims = dims;
  const Tensor padded = pad(import, x, low, high, numberOf(x.type, 0));
  // Operands: all combinations of taps, the last axis varying fastest, then the weights.
  for (size_t number = 0; number < combinations; ++number) {
    llvm::SmallVector<mlir::AffineExpr> at(exprs);
    size_t rest = number;
    for (const Axis &axis : llvm::reverse(axes)) {
      at[axis.axis] = at[axis.axis] + static_cast<int64_t>(rest % axis.taps());
      rest /= axis.taps();
    }
    spec.inputs.push_back({padded, import.map(rank, at)});
  }
  for (const Axis &axis : axes) {
    const auto taps = static_cast<int64_t>(axis.taps());
    if (taps == 1)
      continue;
    const Tensor weights = weightsOf(import, x.type, axis);
    for (int64_t k = 0; k < taps; ++k)
      spec.inputs.push_back(
          {weights, import.map(rank, {import.loop(axis.axis), import.number(k)})});
  }
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar) {
    llvm::SmallVector<Scalar> values(in.take_front(combinations));
    size_t weight = in.size();
    for (const Axis &axis : llvm::reverse(axes)) { // Sums over the taps of one axis after another.
      if (axis.taps() == 1)
        continue;
      weight -= axis.taps();
      llvm::SmallVector<Scalar> sums;
      for (size_t i = 0; i < values.size(); i += axis.taps()) {
        Scalar sum = b.mul(values[i], in[weight]);
        for (size_t k = 1; k < axis.taps(); ++k)
          sum = b.add(sum, b.mul(values[i + k], in[weight + k]));
        sums.push_back(sum);
      }
      values = std::move(sums);
    }
    return values.front();
  };
  return import.generic(spec);
}

struct Tap {
  Scalar position;              // An input position within bounds, of type kIndex.
  std::optional<Scalar> weight; // Absent: 1.
};

// Builds the computation of the taps for dynamic sizes into the body, in f32.
llvm::SmallVector<Tap> dynamicTaps(BodyBuilder &b, const Mode &mode, const Axis &a, DType type) {
  auto number = [&](double value) { return b.constant(DType::kF32, value); };
  auto real = [&](Scalar index) { return b.cast(b.cast(index, DType::kI32), DType::kF32); };
  Scalar at = real(b.loopIndex(a.axis)), in = real(b.dimension(a.inDim));
  Scalar out = real(b.dimension(a.outDim)), one = number(1), half = number(0.5);
  Scalar perStep = a.scale != 0 ? number(1 / a.scale) : b.div(in, out);
  Scalar x;
  if (mode.coordinates == "asymmetric") {
    x = b.mul(at, perStep);
  } else if (mode.coordinates == "align_corners") {
    Scalar length = a.scale != 0 ? b.mul(in, number(a.scale)) : out;
    x = b.div(b.mul(at, b.sub(in, one)), b.sub(length, one));
    x = b.select(b.compare(Compare::kGreater, length, one), x, number(0));
  } else if (mode.coordinates == "half_pixel" || mode.coordinates == "pytorch_half_pixel") {
    x = b.sub(b.mul(b.add(at, half), perStep), half);
    if (mode.coordinates == "pytorch_half_pixel")
      x = b.select(b.compare(Compare::kGreater, out, one), x, number(0));
  } else {
    failUnsupported("the coordinate mode \"" + mode.coordinates +
                    "\" over a dynamic dimension is not supported");
  }
  Scalar zero = b.constantInt(DType::kIndex, 0);
  Scalar last = b.sub(b.dimension(a.inDim), b.constantInt(DType::kIndex, 1));
  auto position = [&](Scalar rounded) {
    return b.clamp(b.cast(b.cast(rounded, DType::kI32), DType::kIndex), zero, last);
  };
  if (mode.mode == "linear") {
    Scalar base = b.unary(Unary::kFloor, x), t = b.sub(x, base);
    return {{position(base), b.cast(b.sub(one, t), type)},
            {position(b.add(base, one)), b.cast(t, type)}};
  }
  if (mode.nearest == "floor")
    x = b.unary(Unary::kFloor, x);
  else if (mode.nearest == "ceil")
    x = b.unary(Unary::kCeil, x);
  else if (mode.nearest == "round_prefer_floor")
    x = b.unary(Unary::kCeil, b.sub(x, half));
  else
    x = b.unary(Unary::kFloor, b.add(x, half));
  return {{position(x), std::nullopt}};
}

Tensor interpolate(ImportContext &import, const Tensor &x, const Mode &mode,
                   llvm::ArrayRef<Axis> axes, Dims dims) {
  const unsigned rank = x.rank();
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = x.type;
  spec.resultDims = dims;
  llvm::SmallVector<mlir::AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i)
    exprs.push_back(import.loop(i));
  bool byMap = true;
  for (const Axis &a : axes) {
    auto factor = wholeFactor(mode, a);
    byMap &= factor.has_value();
    if (factor)
      exprs[a.axis] = import.loop(a.axis).floorDiv(*factor);
  }
  if (byMap) {
    spec.inputs.push_back({x, import.map(rank, exprs)});
    spec.body = [](BodyBuilder &, llvm::ArrayRef<Scalar> in, Scalar) { return in[0]; };
    return import.generic(spec);
  }
  if (const auto y = interpolateByMaps(import, x, mode, axes.vec(), dims))
    return *y;
  spec.captured.push_back(x);
  for (const Axis &a : axes) {
    spec.usesDims |= a.dynamic;
    if (a.dynamic)
      continue;
    const Tensor positions = import.fromConstant(
        makeInts(DType::kI32, {a.out, int64_t(a.taps())}, tableOf(a, a.positions)));
    const Tensor weights = weightsOf(import, x.type, a);
    for (size_t k = 0; k < a.taps(); ++k) {
      const mlir::AffineMap map =
          import.map(rank, {import.loop(a.axis), import.number(int64_t(k))});
      spec.inputs.push_back({positions, map});
      if (a.taps() > 1)
        spec.inputs.push_back({weights, map});
    }
  }
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar) {
    llvm::SmallVector<llvm::SmallVector<Tap>> taps;
    size_t operand = 0;
    for (const Axis &a : axes) {
      taps.push_back(a.dynamic ? dynamicTaps(b, mode, a, x.type) : llvm::SmallVector<Tap>());
      for (size_t k = 0; k < a.taps(); ++k) {
        Tap tap{b.cast(in[operand++], DType::kIndex), std::nullopt};
        if (a.taps() > 1)
          tap.weight = in[operand++];
        taps.back().push_back(tap);
      }
    }
    llvm::SmallVector<Scalar> at;
    for (unsigned i = 0; i < rank; ++i)
      at.push_back(b.loopIndex(i));
    // Returns the sum over the taps of axis `axis` and of all later axes.
    std::function<Scalar(size_t)> gather = [&](size_t axis) -> Scalar {
      if (axis == axes.size())
        return b.extract(0, at);
      std::optional<Scalar> sum;
      for (const Tap &tap : taps[axis]) {
        at[axes[axis].axis] = tap.position;
        Scalar value = gather(axis + 1);
        if (tap.weight)
          value = b.mul(value, *tap.weight);
        sum = sum ? b.add(*sum, value) : value;
      }
      return *sum;
    };
    return gather(0);
  };
  return import.generic(spec);
}

struct Target {
  llvm::SmallVector<double> scales; // Per axis; 1: not resized, 0: computed at run time.
  Dims dims;                        // Sizes of the result.
};

// Returns floor(dim * scale). The scale must be a fraction with a denominator of at most 64.
Dim scaledDim(ImportContext &import, Dim dim, double scale) {
  for (int64_t denominator = 1; denominator <= 64; ++denominator) {
    double numerator = scale * double(denominator);
    if (std::fabs(numerator - std::round(numerator)) < 1e-6)
      return floorDivDims(mulDims(dim, import.number(int64_t(std::round(numerator)))),
                          import.number(denominator));
  }
  failUnsupported(
      "scaling the dynamic dimension " + describeDims({dim}) + " by " + std::to_string(scale) +
      " is not supported; the scale must be a fraction with a denominator of at most 64");
}

Target fromScales(ImportContext &import, const Tensor &x, llvm::ArrayRef<double> scales,
                  llvm::ArrayRef<int64_t> axes) {
  Target target{llvm::SmallVector<double>(x.rank(), 1), x.dims};
  if (scales.size() != axes.size())
    failBadInput("there are " + llvm::Twine(scales.size()) + " scales for " +
                 llvm::Twine(axes.size()) + " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0) || scales[i] > 1e6)
      failBadInput("a scale is " + std::to_string(scales[i]) +
                   "; it must be positive and at most 10^6");
    target.scales[axes[i]] = scales[i];
    if (scales[i] == 1)
      continue;
    auto known = staticDim(x.dims[axes[i]]);
    target.dims[axes[i]] =
        known ? import.number(static_cast<int64_t>(std::floor(double(*known) * scales[i])))
              : scaledDim(import, x.dims[axes[i]], scales[i]);
  }
  return target;
}

Target fromSizes(ImportContext &import, const Node &node, const Tensor &x,
                 llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<int64_t> axes) {
  Target target{llvm::SmallVector<double>(x.rank(), 1), x.dims};
  if (sizes.size() != axes.size())
    failBadInput("there are " + llvm::Twine(sizes.size()) + " sizes for " +
                 llvm::Twine(axes.size()) + " axes");
  std::string policy = node.stringAttribute("keep_aspect_ratio_policy", "stretch");
  std::optional<double> common;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] == x.dims[axes[i]] && policy == "stretch")
      continue;
    auto size = staticDim(sizes[i]), in = staticDim(x.dims[axes[i]]);
    if (!size || !in) {
      if (policy != "stretch")
        failUnsupported("keep_aspect_ratio_policy \"" + policy +
                        "\" with dynamic sizes is not supported");
      target.scales[axes[i]] = 0;
      target.dims[axes[i]] = sizes[i];
      continue;
    }
    if (*size < 1 || *in < 1)
      failBadInput("impossible shape: resizing a dimension from " + llvm::Twine(*in) + " to " +
                   llvm::Twine(*size) + " elements; both sizes must be at least 1");
    double scale = double(*size) / double(*in);
    target.scales[axes[i]] = scale;
    target.dims[axes[i]] = sizes[i];
    bool smaller = policy == "not_larger";
    common = !common ? scale : smaller ? std::min(*common, scale) : std::max(*common, scale);
  }
  if (policy == "stretch" || !common)
    return target;
  for (int64_t axis : axes) {
    target.scales[axis] = *common;
    double size = std::floor(*common * double(*staticDim(x.dims[axis])) + 0.5);
    target.dims[axis] = import.number(static_cast<int64_t>(size));
  }
  return target;
}

void resizeTo(ImportContext &import, const Node &node, const Tensor &x, const Target &target,
              const Mode &mode) {
  if (mode.mode != "nearest" && mode.mode != "linear" && mode.mode != "cubic")
    failBadInput("the mode is \"" + mode.mode + "\"; it must be nearest, linear or cubic");
  if (mode.mode != "nearest" && !isFloat(x.type))
    failUnsupported(mode.mode + " interpolation of " + dtypeName(x.type) + " is not supported");
  llvm::SmallVector<Axis> axes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (target.scales[i] == 1 && target.dims[i] == x.dims[i])
      continue;
    Axis axis;
    axis.axis = i;
    axis.scale = target.scales[i];
    axis.inDim = x.dims[i];
    axis.outDim = target.dims[i];
    axis.dynamic = !staticDim(axis.inDim) || !staticDim(axis.outDim);
    if (axis.dynamic) {
      if (mode.mode == "cubic")
        failUnsupported("cubic interpolation over the dynamic dimension " + llvm::Twine(i) +
                        " is not supported");
      axes.push_back(std::move(axis));
      continue;
    }
    axis.in = *staticDim(x.dims[i]);
    axis.out = *staticDim(target.dims[i]);
    import.tensorType(x.type, target.dims); // Checks the size before the tables are filled.
    if (axis.out > (int64_t(1) << 28) || axis.out < 1 || axis.in < 1)
      failBadInput(
          "impossible shape: resizing " + describeDims(x.dims) + " to " +
          describeDims(target.dims) +
          "; a resized dimension must have at least 1 element before, and 1 to 2^28 after");
    computeTaps(mode, axis);
    axes.push_back(std::move(axis));
  }
  if (axes.empty())
    return import.setOutput(node, 0, x);
  import.setOutput(node, 0, interpolate(import, x, mode, axes, target.dims));
}

llvm::SmallVector<double> floatsOf(const Constant &constant) {
  llvm::SmallVector<double> values;
  for (int64_t i = 0; i < constant->elementCount() && i < 64; ++i)
    values.push_back(constant->floatAt(i));
  return values;
}

void importResize(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  Mode mode;
  mode.mode = node.stringAttribute("mode", "nearest");
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    axes.push_back(i);
  if (node.opset() < 11) { // Opset 10 has only asymmetric coordinates, and nearest rounds down.
    mode.coordinates = "asymmetric";
    mode.nearest = "floor";
    auto scales = floatsOf(import.constantInput(node, 1, "the scales"));
    return resizeTo(import, node, x, fromScales(import, x, scales, axes), mode);
  }
  mode.coordinates = node.stringAttribute("coordinate_transformation_mode", "half_pixel");
  mode.nearest = node.stringAttribute("nearest_mode", "round_prefer_floor");
  mode.cubic = node.floatAttribute("cubic_coeff_a", -0.75);
  mode.excludeOutside = node.intAttribute("exclude_outside", 0) != 0;
  if (node.intAttribute("antialias", 0) != 0)
    failUnsupported("Resize with antialias is not supported");
  if (auto given = node.intsAttribute("axes")) {
    normalizeAxes(*given, x.rank());
    axes = *given;
    for (int64_t &axis : axes)
      axis = normalizeAxis(axis, x.rank());
  }
  // An empty constant is the same as an absent input.
  auto present = [&](size_t i) {
    const Tensor *tensor = node.hasInput(i) ? import.lookup(node.inputName(i)) : nullptr;
    return tensor && !(tensor->constant && tensor->constant->elementCount() == 0);
  };
  if (present(3)) {
    auto sizes = import.dimsInput(node, 3, "the sizes");
    return resizeTo(import, node, x, fromSizes(import, node, x, sizes, axes), mode);
  }
  if (!present(2))
    failBadInput("it has neither scales nor sizes");
  auto scales = floatsOf(import.constantInput(node, 2, "the scales"));
  resizeTo(import, node, x, fromScales(import, x, scales, axes), mode);
}

void importUpsample(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  Mode mode;
  mode.mode = node.stringAttribute("mode", "nearest");
  mode.coordinates = "asymmetric";
  mode.nearest = "floor";
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    axes.push_back(i);
  llvm::SmallVector<double> scales;
  if (node.opset() >= 9)
    scales = floatsOf(import.constantInput(node, 1, "the scales"));
  else if (auto given = node.floatsAttribute("scales"))
    scales = *given;
  resizeTo(import, node, x, fromScales(import, x, scales, axes), mode);
}

} // namespace

void addResizeOperators(OperatorTable &table) {
  table["Resize"] = importResize;
  table["Upsample"] = importUpsample;
}

} // namespace gantry::importer
