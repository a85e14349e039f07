#include "tests/e2e/numerics/table.h"

#include <cmath>

namespace gantry::numerics {

/// Constant operands become constants of the kernel's body and take other paths through compiler
/// and driver than tensors do.
void addConstantOperands(Table &t) {
  auto numbers = [](Type type, std::initializer_list<double> values) {
    std::vector<Number> list;
    for (double value : values)
      list.push_back(isFloat(type) ? ofFloat(rounded(type, value)).value
                                   : ofInteger(Wide(value)).value);
    return list;
  };
  std::vector<Case> extra;
  for (const Case &c : t.list) {
    if (c.types.size() < 2 || c.shape != Shape::kElements || c.foldedOnly ||
        c.types[0] == GANTRY_TYPE_BF16 || c.op == "Where" || c.op == "CastLike" ||
        c.types[1] == GANTRY_TYPE_BOOL)
      continue;
    const Type type = c.types[1];
    if (c.op == "Pow" && type != c.types[0] && type != GANTRY_TYPE_F32 && type != GANTRY_TYPE_I32)
      continue;
    for (int input : {1, 0}) {
      if (input == 0 && (!isFloat(type) || c.types[0] != type))
        continue;
      Case constant = c;
      constant.constantInput = input;
      constant.variant += std::string(c.variant.empty() ? "" : ", ") +
                          (input ? "constant second operand" : "constant first operand");
      if (isFloat(type))
        constant.constants =
            c.op == "Pow" && input == 1
                ? numbers(type, {0.0, -0.0, 1, -1, 2, -2, 3, 0.5, -0.5, 2.5, 1.0 / 3, 4, 7, 16, -16,
                                 17, INFINITY, -INFINITY, NAN})
                : numbers(type, {0.0, -0.0, 1, -1, 2, 0.5, 3, INFINITY, -INFINITY, NAN});
      else if (c.op == "Pow")
        constant.constants = numbers(type, {0, 1, 2, 3, 5, 16, 17});
      else if (c.op == "BitShift")
        constant.constants = numbers(type, {0, 1, 7, 8, 31, 32, 64, 100});
      else
        constant.constants = numbers(type, {1, 2, 3, 7, 10, 64, 127});
      if (isSigned(type) && !isFloat(type) && c.op != "Pow") {
        const auto more = numbers(type, {-1, -2, -3});
        constant.constants.insert(constant.constants.end(), more.begin(), more.end());
        constant.constants.push_back(ofInteger(lowest(type)).value);
      }
      extra.push_back(std::move(constant));
    }
  }
  t.list.insert(t.list.end(), extra.begin(), extra.end());
}

} // namespace gantry::numerics
