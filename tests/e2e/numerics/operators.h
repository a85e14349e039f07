// The table of the special-value test: every operator of the importer, with what it must give.
//
// An operator of the importer is either in cases() or in otherOperators(), and the test fails for
// one that is in neither. The references follow IEEE 754-2019 and Annex F of C99, and ONNX's
// specification where it says otherwise.
#pragma once

#include "tests/e2e/numerics/number.h"

#include <functional>
#include <map>
#include <onnx/onnx_pb.h>
#include <set>

namespace gantry::numerics {

struct Expected {
  Number value;
  /// Neither ONNX nor C define the result: division of an integer by zero. It must not crash.
  bool undefined = false;
  /// What the bound's ulp are those of, where it is larger than the value: a term of a sum.
  Quad scale = 0;
};

/// The result for one element from the inputs' elements; of a reduction, for a row of inputs.
/// Floats are not yet rounded to the result's type. `position` is the column of a result with
/// columns.
using Reference = std::function<Expected(const std::vector<Number> &, size_t position)>;

enum class Shape {
  kElements, // one result for each element
  kRow,      // one result for each row
  kColumns   // One result per element of a row: Softmax, CumSum.
};

struct Case {
  std::string op;
  std::string variant; // Describes attributes or constant inputs; may be empty.
  std::vector<Type> types;
  Type result = GANTRY_TYPE_F32;
  Reference reference;
  double boundUlp = 0; // 0: every bit is equal
  Shape shape = Shape::kElements;
  size_t columns = 0; // Elements in a row.
  /// Rows hold zeros and ones, and at most one infinity or NaN: no order of their sum is inexact.
  bool isSparse = false;
  std::function<void(onnx::NodeProto &)> attributes;
  /// Cast nodes after the operator, by their types; the last one is `result`.
  std::vector<Type> casts;
  /// Inputs after the others that hold one number each, of their own type.
  struct Scalar {
    Type type;
    Number value;
    bool isConstant;
  };
  std::vector<Scalar> scalars;
  /// The input that takes each of these constants in turn; -1: every input is a tensor.
  int constantInput = -1;
  std::vector<Number> constants;
  /// Devices have no instructions for it: compilation refuses it, and constants are still folded.
  bool foldedOnly = false;
  /// Nothing computes it: compilation and folding refuse it with a message that has these words.
  std::string refusal;
};

std::vector<Case> cases();

/// Operators that are neither elementwise nor reductions, with their kind.
const std::map<std::string, std::string> &otherOperators();

} // namespace gantry::numerics
