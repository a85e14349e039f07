// Adds cases with constant operands to the table of the special-value test (operators.h).
#include "tests/e2e/numerics/table.h"

#include <algorithm>

namespace gantry::numerics {

namespace {

std::vector<Number> floats(Type type, std::initializer_list<Quad> values) {
  std::vector<Number> list;
  for (Quad value : values)
    list.push_back(ofFloat(rounded(type, value)).value);
  return list;
}

/// Returns the values that the type can represent, without duplicates.
std::vector<Number> integers(Type type, std::initializer_list<Wide> values) {
  std::vector<Wide> known;
  std::vector<Number> list;
  for (Wide value : values)
    if (value >= lowest(type) && value <= highest(type) &&
        std::find(known.begin(), known.end(), value) == known.end()) {
      known.push_back(value);
      list.push_back(ofInteger(value).value);
    }
  return list;
}

std::vector<Number> floatsFor(const Case &c, Type type, int input) {
  if (c.op == "Pow" && input == 1)
    return floats(type, {0.0, -0.0, 1, -1, 2, -2, 3, 0.5, -0.5, 2.5, 1 / 3.0Q, 4, 7, 16, -16, 17,
                         HUGE_VALQ, -HUGE_VALQ, nanq("")});
  return floats(type, {0.0, -0.0, 1, -1, 2, 0.5, 3, smallestNormal(type) / 2, largest(type),
                       -largest(type), HUGE_VALQ, -HUGE_VALQ, nanq("")});
}

/// The compiler turns exponents from 0 to 16 into multiplications; the list also has others.
std::vector<Number> exponents(Type type) {
  return integers(type, {0, 1, 2, 3, 5, 16, 17, -1, -2, -3, lowest(type), highest(type)});
}

std::vector<Number> shifts(Type type) {
  return integers(type, {0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 100, highest(type)});
}

/// Zero is left out for Div and Mod, because a division by zero is undefined.
std::vector<Number> integersFor(const Case &c, Type type) {
  const Wide low = lowest(type), high = highest(type);
  auto list =
      integers(type, {1, 2, 3, 7, 10, 64, -1, -2, -3, low, low + 1, high, high - 1, high / 2 + 1});
  if (c.op != "Div" && c.op != "Mod")
    list.push_back(ofInteger(0).value);
  return list;
}

} // namespace

/// Constant operands become constants in the kernel's code. The compiler and the driver treat them
/// differently from tensors.
void addConstantOperands(Table &t) {
  std::vector<Case> extra;
  for (const Case &c : t.list) {
    if (c.types.size() < 2 || c.shape != Shape::kElements || c.foldedOnly ||
        c.types[0] == GANTRY_TYPE_BF16 || c.op == "Where" || c.op == "CastLike" ||
        c.op == "QuantizeLinear" || c.op == "DequantizeLinear" || !c.refusal.empty() ||
        (c.op == "Sum" && !isFloat(c.types[0])) || // Add covers sums of integers.
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
      constant.constants = isFloat(type)        ? floatsFor(c, type, input)
                           : c.op == "Pow"      ? exponents(type)
                           : c.op == "BitShift" ? shifts(type)
                                                : integersFor(c, type);
      // One kernel uses all constants. Mod and Pow need loops, and the time in which drivers
      // compile a kernel grows quadratically with its loops, so each of their kernels uses one
      // constant.
      const std::vector<Number> all = constant.constants;
      const size_t maxPerKernel = c.op == "Mod" || c.op == "Pow" ? 1 : all.size();
      for (size_t begin = 0; begin < all.size(); begin += maxPerKernel) {
        const auto end = all.begin() + std::min(begin + maxPerKernel, all.size());
        constant.constants.assign(all.begin() + begin, end);
        extra.push_back(constant);
      }
    }
  }
  t.list.insert(t.list.end(), extra.begin(), extra.end());
}

} // namespace gantry::numerics
