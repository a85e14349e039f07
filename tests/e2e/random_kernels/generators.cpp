// Builds random ONNX models together with their expected values.
#include "tests/e2e/random_kernels/generators.h"

#include "tests/e2e/random_kernels/reference.h"
#include "tests/support/onnx_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace gantry::test {

namespace {

enum class Format { kF32, kF16, kKeptAsF16, kInt8 };
constexpr const char *kFormatNames[] = {"f32", "f16", "f32 kept as f16", "int8"};

/// A model under construction. `name` is the value that the next node reads, and `expected` holds
/// the expected contents of that value.
class Maker {
public:
  Maker(uint64_t seed, Format format) : random_(seed), format_(format) {
    result_.halfPrecision = format == Format::kKeptAsF16;
    result_.tolerance = format == Format::kF32 ? 1e-5 : format == Format::kInt8 ? 0 : 2e-3;
    isDynamic_ = chance(0.3);
  }

  /// Returns a random number from low to high, inclusive.
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  /// Returns a size of up to about max; sometimes a multiple of four.
  int64_t size(int64_t max) { return chance(0.3) ? 4 * number(1, (max + 3) / 4) : number(1, max); }

  Type floatType() const { return format_ == Format::kF16 ? Type::kF16 : Type::kF32; }

  /// Returns random numbers from scale * low to scale, rounded to the type.
  Tensor numbers(std::vector<int64_t> dims, double scale, double low = -1) {
    Tensor tensor(floatType(), std::move(dims));
    std::uniform_real_distribution<double> uniform(low, 1);
    for (double &value : tensor.values)
      value = rounded(tensor.type, scale * uniform(random_));
    return tensor;
  }
  Tensor integers(Type type, std::vector<int64_t> dims) {
    Tensor tensor(type, std::move(dims));
    for (double &value : tensor.values)
      value = static_cast<double>(type == Type::kU8 ? number(0, 255) : number(-128, 127));
    return tensor;
  }

  std::string input(const Tensor &tensor) {
    std::string name = "input" + std::to_string(result_.inputs.size());
    std::vector<std::string> dims;
    for (int64_t dim : tensor.dims)
      dims.push_back(std::to_string(dim));
    model_.input(name, dims, onnxType(tensor.type));
    result_.inputs.push_back(tensor);
    return name;
  }
  /// Like input(). In some cases, some of these dimensions are known only when the model runs.
  std::string sizedInput(const Tensor &tensor, const std::vector<size_t> &mayBeDynamic) {
    const std::string name = input(tensor);
    if (!isDynamic_ || !result_.samples.empty())
      return name;
    auto &shape = *model_.graph()
                       .mutable_input(model_.graph().input_size() - 1)
                       ->mutable_type()
                       ->mutable_tensor_type()
                       ->mutable_shape();
    for (size_t d : mayBeDynamic)
      if (tensor.dims[d] > 0 && chance(0.6)) {
        shape.mutable_dim(static_cast<int>(d))->set_dim_param(name + "_" + std::to_string(d));
        say(" dynamic " + std::to_string(d));
      }
    return name;
  }
  bool isDynamic() const { return isDynamic_; }
  std::string constant(const Tensor &tensor) {
    std::string name = newName();
    model_.constant(name, onnxType(tensor.type), tensor.dims, tensor.bytes());
    return name;
  }
  /// Adds the tensor as an input or as a constant, at random.
  std::string either(const Tensor &tensor) {
    return chance(0.5) ? input(tensor) : constant(tensor);
  }
  std::string newName() { return "value" + std::to_string(next_++); }

  onnx::NodeProto &node(const std::string &op, const std::vector<std::string> &inputs) {
    name = newName();
    return model_.node(op, inputs, {name});
  }
  void say(const std::string &text) { result_.what += text; }
  /// Restricts the comparison to these elements of the output.
  void compareAt(std::vector<size_t> samples) { result_.samples = std::move(samples); }
  const std::vector<size_t> &samples() const { return result_.samples; }

  KernelCase finish() {
    result_.what = result_.what + " (" + kFormatNames[static_cast<int>(format_)] + ")";
    model_.output(name);
    result_.model = model_.bytes();
    expected.type = format_ == Format::kInt8 ? outputType : floatType();
    for (double &value : expected.values)
      value = rounded(expected.type, value);
    result_.expected = expected;
    return result_;
  }

  // ---- links of a chain ------------------------------------------------------------------------

  /// Adds a Relu. If it would leave so little of a value in f16 that the rounding of its operand
  /// exceeds the tolerance, the operand is negated before: f16 rounds relative to the operand, and
  /// relativeError() is relative to the result.
  void relu() {
    const auto positive = [](double x) { return std::max(x, 0.0); };
    const bool isHalf = format_ == Format::kF16 || format_ == Format::kKeptAsF16;
    if (isHalf && normOf(mapped(expected, positive)) < normOf(expected) / 8) {
      node("Neg", {name});
      expected = mapped(expected, [](double x) { return -x; });
      say(" negated");
    }
    node("Relu", {name});
    expected = mapped(expected, positive);
    say(" relu");
  }
  void replaceNan() {
    Tensor three(floatType(), {});
    three.values = {3};
    const std::string source = name;
    node("IsNaN", {source});
    node("Where", {name, constant(three), source});
    expected = mapped(expected, [](double x) { return std::isnan(x) ? 3 : x; });
    say(" NaN replaced by 3");
  }
  void combine(const char *op, const Tensor &other, double (*f)(double, double)) {
    node(op, {name, either(other)});
    expected = combined(expected, other, f);
    say(std::string(" ") + op + " " + describe(other.dims));
  }
  void maybeEpilogue() {
    if (!isDynamic_ && chance(0.4)) {
      std::vector<int64_t> dims = expected.dims;
      if (chance(0.5))
        for (int64_t &dim : dims)
          dim = dim == 0 || chance(0.5) ? dim : 1;
      combine("Add", numbers(dims, 1), [](double a, double b) { return a + b; });
    }
    if (chance(0.5))
      relu();
  }

  /// Adds a DequantizeLinear, (q - zero) * scale, and returns its name. Sets `centred` to q - zero
  /// and `scale` to the scale.
  std::string dequantized(const Tensor &bytes, const std::string &source, float &scale,
                          Tensor &centred) {
    scale = static_cast<float>(number(1, 1000)) / 4096.0f;
    Tensor step(Type::kF32, {}), zero(bytes.type, {});
    step.values = {scale};
    zero.values = {static_cast<double>(bytes.type == Type::kU8 ? number(0, 255) : number(-9, 9))};
    std::string result = newName();
    model_.node("DequantizeLinear", {source, constant(step), constant(zero)}, {result});
    centred = mapped(bytes, [&](double q) { return q - zero.values[0]; });
    return result;
  }
  /// Adds a QuantizeLinear and computes the expected values: multiplies the sums of integers by
  /// `factor`, the product of the operands' scales, and quantizes them in f32, like the model.
  void quantize(float factor) {
    double largest = 1;
    for (double sum : expected.values)
      largest = std::max(largest, std::fabs(sum) * static_cast<double>(factor));
    const float scale = static_cast<float>(largest / 150);
    outputType = chance(0.5) ? Type::kU8 : Type::kI8;
    Tensor step(Type::kF32, {}), zero(outputType, {});
    step.values = {scale};
    zero.values = {static_cast<double>(outputType == Type::kU8 ? 128 : number(-9, 9))};
    node("QuantizeLinear", {name, constant(step), constant(zero)});
    expected = mapped(expected, [&](double sum) {
      const float value = static_cast<float>(sum) * factor;
      return std::nearbyint(value / scale) + zero.values[0];
    });
  }

  std::string name;
  Tensor expected;
  Type outputType = Type::kI8;

private:
  std::mt19937_64 random_;
  Format format_;
  OnnxModel model_{16};
  KernelCase result_;
  int next_ = 0;
  bool isDynamic_ = false; // Some sizes of inputs are known only when the model runs.
};

void setAttributes(Maker &make, onnx::NodeProto &node, const Convolution &how) {
  std::vector<int64_t> pads = how.padLow;
  pads.insert(pads.end(), how.padHigh.begin(), how.padHigh.end());
  OnnxModel::attribute(node, "strides", how.strides);
  OnnxModel::attribute(node, "dilations", how.dilations);
  OnnxModel::attribute(node, "pads", pads);
  OnnxModel::attribute(node, "group", how.groups);
  make.say(", groups " + std::to_string(how.groups) + ", strides " + describe(how.strides) +
           ", dilations " + describe(how.dilations) + ", pads " + describe(pads));
}

/// Returns the dimensions of an image other than its channels.
std::vector<size_t> imageSizes(const Tensor &x) {
  std::vector<size_t> sizes{0};
  for (size_t d = 2; d < x.dims.size(); ++d)
    sizes.push_back(d);
  return sizes;
}

/// Adds a Conv of the given sizes and format. A Conv of 8-bit integers is between DequantizeLinear
/// and QuantizeLinear.
void convolve(Maker &make, Format format, const std::vector<int64_t> &xDims,
              const std::vector<int64_t> &filterDims, const Convolution &how) {
  make.say("conv " + describe(xDims) + " * " + describe(filterDims));
  if (format == Format::kInt8) {
    Tensor x = make.integers(make.chance(0.5) ? Type::kU8 : Type::kI8, xDims);
    Tensor filter = make.integers(Type::kI8, filterDims);
    float xScale = 0, filterScale = 0;
    Tensor centredX, centredFilter;
    const std::string source = make.sizedInput(x, imageSizes(x));
    std::string left = make.dequantized(x, source, xScale, centredX);
    std::string right = make.dequantized(filter, make.constant(filter), filterScale, centredFilter);
    setAttributes(make, make.node("Conv", {left, right}), how);
    make.expected = convolution(centredX, centredFilter, how, make.samples());
    return make.quantize(xScale * filterScale);
  }
  Tensor x = make.numbers(xDims, 1), filter = make.numbers(filterDims, 1);
  const std::string source = make.sizedInput(x, imageSizes(x));
  std::vector<std::string> operands{source,
                                    make.isDynamic() ? make.constant(filter) : make.either(filter)};
  Tensor bias = make.numbers({filterDims[0]}, 1);
  const bool biased = make.samples().empty() && make.chance(0.5);
  if (biased)
    operands.push_back(make.constant(bias));
  setAttributes(make, make.node("Conv", operands), how);
  make.expected = convolution(x, filter, how, make.samples());
  if (biased) {
    bias.dims.insert(bias.dims.end(), xDims.size() - 2, 1);
    make.expected = combined(make.expected, bias, [](double a, double b) { return a + b; });
  }
}

void makeConvolution(Maker &make, Format format) {
  const size_t spatial = make.chance(0.8) ? 2 : 1;
  const int64_t groups = make.chance(0.7) ? 1 : make.number(2, 4);
  const bool depthwise = groups > 1 && make.chance(0.4);
  const int64_t inPerGroup = depthwise ? 1 : make.size(12),
                outPerGroup = depthwise ? 1 : make.size(12);
  const int64_t batch = format != Format::kInt8 && make.chance(0.05) ? 0 : make.number(1, 2);
  std::vector<int64_t> xDims{batch, groups * inPerGroup};
  std::vector<int64_t> filterDims{groups * outPerGroup, inPerGroup};
  Convolution how;
  how.groups = groups;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t kernel = make.chance(0.3) ? 1 : make.number(2, 4);
    how.dilations.push_back(make.chance(0.7) ? 1 : make.number(2, 3));
    how.strides.push_back(make.chance(0.6) ? 1 : make.number(2, 3));
    how.padLow.push_back(make.chance(0.4) ? 0 : make.number(0, kernel - 1));
    how.padHigh.push_back(make.chance(0.4) ? 0 : make.number(0, kernel - 1));
    const int64_t reach = (kernel - 1) * how.dilations.back() + 1;
    xDims.push_back(reach + make.size(12) - 1);
    filterDims.push_back(kernel);
  }
  convolve(make, format, xDims, filterDims, how);
  if (format != Format::kInt8)
    make.maybeEpilogue();
}

void makeTransposed(Maker &make) {
  const size_t spatial = make.chance(0.8) ? 2 : 1;
  const int64_t groups = make.chance(0.7) ? 1 : make.number(2, 3);
  const int64_t inPerGroup = make.size(12), outPerGroup = make.size(12);
  std::vector<int64_t> xDims{make.number(1, 2), groups * inPerGroup};
  std::vector<int64_t> filterDims{groups * inPerGroup, outPerGroup}, padding;
  Convolution how;
  how.groups = groups;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t kernel = make.number(1, 4), stride = make.number(1, 3);
    how.dilations.push_back(make.chance(0.7) ? 1 : make.number(2, 3));
    how.strides.push_back(stride);
    how.padLow.push_back(make.chance(0.4) ? 0 : make.number(0, kernel - 1));
    how.padHigh.push_back(make.chance(0.4) ? 0 : make.number(0, kernel - 1));
    padding.push_back(make.chance(0.6) ? 0 : make.number(0, stride - 1));
    xDims.push_back(kernel + make.size(8));
    filterDims.push_back(kernel);
  }
  const Tensor x = make.numbers(xDims, 1), filter = make.numbers(filterDims, 1);
  make.say("transposed conv " + describe(xDims) + " * " + describe(filterDims));
  const std::string source = make.sizedInput(x, imageSizes(x));
  onnx::NodeProto &node = make.node("ConvTranspose", {source, make.constant(filter)});
  OnnxModel::attribute(node, "output_padding", padding);
  make.say(", output padding " + describe(padding));
  setAttributes(make, node, how);
  make.expected = transposedConvolution(x, filter, how, padding);
  make.maybeEpilogue();
}

void makeMatmul(Maker &make, Format format) {
  const int64_t m = make.size(40), n = make.size(40), k = make.size(60);
  std::vector<int64_t> aDims{m, k}, bDims{k, n};
  if (make.chance(0.5)) {
    const int64_t batch = make.number(2, 3);
    aDims.insert(aDims.begin(), batch);
    if (make.chance(0.5))
      bDims.insert(bDims.begin(), make.chance(0.5) ? batch : 1);
  }
  if (format != Format::kInt8 && make.chance(0.05))
    aDims[aDims.size() - 2] = 0;
  make.say("matmul " + describe(aDims) + " * " + describe(bDims));
  if (format == Format::kInt8) {
    Tensor a = make.integers(Type::kU8, aDims), b = make.integers(Type::kI8, bDims);
    float aScale = 0, bScale = 0;
    Tensor centredA, centredB;
    std::string left =
        make.dequantized(a, make.sizedInput(a, {a.dims.size() - 2}), aScale, centredA);
    std::string right = make.dequantized(b, make.either(b), bScale, centredB);
    make.node("MatMul", {left, right});
    make.expected = matmul(centredA, centredB);
    return make.quantize(aScale * bScale);
  }
  Tensor a = make.numbers(aDims, 1), b = make.numbers(bDims, 1);
  const std::string left = make.sizedInput(a, {a.dims.size() - 2});
  make.node("MatMul", {left, make.either(b)});
  make.expected = matmul(a, b);
  make.maybeEpilogue();
}

/// Returns a mask that is added to attention scores. Some entries are minus infinity or very
/// negative; sometimes a whole row is masked.
Tensor makeMask(Maker &make, std::vector<int64_t> dims) {
  const int64_t keys = dims.back();
  if (make.chance(0.3))
    dims[2] = 1;
  Tensor mask(make.floatType(), dims);
  const bool causal = make.chance(0.4);
  const double nothing = make.chance(0.5) ? -INFINITY : -60000;
  const int64_t whole = std::isinf(nothing) && make.chance(0.5) ? make.number(0, dims[2] - 1) : -1;
  for (size_t i = 0; i < mask.values.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / keys, key = static_cast<int64_t>(i) % keys;
    const bool masked = key != 0 && (causal ? key > row : make.chance(0.3));
    mask.values[i] = masked || row == whole ? nothing : 0;
  }
  return mask;
}

void makeAttention(Maker &make) {
  const int64_t batch = make.number(1, 2), heads = make.number(1, 3);
  const int64_t rows = make.chance(0.05) ? 0 : make.size(20), keys = make.size(90);
  const int64_t width = make.chance(0.1) ? 1 : make.size(16);
  const int64_t values = make.chance(0.1) ? make.size(150) : make.size(16);
  Tensor q = make.numbers({batch, heads, rows, width}, 1);
  const int64_t shared = make.chance(0.2) ? 1 : heads; // The number of heads of the keys.
  Tensor k = make.numbers({batch, shared, keys, width}, 1);
  Tensor v = make.numbers({batch, shared, keys, values}, 1);
  make.say("attention of " + describe(q.dims) + ", " + describe(k.dims) + ", " + describe(v.dims));
  const std::string left = make.input(q);
  const Tensor across = transposed(k, {0, 1, 3, 2});
  if (make.chance(0.6)) {
    OnnxModel::attribute(make.node("Transpose", {make.input(k)}), "perm",
                         std::vector<int64_t>{0, 1, 3, 2});
  } else {
    make.name = make.input(across);
    make.say(" keys across");
  }
  make.node("MatMul", {left, make.name});
  make.expected = matmul(q, across);
  Tensor scale = make.numbers({}, 1, 0.25);
  if (make.chance(0.5))
    make.combine("Mul", scale, [](double a, double b) { return a * b; });
  else if (make.chance(0.5))
    make.combine("Div", scale, [](double a, double b) { return a / b; });
  if (rows > 0 && make.chance(0.6))
    make.combine("Add", makeMask(make, {make.chance(0.5) ? batch : 1, 1, rows, keys}),
                 [](double a, double b) { return a + b; });
  OnnxModel::attribute(make.node("Softmax", {make.name}), "axis", int64_t(-1));
  make.node("MatMul", {make.name, make.input(v)});
  make.expected = matmul(softmax(make.expected), v);
  if (std::any_of(make.expected.values.begin(), make.expected.values.end(),
                  [](double x) { return std::isnan(x); }))
    make.replaceNan();
  if (make.chance(0.5)) {
    OnnxModel::attribute(make.node("Transpose", {make.name}), "perm",
                         std::vector<int64_t>{0, 2, 1, 3});
    make.expected = transposed(make.expected, {0, 2, 1, 3});
    make.say(" Transpose");
  }
  make.maybeEpilogue();
}

void makeReduction(Maker &make) {
  std::vector<int64_t> dims;
  int64_t rank = make.number(1, 4);
  for (int64_t i = 0; i < rank; ++i)
    dims.push_back(make.size(rank > 2 ? 12 : 200));
  if (make.chance(0.15)) // The compiler splits such a long reduction into several kernels.
    dims = {make.size(3), 30000 + 31 * make.size(3000)};
  else if (make.chance(0.15)) // About as long as the longest row that a subgroup holds.
    dims = {make.number(1, 5), 1000 + make.number(0, 60)};
  rank = static_cast<int64_t>(dims.size());
  Tensor x = make.numbers(dims, 1, 0.1);
  std::vector<size_t> sizes(dims.size() - 1);
  std::iota(sizes.begin(), sizes.end(), 0);
  const std::string source = make.sizedInput(x, sizes);
  if (make.chance(0.3)) {
    OnnxModel::attribute(make.node("Softmax", {source}), "axis", int64_t(-1));
    make.say("softmax " + describe(dims));
    make.expected = softmax(x);
    return;
  }
  std::vector<int64_t> axes;
  double count = 1;
  for (int64_t i = 0; i < rank; ++i)
    if (make.chance(0.5) || (i == rank - 1 && axes.empty())) {
      axes.push_back(i);
      count *= static_cast<double>(dims[static_cast<size_t>(i)]);
    }
  const bool mean = make.chance(0.5), top = !mean && make.chance(0.5);
  const char *op = mean ? "ReduceMean" : top ? "ReduceMax" : "ReduceL1";
  OnnxModel::attribute(make.node(op, {source}), "axes", axes);
  make.say(std::string(op) + " " + describe(dims) + " over " + describe(axes));
  make.expected =
      top ? reduced(x, axes, -INFINITY, [](double a, double b) { return std::max(a, b); })
          : reduced(x, axes, 0, [](double a, double b) { return a + std::fabs(b); });
  if (mean)
    make.expected = mapped(make.expected, [&](double sum) { return sum / count; });
  if (!make.isDynamic() &&
      make.chance(0.5)) // Multiplies a tensor of the input's shape by the broadcast result.
    make.combine("Mul", make.numbers(x.dims, 1), [](double a, double b) { return a * b; });
}

/// Adds layers of matmuls or convolutions with elementwise operators between them. Their widths are
/// often odd, so the compiler may pad the tensors between them. An infinity in the input must not
/// reach other rows through the padding.
void makeLayers(Maker &make, Format format) {
  const bool images = make.chance(0.5);
  int64_t width = make.size(20);
  Tensor x =
      make.numbers(images ? std::vector<int64_t>{1, width, make.number(3, 9), make.number(3, 9)}
                          : std::vector<int64_t>{make.number(1, 9), width},
                   1);
  const bool special = format == Format::kF32 && make.chance(0.3);
  if (special)
    x.values[0] = make.chance(0.5) ? INFINITY : -INFINITY;
  make.say((images ? "convolutions of " : "matmuls of ") + describe(x.dims) + ":");
  make.expected = x;
  make.name = make.sizedInput(x, images ? imageSizes(x) : std::vector<size_t>{0});
  for (int64_t layers = make.number(2, 3); layers > 0; --layers) {
    const int64_t next = make.size(20), taps = make.chance(0.5) ? 1 : 3;
    Tensor weights = make.numbers(images ? std::vector<int64_t>{next, width, taps, taps}
                                         : std::vector<int64_t>{width, next},
                                  images ? 0.3 : 0.5);
    make.say(" ");
    make.say(describe(weights.dims));
    const std::string source = make.name;
    if (images) {
      const Convolution how{{1, 1}, {1, 1}, {taps / 2, taps / 2}, {taps / 2, taps / 2}};
      OnnxModel::attribute(make.node("Conv", {source, make.constant(weights)}), "pads",
                           std::vector<int64_t>(4, taps / 2));
      make.expected = convolution(make.expected, weights, how, {});
    } else {
      make.node("MatMul", {source, make.constant(weights)});
      make.expected = matmul(make.expected, weights);
    }
    width = next;
    if (make.chance(0.3))
      make.combine("Add", make.numbers({}, 1), [](double a, double b) { return a + b; });
    if (make.chance(0.4)) {
      make.node("Sigmoid", {make.name});
      make.expected = mapped(make.expected, [](double v) { return 1 / (1 + std::exp(-v)); });
      make.say(" Sigmoid");
    } else if (make.chance(0.6)) {
      make.relu();
    }
  }
  if (special)
    make.replaceNan();
}

void makeChain(Maker &make) {
  std::vector<int64_t> dims;
  for (int64_t i = make.number(1, 4); i > 0; --i)
    dims.push_back(make.chance(0.03) ? 0 : make.size(12));
  Tensor x = make.numbers(dims, 1);
  make.say("chain of " + describe(dims) + ":");
  make.expected = x;
  make.name = make.input(x);
  make.relu();
  for (int64_t links = make.number(1, 6); links > 0; --links) {
    std::vector<int64_t> other = make.expected.dims;
    for (int64_t &dim : other)
      dim = dim == 0 || make.chance(0.6) ? dim : 1;
    switch (make.number(0, 5)) {
    case 0:
      make.combine("Add", make.numbers(other, 1), [](double a, double b) { return a + b; });
      break;
    case 1:
      make.combine("Mul", make.numbers(other, 1), [](double a, double b) { return a * b; });
      break;
    case 2:
      make.combine("Max", make.numbers(other, 1),
                   [](double a, double b) { return std::max(a, b); });
      break;
    case 3: {
      std::vector<size_t> order(make.expected.dims.size());
      std::vector<int64_t> permutation;
      for (size_t i = 0; i < order.size(); ++i)
        order[i] = (i + 1) % order.size();
      permutation.assign(order.begin(), order.end());
      OnnxModel::attribute(make.node("Transpose", {make.name}), "perm", permutation);
      make.expected = transposed(make.expected, order);
      make.say(" Transpose");
      break;
    }
    case 4:
      make.node("Sigmoid", {make.name});
      make.expected = mapped(make.expected, [](double v) { return 1 / (1 + std::exp(-v)); });
      make.say(" Sigmoid");
      break;
    default:
      make.relu();
    }
  }
}

} // namespace

KernelCase randomKernel(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto kind = random() % 10, which = random() % 100;
  const bool integers = kind < 5 && which >= 60;
  const Format format = integers         ? Format::kInt8
                        : which % 4 == 1 ? Format::kF16
                        : which % 4 == 2 ? Format::kKeptAsF16
                                         : Format::kF32;
  Maker make(random(), format);
  if (kind < 3)
    makeConvolution(make, format);
  else if (kind < 5)
    makeMatmul(make, format);
  else if (kind == 5)
    makeAttention(make);
  else if (kind == 6)
    makeReduction(make);
  else if (kind == 7)
    makeLayers(make, format);
  else if (kind == 8)
    makeTransposed(make);
  else
    makeChain(make);
  return make.finish();
}

KernelCase largeConvolution(const std::string &format, int64_t size, uint64_t seed) {
  const Format known = format == "int8"  ? Format::kInt8
                       : format == "f16" ? Format::kF16
                                         : Format::kF32;
  Maker make(seed, known);
  constexpr int64_t kChannels = 64, kFilters = 256, kTaps = 3, kSamples = 4096;
  const int64_t outputs = kFilters * size * size;
  std::vector<size_t> samples;
  for (int64_t i = 0; i < kSamples; ++i)
    samples.push_back(static_cast<size_t>(make.number(0, outputs - 1)));
  samples.push_back(0);
  samples.push_back(static_cast<size_t>(outputs - 1));
  make.compareAt(samples);
  convolve(make, known, {1, kChannels, size, size}, {kFilters, kChannels, kTaps, kTaps},
           {{1, 1}, {1, 1}, {1, 1}, {1, 1}});
  return make.finish();
}

} // namespace gantry::test
