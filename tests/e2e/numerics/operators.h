// The table of the special-value test (main.cpp): the operators of the importer with their expected
// results.
//
// Every operator of the importer must be in cases() or in otherOperators(); otherwise the test
// fails. The references follow IEEE 754-2019 and Annex F of C99, except where ONNX's specification
// differs.
#pragma once

#include "tests/e2e/numerics/number.h"

#include <functional>
#include <map>
#include <onnx/onnx_pb.h>
#include <set>

namespace gantry::numerics {

struct Expected {
  Number value;
  /// Whether neither ONNX nor C defines the result (division of an integer by zero). The operator
  /// must not crash.
  bool undefined = false;
  /// If this number is larger in magnitude than the value, the error bound is in ulp of this
  /// number. It is, for example, the largest term of a sum.
  Quad scale = 0;
};

/// Computes one element of the result from the elements of the inputs, or from a row of the input
/// of a reduction. The value is not yet rounded to the result's type. `position` is the column of
/// the element if the result has columns.
using Reference = std::function<Expected(const std::vector<Number> &, size_t position)>;

enum class Shape {
  kElements, // One result per element.
  kRow,      // One result per row.
  kColumns   // One result per element of a row: Softmax, CumSum.
};

struct Case {
  std::string op;
  std::string variant; // Describes attributes or constant inputs; may be empty.
  std::vector<Type> types;
  Type result = GANTRY_TYPE_F32;
  Reference reference;
  double boundUlp = 0; // Max error in ulp; 0: every bit must be equal.
  Shape shape = Shape::kElements;
  size_t columns = 0; // Elements in a row.
  /// Whether rows hold only zeros and ones, and at most one infinity or NaN, so that their sum is
  /// exact in any order.
  bool isSparse = false;
  std::function<void(onnx::NodeProto &)> attributes;
  /// The types of the Cast nodes after the operator; the last one is `result`.
  std::vector<Type> casts;
  /// Further inputs that hold one number each.
  struct Scalar {
    Type type;
    Number value;
    bool isConstant;
  };
  std::vector<Scalar> scalars;
  /// The index of the input that takes each of `constants` in turn; -1: every input is a tensor.
  int constantInput = -1;
  std::vector<Number> constants;
  /// Whether devices have no instructions for the case. Compilation must refuse it, but the
  /// importer folds constants.
  bool foldedOnly = false;
  /// If not empty, the case is not supported: compilation and folding must refuse it with a message
  /// that contains these words.
  std::string refusal;
};

std::vector<Case> cases();

/// Returns the operators that the test leaves out, with a description of each.
const std::map<std::string, std::string> &otherOperators();

} // namespace gantry::numerics
