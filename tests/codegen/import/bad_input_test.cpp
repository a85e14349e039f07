// Tests damaged and invalid models: the import of each returns one error and does not crash.
#include "codegen/import/onnx/operand_types.h"
#include "tests/codegen/import/expect_error.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>

using namespace gantry::importer;
using gantry::importer::test::expectError;
using gantry::importer::test::import;
using gantry::importer::test::ModelBuilder;
using gantry::importer::test::Scratch;

namespace {

ModelBuilder smallModel() {
  ModelBuilder m;
  m.input("x", {"batch", "3", "8", "8"});
  m.weights("w", {4, 3, 3, 3});
  m.weights("b", {4});
  m.weights("fc", {36, 5});
  m.ints("shape", {0, 36});
  auto &conv = m.node("Conv", {"x", "w", "b"}, {"c"}, "conv");
  ModelBuilder::attribute(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  ModelBuilder::attribute(conv, "strides", std::vector<int64_t>{2, 2});
  m.node("Relu", {"c"}, {"r"}, "relu");
  auto &pool = m.node("MaxPool", {"r"}, {"p"}, "pool");
  ModelBuilder::attribute(pool, "kernel_shape", std::vector<int64_t>{2, 2});
  m.node("Reshape", {"p", "shape"}, {"f"}, "flatten");
  m.node("MatMul", {"f", "fc"}, {"l"}, "fc");
  ModelBuilder::attribute(m.node("Softmax", {"l"}, {"y"}, "softmax"), "axis", int64_t(-1));
  m.output("y");
  return m;
}

TEST(BadInput, FilesThatAreNotModels) {
  Scratch scratch;
  expectError(scratch.path("absent.onnx"), "cannot read it: No such file");
  expectError(scratch.write("empty.onnx", ""), "not an ONNX model");
  expectError(scratch.write("text.onnx", "hello, this is no protobuf"), "not an ONNX model");
  expectError(scratch.write("model.txt", "x"), "neither an .onnx nor an .mlir");
  std::filesystem::create_directory(scratch.path("folder.onnx"));
  expectError(scratch.path("folder.onnx"), "is a folder");
  std::string bytes = smallModel().bytes();
  expectError(scratch.write("cut.onnx", bytes.substr(0, bytes.size() / 2)), "truncated or damaged");
}

TEST(BadInput, InvalidGraphs) {
  ModelBuilder undefined;
  undefined.node("Relu", {"ghost"}, {"y"}, "relu");
  undefined.output("y");
  expectError(undefined, "\"ghost\" is defined nowhere");

  ModelBuilder cycle;
  cycle.node("Add", {"b", "b"}, {"a"});
  cycle.node("Relu", {"a"}, {"b"});
  cycle.output("b");
  expectError(cycle, "has a cycle or is not in topological order");

  ModelBuilder twice;
  twice.input("x", {"2"});
  twice.node("Relu", {"x"}, {"y"});
  twice.node("Exp", {"x"}, {"y"});
  twice.output("y");
  expectError(twice, "\"y\" is defined twice");

  ModelBuilder noOutput;
  noOutput.input("x", {"2"});
  noOutput.node("Relu", {"x"}, {"y"});
  expectError(noOutput, "no outputs");

  ModelBuilder missing;
  missing.input("x", {"2"});
  missing.node("Relu", {"x"}, {"y"});
  missing.output("z");
  expectError(missing, "\"z\" is defined nowhere");

  ModelBuilder nameless;
  nameless.input("x", {"2"});
  nameless.input("", {"2"});
  nameless.node("Relu", {"x"}, {"y"});
  nameless.output("y");
  expectError(nameless, "an input has no name");
}

TEST(BadInput, InvalidShapesAndOperands) {
  ModelBuilder negative;
  negative.input("x", {"-3"});
  negative.node("Relu", {"x"}, {"y"});
  negative.output("y");
  expectError(negative, "a dimension of -3");

  ModelBuilder huge;
  huge.input("x", {"4611686018427387904", "4611686018427387904"});
  huge.node("Relu", {"x"}, {"y"});
  huge.output("y");
  expectError(huge, "overflows");

  ModelBuilder overflow;
  overflow.input("x", {"2"});
  overflow.ints("shape", {int64_t(1) << 40, int64_t(1) << 40, 2});
  overflow.node("Expand", {"x", "shape"}, {"y"});
  overflow.output("y");
  expectError(overflow, "overflows");

  ModelBuilder arithmetic;
  arithmetic.input("x", {"n"});
  arithmetic.ints("big", {int64_t(1) << 62});
  arithmetic.node("Shape", {"x"}, {"s"});
  arithmetic.node("Mul", {"s", "big"}, {"a"});
  arithmetic.node("Mul", {"a", "big"}, {"b"});
  arithmetic.node("Expand", {"x", "b"}, {"y"});
  arithmetic.output("y");
  expectError(arithmetic, "overflows");

  ModelBuilder reshape;
  reshape.input("x", {"2", "3"});
  reshape.ints("shape", {4, 2});
  reshape.node("Reshape", {"x", "shape"}, {"y"}, "r");
  reshape.output("y");
  expectError(reshape, "cannot reshape [2, 3] to [4, 2]");

  ModelBuilder window;
  window.input("x", {"1", "1", "2", "2"});
  window.weights("w", {1, 1, 5, 5});
  window.node("Conv", {"x", "w"}, {"y"});
  window.output("y");
  expectError(window, "a window of 5 does not fit");

  ModelBuilder channels;
  channels.input("x", {"1", "2", "9", "9"});
  channels.weights("w", {1, 3, 5, 5});
  channels.node("Conv", {"x", "w"}, {"y"});
  channels.output("y");
  expectError(channels, "the input has 2 channels");

  ModelBuilder position;
  position.input("x", {"3", "0"});
  ModelBuilder::attribute(position.node("ArgMax", {"x"}, {"y"}), "axis", int64_t(1));
  position.output("y");
  expectError(position, "axis 1 has size 0, so it has no maximum or minimum");

  ModelBuilder range; // The start of the range has no element.
  range.ints("none", {});
  range.ints("end", {3});
  range.ints("step", {1});
  range.node("Range", {"none", "end", "step"}, {"y"});
  range.output("y");
  expectError(range, "one has the shape [0]");

  ModelBuilder clip;
  clip.input("x", {"2"});
  clip.ints("low", {1});
  clip.node("Clip", {"x", "low"}, {"y"});
  clip.output("y");
  expectError(clip, "the input is f32, but a limit is i64");

  ModelBuilder limits;
  limits.input("x", {"2"});
  limits.weights("low", {3});
  limits.node("Clip", {"x", "low"}, {"y"});
  limits.output("y");
  expectError(limits, "a limit must be one number; it has the shape [3]");

  ModelBuilder oneHot;
  oneHot.input("x", {"2"}, 7);
  oneHot.ints("depth", {4});
  oneHot.weights("values", {1});
  oneHot.node("OneHot", {"x", "depth", "values"}, {"y"});
  oneHot.output("y");
  expectError(oneHot, "the values must be a list of two");

  ModelBuilder nothing;
  nothing.input("x", {"0", "4"});
  nothing.input("at", {"3"}, 7);
  nothing.node("Gather", {"x", "at"}, {"y"});
  nothing.output("y");
  expectError(nothing, "nothing to gather");

  ModelBuilder type;
  type.input("x", {"2"});
  type.node("Relu", {"x"}, {"y"});
  type.output("y", {"2"}, 7);
  expectError(type, "declares i64, but its operators give f32");

  ModelBuilder scatter;
  scatter.input("x", {"3", "2"});
  scatter.input("u", {"1", "2"});
  scatter.ints("at", {3});
  scatter.ints("shape", {1, 1});
  scatter.node("Reshape", {"at", "shape"}, {"rows"});
  scatter.node("ScatterND", {"x", "rows", "u"}, {"y"});
  scatter.output("y");
  expectError(scatter, "the index 3 is outside of a dimension of size 3");

  ModelBuilder dots;
  dots.input("x", {"3", "2"});
  onnx::AttributeProto &equation = *dots.node("Einsum", {"x"}, {"y"}).add_attribute();
  equation.set_name("equation");
  equation.set_type(onnx::AttributeProto::STRING);
  equation.set_s("...ijk->...i");
  dots.output("y");
  expectError(dots, "does not match the shape [3, 2]");

  for (const std::string name : {"pads", "output_padding", "auto_pad"}) {
    ModelBuilder transposed;
    transposed.input("x", {"1", "1", "2"});
    transposed.weights("w", {1, 1, 2});
    onnx::NodeProto &node = transposed.node("ConvTranspose", {"x", "w"}, {"y"});
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    if (name != "auto_pad") {
      attribute.set_type(onnx::AttributeProto::INTS);
      for (int i = 0; i < (name == "pads" ? 2 : 1); ++i)
        attribute.add_ints(-1);
    } else {
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s("SAME");
    }
    transposed.output("y");
    expectError(transposed, name == "pads" ? "pads has the value -1; it must be from 0 to 2^31"
                            : name == "auto_pad"
                                ? "auto_pad is \"SAME\""
                                : "output_padding must not be negative, but has -1");
  }

  ModelBuilder product;
  product.input("x", {"2", "3"});
  product.weights("w", {4, 5});
  product.node("MatMul", {"x", "w"}, {"y"});
  product.output("y");
  expectError(product, "3 and 4 differ");

  ModelBuilder declared;
  declared.input("x", {"2", "3"});
  declared.node("Relu", {"x"}, {"y"});
  declared.output("y", {"2", "4"});
  expectError(declared, "declares the shape [2, 4]");
}

// Values of TensorProto.DataType.
constexpr int kF32 = 1, kU8 = 2, kI8 = 3, kI32 = 6, kI64 = 7, kBool = 9, kF16 = 10, kF64 = 11;
constexpr int kOnnxTypes[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16};

/// Returns a model with one node whose inputs have these types.
ModelBuilder nodeOf(const std::string &op, const std::vector<int> &types) {
  ModelBuilder m(22);
  std::vector<std::string> names;
  for (int type : types) {
    names.push_back(std::string(1, static_cast<char>('a' + names.size())));
    m.input(names.back(), {"4"}, type);
  }
  m.node(op, names, {"y"}, "suspect");
  m.output("y");
  return m;
}

TEST(BadInput, OperandsOfTypesThatTheOperatorDoesNotAllow) {
  const std::string kNumbers =
      "it must be f32, f16, f64, bf16, i8, u8, i16, u16, i32, u32, i64 or u64";
  const std::string kFloats = "it must be f32, f16, f64 or bf16";
  struct Case {
    std::string op;
    std::vector<int> types;
    std::string words;
  };
  std::vector<Case> cases = {
      {"IsNaN", {kI32}, "the input \"a\" is i32; " + kFloats},
      {"IsInf", {kI8}, "the input \"a\" is i8; " + kFloats},
      {"Exp", {kI64}, "the input \"a\" is i64; " + kFloats},
      {"Mean", {kI32, kI32}, "the input \"a\" is i32; " + kFloats},
      {"Not", {kI32}, "the input \"a\" is i32; it must be bool"},
      {"And", {kBool, kF32}, "the input \"b\" is f32; it must be bool"},
      {"BitwiseNot", {kF32}, "the input \"a\" is f32; it must be i8, u8"},
      {"BitwiseAnd", {kBool, kBool}, "the input \"a\" is bool; it must be i8, u8"},
      {"BitShift", {kI32, kI32}, "the input \"a\" is i32; it must be u8, u16, u32 or u64"},
      {"BitShift", {kU8, kU8}, "the direction is \"\"; it must be LEFT or RIGHT"},
      {"PRelu", {kF32, kF16}, "its operands must have the same type, but are f32 and f16"},
      {"Concat", {kF32, kI64}, "its operands must have the same type, but are f32 and i64"},
      {"QuantizeLinear", {kF64, kF32}, "the input \"a\" is f64; it must be f32, f16, bf16 or i32"},
      {"QuantizeLinear", {kF32, kF64}, "the input \"b\" is f64; it must be f32, f16 or bf16"},
      {"DequantizeLinear", {kI8, kBool}, "the input \"b\" is bool; it must be f32, f16 or bf16"},
      {"DequantizeLinear", {kBool, kF32}, "the input is bool; it must be i8, u8, i16 or u16"},
  };
  for (const char *op : {"Neg", "Abs", "Sign", "Relu", "ReduceSum", "ReduceMean", "ReduceProd",
                         "ReduceL1", "ReduceL2", "ReduceSumSquare"})
    cases.push_back({op, {kBool}, "the input \"a\" is bool; " + kNumbers});
  for (const char *op :
       {"Add", "Sub", "Mul", "Div", "Sum", "Mod", "Pow", "PRelu", "MatMul", "Gemm", "Conv", "Clip"})
    cases.push_back({op, {kBool, kBool}, "the input \"a\" is bool; " + kNumbers});
  cases.push_back({"CumSum", {kBool, kI64}, "the input \"a\" is bool; " + kNumbers});
  for (const char *op : {"Mean", "Reciprocal", "Floor", "Softmax", "Sigmoid", "HardSwish", "Erf",
                         "ReduceLogSum", "ReduceLogSumExp", "LRN"})
    cases.push_back({op, {kBool}, "the input \"a\" is bool; " + kFloats});
  for (const Case &c : cases) {
    SCOPED_TRACE(c.op + " " + c.words);
    Scratch scratch;
    const std::string path = scratch.write("m.onnx", nodeOf(c.op, c.types).bytes());
    expectError(path, c.op + ": " + c.words);
    EXPECT_NE(import(path).places[0].find("suspect"), std::string::npos);
  }
  for (const char *op : {"Erf", "Shrink", "ReduceLogSum", "ReduceLogSumExp"})
    expectError(nodeOf(op, {kI32}), std::string(op) + " of i32 is not supported yet",
                ImportFailure::kUnsupported);
}

TEST(OperandTypes, EveryOperatorDeclaresThem) {
  for (const std::string &name : supportedOnnxOperators())
    EXPECT_NE(operandTypesOf(name), nullptr)
        << name << " has no row in codegen/import/onnx/operand_types.cpp";
}

TEST(BadInput, ErrorsNameTheirNode) {
  ModelBuilder m;
  m.input("x", {"2", "3"});
  ModelBuilder::attribute(m.node("Softmax", {"x"}, {"y"}, "probabilities"), "axis", int64_t(7));
  m.output("y");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_FALSE(imported);
  EXPECT_NE(imported.errors[0].find("Softmax: the axis 7"), std::string::npos);
  EXPECT_NE(imported.places[0].find("probabilities"), std::string::npos);
}

TEST(BadInput, OneErrorListsAllUnsupportedOperators) {
  ModelBuilder m;
  m.input("x", {"2"});
  m.node("LSTM", {"x"}, {"a"}, "first");
  m.node("NonZero", {"a"}, {"b"}, "second");
  m.node("LSTM", {"b"}, {"y"});
  m.node("Unique", {"x"}, {"unused"}, "dead");
  m.output("y");
  expectError(m, "LSTM (first, LSTM_2); NonZero (second)", ImportFailure::kUnsupported);
}

/// Returns a model whose weights are in an external file.
ModelBuilder externalModel(const std::string &location, const std::string &offset = "0") {
  ModelBuilder m;
  m.input("x", {"4"});
  onnx::TensorProto &w = m.floats("w", {4}, {});
  w.clear_raw_data();
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  auto *place = w.add_external_data();
  place->set_key("location");
  place->set_value(location);
  auto *start = w.add_external_data();
  start->set_key("offset");
  start->set_value(offset);
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y");
  return m;
}

TEST(BadInput, ExternalData) {
  Scratch scratch;
  std::filesystem::create_directory(scratch.path("model"));
  scratch.write("outside.bin", std::string(16, '\0'));
  scratch.write("model/short.bin", std::string(15, '\0'));
  std::filesystem::create_symlink(scratch.path("outside.bin"), scratch.path("model/link.bin"));
  auto expect = [&](const ModelBuilder &m, const std::string &words) {
    expectError(scratch.write("model/m.onnx", m.bytes()), words);
  };
  expect(externalModel("absent.bin"), "cannot open the external data file");
  expect(externalModel("short.bin"), "its external data has 15");
  expect(externalModel("short.bin", "100"), "is too short");
  expect(externalModel("short.bin", "-1"), "is not a number");
  expect(externalModel("../outside.bin"), "outside of the model's folder");
  expect(externalModel("link.bin"), "outside of the model's folder");
  expect(externalModel(scratch.path("outside.bin")), "must be a path relative");
  expect(externalModel(""), "must be a path relative");
}

TEST(BadInput, DamagedWeights) {
  ModelBuilder m = smallModel();
  m.graph().mutable_initializer(0)->mutable_raw_data()->resize(10);
  expectError(m, "needs 432 bytes, but its raw data has 10");
  ModelBuilder negative = smallModel();
  negative.graph().mutable_initializer(0)->set_dims(0, -4);
  expectError(negative, "a dimension of -4");
}

TEST(BadInput, MlirFiles) {
  Scratch scratch;
  expectError(scratch.path("absent.mlir"), "cannot read");
  expectError(scratch.write("none.mlir", "module {}"), "0 public functions");
  expectError(scratch.write("scalar.mlir", "func.func @main(%a: f32) -> f32 { return %a : f32 }"),
              "must be a ranked tensor", ImportFailure::kUnsupported);
  auto syntax = import(scratch.write("syntax.mlir", "func.func @main( {"));
  EXPECT_FALSE(syntax);
  EXPECT_FALSE(syntax.errors.empty());
}

// Changes, removes and inserts bytes of a valid model. The importer must accept the result or
// return an error.
TEST(Fuzz, MutatedModelsNeverCrash) {
  const char *given = std::getenv("GANTRY_SEED");
  const unsigned seed = given ? unsigned(std::atoi(given)) : std::random_device{}();
  std::printf("seed %u (GANTRY_SEED)\n", seed);
  std::mt19937 random(seed);
  const std::string original = smallModel().bytes();
  Scratch scratch;
  int accepted = 0, refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = original;
    for (int change = 0; change <= int(random() % 4); ++change) {
      // Changed values of weights leave the model valid; most other changes do not.
      size_t at = random() % bytes.size();
      switch (random() % 4) {
      case 0:
        bytes[at] = char(random());
        break;
      case 1:
        bytes[at] = char(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, 1 + random() % 3);
        break;
      default:
        bytes.insert(at, 1, char(random()));
      }
    }
    auto imported = import(scratch.write("fuzz.onnx", bytes));
    if (!imported) {
      ASSERT_GE(imported.errors.size(), 1u) << "refused without an error";
    }
    ++(imported ? accepted : refused);
  }
  std::printf("%d accepted, %d refused\n", accepted, refused);
  EXPECT_GT(refused, 0);
}

// Imports every operator with tensors and constants of every type. The importer must accept the
// model or report an error. MLIR's verifier must report nothing, because its messages name MLIR
// operations, which the user does not know.
TEST(Fuzz, InvalidTypesNeverReachMlirsVerifier) {
  const char *given = std::getenv("GANTRY_SEED");
  const unsigned seed = given ? unsigned(std::atoi(given)) : std::random_device{}();
  std::printf("seed %u (GANTRY_SEED)\n", seed);
  std::mt19937 random(seed);
  const std::vector<std::vector<std::string>> shapes = {
      {}, {"4"}, {"4", "4"}, {"2", "4", "4"}, {"4", "4", "4", "4"}};
  Scratch scratch;
  int accepted = 0, refused = 0;
  auto tryOne = [&](const std::string &op, size_t inputs, int type, bool mixed) {
    ModelBuilder m(22);
    m.ints("list", {1});
    const auto &shape = shapes[random() % shapes.size()];
    std::vector<std::string> names;
    std::string described = op;
    for (size_t i = 0; i < inputs; ++i) {
      const bool other = mixed && random() % 3 == 0;
      const int own = other ? kOnnxTypes[random() % std::size(kOnnxTypes)] : type;
      names.push_back("x" + std::to_string(i));
      described += " " + std::to_string(own);
      if (i > 0 && random() % 4 == 0) {
        names.back() = "list";
      } else if (random() % 3 == 0) {
        std::vector<int64_t> dims;
        size_t bytes = 8;
        for (const std::string &dim : shape)
          bytes *= size_t(dims.emplace_back(std::stoll(dim)));
        static const std::map<int, size_t> kSizes = {{1, 4},  {2, 1},  {3, 1}, {4, 2},  {5, 2},
                                                     {6, 4},  {7, 8},  {9, 1}, {10, 2}, {11, 8},
                                                     {12, 4}, {13, 8}, {16, 2}};
        m.constant(names.back(), own, dims, std::string(bytes / 8 * kSizes.at(own), '\1'));
      } else {
        m.input(names.back(), shape, own);
      }
    }
    onnx::NodeProto &node = m.node(op, names, {"y"}, "suspect");
    ModelBuilder::attribute(node, "kernel_shape", std::vector<int64_t>(2, 2));
    for (const char *name : {"fmod", "num_groups", "size", "blocksize", "to"})
      ModelBuilder::attribute(node, name, 1);
    auto text = [&](const char *name, const char *value) {
      onnx::AttributeProto &a = *node.add_attribute();
      a.set_name(name);
      a.set_type(onnx::AttributeProto::STRING);
      a.set_s(value);
    };
    text("direction", "LEFT");
    text("equation", inputs == 1 ? "i...->..." : inputs == 2 ? "ij,jk->ik" : "ij,jk,kl->il");
    m.output("y");
    auto imported = import(scratch.write("types.onnx", m.bytes()));
    ++(imported ? accepted : refused);
    if (imported)
      return;
    ASSERT_EQ(imported.errors.size(), 1u) << described;
    EXPECT_EQ(imported.errors[0].find("' op "), std::string::npos)
        << described << ": " << imported.errors[0];
  };
  for (const std::string &op : supportedOnnxOperators())
    for (int type : kOnnxTypes) {
      for (size_t inputs = 1; inputs <= 2; ++inputs)
        tryOne(op, inputs, type, false);
      tryOne(op, 1 + random() % 5, type, true);
    }
  std::printf("%d accepted, %d refused\n", accepted, refused);
  EXPECT_GT(accepted, 500);
}

// Sets attributes, dims and the reshape's target to extreme values. The weights' data do not
// change.
TEST(Fuzz, ExtremeNumbersNeverCrash) {
  const char *given = std::getenv("GANTRY_SEED");
  const unsigned seed = given ? unsigned(std::atoi(given)) : std::random_device{}();
  std::printf("seed %u (GANTRY_SEED)\n", seed);
  std::mt19937_64 random(seed);
  const int64_t kExtremes[] = {0,  1,       -1,        2,         7,         64,
                               -2, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN, int64_t(1) << 40};
  auto extreme = [&] { return kExtremes[random() % std::size(kExtremes)]; };
  Scratch scratch;
  for (int round = 0; round < 1500; ++round) {
    ModelBuilder m = smallModel();
    for (int change = 0; change <= int(random() % 3); ++change)
      switch (random() % 4) {
      case 0: {
        auto *shape =
            m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
        shape->mutable_dim(int(random() % 4))->set_dim_value(extreme());
        break;
      }
      case 1: {
        auto *node = m.graph().mutable_node(int(random() % m.graph().node_size()));
        if (node->attribute_size() == 0)
          break;
        auto *attribute = node->mutable_attribute(int(random() % node->attribute_size()));
        if (attribute->ints_size() > 0)
          attribute->set_ints(int(random() % attribute->ints_size()), extreme());
        attribute->set_i(extreme());
        break;
      }
      case 2: {
        auto *tensor = m.graph().mutable_initializer(int(random() % m.graph().initializer_size()));
        tensor->set_dims(int(random() % tensor->dims_size()), extreme());
        break;
      }
      default:
        m.graph().mutable_initializer(3)->set_int64_data(int(random() % 2), extreme());
      }
    auto imported = import(scratch.write("fuzz.onnx", m.bytes()));
    if (!imported) {
      ASSERT_GE(imported.errors.size(), 1u) << "refused without an error";
    }
  }
}

} // namespace
