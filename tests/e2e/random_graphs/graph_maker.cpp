#include "tests/e2e/random_graphs/graph_maker.h"

#include "tests/e2e/random_kernels/reference.h"
#include "tests/support/onnx_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

namespace gantry::test {

namespace {

constexpr double kMaxNumber = 1 << 20; // Larger numbers are not combined, so that sums stay exact.

using Index = std::vector<int64_t>;

/// Returns a tensor whose elements are f(index).
Tensor made(const Index &dims, const std::function<double(const Index &)> &f) {
  Tensor result(Type::kF32, dims);
  Index index(dims.size(), 0);
  for (double &value : result.values) {
    value = f(index);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d])
        break;
      index[d] = 0;
    }
  }
  return result;
}

std::string inParentheses(size_t number) {
  std::string text("(");
  text += std::to_string(number);
  return text += ')';
}

double at(const Tensor &x, const Index &index) {
  int64_t position = 0;
  for (size_t d = 0; d < index.size(); ++d)
    position = position * x.dims[d] + index[d];
  return x.values[static_cast<size_t>(position)];
}

double largest(const Tensor &x) {
  double max = 0;
  for (double value : x.values)
    max = std::max(max, std::fabs(value));
  return max;
}

class GraphMaker {
public:
  explicit GraphMaker(uint64_t seed) : random_(seed) {}

  GraphCase make() {
    const int64_t inputs = number(1, 3);
    const Index dims = firstDims();
    for (int64_t i = 0; i < inputs; ++i)
      addInput(i == 0 || chance(0.6) ? dims : firstDims());
    for (int64_t steps = number(4, 14); steps > 0; --steps)
      step();
    addOutputs();
    return std::move(result_);
  }

private:
  struct Entry {
    std::string name;
    Tensor tensor;
    bool isRead = false;
  };

  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }

  /// Returns the shape of an image, or of a tensor of rank 1 to 5. The number
  /// of channels is often a multiple of four.
  Index firstDims() {
    const auto channels = [&] { return chance(0.6) ? 4 * number(1, 4) : number(1, 9); };
    if (chance(0.6))
      return {chance(0.6) ? 1 : number(2, 3), channels(), number(2, 9), number(2, 9)};
    Index dims;
    for (int64_t rank = number(1, 5); rank > 0; --rank)
      dims.push_back(chance(0.3) ? 4 * number(1, 3) : number(1, 6));
    return dims;
  }

  void addInput(const Index &dims) {
    Tensor tensor(Type::kF32, dims);
    for (double &value : tensor.values)
      value = static_cast<double>(number(-8, 8));
    std::string name("input");
    name += std::to_string(result_.inputs.size());
    std::vector<std::string> texts;
    for (int64_t dim : dims)
      texts.push_back(std::to_string(dim));
    model_.input(name, texts);
    if (chance(0.3))
      result_.donated.push_back(name);
    result_.inputs.push_back(tensor);
    result_.what += describe(dims) + " ";
    pool_.push_back({name, tensor});
  }

  /// Picks a tensor of pool_; later ones are likelier.
  Entry &pick() {
    const auto last = static_cast<int64_t>(pool_.size()) - 1;
    Entry &entry = pool_[static_cast<size_t>(std::max(number(0, last), number(0, last)))];
    entry.isRead = true;
    return entry;
  }

  std::string newName() {
    std::string name("value");
    return name += std::to_string(next_++);
  }

  /// Adds a node with one result to the model, and the result with its expected value to pool_.
  onnx::NodeProto &add(const char *op, const std::vector<std::string> &inputs, Tensor expected,
                       const std::string &note = "") {
    const std::string name = newName();
    result_.what += op + note + " ";
    onnx::NodeProto &node = model_.node(op, inputs, {name}, std::string(op) + "_" + name);
    pool_.push_back({name, std::move(expected)});
    return node;
  }

  std::string ints(const std::vector<int64_t> &values) {
    const std::string name = newName();
    model_.ints(name, values);
    return name;
  }

  void step() {
    switch (number(0, 15)) {
    case 0:
    case 1:
    case 2:
      return concatenate();
    case 3:
      return slice();
    case 4:
      return split();
    case 5:
      return pad();
    case 6:
      return reshape();
    case 7:
      return transpose();
    case 8:
      return convolve();
    case 9:
      return combine();
    case 10:
    case 11:
      return scatter();
    case 12:
      return changeRank();
    default:
      return apply();
    }
  }

  void apply() {
    const Entry from = pick();
    if (chance(0.5))
      add("Relu", {from.name}, mapped(from.tensor, [](double x) { return std::max(x, 0.0); }));
    else if (chance(0.7))
      add("Neg", {from.name}, mapped(from.tensor, [](double x) { return x == 0 ? 0 : -x; }));
    else
      add(chance(0.5) ? "Identity" : "Dropout", {from.name}, from.tensor);
  }

  /// Adds or removes a dimension of one element, or flattens the tensor to two dimensions.
  void changeRank() {
    const Entry from = pick();
    const Index &dims = from.tensor.dims;
    Tensor expected = from.tensor;
    const auto axis = static_cast<size_t>(number(0, static_cast<int64_t>(dims.size())));
    const auto position = static_cast<std::ptrdiff_t>(axis);
    if (axis < dims.size() && dims[axis] == 1 && dims.size() > 1) {
      expected.dims.erase(expected.dims.begin() + position);
      add("Squeeze", {from.name, ints({static_cast<int64_t>(axis)})}, std::move(expected),
          inParentheses(axis));
    } else if (chance(0.5) && dims.size() < 5) {
      expected.dims.insert(expected.dims.begin() + position, 1);
      add("Unsqueeze", {from.name, ints({static_cast<int64_t>(axis)})}, std::move(expected),
          inParentheses(axis));
    } else {
      const auto product = [](auto first, auto last) {
        return std::accumulate(first, last, int64_t{1}, std::multiplies<>());
      };
      expected.dims = {product(dims.begin(), dims.begin() + position),
                       product(dims.begin() + position, dims.end())};
      OnnxModel::attribute(add("Flatten", {from.name}, std::move(expected), inParentheses(axis)),
                           "axis", static_cast<int64_t>(axis));
    }
  }

  /// Adds two tensors of one shape; the second may be the first.
  void combine() {
    const Entry a = pick();
    std::vector<size_t> equal;
    for (size_t i = 0; i < pool_.size(); ++i)
      if (pool_[i].tensor.dims == a.tensor.dims && largest(pool_[i].tensor) < kMaxNumber)
        equal.push_back(i);
    if (largest(a.tensor) >= kMaxNumber || equal.empty())
      return apply();
    Entry &b = pool_[equal[static_cast<size_t>(number(0, static_cast<int64_t>(equal.size()) - 1))]];
    b.isRead = true;
    const std::string name = b.name;
    add("Add", {a.name, name},
        combined(a.tensor, b.tensor, [](double x, double y) { return x + y; }));
  }

  /// Concatenates 2 to 4 tensors. All but the first are tensors of pool_ with a fitting shape, or
  /// the first one again.
  void concatenate() {
    const Entry first = pick();
    const size_t rank = first.tensor.dims.size();
    const auto axis = static_cast<size_t>(
        rank == 4 && chance(0.6) ? 1 : number(0, static_cast<int64_t>(rank) - 1));
    std::vector<Entry> parts{first};
    for (int64_t more = number(1, 3); more > 0; --more)
      parts.push_back(matching(first, axis));
    // Operators compute most of the parts, so that the operators may write them directly into the
    // storage of the concatenation.
    for (Entry &part : parts)
      if (chance(0.7)) {
        add("Neg", {part.name}, mapped(part.tensor, [](double x) { return x == 0 ? 0 : -x; }));
        pool_.back().isRead = true;
        part = pool_.back();
      }
    if (chance(0.4))
      std::reverse(parts.begin(), parts.end());
    Index dims = first.tensor.dims;
    dims[axis] = 0;
    std::vector<std::string> names;
    for (const Entry &part : parts) {
      dims[axis] += part.tensor.dims[axis];
      names.push_back(part.name);
    }
    if (Tensor(Type::kF32, dims).count() > 20000)
      return apply();
    Tensor expected = made(dims, [&](Index index) {
      for (const Entry &part : parts) {
        if (index[axis] < part.tensor.dims[axis])
          return at(part.tensor, index);
        index[axis] -= part.tensor.dims[axis];
      }
      return 0.0;
    });
    OnnxModel::attribute(add("Concat", names, std::move(expected), inParentheses(axis)), "axis",
                         static_cast<int64_t>(axis));
  }

  Entry matching(const Entry &first, size_t axis) {
    std::vector<size_t> fits;
    for (size_t i = 0; i < pool_.size(); ++i) {
      Index dims = pool_[i].tensor.dims;
      if (dims.size() != first.tensor.dims.size())
        continue;
      dims[axis] = first.tensor.dims[axis];
      if (dims == first.tensor.dims)
        fits.push_back(i);
    }
    if (fits.empty() || chance(0.1))
      return first;
    Entry &entry = pool_[fits[static_cast<size_t>(
        number(std::max<int64_t>(0, static_cast<int64_t>(fits.size()) - 3),
               static_cast<int64_t>(fits.size()) - 1))]];
    entry.isRead = true;
    return entry;
  }

  static Tensor sliced(const Tensor &x, size_t axis, int64_t start, int64_t count, int64_t stride) {
    Index dims = x.dims;
    dims[axis] = count;
    return made(dims, [&](Index index) {
      index[axis] = start + index[axis] * stride;
      return at(x, index);
    });
  }

  size_t axisOf(const Tensor &x) {
    return static_cast<size_t>(number(0, static_cast<int64_t>(x.dims.size()) - 1));
  }

  void slice() {
    const Entry from = pick();
    const size_t axis = axisOf(from.tensor);
    const int64_t extent = from.tensor.dims[axis], stride = chance(0.8) ? 1 : 2;
    const int64_t start = number(0, extent - 1), end = number(start + 1, extent);
    Tensor expected = sliced(from.tensor, axis, start, (end - start + stride - 1) / stride, stride);
    add("Slice",
        {from.name, ints({start}), ints({end}), ints({static_cast<int64_t>(axis)}), ints({stride})},
        std::move(expected), inParentheses(axis));
  }

  void split() {
    const Entry from = pick();
    const size_t axis = axisOf(from.tensor);
    const int64_t extent = from.tensor.dims[axis];
    if (extent < 2)
      return apply();
    const int64_t first = extent % 2 == 0 && chance(0.5) ? extent / 2 : number(1, extent - 1);
    const std::string names[] = {newName(), newName()};
    OnnxModel::attribute(
        model_.node("Split", {from.name, ints({first, extent - first})}, {names[0], names[1]}),
        "axis", static_cast<int64_t>(axis));
    result_.what += "Split" + inParentheses(axis) + " ";
    pool_.push_back({names[0], sliced(from.tensor, axis, 0, first, 1)});
    pool_.push_back({names[1], sliced(from.tensor, axis, first, extent - first, 1)});
  }

  /// Replaces rows of a tensor (ScatterND): either some rows in any order, or a range of the second
  /// dimension in every row, as PyTorch exports an assignment to a slice.
  void scatter() {
    const Entry data = pick();
    const size_t rank = data.tensor.dims.size();
    const size_t axis = rank > 1 && chance(0.5) ? 1 : 0;
    Entry rows = matching(data, axis);
    const int64_t extent = data.tensor.dims[axis];
    if (rows.tensor.dims[axis] > extent) {
      add("Slice", {rows.name, ints({0}), ints({extent}), ints({static_cast<int64_t>(axis)})},
          sliced(rows.tensor, axis, 0, extent, 1));
      pool_.back().isRead = true;
      rows = pool_.back();
    }
    if (chance(0.7)) {
      add("Neg", {rows.name}, mapped(rows.tensor, [](double x) { return x == 0 ? 0 : -x; }));
      pool_.back().isRead = true;
      rows = pool_.back();
    }
    const int64_t count = rows.tensor.dims[axis];
    std::vector<int64_t> places(static_cast<size_t>(extent));
    std::iota(places.begin(), places.end(), 0);
    if (axis == 0)
      std::shuffle(places.begin(), places.end(), random_);
    else
      std::rotate(places.begin(), places.begin() + number(0, extent - count), places.end());
    Tensor expected = made(data.tensor.dims, [&](Index index) {
      for (int64_t row = 0; row < count; ++row)
        if (places[static_cast<size_t>(row)] == index[axis]) {
          index[axis] = row;
          return at(rows.tensor, index);
        }
      return at(data.tensor, index);
    });
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < (axis == 0 ? 1 : data.tensor.dims[0]); ++i)
      for (int64_t row = 0; row < count; ++row) {
        if (axis == 1)
          indices.push_back(i);
        const int64_t place = places[static_cast<size_t>(row)];
        indices.push_back(chance(0.2) ? place - extent : place); // Counted from the end.
      }
    Index shape;
    if (axis == 1)
      shape.push_back(data.tensor.dims[0]);
    shape.push_back(count);
    shape.push_back(static_cast<int64_t>(axis) + 1);
    const std::string name = newName();
    model_.constant(name, onnx::TensorProto::INT64, shape,
                    std::string(reinterpret_cast<const char *>(indices.data()),
                                indices.size() * sizeof(int64_t)));
    add("ScatterND", {data.name, name, rows.name}, std::move(expected), inParentheses(axis));
  }

  void pad() {
    const Entry from = pick();
    std::vector<int64_t> pads(2 * from.tensor.dims.size(), 0);
    Index dims = from.tensor.dims;
    for (size_t d = 0; d < dims.size(); ++d)
      if (chance(0.4)) {
        pads[d] = number(0, 2);
        pads[d + dims.size()] = number(0, 2);
        dims[d] += pads[d] + pads[d + dims.size()];
      }
    const double value = chance(0.6) ? 0 : 3;
    const std::string constant = newName();
    model_.floats(constant, {}, {static_cast<float>(value)});
    Tensor expected = made(dims, [&](Index index) {
      for (size_t d = 0; d < index.size(); ++d) {
        index[d] -= pads[d];
        if (index[d] < 0 || index[d] >= from.tensor.dims[d])
          return value;
      }
      return at(from.tensor, index);
    });
    add("Pad", {from.name, ints(pads), constant}, std::move(expected));
  }

  void reshape() {
    const Entry from = pick();
    int64_t rest = from.tensor.count();
    Index dims;
    for (int64_t rank = number(0, 3); rank > 0; --rank) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= rest && d <= 64; ++d)
        if (rest % d == 0)
          divisors.push_back(d);
      dims.push_back(
          divisors[static_cast<size_t>(number(0, static_cast<int64_t>(divisors.size()) - 1))]);
      rest /= dims.back();
    }
    dims.push_back(rest);
    Tensor expected = from.tensor;
    expected.dims = dims;
    add("Reshape", {from.name, ints(dims)}, std::move(expected), describe(dims));
  }

  void transpose() {
    const Entry from = pick();
    std::vector<size_t> order(from.tensor.dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    OnnxModel::attribute(add("Transpose", {from.name}, transposed(from.tensor, order)), "perm",
                         std::vector<int64_t>(order.begin(), order.end()));
  }

  void convolve() {
    const Entry from = pick();
    const Index &dims = from.tensor.dims;
    const int64_t kernel = chance(0.5) ? 1 : 3;
    if (dims.size() != 4 || largest(from.tensor) > 4096 || dims[2] < 1 || dims[1] > 64)
      return apply();
    const int64_t filters = chance(0.6) ? 4 * number(1, 3) : number(1, 7);
    Tensor filter(Type::kF32, {filters, dims[1], kernel, kernel});
    for (double &value : filter.values)
      value = static_cast<double>(number(-1, 1));
    Convolution how;
    how.strides = how.dilations = {1, 1};
    how.padLow = how.padHigh = {kernel / 2, kernel / 2};
    const std::string weights = newName();
    model_.constant(weights, onnxType(Type::kF32), filter.dims, filter.bytes());
    Tensor expected = convolution(from.tensor, filter, how, {});
    onnx::NodeProto &node = add("Conv", {from.name, weights}, std::move(expected));
    OnnxModel::attribute(node, "pads",
                         std::vector<int64_t>{kernel / 2, kernel / 2, kernel / 2, kernel / 2});
  }

  /// Makes every tensor that no operator reads an output, and sometimes others too. An input of the
  /// model is not an output.
  void addOutputs() {
    for (size_t i = result_.inputs.size(); i < pool_.size(); ++i)
      if (!pool_[i].isRead || chance(0.08)) {
        model_.output(pool_[i].name);
        result_.outputs.push_back(pool_[i].tensor);
      }
  }

  std::mt19937_64 random_;
  OnnxModel model_{16};
  GraphCase result_;
  std::vector<Entry> pool_; // All tensors so far, which further nodes may read.
  int next_ = 0;

public:
  std::string bytes() const { return model_.bytes(); }
};

} // namespace

GraphCase randomGraph(uint64_t seed) {
  GraphMaker maker(seed);
  GraphCase result = maker.make();
  result.model = maker.bytes();
  return result;
}

} // namespace gantry::test
