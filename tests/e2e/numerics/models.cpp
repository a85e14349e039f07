// Arranges the values of the cases in tensors, and writes the ONNX nodes.
#include "tests/e2e/numerics/models.h"

#include "tests/e2e/numerics/grid.h"
#include "tests/support/onnx_model.h"

#include <algorithm>
#include <optional>
#include <quadmath.h>
#include <random>

namespace gantry::numerics {

namespace {

constexpr int64_t kOpset = 22;
constexpr size_t kRandomPairs = 240;
constexpr size_t kRandomRows = 400;

std::string textOf(size_t n) { return std::to_string(n); }

class Builder {
public:
  explicit Builder(size_t tail, bool isDense = false)
      : onnx_(kOpset), tail_(tail), isDense_(isDense) {}

  void add(const Case &test) {
    if (test.constantInput >= 0)
      addConstants(test);
    else if (test.shape == Shape::kElements)
      addElements(test);
    else
      addRows(test);
  }

  Model finish() {
    model_.bytes = onnx_.bytes();
    for (Output &output : model_.outputs)
      for (size_t i = 0; i < output.arguments.size(); ++i)
        output.expected.push_back(output.test->reference(output.arguments[i], output.positions[i]));
    return std::move(model_);
  }

private:
  /// Repeats values until the length is a multiple of 4 plus tail_.
  void fill(std::vector<Number> &values) const {
    const size_t count = values.size();
    for (size_t i = 0; values.size() % 4 != tail_; ++i)
      values.push_back(values[i % count]);
  }

  /// Returns the model's input with this type and this role, which is the first part of the input's
  /// name ("condition_…"). Creates it with the values of make() if it does not exist. If `dims` is
  /// empty, the input has one dimension with all values.
  const TensorData &input(const std::string &role, Type type, std::vector<int64_t> dims,
                          const std::function<std::vector<Number>()> &make) {
    const std::string name = role + "_" + gantry_type_name(type);
    for (const TensorData &known : model_.inputs)
      if (known.name == name)
        return known;
    TensorData data{name, type, std::move(dims), make()};
    if (data.dims.empty())
      data.dims = {static_cast<int64_t>(data.values.size())};
    std::vector<std::string> texts;
    for (int64_t dim : data.dims)
      texts.push_back(std::to_string(dim));
    onnx_.input(name, texts, onnxTypeOf(type));
    model_.inputs.push_back(std::move(data));
    return model_.inputs.back();
  }

  /// Returns one side of every pairing of the special values of two types: the first side if
  /// `which` is 0, the second if it is 1.
  std::vector<Number> pairs(Type first, Type second, int which) const {
    const auto a = specialValues(first), b = specialValues(second);
    std::vector<Number> values;
    for (const Number &x : a)
      for (const Number &y : b)
        values.push_back(which == 0 ? x : y);
    const auto more = randomValues(which == 0 ? first : second, kRandomPairs, 3 + which);
    values.insert(values.end(), more.begin(), more.end());
    fill(values);
    return values;
  }

  Output &output(const Case &test, std::vector<int64_t> dims) {
    Output out;
    out.test = &test;
    out.name = "y" + textOf(model_.outputs.size());
    out.dims = std::move(dims);
    onnx_.output(out.name, {}, onnxTypeOf(test.result));
    auto &shape = *onnx_.graph().mutable_output(onnx_.graph().output_size() - 1);
    shape.mutable_type()->mutable_tensor_type()->clear_shape();
    model_.outputs.push_back(std::move(out));
    return model_.outputs.back();
  }

  std::string constant(Type type, const std::vector<int64_t> &dims,
                       const std::vector<Number> &values) {
    TensorData data{"k" + textOf(constants_++), type, dims, values};
    const auto bytes = data.bytes();
    onnx_.constant(data.name, onnxTypeOf(type), dims, {bytes.begin(), bytes.end()});
    return data.name;
  }

  void addElements(const Case &test) {
    std::vector<std::string> names;
    std::vector<std::vector<Number>> columns;
    const Type type = test.types[0];
    if (test.types.size() == 1) {
      const TensorData &x = input("x", type, {}, [&] {
        auto values = isDense_ ? denseValues(kDenseCount) : unaryValues(type);
        fill(values);
        return values;
      });
      names.push_back(x.name);
      columns.push_back(x.values);
    } else if (isDense_) {
      const TensorData x = input("x", type, {}, [&] { return denseValues(kDenseCount); });
      const TensorData y = input("exponent", type, {}, [&] { return denseExponents(x.values); });
      names = {x.name, y.name};
      columns = {x.values, y.values};
    } else {
      // The test of Where pairs its two values; the condition is pseudo-random.
      const bool isWhere = test.op == "Where";
      const Type first = isWhere ? test.types[1] : type, second = test.types[isWhere ? 2 : 1];
      const std::string pair = std::string("_") + gantry_type_name(second);
      const TensorData a = input("a" + pair, first, {}, [&] { return pairs(first, second, 0); });
      const TensorData b = input("b" + std::string("_") + gantry_type_name(first), second, {},
                                 [&] { return pairs(first, second, 1); });
      names = {a.name, b.name};
      columns = {a.values, b.values};
      if (isWhere) {
        const TensorData c = input("condition" + pair, GANTRY_TYPE_BOOL, {},
                                   [&] { return randomConditions(a.values.size()); });
        names.insert(names.begin(), c.name);
        columns.insert(columns.begin(), c.values);
      } else if (test.types.size() == 3 && test.types[2] != second) {
        // An input of a third type repeats the special values of its type.
        const Type third = test.types[2];
        const TensorData c = input("c" + pair, third, {}, [&] {
          const auto special = specialValues(third);
          std::vector<Number> values;
          for (size_t i = 0; i < a.values.size(); ++i)
            values.push_back(special[i % special.size()]);
          return values;
        });
        names.push_back(c.name);
        columns.push_back(c.values);
      } else if (test.types.size() == 3) {
        const TensorData c = input("c", second, {}, [&] {
          auto values = b.values;
          std::rotate(values.begin(), values.begin() + 17, values.end());
          return values;
        });
        names.push_back(c.name);
        columns.push_back(c.values);
      }
    }
    for (const Case::Scalar &scalar : test.scalars) {
      if (scalar.isConstant) {
        names.push_back(constant(scalar.type, {}, {scalar.value}));
        continue;
      }
      const std::string name =
          "s" + textOf(model_.inputs.size()) + "_" + gantry_type_name(scalar.type);
      onnx_.input(name, {}, onnxTypeOf(scalar.type));
      model_.inputs.push_back({name, scalar.type, {}, {scalar.value}});
      names.push_back(name);
    }
    Output &out = output(test, {static_cast<int64_t>(columns[0].size())});
    for (size_t i = 0; i < columns[0].size(); ++i) {
      std::vector<Number> arguments;
      for (const auto &column : columns)
        arguments.push_back(column[i]);
      out.arguments.push_back(arguments);
      out.positions.push_back(0);
    }
    emit(test, names, out.name);
  }

  static std::vector<Number> randomConditions(size_t count) {
    std::vector<Number> values(count);
    std::mt19937_64 random(5);
    for (Number &value : values)
      value.i = Wide(random() & 1);
    return values;
  }

  /// Makes one kernel for all constants: row k uses constant k, selected by a chain of Where.
  void addConstants(const Case &test) {
    const Type type = test.types[1 - test.constantInput];
    const Type constantType = test.types[test.constantInput];
    const auto count = static_cast<int64_t>(test.constants.size());
    auto values = specialValues(type);
    const auto more = randomValues(type, 20, 6);
    values.insert(values.end(), more.begin(), more.end());
    fill(values);
    const auto width = static_cast<int64_t>(values.size());
    const std::string rows = textOf(test.constants.size());
    const TensorData x = input("t" + rows, type, {count, width}, [&] {
      std::vector<Number> tiled;
      for (int64_t k = 0; k < count; ++k)
        tiled.insert(tiled.end(), values.begin(), values.end());
      return tiled;
    });
    const TensorData row = input("row" + rows, GANTRY_TYPE_F32, {count, width}, [&] {
      std::vector<Number> numbers;
      for (int64_t i = 0; i < count * width; ++i) {
        numbers.emplace_back();
        numbers.back().f = static_cast<Quad>(i / width);
      }
      return numbers;
    });
    Output &out = output(test, {count, width});
    std::string chosen;
    for (int64_t k = 0; k < count; ++k) {
      const Number number = test.constants[static_cast<size_t>(k)];
      std::vector<std::string> names(test.types.size(), x.name);
      names[static_cast<size_t>(test.constantInput)] = constant(constantType, {}, {number});
      const std::string part = count == 1 ? out.name : out.name + "_" + std::to_string(k);
      emit(test, names, part);
      for (const Number &value : values) {
        std::vector<Number> arguments(test.types.size(), value);
        arguments[static_cast<size_t>(test.constantInput)] = number;
        out.arguments.push_back(arguments);
        out.positions.push_back(0);
      }
      if (k == 0) {
        chosen = part;
        continue;
      }
      Number index;
      index.f = static_cast<Quad>(k);
      onnx_.node("Equal", {row.name, constant(GANTRY_TYPE_F32, {}, {index})}, {part + "_is"});
      const std::string next = k + 1 == count ? out.name : part + "_or";
      onnx_.node("Where", {part + "_is", part, chosen}, {next});
      chosen = next;
    }
  }

  void addRows(const Case &test) {
    const Type type = test.types[0];
    const size_t columns = test.columns;
    const TensorData x =
        test.isSparse
            ? input("sparse" + textOf(columns), type, {}, [&] { return sparseRows(columns); })
            : input("r" + textOf(columns), type, {}, [&] { return rowsOf(type, columns); });
    const auto width = static_cast<int64_t>(columns);
    const int64_t rows = static_cast<int64_t>(x.values.size()) / width;
    for (TensorData &known : model_.inputs)
      if (known.name == x.name && known.dims.size() == 1) {
        known.dims = {rows, width};
        for (auto &port : *onnx_.graph().mutable_input())
          if (port.name() == x.name) {
            auto &shape = *port.mutable_type()->mutable_tensor_type()->mutable_shape();
            shape.mutable_dim(0)->set_dim_value(rows);
            shape.add_dim()->set_dim_value(width);
          }
      }
    const bool isColumns = test.shape == Shape::kColumns;
    std::vector<int64_t> dims{rows};
    if (isColumns)
      dims.push_back(width);
    Output &out = output(test, dims);
    for (int64_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < (isColumns ? columns : 1); ++column) {
        const auto begin = x.values.begin() + row * width;
        out.arguments.emplace_back(begin, begin + width);
        out.positions.push_back(column);
      }
    std::vector<std::string> names{x.name};
    const bool isReduce = test.op.rfind("Reduce", 0) == 0;
    if (isReduce || test.op == "CumSum") {
      if (axes_.empty()) {
        axes_ = "axes";
        onnx_.ints(axes_, {1});
      }
      names.push_back(axes_);
    }
    onnx::NodeProto &node = emit(test, names, out.name);
    if (isReduce)
      test::OnnxModel::attribute(node, "keepdims", 0);
  }

  std::vector<Number> rowsOf(Type type, size_t columns) const {
    const auto special = specialValues(type);
    std::vector<Number> values;
    if (columns == 2)
      for (const Number &a : special)
        for (const Number &b : special) {
          values.push_back(a);
          values.push_back(b);
        }
    // Add rows that mix special and random values.
    std::mt19937_64 random(7);
    const auto other = randomValues(type, kRandomRows * columns, 8);
    for (size_t i = 0; i < other.size(); ++i)
      values.push_back(random() % 3 ? other[i] : special[random() % special.size()]);
    while (values.size() / columns % 4 != tail_)
      values.resize(values.size() - columns);
    return values;
  }

  /// Returns rows of zeros, rows of ones, and rows of both. Each kind has one row without other
  /// values, and rows with an infinity or NaN at the first, the middle or the last position.
  std::vector<Number> sparseRows(size_t columns) const {
    std::vector<Number> values;
    auto add = [&](int kind, size_t at, std::optional<Quad> special) {
      for (size_t i = 0; i < columns; ++i) {
        values.emplace_back();
        const int number = kind < 2 ? kind : static_cast<int>(i % 3 == 1);
        values.back().f = special && i == at ? *special : number;
      }
    };
    size_t rows = 0;
    for (int kind : {0, 1, 2}) {
      add(kind, 0, std::nullopt);
      ++rows;
      for (size_t at : {size_t(0), columns / 2, columns - 1})
        for (Quad special : {HUGE_VALQ, -HUGE_VALQ, nanq("")}) {
          add(kind, at, special);
          ++rows;
        }
    }
    for (; rows % 4 != tail_; ++rows)
      add(2, 0, std::nullopt);
    return values;
  }

  /// Adds the nodes of a case: the operator and the casts after it. Returns the operator's node.
  onnx::NodeProto &emit(const Case &test, const std::vector<std::string> &inputs,
                        const std::string &name) {
    std::string value = test.casts.empty() ? name : name + "_cast0";
    onnx::NodeProto &node = onnx_.node(test.op, inputs, {value}, test.op + "_" + name);
    if (test.attributes)
      test.attributes(node);
    for (size_t i = 0; i < test.casts.size(); ++i) {
      const bool isLast = i + 1 == test.casts.size();
      const std::string next = isLast ? name : name + "_cast" + textOf(i + 1);
      test::OnnxModel::attribute(onnx_.node("Cast", {value}, {next}), "to",
                                 onnxTypeOf(test.casts[i]));
      value = next;
    }
    return node;
  }

  test::OnnxModel onnx_;
  size_t tail_;
  bool isDense_;
  Model model_;
  size_t constants_ = 0;
  std::string axes_;
};

} // namespace

std::vector<uint8_t> TensorData::bytes() const {
  const size_t size = gantry_type_size(type);
  std::vector<uint8_t> result(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i)
    encode(type, values[i], &result[i * size]);
  return result;
}

Model makeModel(const std::vector<const Case *> &cases, size_t tail) {
  Builder builder(tail);
  for (const Case *test : cases)
    builder.add(*test);
  return builder.finish();
}

bool isElementary(const Case &test) {
  return test.boundUlp > 0 && test.shape == Shape::kElements && test.constantInput < 0 &&
         std::all_of(test.types.begin(), test.types.end(),
                     [](Type type) { return type == GANTRY_TYPE_F32; });
}

Model makeDenseModel(const std::vector<const Case *> &cases) {
  Builder builder(1, true);
  for (const Case *test : cases)
    builder.add(*test);
  return builder.finish();
}

} // namespace gantry::numerics
