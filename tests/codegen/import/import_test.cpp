// Tests the import of small ONNX models: symbolic shapes, If, constant folding, outputs, names,
// external data and tensor files.
#include "tests/codegen/import/model_builder.h"

#include "codegen/import/onnx/dims.h"
#include "codegen/import/tensor_proto.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gantry::importer;
using gantry::importer::test::import;
using gantry::importer::test::ModelBuilder;
using gantry::importer::test::Scratch;

namespace {

Constant ramp(llvm::ArrayRef<int64_t> dims) {
  int64_t count = checkedCount(dims);
  llvm::SmallVector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>((i * 29 + 7) % 83) / 40.0 - 1.0);
  return makeFloats(DType::kF32, dims, values);
}

void expectClose(const HostTensor &a, const HostTensor &b) {
  ASSERT_EQ(a.dims, b.dims);
  for (int64_t i = 0; i < a.elementCount(); ++i)
    ASSERT_NEAR(a.floatAt(i), b.floatAt(i), 1e-4) << "element " << i;
}

TEST(Dims, FoldAndCancel) {
  mlir::MLIRContext context;
  Dim s0 = mlir::getAffineSymbolExpr(0, &context), s1 = mlir::getAffineSymbolExpr(1, &context);
  auto number = [&](int64_t value) { return mlir::getAffineConstantExpr(value, &context); };
  EXPECT_EQ(mulDims(s0, s1), mulDims(s1, s0));
  EXPECT_EQ(floorDivDims(mulDims(mulDims(s0, s1), number(128)), mulDims(s1, s0)), number(128));
  EXPECT_EQ(floorDivDims(mulDims(s0, number(12)), number(4)), mulDims(s0, number(3)));
  EXPECT_EQ(subDims(addDims(s0, number(5)), s0), number(5));
  EXPECT_EQ(ceilDivDims(number(7), number(2)), number(4));
  EXPECT_EQ(floorDivDims(number(-7), number(2)), number(-4));
  EXPECT_EQ(modDims(mulDims(s0, number(6)), number(3)), number(0));
  EXPECT_EQ(compareDims(addDims(s0, number(1)), s0), 1);
  EXPECT_EQ(compareDims(number(0), s0), -1);
  EXPECT_EQ(compareDims(s0, s1), std::nullopt);
  EXPECT_EQ(compareDims(s0, number(64)), std::nullopt);
}

TEST(Dims, KnowWhetherTheyGrowOrShrinkWithTheirSymbols) {
  mlir::MLIRContext context;
  Dim s0 = mlir::getAffineSymbolExpr(0, &context);
  auto number = [&](int64_t value) { return mlir::getAffineConstantExpr(value, &context); };
  Dim half = floorDivDims(s0, number(2));
  EXPECT_EQ(directionOf(number(3)), 0);
  EXPECT_EQ(directionOf(addDims(half, s0)), 1);
  EXPECT_EQ(directionOf(subDims(number(64), s0)), -1);
  EXPECT_EQ(directionOf(subDims(s0, mulDims(half, number(2)))), std::nullopt);
  EXPECT_EQ(evaluateAt(subDims(s0, mulDims(half, number(2))), 7), 1);
}

TEST(Dims, OverflowIsBadInput) {
  mlir::MLIRContext context;
  Dim big = mlir::getAffineConstantExpr(int64_t(1) << 40, &context);
  EXPECT_THROW(mulDims(big, big), ImportError);
  EXPECT_THROW(addDims(mlir::getAffineConstantExpr(INT64_MAX, &context), big), ImportError);
  EXPECT_THROW(checkedCount({int64_t(1) << 40, int64_t(1) << 40}), ImportError);
  EXPECT_THROW(checkedCount({2, -3}), ImportError);
}

TEST(HostTensor, SplatsStaySplats) {
  Constant splat = makeSplat(DType::kF32, {1 << 20, 1 << 20}, Number{.f = 0.5});
  EXPECT_EQ(splat->bytes.size(), 4u);
  EXPECT_TRUE(reshaped(splat, {1 << 10, 1 << 30})->splat);
  EXPECT_TRUE(gathered(splat, {1 << 20, 1 << 20}, 0, {1, 1 << 20})->splat);
  EXPECT_TRUE(concatenated({splat, splat}, 0)->splat);
}

TEST(Shapes, DynamicShapeArithmeticFoldsAway) {
  // Reshape(x, Concat(Shape(x)[0], Shape(x)[1] * 2, -1)) computes no shape at run time.
  ModelBuilder m;
  m.input("x", {"batch", "time", "8"});
  m.ints("i0", {0});
  m.ints("i1", {1});
  m.ints("two", {2});
  m.ints("rest", {-1});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "i0"}, {"b"});
  m.node("Gather", {"shape", "i1"}, {"t"});
  m.node("Mul", {"t", "two"}, {"t2"});
  ModelBuilder::attribute(m.node("Concat", {"b", "t2", "rest"}, {"wanted"}), "axis", int64_t(0));
  m.node("Reshape", {"x", "wanted"}, {"y"});
  m.output("y", {"batch", "t2", "4"});
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_EQ(imported.count("linalg.generic"), 0u);
  EXPECT_EQ(imported.count("tensor.expand_shape"), 1u);
  EXPECT_NE(imported.text().find("tensor<?x?x4xf32>"), std::string::npos);
  EXPECT_NE(imported.text().find("dims = [<\"batch\">, <\"time\">, <\"\">]"), std::string::npos);
}

TEST(Shapes, MatricesOfSizesFoldAway) {
  // Exporters compute a list of pads as [0, 0, 1, rows % 2] -> 2x2 -> reversed -> transposed.
  ModelBuilder m;
  m.input("x", {"rows", "8"});
  m.ints("i0", {0});
  m.ints("two", {2});
  m.ints("fixed", {0, 0, 1});
  m.ints("square", {2, 2});
  m.ints("flat", {4});
  m.ints("last", {-1});
  m.ints("first", {INT64_MIN});
  m.ints("back", {-1});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "i0"}, {"r"});
  m.node("Mod", {"r", "two"}, {"odd"});
  ModelBuilder::attribute(m.node("Concat", {"fixed", "odd"}, {"list"}), "axis", int64_t(0));
  m.node("Reshape", {"list", "square"}, {"matrix"});
  m.node("Slice", {"matrix", "last", "first", "i0", "back"}, {"reversed"});
  ModelBuilder::attribute(m.node("Transpose", {"reversed"}, {"columns"}), "perm",
                          std::vector<int64_t>{1, 0});
  m.node("Reshape", {"columns", "flat"}, {"pads"}); // 1, 0, rows % 2, 0.
  m.node("Pad", {"x", "pads"}, {"y"});
  m.output("y");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_EQ(imported.count("linalg.generic"), 0u);
  EXPECT_EQ(imported.count("tensor.pad"), 1u);
  EXPECT_NE(imported.text().find("low[1, 0]"), std::string::npos) << imported.text();
}

/// Returns a model with an If: it doubles x if x has `columns` columns, and negates x otherwise.
ModelBuilder branchy(const std::string &columns) {
  ModelBuilder m;
  m.input("x", {"rows", "8"});
  m.ints("i1", {1});
  m.ints("columns", {std::stoll(columns)});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "i1"}, {"c"});
  m.node("Equal", {"c", "columns"}, {"same"});
  m.node("Neg", {"x"}, {"negative"});
  auto &branch = m.node("If", {"same"}, {"y"}, "choose");
  auto add = [&](const std::string &name, onnx::NodeProto node) {
    onnx::AttributeProto &attribute = *branch.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    node.add_output("inner");
    *attribute.mutable_g()->add_node() = node;
    attribute.mutable_g()->add_output()->set_name("inner");
  };
  onnx::NodeProto add2, keep;
  add2.set_op_type("Add");
  add2.add_input("x");
  add2.add_input("x");
  keep.set_op_type("Identity");
  keep.add_input("negative");
  add("then_branch", add2);
  add("else_branch", keep);
  m.output("y", {"rows", "8"});
  return m;
}

TEST(If, TakesTheBranchThatTheShapesDecide) {
  Scratch scratch;
  auto doubled = import(scratch.write("then.onnx", branchy("8").bytes()));
  ASSERT_TRUE(doubled) << doubled.errors[0];
  EXPECT_EQ(doubled.count("arith.addf"), 1u);
  auto negated = import(scratch.write("else.onnx", branchy("7").bytes()));
  ASSERT_TRUE(negated) << negated.errors[0];
  EXPECT_EQ(negated.count("arith.negf"), 1u);
  EXPECT_EQ(negated.count("arith.addf"), 0u);
}

TEST(If, ChecksItsBranches) {
  Scratch scratch;
  ModelBuilder wrong = branchy("8");
  wrong.graph().mutable_node(4)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(
      0, "nowhere");
  auto undefined = import(scratch.write("undefined.onnx", wrong.bytes()));
  ASSERT_FALSE(undefined);
  EXPECT_NE(undefined.errors[0].find("\"nowhere\" is defined nowhere"), std::string::npos)
      << undefined.errors[0];
  ModelBuilder unknown = branchy("8");
  unknown.graph().mutable_node(4)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_op_type(
      "Frobnicate");
  auto unsupported = import(scratch.write("unsupported.onnx", unknown.bytes()));
  ASSERT_FALSE(unsupported);
  EXPECT_NE(unsupported.errors[0].find("Frobnicate"), std::string::npos) << unsupported.errors[0];
  ModelBuilder open = branchy("8");
  open.input("same2", {}, 9);
  open.graph().mutable_node(4)->set_input(0, "same2");
  auto undecided = import(scratch.write("open.onnx", open.bytes()));
  ASSERT_FALSE(undecided);
  EXPECT_NE(undecided.errors[0].find("the condition"), std::string::npos) << undecided.errors[0];
}

/// Returns a model that slices a table of 64 elements to the length of x.
ModelBuilder tableOf64() {
  ModelBuilder m;
  m.input("x", {"time"});
  m.weights("table", {64});
  m.ints("zero", {0});
  m.node("Shape", {"x"}, {"end"});
  m.node("Slice", {"table", "zero", "end"}, {"rows"});
  m.node("Add", {"x", "rows"}, {"y"});
  m.output("y");
  return m;
}

TEST(Shapes, AClampedSliceBoundsItsDimension) {
  ModelBuilder m = tableOf64();
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_NE(imported.text().find("max = 64>"), std::string::npos);
}

TEST(Shapes, TheCallerGivesSizesOfDynamicDimensions) {
  ModelBuilder m;
  m.input("x", {"batch", "time"});
  m.input("z", {"none", "time"});
  m.graph()
      .mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->clear_dim_param();
  m.node("Relu", {"x"}, {"y"});
  m.node("Relu", {"z"}, {"w"});
  m.output("y");
  m.output("w");
  Scratch scratch;
  const std::string path = scratch.write("m.onnx", m.bytes());
  ImportOptions options;
  options.dims = {{"batch", 4, 4}, {"time", 8, 64}};
  auto imported = import(path, options);
  ASSERT_TRUE(imported) << imported.errors[0];
  const std::string text = imported.text();
  EXPECT_NE(text.find("tensor<4x?xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("dims = [<\"\">, <\"time\", min = 8, max = 64>]"), std::string::npos) << text;
  options.dims = {{"z_dim0", 3, 3}};
  auto nameless = import(path, options);
  ASSERT_TRUE(nameless) << nameless.errors[0];
  EXPECT_NE(nameless.text().find("tensor<3x?xf32>"), std::string::npos);

  const std::pair<DimRange, const char *> wrong[] = {
      {{"tiem", 1, 2}, "called 'tiem'; the model has 'batch', 'time', 'z_dim0'"},
      {{"time", 0, 2}, "sizes 0 to 2 for the dimension 'time'"},
      {{"time", 3, 2}, "sizes 3 to 2 for the dimension 'time'"}};
  for (const auto &[range, words] : wrong) {
    options.dims = {range};
    auto refused = import(path, options);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.errors[0].find(words), std::string::npos) << refused.errors[0];
  }

  const std::string mlir = scratch.write("m.mlir", "func.func @main(%x: tensor<?x3xf32>) -> "
                                                   "tensor<?x3xf32> {\n  %y = math.exp %x : "
                                                   "tensor<?x3xf32>\n  return %y : "
                                                   "tensor<?x3xf32>\n}\n");
  options.dims = {{"arg0_dim0", 2, 9}};
  auto bounded = import(mlir, options);
  ASSERT_TRUE(bounded) << bounded.errors[0];
  EXPECT_NE(bounded.text().find("dims = [<\"arg0_dim0\", min = 2, max = 9>, <\"\">]"),
            std::string::npos);
  options.dims = {{"batch", 2, 9}};
  auto unknown = import(mlir, options);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.errors[0].find("the model has 'arg0_dim0'"), std::string::npos);
}

TEST(Shapes, SizesThatTheModelDoesNotAllowAreRefused) {
  ModelBuilder m = tableOf64();
  Scratch scratch;
  ImportOptions options;
  options.dims = {{"time", 65, 80}};
  auto imported = import(scratch.write("m.onnx", m.bytes()), options);
  ASSERT_FALSE(imported);
  EXPECT_NE(imported.errors[0].find("no size of the dynamic dimension"), std::string::npos);

  ModelBuilder sum; // The dimensions a and b must be equal.
  sum.input("x", {"a"});
  sum.input("z", {"b"});
  sum.node("Add", {"x", "z"}, {"y"});
  sum.output("y");
  options.dims = {{"a", 1, 4}, {"b", 5, 9}};
  auto disjoint = import(scratch.write("sum.onnx", sum.bytes()), options);
  ASSERT_FALSE(disjoint);
  EXPECT_NE(disjoint.errors[0].find("no size of the dynamic dimension s1 meets"), std::string::npos)
      << disjoint.errors[0];
}

TEST(Shapes, AssumptionsBecomeRequirements) {
  // rows = x[-3:] needs time >= 3, x + z needs equal dims, and the concatenation needs an even h.
  ModelBuilder m;
  m.input("x", {"time"});
  m.input("z", {"other"});
  m.input("image", {"1", "1", "h"});
  m.ints("start", {-3});
  m.ints("end", {INT64_MAX});
  m.ints("double", {1, 1, 2});
  m.node("Slice", {"x", "start", "end"}, {"rows"});
  m.node("Add", {"x", "z"}, {"sum"});
  auto &pool = m.node("MaxPool", {"image"}, {"half"});
  ModelBuilder::attribute(pool, "kernel_shape", std::vector<int64_t>{2});
  ModelBuilder::attribute(pool, "strides", std::vector<int64_t>{2});
  m.node("Tile", {"half", "double"}, {"whole"});
  ModelBuilder::attribute(m.node("Concat", {"image", "whole"}, {"both"}), "axis", int64_t(1));
  m.output("rows");
  m.output("sum");
  m.output("both");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  std::string text = imported.text();
  EXPECT_NE(text.find("min = 3>"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"other\""), std::string::npos) << text; // It is renamed to "time".
  EXPECT_NE(text.find("gantry.requirements"), std::string::npos) << text;
  EXPECT_NE(text.find("symbols = [\"time\", \"time\", \"h\"]"), std::string::npos) << text;
}

ModelBuilder convAndNorm() {
  ModelBuilder m;
  m.input("x", {"1", "3", "6", "6"});
  m.weights("w", {4, 3, 3, 3});
  m.weights("b", {4});
  for (const char *name : {"scale", "shift", "mean"})
    m.weights(name, {4});
  m.floats("var", {4}, {0.5f, 1.5f, 2.5f, 3.5f});
  m.floats("gain", {1, 4, 1, 1}, {1, 2, 3, 4});
  m.node("Conv", {"x", "w", "b"}, {"c"}, "conv");
  m.node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"n"}, "norm");
  m.node("Mul", {"n", "gain"}, {"g"}, "gain");
  m.node("Relu", {"g"}, {"y"}, "relu");
  m.output("y");
  return m;
}

TEST(Shapes, ADivisionRequiresADividendThatIsNotNegative) {
  ModelBuilder m;
  m.input("x", {"n"});
  m.ints("ten", {10});
  m.ints("four", {4});
  m.node("Shape", {"x"}, {"s"});
  m.node("Sub", {"s", "ten"}, {"d"});
  m.node("Div", {"d", "four"}, {"y"});
  m.output("y", {"1"}, 7);
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_NE(imported.text().find("min = 10>"), std::string::npos) << imported.text();
}

TEST(Shapes, CastsToNarrowTypesWrapAndRound) {
  struct Case {
    int64_t type; // The ONNX data type.
    std::string narrow;
  };
  for (const Case &c : {Case{2, "arith.trunci"}, Case{10, "f16"}}) {
    ModelBuilder m(13);
    m.input("x", {"n"});
    m.node("Shape", {"x"}, {"s"});
    ModelBuilder::attribute(m.node("Cast", {"s"}, {"narrow"}), "to", c.type);
    ModelBuilder::attribute(m.node("Cast", {"narrow"}, {"y"}), "to", int64_t(7));
    m.output("y", {"1"}, 7);
    Scratch scratch;
    auto imported = import(scratch.write("m.onnx", m.bytes()));
    ASSERT_TRUE(imported) << (imported.errors.empty() ? "" : imported.errors[0]);
    EXPECT_GE(imported.count(c.narrow), 1u) << imported.text();
  }
}

TEST(Folding, NormalizationFoldsIntoTheConvolution) {
  ModelBuilder m = convAndNorm();
  Scratch scratch;
  std::string path = scratch.write("m.onnx", m.bytes());
  auto imported = import(path);
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported.count("linalg.generic {"), 3u); // The convolution, the bias and the relu.
  // If every result is an output, nothing may fold.
  ImportOptions keep;
  keep.keepAllOutputs = true;
  EXPECT_EQ(import(path, keep).count("linalg.generic {"), 5u);
  std::vector<Constant> folded = evaluateOnnx(path, {ramp({1, 3, 6, 6})});
  m.output("c"); // The convolution has a second user, so nothing folds into it.
  std::vector<Constant> apart =
      evaluateOnnx(scratch.write("apart.onnx", m.bytes()), {ramp({1, 3, 6, 6})});
  expectClose(*folded[0], *apart[0]);
}

TEST(Folding, UniformFiltersStaySplats) {
  ModelBuilder m(9);
  m.input("x", {"1", "64", "8", "8"});
  m.ints("shape", {4096, 64, 3, 3});
  m.ints("channels", {4096});
  m.node("ConstantOfShape", {"shape"}, {"w"});
  m.node("ConstantOfShape", {"channels"}, {"p"});
  m.node("Conv", {"x", "w"}, {"c"});
  m.node("BatchNormalization", {"c", "p", "p", "p", "p"}, {"y"});
  m.output("y");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_EQ(imported.count("dense_resource"), 0u);
}

// A Mul of two types is not valid ONNX. Folding it into the convolution must not hide the error.
TEST(Folding, FactorsOfAnotherTypeDoNotFold) {
  ModelBuilder m;
  m.input("x", {"1", "3", "6", "6"}, 10); // f16.
  m.constant("w", 10, {2, 3, 1, 1}, std::string(12, '\1'));
  m.floats("factor", {2, 1, 1}, {2, 3});
  m.node("Conv", {"x", "w"}, {"c"});
  m.node("Mul", {"c", "factor"}, {"y"});
  m.output("y");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_FALSE(imported);
  EXPECT_NE(imported.errors[0].find("the same type, but are f16 and f32"), std::string::npos)
      << imported.errors[0];
}

// Groups of a whole number of vectors stay one convolution over all channels; other groups become
// images.
TEST(Operators, GroupsWithoutWholeVectorsBecomeImages) {
  for (const int64_t channels : {3, 4}) {
    const std::string all = std::to_string(2 * channels);
    ModelBuilder m;
    m.input("x", {"5", all, "8", "8"});
    m.constant("w", 1, {2 * channels, channels, 1, 1},
               std::string(static_cast<size_t>(8 * channels * channels), '\1'));
    ModelBuilder::attribute(m.node("Conv", {"x", "w"}, {"y"}), "group", int64_t(2));
    m.output("y");
    Scratch scratch;
    auto imported = import(scratch.write("m.onnx", m.bytes()));
    ASSERT_TRUE(imported) << imported.errors[0];
    EXPECT_EQ(imported.count("tensor<10x3x8x8xf32>") > 0, channels == 3) << imported.text();
    EXPECT_EQ(imported.count("expand_shape") > 0, channels == 3) << imported.text();
  }
}

TEST(Operators, GroupsOfADynamicNumberOfChannelsStay) {
  ModelBuilder m;
  m.input("x", {"1", "channels", "8", "8"});
  m.constant("w", 1, {6, 3, 1, 1}, std::string(72, '\1'));
  ModelBuilder::attribute(m.node("Conv", {"x", "w"}, {"y"}), "group", int64_t(2));
  m.output("y");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_EQ(imported.count("expand_shape"), 0u) << imported.text();
}

TEST(Shapes, TensorsWithoutElementsReshapeToAnyOthers) {
  ModelBuilder m(14);
  m.input("x", {"0", "18", "10"});
  m.ints("shape", {4, 7, 0});
  // With allowzero = 0, a zero would copy a dimension of the input.
  ModelBuilder::attribute(m.node("Reshape", {"x", "shape"}, {"y"}), "allowzero", int64_t(1));
  m.output("y");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_GT(imported.count("tensor<4x7x0xf32>"), 0u) << imported.text();
}

TEST(Operators, ArgMaxAndArgMinOfAScalarAreZero) {
  for (const char *op : {"ArgMax", "ArgMin"}) {
    ModelBuilder m;
    m.input("x", {});
    m.node(op, {"x"}, {"y"});
    m.output("y");
    Scratch scratch;
    const std::string path = scratch.write("m.onnx", m.bytes());
    EXPECT_TRUE(import(path)) << op;
    auto y = evaluateOnnx(path, {makeFloats(DType::kF32, {}, {3})});
    EXPECT_TRUE(y[0]->dims.empty()) << op;
    EXPECT_EQ(y[0]->at(0).i, 0) << op;
  }
}

TEST(Outputs, KeepAllOutputsNamesEveryNode) {
  ModelBuilder m = convAndNorm();
  Scratch scratch;
  ImportOptions keep;
  keep.keepAllOutputs = true;
  auto imported = import(scratch.write("m.onnx", m.bytes()), keep);
  ASSERT_TRUE(imported);
  for (const char *name : {"\"c\"", "\"n\"", "\"g\"", "\"y\""})
    EXPECT_NE(imported.text().find("#gantry.port<name = " + std::string(name)), std::string::npos)
        << name;
}

TEST(Outputs, LocationsNameTheNodes) {
  ModelBuilder m;
  m.input("x", {"2"});
  m.node("Relu", {"x"}, {"a"}, "first");
  m.node("Exp", {"a"}, {"y"});
  m.output("y");
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", m.bytes()));
  ASSERT_TRUE(imported);
  std::vector<std::string> names;
  imported.module->walk([&](mlir::Operation *op) {
    if (auto loc = mlir::dyn_cast<mlir::NameLoc>(op->getLoc()))
      if (op->getName().getStringRef() == "linalg.generic")
        names.push_back(loc.getName().str());
  });
  EXPECT_EQ(names, (std::vector<std::string>{"first", "Exp_1"}));
}

TEST(External, DataAreMappedFromTheModelsFolder) {
  ModelBuilder m;
  m.input("x", {"4"});
  onnx::TensorProto &w = m.floats("w", {4}, {});
  w.clear_raw_data();
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  auto entry = [&](const char *key, const char *value) {
    auto *e = w.add_external_data();
    e->set_key(key);
    e->set_value(value);
  };
  entry("location", "weights.bin");
  entry("offset", "8");
  entry("length", "16");
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y");
  Scratch scratch;
  float values[] = {9, 9, 1, 2, 3, 4};
  scratch.write("weights.bin", std::string(reinterpret_cast<char *>(values), sizeof values));
  std::vector<Constant> out = evaluateOnnx(scratch.write("m.onnx", m.bytes()),
                                           {makeFloats(DType::kF32, {4}, {10, 20, 30, 40})});
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(out[0]->floatAt(i), 11 * (i + 1));
}

TEST(TensorProto, TypedFieldsAndRawDataGiveTheSameTensor) {
  Scratch scratch;
  onnx::TensorProto half;
  half.set_name("half");
  half.set_data_type(onnx::TensorProto::FLOAT16);
  half.add_dims(2);
  half.add_int32_data(0x3c00); // 1.
  half.add_int32_data(0xc100); // -2.5.
  Constant tensor;
  ImportError error{ImportFailure::kBadInput, ""};
  ASSERT_TRUE(readTensorProto(scratch.write("a.pb", half.SerializeAsString()), tensor, error));
  EXPECT_EQ(tensor->name, "half");
  EXPECT_EQ(tensor->floatAt(0), 1);
  EXPECT_EQ(tensor->floatAt(1), -2.5);
  onnx::TensorProto raw = half;
  raw.clear_int32_data();
  raw.set_raw_data(std::string("\x00\x3c\x00\xc1", 4));
  Constant same;
  ASSERT_TRUE(readTensorProto(scratch.write("b.pb", raw.SerializeAsString()), same, error));
  EXPECT_EQ(same->bytes, tensor->bytes);
  EXPECT_FALSE(readTensorProto(scratch.path("absent.pb"), tensor, error));
  EXPECT_NE(error.message.find("absent.pb"), std::string::npos);
  EXPECT_FALSE(readTensorProto(scratch.write("c.pb", "no proto"), tensor, error));
}

TEST(Pads, OfIntegersConvertTheFloatOfFormerOpsets) {
  Scratch scratch;
  ModelBuilder m(10);
  m.input("x", {"2"}, onnx::TensorProto::INT32);
  onnx::NodeProto &pad = m.node("Pad", {"x"}, {"y"});
  onnx::AttributeProto &pads = *pad.add_attribute(), &value = *pad.add_attribute();
  pads.set_name("pads");
  pads.set_type(onnx::AttributeProto::INTS);
  pads.add_ints(1);
  pads.add_ints(1);
  value.set_name("value");
  value.set_type(onnx::AttributeProto::FLOAT);
  value.set_f(3);
  m.output("y");
  auto imported = import(scratch.write("pad.onnx", m.bytes()));
  ASSERT_TRUE(imported);
  EXPECT_NE(imported.text().find("arith.constant 3 : i32"), std::string::npos) << imported.text();
}

TEST(Operators, AreListedSorted) {
  std::vector<std::string> names = supportedOnnxOperators();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "Conv"));
}

} // namespace
