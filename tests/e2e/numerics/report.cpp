#include "tests/e2e/numerics/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gantry::numerics {

namespace {

constexpr int kMostPrinted = 3; // failures of one case in one place

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
  if (count <= kMostPrinted)
    std::printf("FAILED %s, %s: %s\n", nameOf(test).c_str(), where.c_str(), what.c_str());
  else if (count == kMostPrinted + 1)
    std::printf("FAILED %s, %s: and others\n", nameOf(test).c_str(), where.c_str());
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
  // f64 is computed with as it is; what is compared in smaller types is rounded once.
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

What each elementwise operator, each reduction, QuantizeLinear and DequantizeLinear compute, and how
exactly. The types of an operator are those of its first input. This file is made by the
test `numerics` (tests/e2e/numerics), which fails when it is stale; to write it anew:
`numerics --docs docs/numerics.md --update`.

The test runs every operator in every type on special values: zeros of both signs, denormal numbers,
the smallest and largest numbers, infinities, NaN, the limits of integers, ties, and neighbours of
powers of two, in every pairing; functions that are not exact also at 32,769 arguments each, Pow at as
many pairs; with tensors and with constants as operands; compiled for
`vulkan:generic` and `vulkan:lavapipe`; with storage-buffer, address and texel bindings; and folded as
constants on the host. The reference follows IEEE 754-2019 and Annex F of C99, and ONNX's
specification where it says otherwise.

- **exact**: every bit is that of the correctly rounded result, step by step for operators that are a
  formula of several steps (Mean, HardSwish, Softsign). One NaN is as good as another.
- **a number**: the largest error that the test measured, in units in the last place (ulp) of the
  exact result. The test allows 4.
- f16 is computed in f32 and rounded once, to nearest, ties to even. Between two operators that are
  fused into one kernel an f16 is not rounded at all; where the model has a Cast to f16 (or an
  `arith.truncf` in MLIR) it is, whatever the Cast is fused with.

)";

constexpr const char *kRules = R"(
## Rules

- **NaN** comes through Max, Min, Clip, Relu, Sign, ReduceMax and ReduceMin (as in NumPy). ArgMax and
  ArgMin give the position of the first NaN, or of the last one with `select_last_index`.
- **Zeros**: -0 is below +0 in Max, Min, Clip, Relu, ReduceMax and ReduceMin; comparisons take them for
  equal. A sum starts at +0, so the sum of nothing but -0 is +0.
- **Pow** follows C99: `pow(x, 0)` and `pow(1, y)` are 1, of NaN as well; a negative base and an
  exponent that is no integer give NaN. Integer powers wrap; a negative exponent gives 1 / x^n, cut off.
- **Integers wrap.** `-(minimum)`, `|minimum|` and `minimum / -1` are the minimum. A sum or a product is
  that of the type, and wraps, too. The mean of 8- and 16-bit integers is that of their exact sum; the
  mean of larger ones is that of the sum in their type, cut off.
- **Mod** has the sign of the divisor, with `fmod=1` that of the dividend.
- **BitShift** by the width or more gives 0. Signed integers are refused, as ONNX has it.
- **QuantizeLinear** divides in f32, rounds half to even, adds the zero point and saturates. NaN becomes
  the zero point. **DequantizeLinear** multiplies in f32. A zero point of i32 is subtracted in f32.
- **Cast** of a float to an integer saturates, and NaN gives 0. ONNX leaves both undefined.
- **x * f(x)** (Gelu, HardSwish, Mish, Swish) is NaN for minus infinity, as -inf * 0 is.
- **LogSoftmax, ReduceLogSumExp**: the ulp are those of 1 where the result is smaller, since the terms
  cancel. Softmax and LogSoftmax subtract the maximum in f32 first.

## Exceptions

- The division of an integer by 0 (Div, Mod, and Pow of 0 to a negative number) has no defined result.
  It does not fail.
- Float sums and products of more than two elements are summed in an order that depends on the device.
  They are compared where no order is inexact: zeros and ones, with one infinity or NaN among them or none.
- ReduceLogSum, ReduceLogSumExp and Mean of integers are refused. ReduceL2 of integers is computed in f64,
  cut off, and saturates.
- Pow of an integer to a float is computed in the float's type and cut off; it is not compared.
- Integers that are computed from dynamic dimensions (Shape of an input whose size is free) are kept as
  expressions and follow narrower rules: above 2^24 a Cast to f32 does not round them; a model whose results need a
  negative one, one above 2^32 - 1 or one that overflows is refused, when it is compiled or when it runs.
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
    // Steps of a quarter: what a compiler's or a processor's last bit changes does not show.
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
      "- **Denormal numbers.** Measured on the software device: it flushes those of" +
      (flushing.empty() ? " no type" : flushing) +
      (keeping.empty() ? "" : "; it keeps those of" + keeping) +
      ". Operators where this shows are named in the table: an operand or a result that is a "
      "denormal number may count as a zero of its sign. This is the one deviation that the test "
      "allows.\n"
      "- Functions of f64 other than square roots and roundings, and all of bf16, are folded on "
      "the host alone: a model that needs them on a device is refused.\n";
  return text;
}

} // namespace gantry::numerics
