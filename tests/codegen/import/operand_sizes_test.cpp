// Tests the conditions between the sizes of an operator's operands. A model that cannot meet them
// is refused; a condition on dynamic dimensions is recorded, so that a run that violates it is
// refused.
#include "tests/codegen/import/expect_error.h"

#include <gtest/gtest.h>

using namespace gantry::importer;
using gantry::importer::test::expectError;
using gantry::importer::test::import;
using gantry::importer::test::ModelBuilder;
using gantry::importer::test::Scratch;

namespace {

void setMode(onnx::NodeProto &node, const std::string &mode) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("mode");
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(mode);
}

/// Expects that the imported module contains a text.
void expectText(const ModelBuilder &model, const std::string &text) {
  Scratch scratch;
  auto imported = import(scratch.write("m.onnx", model.bytes()));
  ASSERT_TRUE(imported) << imported.errors.front();
  EXPECT_NE(imported.text().find(text), std::string::npos) << imported.text();
}

TEST(OperandSizes, SplitsAddUpToTheDimension) {
  const auto split = [](const char *size) {
    ModelBuilder model;
    model.input("x", {size, "2"});
    model.ints("sizes", {3, 4});
    model.node("Split", {"x", "sizes"}, {"a", "b"});
    model.output("a");
    model.output("b");
    return model;
  };
  expectError(split("6"), "do not add up to [6]");
  expectText(split("n"), "<\"n\", min = 7, max = 7>");
}

TEST(OperandSizes, IndicesOfGatherElementsAreNotLongerThanTheData) {
  const auto gather = [](const char *size) {
    ModelBuilder model;
    model.input("x", {"4", size});
    model.input("at", {"2", "5"}, 7);
    model.node("GatherElements", {"x", "at"}, {"y"});
    model.output("y");
    return model;
  };
  expectError(gather("4"), "are longer than the data [4, 4] in dimension 1");
  expectText(gather("n"), "<\"n\", min = 5>");
}

TEST(OperandSizes, BatchDimensionsOfGatherNdAreEqual) {
  const auto gather = [](const char *size) {
    ModelBuilder model;
    model.input("x", {size, "4"});
    model.input("at", {"3", "1"}, 7);
    ModelBuilder::attribute(model.node("GatherND", {"x", "at"}, {"y"}), "batch_dims", int64_t(1));
    model.output("y");
    return model;
  };
  expectError(gather("2"), "impossible shape");
  expectText(gather("n"), "<\"n\", min = 3, max = 3>");
}

TEST(OperandSizes, ScalesHaveAValueForEachSlice) {
  ModelBuilder model;
  model.input("x", {"2", "n"});
  model.weights("scale", {3});
  model.node("QuantizeLinear", {"x", "scale"}, {"y"});
  model.output("y");
  expectText(model, "<\"n\", min = 3, max = 3>");
}

/// A model whose output has a shape computed from x [n, 4]: the result of `make` on "shape" (its
/// shape) and "list" (a constant list).
ModelBuilder computedShape(const std::vector<int64_t> &list) {
  ModelBuilder model;
  model.input("x", {"n", "4"});
  model.ints("list", list);
  model.node("Shape", {"x"}, {"shape"});
  return model;
}

TEST(OperandSizes, ListsOfShapesBroadcast) {
  ModelBuilder where = computedShape({5, 6, 7});
  where.ints("zero", {0, 1});
  where.node("Equal", {"zero", "zero"}, {"both"});
  where.node("Where", {"both", "list", "shape"}, {"y"});
  where.output("y");
  expectError(where, "do not broadcast");

  // An empty list and one number give an empty list.
  ModelBuilder empty = computedShape({});
  empty.ints("first", {0});
  empty.node("Gather", {"shape", "first"}, {"n_"});
  empty.node("Mul", {"n_", "list"}, {"y"});
  empty.output("y");
  expectText(empty, "tensor<0xi64>");
}

/// The importer keeps at most 64 elements as expressions. A longer list is a tensor whose elements
/// are read when the model runs, not a chain of one select for each element.
TEST(OperandSizes, LongListsFromAShapeAreTensors) {
  const std::vector<int64_t> many(1000, 1);
  ModelBuilder gather = computedShape(many);
  gather.node("Gather", {"shape", "list"}, {"y"});
  gather.output("y");
  ModelBuilder where = computedShape(many);
  where.node("Equal", {"list", "list"}, {"both"});
  where.ints("first", {0});
  where.node("Gather", {"shape", "first"}, {"rows"});
  where.node("Where", {"both", "rows", "first"}, {"y"});
  where.output("y");
  for (const ModelBuilder *model : {&gather, &where}) {
    Scratch scratch;
    auto imported = import(scratch.write("m.onnx", model->bytes()));
    ASSERT_TRUE(imported) << imported.errors.front();
    const std::string text = imported.text();
    EXPECT_NE(text.find("tensor<1000xi64>"), std::string::npos);
    int selects = 0;
    for (size_t at = text.find("arith.select"); at != std::string::npos;
         at = text.find("arith.select", at + 1))
      ++selects;
    EXPECT_LE(selects, 4) << text;
  }
}

TEST(OperandSizes, PadsThatRepeatNeedAnElement) {
  for (const char *mode : {"edge", "reflect", "wrap"}) {
    ModelBuilder model;
    model.input("x", {"2", "0"});
    model.ints("pads", {0, 1, 0, 1});
    setMode(model.node("Pad", {"x", "pads"}, {"y"}), mode);
    model.output("y");
    expectError(model, "has no elements that the mode");
  }
}

TEST(OperandSizes, ResizedDimensionsHaveAnElement) {
  ModelBuilder model;
  model.input("x", {"1", "1", "3", "3"});
  model.floats("scales", {4}, {1, 1, 0.1f, 1});
  setMode(model.node("Resize", {"x", "", "scales"}, {"y"}), "linear");
  model.output("y");
  expectError(model, "must have at least 1 element before, and 1 to 2^28 after");
}

TEST(OperandSizes, RangesHaveAStepAndANonNegativeLength) {
  ModelBuilder still;
  for (const char *name : {"start", "limit", "delta"})
    still.floats(name, {}, {name[0] == 's' ? 3.0f : 0.0f});
  still.node("Range", {"start", "limit", "delta"}, {"y"});
  still.output("y");
  expectError(still, "the delta of a range is 0");

  ModelBuilder dynamic = computedShape({3});
  dynamic.ints("zero", {0});
  dynamic.ints("one", {1});
  dynamic.node("Gather", {"shape", "zero"}, {"rows"});
  dynamic.node("Range", {"list", "rows", "one"}, {"y"});
  dynamic.output("y");
  expectText(dynamic, "<\"n\", min = 3>");
}

} // namespace
