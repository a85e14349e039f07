// Implements the machine of evaluate_steps.h, and the operations of the arith and math dialects as
// steps.
#include "codegen/import/onnx/evaluate_steps.h"

#include "codegen/import/onnx/evaluate_compare.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <cstring>

namespace gantry::importer {

namespace arith = mlir::arith;
namespace math = mlir::math;

Kind kindOf(mlir::Type type) {
  if (type.isF32())
    return {DType::kF32, 0, true};
  if (type.isF64())
    return {DType::kF64, 0, true};
  if (type.isF16())
    return {DType::kF16, 0, true};
  if (type.isBF16())
    return {DType::kBF16, 0, true};
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type))
    return {DType::kI64, int(integer.getWidth()), false};
  return {DType::kI64, 64, false};
}

// ---- the machine -------------------------------------------------------------------------------

void Machine::run() {
  for (const Step &step : steps) {
    step.run(*this, step);
    if (!wrong.empty())
      trace(step);
    Number &out = slots[step.out];
    if (!step.kind.isFloat)
      out.i = signExtend(out.i, step.kind.bits);
    else if (step.kind.dtype == DType::kF32)
      out.f = static_cast<float>(out.f);
    else if (step.kind.dtype != DType::kF64)
      out = roundTo(step.kind.dtype, out);
  }
}

void Machine::trace(const Step &step) {
  int from = wrong[step.a];
  if (from == 0)
    from = step.isSelect ? wrong[slots[step.a].i ? step.b : step.c]
                         : std::max(wrong[step.b], wrong[step.c]);
  if (from == 0 && step.isExact && !step.isExact(*this, step))
    from = int(&step - steps.data()) + 1;
  wrong[step.out] = from;
}

void Machine::check(int slot) {
  if (wrong.empty() || wrong[slot] == 0 || inexact)
    return;
  const Step &step = steps[wrong[slot] - 1];
  const int64_t a = slots[step.a].i, b = slots[step.b].i;
  std::string operation = std::to_string(a);
  if (step.sign != 0)
    operation += std::string(" ") + step.sign + " " + std::to_string(b);
  const bool isByZero = step.sign == '/' && b == 0;
  std::string message =
      "shape arithmetic " + (isByZero ? "divides by zero"
                                      : "overflows: " + operation + " does not fit " +
                                            std::to_string(step.kind.bits) + " bits");
  inexact = std::make_shared<Inexact>(Inexact{std::move(message), ""});
}

void runExtract(Machine &m, const Step &s) {
  int64_t position = 0;
  for (size_t i = 0; i < s.indices.size(); ++i) {
    m.check(s.indices[i]);
    int64_t index = m.slots[s.indices[i]].i;
    if (index < 0 || index >= s.tensor->dims[i])
      failBadInput("the index " + llvm::Twine(index) + " is outside of a dimension of size " +
                   llvm::Twine(s.tensor->dims[i]));
    position += index * s.strides[i];
  }
  m.slots[s.out] = toSlot(s.tensor->type, s.tensor->at(position));
  if (!m.inexact)
    m.inexact = s.tensor->inexact;
}

// ---- operations --------------------------------------------------------------------------------

namespace {

// Each macro makes the function of a step that computes `expr` from two floats x and y (FLOAT2),
// two integers (INT2), two unsigned integers (UINT2), or one float x (FLOAT1).
#define GANTRY_FLOAT2(expr)                                                                        \
  [](Machine &m, const Step &s) {                                                                  \
    double x = m.slots[s.a].f, y = m.slots[s.b].f;                                                 \
    m.slots[s.out].f = (expr);                                                                     \
  }
#define GANTRY_INT2(expr)                                                                          \
  [](Machine &m, const Step &s) {                                                                  \
    int64_t x = m.slots[s.a].i, y = m.slots[s.b].i;                                                \
    m.slots[s.out].i = (expr);                                                                     \
  }
#define GANTRY_UINT2(expr)                                                                         \
  [](Machine &m, const Step &s) {                                                                  \
    uint64_t x = zeroExtend(m.slots[s.a].i, s.operand.bits);                                       \
    uint64_t y = zeroExtend(m.slots[s.b].i, s.operand.bits);                                       \
    m.slots[s.out].i = static_cast<int64_t>(expr);                                                 \
  }
#define GANTRY_FLOAT1(expr)                                                                        \
  [](Machine &m, const Step &s) {                                                                  \
    double x = m.slots[s.a].f;                                                                     \
    m.slots[s.out].f = (expr);                                                                     \
  }

// Reinterprets the bits of a float as an integer, or of an integer as a float.
void bitcast(Machine &m, const Step &s) {
  const DType type = s.kind.isFloat ? s.kind.dtype : s.operand.dtype;
  const uint64_t size = dtypeSize(type);
  uint8_t bytes[8] = {};
  if (s.kind.isFloat) {
    std::memcpy(bytes, &m.slots[s.a].i, size);
    m.slots[s.out] = loadElement(type, bytes);
    return;
  }
  storeElement(type, bytes, m.slots[s.a]);
  int64_t bits = 0;
  std::memcpy(&bits, bytes, size);
  m.slots[s.out].i = bits;
}

// Returns the minimum of IEEE 754-2019: NaN if an operand is NaN, and -0 is less than +0.
double minimum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return NAN;
  return x == y ? (std::signbit(x) ? x : y) : std::min(x, y);
}

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

// Converts a float to a 64-bit integer. Values above the range give the highest integer, and NaN
// gives 0. For a signed result, values below the range give the lowest integer. For an unsigned
// result, negative values give the bits of the signed integer, or 0 if they are below the range of
// signed integers. On a device, the result for a value outside of the range is undefined.
int64_t toInteger(double x, bool isSigned) {
  if (std::isnan(x))
    return 0;
  if (isSigned)
    return x >= 9.2233720368547758e18    ? INT64_MAX
           : x <= -9.2233720368547758e18 ? INT64_MIN
                                         : int64_t(x);
  return x >= 1.8446744073709552e19 ? -1
         : x <= -1                  ? int64_t(x < -9.2e18 ? 0 : x)
                                    : wrap(uint64_t(x));
}

// Rounds an integer to odd: keeps its highest 53 bits, and sets the last of these if the others are
// not 0. Rounding the result to a smaller float then gives the same value as rounding the integer
// directly.
double roundedToOdd(uint64_t value) {
  const int lost = value >> 53 ? 64 - 53 - __builtin_clzll(value) : 0;
  const uint64_t kept = value >> lost, rest = value - (kept << lost);
  return std::ldexp(static_cast<double>(kept | (rest != 0)), lost);
}

// Arithmetic of floats.
Run floatStep(mlir::Operation &op) {
  return llvm::TypeSwitch<mlir::Operation *, Run>(&op)
      .Case<arith::AddFOp>([](auto) -> Run { return GANTRY_FLOAT2(x + y); })
      .Case<arith::SubFOp>([](auto) -> Run { return GANTRY_FLOAT2(x - y); })
      .Case<arith::MulFOp>([](auto) -> Run { return GANTRY_FLOAT2(x * y); })
      .Case<arith::DivFOp>([](auto) -> Run { return GANTRY_FLOAT2(x / y); })
      .Case<arith::RemFOp>([](auto) -> Run { return GANTRY_FLOAT2(std::fmod(x, y)); })
      .Case<math::PowFOp>([](auto) -> Run { return GANTRY_FLOAT2(std::pow(x, y)); })
      .Case<arith::MinimumFOp>([](auto) -> Run { return GANTRY_FLOAT2(minimum(x, y)); })
      .Case<arith::MaximumFOp>([](auto) -> Run { return GANTRY_FLOAT2(-minimum(-x, -y)); })
      .Case<arith::MinNumFOp>([](auto) -> Run { return GANTRY_FLOAT2(std::fmin(x, y)); })
      .Case<arith::MaxNumFOp>([](auto) -> Run { return GANTRY_FLOAT2(std::fmax(x, y)); })
      .Case<arith::NegFOp>([](auto) -> Run { return GANTRY_FLOAT1(-x); })
      .Default([](auto) -> Run { return nullptr; });
}

// Arithmetic of integers, and select.
Run integerStep(mlir::Operation &op) {
  return llvm::TypeSwitch<mlir::Operation *, Run>(&op)
      .Case<arith::AddIOp>([](auto) -> Run { return GANTRY_INT2(wrap(uint64_t(x) + uint64_t(y))); })
      .Case<arith::SubIOp>([](auto) -> Run { return GANTRY_INT2(wrap(uint64_t(x) - uint64_t(y))); })
      .Case<arith::MulIOp>([](auto) -> Run { return GANTRY_INT2(wrap(uint64_t(x) * uint64_t(y))); })
      .Case<arith::DivSIOp>([](auto) -> Run {
        return GANTRY_INT2(y == 0 ? 0 : y == -1 ? wrap(-uint64_t(x)) : x / y);
      })
      .Case<arith::RemSIOp>([](auto) -> Run { return GANTRY_INT2(y == 0 || y == -1 ? 0 : x % y); })
      .Case<arith::DivUIOp>([](auto) -> Run { return GANTRY_UINT2(y == 0 ? 0 : x / y); })
      .Case<arith::RemUIOp>([](auto) -> Run { return GANTRY_UINT2(y == 0 ? 0 : x % y); })
      .Case<arith::MinSIOp>([](auto) -> Run { return GANTRY_INT2(std::min(x, y)); })
      .Case<arith::MaxSIOp>([](auto) -> Run { return GANTRY_INT2(std::max(x, y)); })
      .Case<arith::MinUIOp>([](auto) -> Run { return GANTRY_UINT2(std::min(x, y)); })
      .Case<arith::MaxUIOp>([](auto) -> Run { return GANTRY_UINT2(std::max(x, y)); })
      .Case<arith::AndIOp>([](auto) -> Run { return GANTRY_INT2(x & y); })
      .Case<arith::OrIOp>([](auto) -> Run { return GANTRY_INT2(x | y); })
      .Case<arith::XOrIOp>([](auto) -> Run { return GANTRY_INT2(x ^ y); })
      .Case<arith::ShLIOp>([](auto) -> Run { return GANTRY_UINT2(y >= 64 ? 0 : x << y); })
      .Case<arith::ShRUIOp>([](auto) -> Run { return GANTRY_UINT2(y >= 64 ? 0 : x >> y); })
      .Case<arith::SelectOp>([](auto) -> Run {
        return [](Machine &m, const Step &s) {
          m.slots[s.out] = m.slots[s.a].i ? m.slots[s.b] : m.slots[s.c];
        };
      })
      .Default([](auto) -> Run { return nullptr; });
}

// Functions of one float.
Run functionStep(mlir::Operation &op) {
  return llvm::TypeSwitch<mlir::Operation *, Run>(&op)
      .Case<math::AbsFOp>([](auto) -> Run { return GANTRY_FLOAT1(std::fabs(x)); })
      .Case<math::ExpOp>([](auto) -> Run { return GANTRY_FLOAT1(std::exp(x)); })
      .Case<math::LogOp>([](auto) -> Run { return GANTRY_FLOAT1(std::log(x)); })
      .Case<math::SqrtOp>([](auto) -> Run { return GANTRY_FLOAT1(std::sqrt(x)); })
      .Case<math::FloorOp>([](auto) -> Run { return GANTRY_FLOAT1(std::floor(x)); })
      .Case<math::CeilOp>([](auto) -> Run { return GANTRY_FLOAT1(std::ceil(x)); })
      .Case<math::RoundEvenOp>([](auto) -> Run { return GANTRY_FLOAT1(std::nearbyint(x)); })
      .Case<math::ErfOp>([](auto) -> Run { return GANTRY_FLOAT1(std::erf(x)); })
      .Case<math::TanhOp>([](auto) -> Run { return GANTRY_FLOAT1(std::tanh(x)); })
      .Case<math::AtanOp>([](auto) -> Run { return GANTRY_FLOAT1(std::atan(x)); })
      .Case<math::SinOp>([](auto) -> Run { return GANTRY_FLOAT1(std::sin(x)); })
      .Case<math::CosOp>([](auto) -> Run { return GANTRY_FLOAT1(std::cos(x)); })
      .Case<math::TanOp>([](auto) -> Run { return GANTRY_FLOAT1(std::tan(x)); })
      .Case<math::AsinOp>([](auto) -> Run { return GANTRY_FLOAT1(std::asin(x)); })
      .Case<math::AcosOp>([](auto) -> Run { return GANTRY_FLOAT1(std::acos(x)); })
      .Case<math::SinhOp>([](auto) -> Run { return GANTRY_FLOAT1(std::sinh(x)); })
      .Case<math::CoshOp>([](auto) -> Run { return GANTRY_FLOAT1(std::cosh(x)); })
      .Case<math::AsinhOp>([](auto) -> Run { return GANTRY_FLOAT1(std::asinh(x)); })
      .Case<math::AcoshOp>([](auto) -> Run { return GANTRY_FLOAT1(std::acosh(x)); })
      .Case<math::AtanhOp>([](auto) -> Run { return GANTRY_FLOAT1(std::atanh(x)); })
      .Case<math::ExpM1Op>([](auto) -> Run { return GANTRY_FLOAT1(std::expm1(x)); })
      .Case<math::Log1pOp>([](auto) -> Run { return GANTRY_FLOAT1(std::log1p(x)); })
      .Default([](auto) -> Run { return nullptr; });
}

// Conversions between types.
Run conversionStep(mlir::Operation &op) {
  return llvm::TypeSwitch<mlir::Operation *, Run>(&op)
      .Case<arith::BitcastOp>([](auto) -> Run { return bitcast; })
      .Case<arith::ExtFOp, arith::TruncFOp>([](auto) -> Run { return GANTRY_FLOAT1(x); })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [](auto) -> Run { return GANTRY_INT2((void(y), x)); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [](auto) -> Run { return GANTRY_UINT2((void(y), x)); })
      .Case<arith::SIToFPOp>([](auto) -> Run {
        return [](Machine &m, const Step &s) {
          const int64_t value = m.slots[s.a].i;
          const uint64_t size = value < 0 ? -uint64_t(value) : uint64_t(value);
          const double rounded = s.kind.dtype == DType::kF64 ? double(size) : roundedToOdd(size);
          m.slots[s.out].f = value < 0 ? -rounded : rounded;
        };
      })
      .Case<arith::UIToFPOp>([](auto) -> Run {
        return [](Machine &m, const Step &s) {
          const uint64_t value = zeroExtend(m.slots[s.a].i, s.operand.bits);
          m.slots[s.out].f = s.kind.dtype == DType::kF64 ? double(value) : roundedToOdd(value);
        };
      })
      .Case<arith::FPToSIOp>([](auto) -> Run {
        return [](Machine &m, const Step &s) {
          const int64_t value = toInteger(m.slots[s.a].f, true);
          m.slots[s.out].i =
              s.kind.bits == 32 ? std::clamp<int64_t>(value, INT32_MIN, INT32_MAX) : value;
        };
      })
      .Case<arith::FPToUIOp>([](auto) -> Run {
        return
            [](Machine &m, const Step &s) { m.slots[s.out].i = toInteger(m.slots[s.a].f, false); };
      })
      .Default([](auto) -> Run { return nullptr; });
}

} // namespace

Run arithmeticStep(mlir::Operation &op) {
  for (auto *stepOf : {floatStep, integerStep, functionStep, conversionStep})
    if (Run run = stepOf(op))
      return run;
  return nullptr;
}

// ---- exactness ---------------------------------------------------------------------------------

namespace {

bool fits(int64_t value, const Step &s) { return signExtend(value, s.kind.bits) == value; }

bool sumIsExact(const Machine &m, const Step &s) {
  int64_t sum = 0;
  return !__builtin_add_overflow(m.slots[s.a].i, m.slots[s.b].i, &sum) && fits(sum, s);
}

bool differenceIsExact(const Machine &m, const Step &s) {
  int64_t value = 0;
  return !__builtin_sub_overflow(m.slots[s.a].i, m.slots[s.b].i, &value) && fits(value, s);
}

bool productIsExact(const Machine &m, const Step &s) {
  int64_t product = 0;
  return !__builtin_mul_overflow(m.slots[s.a].i, m.slots[s.b].i, &product) && fits(product, s);
}

bool quotientIsExact(const Machine &m, const Step &s) {
  const int64_t lowest = signExtend(wrap(uint64_t(1) << (s.kind.bits - 1)), s.kind.bits);
  return m.slots[s.b].i != 0 && !(m.slots[s.b].i == -1 && m.slots[s.a].i == lowest);
}

bool divisorIsNotZero(const Machine &m, const Step &s) { return m.slots[s.b].i != 0; }

bool narrowedIsExact(const Machine &m, const Step &s) { return fits(m.slots[s.a].i, s); }

} // namespace

void makeExact(mlir::Operation &op, Step &step) {
  llvm::TypeSwitch<mlir::Operation *>(&op)
      .Case<arith::AddIOp>([&](auto) { step.isExact = sumIsExact, step.sign = '+'; })
      .Case<arith::SubIOp>([&](auto) { step.isExact = differenceIsExact, step.sign = '-'; })
      .Case<arith::MulIOp>([&](auto) { step.isExact = productIsExact, step.sign = '*'; })
      .Case<arith::DivSIOp>([&](auto) { step.isExact = quotientIsExact, step.sign = '/'; })
      .Case<arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(
          [&](auto) { step.isExact = divisorIsNotZero, step.sign = '/'; })
      .Case<arith::TruncIOp>([&](auto) { step.isExact = narrowedIsExact; });
}

} // namespace gantry::importer
