// Prints failures and generates docs/numerics.md.
#include "tests/e2e/numerics/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gantry::numerics {

namespace {

constexpr int kMaxPrinted = 3; // Max number of printed failures of one case in one place.

std::string nameOf(const Case &test) {
  std::string text = test.op + "(";
  for (size_t i = 0; i < test.types.size(); ++i)
    text += (i ? ", " : "") + std::string(gantry_type_name(test.types[i]));
  text += std::string(") -> ") + gantry_type_name(test.result);
  return test.variant.empty() ? text : text + " [" + test.variant + "]";
}

std::string listOf(const std::set<Type> &types) {
  std::string text;
  for (Type type : types)
    text += (text.empty() ? "" : " ") + std::string(gantry_type_name(type));
  return text;
}

} // namespace

void Report::failure(const Case &test, const std::string &where, const std::string &what) {
  ++failures_;
  const int count = ++perCase_[nameOf(test) + where];
  if (count <= kMaxPrinted)
    std::printf("FAILED %s, %s: %s\n", nameOf(test).c_str(), where.c_str(), what.c_str());
  else if (count == kMaxPrinted + 1)
    std::printf("FAILED %s, %s: more wrong results\n", nameOf(test).c_str(), where.c_str());
}

void Report::problem(const std::string &what) {
  ++failures_;
  std::printf("FAILED %s\n", what.c_str());
}

Report::Row &Report::row(const Case &test) {
  Row &row = rows_[test.op];
  row.isExact &= test.boundUlp == 0;
  return row;
}

void Report::passed(const Case &test, bool onHost, size_t count, double maxUlp, size_t flushed) {
  compared_ += static_cast<int64_t>(count);
  Row &r = row(test);
  if (onHost) {
    r.hostTypes.insert(test.types[0]);
    r.hostUlp = std::max(r.hostUlp, maxUlp);
  } else {
    r.deviceTypes.insert(test.types[0]);
    r.deviceUlp = std::max(r.deviceUlp, maxUlp);
    if (flushed)
      r.flushedTypes.insert(test.types[0]);
  }
}

void Report::denormals(Type type, bool flushes) { flushes_[type] = flushes; }

bool Report::anyFlushes() const {
  return std::any_of(flushes_.begin(), flushes_.end(), [](auto &entry) { return entry.second; });
}

namespace {

constexpr const char *kIntroduction = R"(# Numbers

This file says what each elementwise operator, each reduction, QuantizeLinear and DequantizeLinear compute,
and how exactly. The types in the table are those of an operator's first input. The test `numerics`
(tests/e2e/numerics) generates this file and fails when it is stale. To update it, run
`numerics --docs docs/numerics.md --update`.

The test runs every operator in every type on special values: zeros of both signs, denormal numbers,
the smallest and largest numbers, infinities, NaN, the limits of integers, ties, and neighbours of
powers of two, in every pairing. Functions that are not exact are also tested at 32,769 arguments each,
and Pow at as many pairs. Operands are tensors and constants. The operators are compiled for
`vulkan:generic` and `vulkan:lavapipe`, run with storage-buffer, address and texel bindings, and folded
as constants on the host. The reference follows IEEE 754-2019 and Annex F of C99, except where ONNX's
specification differs.

- **exact**: every bit equals that of the correctly rounded result. For operators that are a formula of
  several steps (Mean, HardSwish, Softsign), each step is rounded. All NaNs are treated as equal.
- **a number**: the largest error that the test measured, in units in the last place (ulp) of the
  exact result. The test allows 4.
- f16 is computed in f32 and rounded once, to nearest, ties to even. Between two operators that are
  fused into one kernel, an f16 value is not rounded. A Cast to f16 in the model (or an `arith.truncf` in
  MLIR) always rounds, whether it is fused or not.

)";

constexpr const char *kRules = R"(
## Rules

- **NaN** is propagated by Max, Min, Clip, Relu, Sign, ReduceMax and ReduceMin (as in NumPy). ArgMax and
  ArgMin give the position of the first NaN, or of the last one with `select_last_index`.
- **Zeros**: -0 is below +0 in Max, Min, Clip, Relu, ReduceMax and ReduceMin; comparisons treat them as
  equal. A sum starts at +0, so a sum of only -0 is +0.
- **Pow** follows C99: `pow(x, 0)` and `pow(1, y)` are 1, also for NaN. A negative base with an exponent
  that is not an integer gives NaN. Integer powers wrap; a negative exponent gives 1 / x^n, truncated.
- **Integers wrap.** `-(minimum)`, `|minimum|` and `minimum / -1` are the minimum. Sums and products are
  computed in the operand's type and wrap as well. The mean of 8- and 16-bit integers is computed from
  their exact sum; the mean of larger integers from the sum in their type. Both are truncated.
- **Mod** has the sign of the divisor, or with `fmod=1` that of the dividend.
- **BitShift** by the width or more gives 0. Signed integers are refused, as in ONNX's specification.
- **QuantizeLinear** divides in f32, rounds half to even, adds the zero point and saturates. NaN becomes
  the zero point. **DequantizeLinear** multiplies in f32. A zero point of i32 is subtracted in f32.
- **Cast** of a float to an integer saturates, and NaN gives 0. ONNX leaves both undefined.
- **x * f(x)** (Gelu, HardSwish, Mish, Swish) is NaN for minus infinity, because -inf * 0 is NaN.
- **LogSoftmax, ReduceLogSumExp**: where the result is below 1, its error is given in ulp of 1, because the
  terms cancel. Softmax and LogSoftmax first subtract the maximum in f32.

## Exceptions

- The division of an integer by 0 (Div, Mod, and Pow of 0 to a negative number) has no defined result.
  It does not fail.
- Float sums and products of more than two elements are computed in an order that depends on the device.
  They are tested with elements for which every order is exact: zeros and ones, and at most one infinity or NaN.
- ReduceLogSum, ReduceLogSumExp and Mean of integers are refused. ReduceL2 of integers is computed in f64,
  truncated, and saturates.
- Pow of an integer to a float is computed in the float's type and truncated; it is not compared.
- Integers that are computed from dynamic dimensions (for example, by Shape) are kept as expressions and follow
  narrower rules: a Cast to f32 does not round values above 2^24, and a model whose results depend on a value that
  is negative, above 2^32 - 1 or overflows is refused, when it is compiled or when it runs.
)";

} // namespace

std::string Report::markdown() const {
  std::string text = kIntroduction;
  text += "| operator | types on devices | error on the device (ulp) | error on the host (ulp) | "
          "folded only | denormals flushed |\n| --- | --- | --- | --- | --- | --- |\n";
  auto ulpOf = [](const Row &row, double value) -> std::string {
    if (row.isExact)
      return "exact";
    char number[32];
    // Round up to a quarter, so that small differences between compilers or processors do not show.
    std::snprintf(number, sizeof number, "%.2f", std::ceil(value * 4) / 4);
    return number;
  };
  for (const auto &[op, row] : rows_) {
    std::set<Type> folded;
    for (Type type : row.hostTypes)
      if (!row.deviceTypes.count(type))
        folded.insert(type);
    text += "| " + op + " | " + listOf(row.deviceTypes) + " | " + ulpOf(row, row.deviceUlp) +
            " | " + ulpOf(row, row.hostUlp) + " | " + listOf(folded) + " | " +
            listOf(row.flushedTypes) + " |\n";
  }
  text += kRules;
  std::string flushing, keeping;
  for (const auto &[type, flushes] : flushes_)
    (flushes ? flushing : keeping) += std::string(" ") + gantry_type_name(type);
  text +=
      "- **Denormal numbers.** As measured, the software device flushes denormal numbers of" +
      (flushing.empty() ? " no type" : flushing) +
      (keeping.empty() ? "" : ", and keeps those of" + keeping) +
      ". The table names the operators where this is visible: a denormal operand or result may be "
      "treated as a zero of the same sign. The test allows no other deviation.\n"
      "- Functions of f64 other than square roots and roundings, and all functions of bf16, are "
      "only "
      "folded on the host. A model that needs them on a device is refused.\n";
  return text;
}

} // namespace gantry::numerics
