// Tests integers that overflow during constant folding: the importer refuses them in shapes and
// wraps them in data.
#include "tests/codegen/import/expect_error.h"

#include <limits>

using namespace gantry::importer;
using gantry::importer::test::expectError;
using gantry::importer::test::import;
using gantry::importer::test::ModelBuilder;
using gantry::importer::test::Scratch;

namespace {

// Each case folds a node that overflows and an Add that would make the wrapped result a small size.
TEST(Overflow, OverflowInShapesIsRefused) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kBig = int64_t(1) << 62;
  struct Case {
    std::string op;
    std::vector<int64_t> a, b, back; // y = expand(x, op(a, b) + back)
    std::string words;
  };
  const Case cases[] = {
      {"Add", {kBig}, {kBig}, {kMin + 4}, "4611686018427387904 + 4611686018427387904 does not"},
      {"Sub", {kMin}, {kBig}, {3 - kBig}, "-9223372036854775808 - 4611686018427387904 does not"},
      {"Mul", {kBig}, {16}, {3}, "4611686018427387904 * 16 does not fit 64 bits"},
      {"Mul", {3, kBig}, {2, 4}, {1}, "4611686018427387904 * 4 does not fit 64 bits"},
      {"Sum", {kBig}, {kBig}, {kMin + 4}, "shape arithmetic overflows"},
      {"Div", {kMin}, {-1}, {1}, "-9223372036854775808 / -1 does not fit 64 bits"},
      {"Div", {4}, {0}, {2}, "shape arithmetic divides by zero"},
      {"Mod", {10}, {0}, {2}, "shape arithmetic divides by zero"},
      {"Pow", {int64_t(1) << 33}, {2}, {3}, "8589934592 * 8589934592 does not fit 64 bits"},
      {"Pow", {2, 2}, {3, 64}, {3}, "shape arithmetic overflows"},
      {"CumSum", {kBig, kBig, kBig, kBig, 5}, {0}, {}, "shape arithmetic overflows"},
      {"ReduceSum", {kBig, kBig, kBig, kBig, 5}, {0}, {}, "shape arithmetic overflows"},
      {"ReduceProd", {int64_t(1) << 33, int64_t(1) << 33}, {}, {3}, "shape arithmetic overflows"},
      {"Neg", {kMin}, {}, {3}, "0 - -9223372036854775808 does not fit 64 bits"},
      {"Abs", {kMin}, {}, {3}, "shape arithmetic overflows"},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.op + " " + c.words);
    ModelBuilder m(13);
    m.input("x", {"1"});
    m.ints("a", c.a);
    std::vector<std::string> inputs{"a"};
    if (!c.b.empty()) {
      m.ints("b", c.b);
      inputs.push_back("b");
    }
    m.node(c.op, inputs, {"size"}, "suspect");
    std::string size = "size";
    if (!c.back.empty()) {
      m.ints("back", c.back);
      m.node("Add", {"size", "back"}, {"small"});
      size = "small";
    }
    m.node("Expand", {"x", size}, {"y"});
    m.output("y");
    Scratch scratch;
    const std::string path = scratch.write("m.onnx", m.bytes());
    expectError(path, c.words);
    EXPECT_NE(import(path).errors[0].find("(node \"suspect\")"), std::string::npos);
  }
}

// If the same values are data, folded integers wrap as they would on a device.
TEST(Overflow, IntegersInDataWrap) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  struct Case {
    std::string op;
    std::vector<int64_t> a, b;
    std::string folded;
  };
  const std::string minimum = std::to_string(kMin);
  const Case cases[] = {
      {"Add", {kMax, 1}, {1, 1}, "[" + minimum + ", 2]"},
      {"Sub", {kMin, 1}, {1, 1}, "[" + std::to_string(kMax) + ", 0]"},
      {"Mul", {kMax, 3}, {2, 2}, "[-2, 6]"},
      {"Div", {kMin, 6}, {-1, 2}, "[" + minimum + ", 3]"},
      {"Pow", {2, -1}, {-1, -3}, "[0, -1]"},
      {"Neg", {kMin, 1}, {}, "[" + minimum + ", -1]"},
      {"Abs", {kMin, -1}, {}, "[" + minimum + ", 1]"},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.op);
    ModelBuilder m(13);
    m.input("x", {"2"}, 7);
    m.ints("a", c.a);
    std::vector<std::string> inputs{"a"};
    if (!c.b.empty()) {
      m.ints("b", c.b);
      inputs.push_back("b");
    }
    m.node(c.op, inputs, {"folded"});
    m.node("Add", {"x", "folded"}, {"y"});
    m.output("y", {"2"}, 7);
    Scratch scratch;
    auto imported = import(scratch.write("m.onnx", m.bytes()));
    ASSERT_TRUE(imported) << (imported.errors.empty() ? "" : imported.errors[0]);
    EXPECT_NE(imported.text().find("dense<" + c.folded + ">"), std::string::npos)
        << imported.text();
  }
}

TEST(Overflow, ADivisionByZeroInDataIsAccepted) {
  ModelBuilder m(13);
  m.input("x", {"2"}, 7);
  m.ints("a", {7, 8});
  m.ints("b", {0, 2});
  m.node("Div", {"a", "b"}, {"folded"});
  m.node("Add", {"x", "folded"}, {"y"});
  m.output("y", {"2"}, 7);
  Scratch scratch;
  EXPECT_TRUE(import(scratch.write("m.onnx", m.bytes())));
}

TEST(Overflow, IntegersInShapesThatDoNotFit32BitsAreRefused) {
  auto casted = [](int64_t value) {
    ModelBuilder m(13);
    m.input("x", {"1"});
    m.ints("a", {value});
    ModelBuilder::attribute(m.node("Cast", {"a"}, {"narrow"}), "to", int64_t(6));
    ModelBuilder::attribute(m.node("Cast", {"narrow"}, {"size"}), "to", int64_t(7));
    m.node("Expand", {"x", "size"}, {"y"});
    m.output("y");
    return m;
  };
  expectError(casted((int64_t(1) << 32) + 3), "4294967299 does not fit 32 bits");
  Scratch scratch;
  EXPECT_TRUE(import(scratch.write("fits.onnx", casted(3).bytes())));

  ModelBuilder product(13);
  product.input("x", {"1"});
  product.constant("a", 6, {1}, std::string("\x01\x00\x01\x00", 4)); // 65537
  product.node("Mul", {"a", "a"}, {"b"});
  ModelBuilder::attribute(product.node("Cast", {"b"}, {"size"}), "to", int64_t(7));
  product.node("Expand", {"x", "size"}, {"y"});
  product.output("y");
  expectError(product, "65537 * 65537 does not fit 32 bits");

  // The list also contains a dynamic size.
  ModelBuilder symbolic(13);
  symbolic.input("x", {"n"});
  symbolic.ints("big", {int64_t(1) << 33});
  symbolic.node("Shape", {"x"}, {"s"});
  ModelBuilder::attribute(symbolic.node("Concat", {"s", "big"}, {"both"}), "axis", int64_t(0));
  ModelBuilder::attribute(symbolic.node("Cast", {"both"}, {"narrow"}), "to", int64_t(6));
  symbolic.node("Add", {"narrow", "narrow"}, {"y"});
  symbolic.output("y");
  expectError(symbolic, "8589934592 does not fit 32 bits");
}

TEST(Overflow, AGatherKeepsTheMarkOfItsIndex) {
  ModelBuilder m(13);
  m.input("x", {"1"});
  m.ints("sizes", {2, 3, 4});
  m.ints("four", {4});
  m.ints("zero", {0});
  m.node("Div", {"four", "zero"}, {"index"}, "suspect");
  m.node("Gather", {"sizes", "index"}, {"size"});
  m.node("Expand", {"x", "size"}, {"y"});
  m.output("y");
  expectError(m, "divides by zero");
}

TEST(Overflow, AScatterKeepsTheMarkOfItsOperands) {
  ModelBuilder m(13);
  m.input("x", {"1"});
  m.ints("data", {3});
  m.ints("four", {4});
  m.ints("zero", {0});
  m.ints("row", {0});
  m.ints("shape", {1, 1});
  m.ints("back", {2});
  m.node("Div", {"four", "zero"}, {"update"}, "suspect");
  m.node("Reshape", {"row", "shape"}, {"rows"});
  m.node("ScatterND", {"data", "rows", "update"}, {"size"});
  m.node("Add", {"size", "back"}, {"wrong"});
  m.node("Expand", {"x", "wrong"}, {"y"});
  m.output("y");
  expectError(m, "divides by zero");
}

} // namespace
