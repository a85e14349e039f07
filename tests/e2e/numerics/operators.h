// The table of the special-value test: every operator of the importer, with its expected results.
//
// An operator of the importer is either in cases() or in otherOperators(); the test fails for one
// that is in neither. The references follow IEEE 754-2019 and Annex F of C99, except where ONNX's
// specification differs.
#pragma once

#include "tests/e2e/numerics/number.h"

#include <functional>
#include <map>
#include <onnx/onnx_pb.h>
#include <set>

namespace gantry::numerics {

struct Expected {
  Number value;
  /// Set where neither ONNX nor C define the result (division of an integer by zero). The operator
  /// must not crash.
  bool undefined = false;
  /// The number whose ulp is the bound's unit, where it is larger than the value: a term of a sum.
  Quad scale = 0;
};

/// Computes the result of one element from the inputs' elements, or of a reduction from a row of
/// inputs. A float is not yet rounded to the result's type. `position` is the column where the
/// result has columns.
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
  double boundUlp = 0; // Largest allowed error; 0: every bit must be equal.
  Shape shape = Shape::kElements;
  size_t columns = 0; // Elements in a row.
  /// Rows hold zeros and ones, and at most one infinity or NaN, so that their sum is exact in any
  /// order.
  bool isSparse = false;
  std::function<void(onnx::NodeProto &)> attributes;
  /// Cast nodes after the operator, by their types; the last one is `result`.
  std::vector<Type> casts;
  /// Further inputs that hold one number each, with a type of their own.
  struct Scalar {
    Type type;
    Number value;
    bool isConstant;
  };
  std::vector<Scalar> scalars;
  /// The input that takes each of `constants` in turn; -1 where every input is a tensor.
  int constantInput = -1;
  std::vector<Number> constants;
  /// Set where devices have no instructions for the case: compilation must refuse it, but constants
  /// are folded.
  bool foldedOnly = false;
  /// Not empty where the case is not supported at all: compilation and folding must refuse it with
  /// a message that contains these words.
  std::string refusal;
};

std::vector<Case> cases();

/// The operators that are neither elementwise nor reductions, with their kind.
const std::map<std::string, std::string> &otherOperators();

} // namespace gantry::numerics
