#include "codegen/import/onnx/evaluate.h"

#include "codegen/import/onnx/body.h"
#include "codegen/import/onnx/evaluate_compare.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <cstring>

namespace gantry::importer {

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {

// What a slot holds: floats as double; integers sign-extended from their width, i1 as 0 or 1.
struct Kind {
  DType dtype = DType::F32; // of floats
  int bits = 64;            // of integers; 1 for i1
  bool isFloat = false;
};

Kind kindOf(mlir::Type type) {
  if (type.isF32())
    return {DType::F32, 0, true};
  if (type.isF64())
    return {DType::F64, 0, true};
  if (type.isF16())
    return {DType::F16, 0, true};
  if (type.isBF16())
    return {DType::BF16, 0, true};
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type))
    return {DType::I64, int(integer.getWidth()), false};
  return {DType::I64, 64, false};
}

int64_t signExtend(int64_t value, int bits) {
  if (bits == 64)
    return value;
  if (bits == 1)
    return value & 1;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits);
}

struct Machine;
struct Step {
  void (*run)(Machine &, const Step &) = nullptr;
  int out = 0, a = 0, b = 0, c = 0;
  Kind kind;         // of the result
  Kind operand;      // of the first operand
  int predicate = 0; // comparisons; the loop of linalg.index
  bool isSelect = false;
  /// Whether the result is the true one; null where it may wrap.
  bool (*isExact)(const Machine &, const Step &) = nullptr;
  char sign = 0; // of the operation, for messages
  const HostTensor *tensor = nullptr;
  llvm::SmallVector<int, 4> indices; // of tensor.extract
  llvm::SmallVector<int64_t, 4> strides;
};

struct Machine {
  std::vector<Number> slots;
  std::vector<Step> steps;
  llvm::SmallVector<int64_t> loops;
  /// Per slot, where a step is exact: 0, or 1 + the step that its value got wrong by. As with
  /// LLVM's poison, only an element that is made of it is an error.
  std::vector<int> wrong;
  std::shared_ptr<const Inexact> inexact; // Set once an operand or a result is inexact.

  void run() {
    for (const Step &step : steps) {
      step.run(*this, step);
      if (!wrong.empty())
        trace(step);
      Number &out = slots[step.out];
      if (!step.kind.isFloat)
        out.i = signExtend(out.i, step.kind.bits);
      else if (step.kind.dtype == DType::F32)
        out.f = static_cast<float>(out.f);
      else if (step.kind.dtype != DType::F64)
        out = roundTo(step.kind.dtype, out);
    }
  }

  void trace(const Step &step) {
    int from = wrong[step.a];
    if (from == 0)
      from = step.isSelect ? wrong[slots[step.a].i ? step.b : step.c]
                           : std::max(wrong[step.b], wrong[step.c]);
    if (from == 0 && step.isExact && !step.isExact(*this, step))
      from = int(&step - steps.data()) + 1;
    wrong[step.out] = from;
  }

  /// Notes the first slot whose value is not the true one.
  void check(int slot) {
    if (wrong.empty() || wrong[slot] == 0 || inexact)
      return;
    const Step &step = steps[wrong[slot] - 1];
    const int64_t a = slots[step.a].i, b = slots[step.b].i;
    std::string operation = std::to_string(a);
    if (step.sign != 0)
      operation += std::string(" ") + step.sign + " " + std::to_string(b);
    note("shape arithmetic " + (step.sign == '/' && b == 0
                                    ? std::string("divides by zero")
                                    : "overflows: " + operation + " does not fit " +
                                          std::to_string(step.kind.bits) + " bits"));
  }

  void note(std::string message) {
    inexact = std::make_shared<Inexact>(Inexact{std::move(message), ""});
  }
};

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

using Run = void (*)(Machine &, const Step &);

/// The bits of a float as an integer, or back.
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

/// IEEE 754-2019: NaN wins, and -0 is below +0.
double minimum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return NAN;
  return x == y ? (std::signbit(x) ? x : y) : std::min(x, y);
}

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

// Saturating, NaN to zero: where the source is out of range the device's result is undefined
// anyway.
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

/// The double from which rounding to a smaller float gives what rounding the integer gives: cut
/// off, and with its last bit set where anything was lost.
double roundedToOdd(uint64_t value) {
  const int lost = value >> 53 ? 64 - 53 - __builtin_clzll(value) : 0;
  const uint64_t kept = value >> lost, rest = value - (kept << lost);
  return std::ldexp(static_cast<double>(kept | (rest != 0)), lost);
}

Run arithmeticStep(mlir::Operation &op) {
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
      .Case<arith::NegFOp>([](auto) -> Run { return GANTRY_FLOAT1(-x); })
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
          const double rounded = s.kind.dtype == DType::F64 ? double(size) : roundedToOdd(size);
          m.slots[s.out].f = value < 0 ? -rounded : rounded;
        };
      })
      .Case<arith::UIToFPOp>([](auto) -> Run {
        return [](Machine &m, const Step &s) {
          const uint64_t value = zeroExtend(m.slots[s.a].i, s.operand.bits);
          m.slots[s.out].f = s.kind.dtype == DType::F64 ? double(value) : roundedToOdd(value);
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
      .Case<arith::SelectOp>([](auto) -> Run {
        return [](Machine &m, const Step &s) {
          m.slots[s.out] = m.slots[s.a].i ? m.slots[s.b] : m.slots[s.c];
        };
      })
      .Default([](auto) -> Run { return nullptr; });
}

// How what is marked with kExactAttribute can give another result than the true one.

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
  const int64_t least = signExtend(wrap(uint64_t(1) << (s.kind.bits - 1)), s.kind.bits);
  return m.slots[s.b].i != 0 && !(m.slots[s.b].i == -1 && m.slots[s.a].i == least);
}

bool divisorIsNotZero(const Machine &m, const Step &s) { return m.slots[s.b].i != 0; }

bool narrowedIsExact(const Machine &m, const Step &s) { return fits(m.slots[s.a].i, s); }

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

// The canonical form of a slot, from an element as it is stored (unsigned ones are zero-extended).
Number toSlot(DType type, Number n) {
  if (!isFloat(type) && type != DType::Bool)
    n.i = signExtend(n.i, int(dtypeSize(type)) * 8);
  return n;
}

void runExtract(Machine &m, const Step &s) {
  int64_t position = 0;
  for (size_t i = 0; i < s.indices.size(); ++i) {
    m.check(s.indices[i]);
    int64_t index = m.slots[s.indices[i]].i;
    if (index < 0 || index >= s.tensor->dims[i])
      failBadInput("the index " + llvm::Twine(index) + " is outside of a dimension of " +
                   llvm::Twine(s.tensor->dims[i]));
    position += index * s.strides[i];
  }
  m.slots[s.out] = toSlot(s.tensor->type, s.tensor->at(position));
  if (!m.inexact)
    m.inexact = s.tensor->inexact;
}

// A position in a tensor as a function of the loops.
struct Address {
  llvm::SmallVector<int64_t> coefficients; // per loop, where the map is linear
  int64_t base = 0;
  bool linear = true;
  mlir::AffineMap map;
  llvm::SmallVector<int64_t> strides;
};

int64_t evaluateExpr(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> loops) {
  using K = mlir::AffineExprKind;
  if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  auto binary = mlir::cast<mlir::AffineBinaryOpExpr>(expr);
  int64_t a = evaluateExpr(binary.getLHS(), loops), b = evaluateExpr(binary.getRHS(), loops);
  int64_t quotient = b == 0 ? 0 : a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  switch (expr.getKind()) {
  case K::Add:
    return a + b;
  case K::Mul:
    return a * b;
  case K::FloorDiv:
    return quotient;
  case K::CeilDiv:
    return quotient + (a != quotient * b);
  default:
    return a - quotient * b;
  }
}

bool isLinear(mlir::AffineExpr expr) {
  auto binary = mlir::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  bool known =
      expr.getKind() == mlir::AffineExprKind::Add || expr.getKind() == mlir::AffineExprKind::Mul;
  return known && isLinear(binary.getLHS()) && isLinear(binary.getRHS());
}

int64_t evaluateAddress(const Address &address, llvm::ArrayRef<int64_t> loops) {
  int64_t position = address.base;
  if (address.linear) {
    for (size_t i = 0; i < loops.size(); ++i)
      position += address.coefficients[i] * loops[i];
    return position;
  }
  for (auto [expr, stride] : llvm::zip(address.map.getResults(), address.strides))
    position += evaluateExpr(expr, loops) * stride;
  return position;
}

Address makeAddress(mlir::AffineMap map, llvm::ArrayRef<int64_t> dims, bool splat) {
  Address address;
  address.map = map;
  address.coefficients.assign(map.getNumDims(), 0);
  if (splat)
    return address;
  address.strides = rowMajorStrides(dims);
  if (!llvm::all_of(map.getResults(), isLinear)) {
    address.linear = false;
    return address;
  }
  llvm::SmallVector<int64_t> point(map.getNumDims(), 0);
  auto position = [&] {
    int64_t sum = 0;
    for (auto [expr, stride] : llvm::zip(map.getResults(), address.strides))
      sum += evaluateExpr(expr, point) * stride;
    return sum;
  };
  address.base = position();
  for (size_t i = 0; i < point.size(); ++i) {
    point[i] = 1;
    address.coefficients[i] = position() - address.base;
    point[i] = 0;
  }
  return address;
}

// Translates the body. Constants are put into their slots at once; the result is the yielded slot.
class Translator {
public:
  Translator(Machine &machine, llvm::function_ref<Constant(mlir::Value)> known,
             std::vector<Constant> &kept)
      : machine_(machine), known_(known), kept_(kept) {}

  bool usesIndex() const { return usesIndex_; }
  int slot(mlir::Value value) {
    auto [it, added] = slots_.try_emplace(value, int(machine_.slots.size()));
    if (added)
      machine_.slots.push_back(Number{.i = 0});
    return it->second;
  }

  void translate(mlir::Operation &op) {
    Step step;
    step.out = slot(op.getResult(0));
    step.kind = kindOf(op.getResult(0).getType());
    if (auto constant = mlir::dyn_cast<arith::ConstantOp>(op)) {
      if (auto f = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue()))
        machine_.slots[step.out].f = f.getValueAsDouble();
      else
        machine_.slots[step.out].i =
            signExtend(mlir::cast<mlir::IntegerAttr>(constant.getValue()).getValue().getSExtValue(),
                       step.kind.bits);
      return;
    }
    if (auto index = mlir::dyn_cast<mlir::linalg::IndexOp>(op)) {
      usesIndex_ = true;
      step.predicate = int(index.getDim());
      step.run = [](Machine &m, const Step &s) { m.slots[s.out].i = m.loops[s.predicate]; };
      machine_.steps.push_back(step);
      return;
    }
    if (auto extract = mlir::dyn_cast<mlir::tensor::ExtractOp>(op)) {
      Constant tensor = known_(extract.getTensor());
      kept_.push_back(tensor);
      step.tensor = tensor.get();
      step.strides = rowMajorStrides(tensor->dims);
      for (mlir::Value index : extract.getIndices())
        step.indices.push_back(slot(index));
      step.run = runExtract;
      machine_.steps.push_back(step);
      return;
    }
    step.a = slot(op.getOperand(0));
    step.operand = kindOf(op.getOperand(0).getType());
    step.b = op.getNumOperands() > 1 ? slot(op.getOperand(1)) : step.a;
    step.c = op.getNumOperands() > 2 ? slot(op.getOperand(2)) : step.a;
    if (auto cmp = mlir::dyn_cast<arith::CmpFOp>(op)) {
      step.predicate = int(cmp.getPredicate());
      step.run = [](Machine &m, const Step &s) {
        m.slots[s.out].i =
            compareFloats(arith::CmpFPredicate(s.predicate), m.slots[s.a].f, m.slots[s.b].f);
      };
    } else if (auto cmp = mlir::dyn_cast<arith::CmpIOp>(op)) {
      step.predicate = int(cmp.getPredicate());
      step.run = [](Machine &m, const Step &s) {
        m.slots[s.out].i = compareIntegers(arith::CmpIPredicate(s.predicate), m.slots[s.a].i,
                                           m.slots[s.b].i, s.operand.bits);
      };
    } else {
      step.run = arithmeticStep(op);
      step.isSelect = mlir::isa<arith::SelectOp>(op);
      if (op.hasAttr(kExactAttribute))
        makeExact(op, step);
    }
    if (!step.run)
      failUnsupported("cannot evaluate " + op.getName().getStringRef() + " while importing");
    machine_.steps.push_back(step);
  }

private:
  Machine &machine_;
  llvm::function_ref<Constant(mlir::Value)> known_;
  std::vector<Constant> &kept_;
  llvm::DenseMap<mlir::Value, int> slots_;
  bool usesIndex_ = false;
};

} // namespace

Constant evaluateGeneric(mlir::linalg::GenericOp op, DType resultType,
                         llvm::function_ref<Constant(mlir::Value)> known, Number init) {
  Machine machine;
  std::vector<Constant> kept;
  Translator translator(machine, known, kept);
  mlir::Block &body = *op.getBody();
  llvm::SmallVector<int> inputSlots;
  for (mlir::BlockArgument argument : body.getArguments())
    inputSlots.push_back(translator.slot(argument));
  for (mlir::Operation &inner : body.without_terminator())
    translator.translate(inner);
  int yielded = translator.slot(body.getTerminator()->getOperand(0));
  if (llvm::any_of(machine.steps, [](const Step &step) { return step.isExact != nullptr; }))
    machine.wrong.assign(machine.slots.size(), 0);

  llvm::SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto maps = op.getIndexingMapsArray();
  auto resultDims = mlir::cast<mlir::RankedTensorType>(op.getResult(0).getType()).getShape();
  std::vector<Constant> inputs;
  std::vector<Address> addresses;
  bool allSplat = op.getNumParallelLoops() == op.getNumLoops() && !translator.usesIndex();
  for (int64_t i = 0; i < op.getNumDpsInputs(); ++i) {
    inputs.push_back(known(op.getDpsInputOperand(i)->get()));
    if (!machine.inexact)
      machine.inexact = inputs.back()->inexact;
    bool uniform = inputs.back()->splat || inputs.back()->window;
    allSplat &= uniform;
    addresses.push_back(makeAddress(maps[i], inputs.back()->dims, uniform));
  }
  const bool empty = llvm::is_contained(resultDims, 0);
  machine.loops.assign(ranges.size(), 0);
  auto loadInputs = [&] {
    for (size_t i = 0; i < inputs.size(); ++i)
      machine.slots[inputSlots[i]] =
          toSlot(inputs[i]->type, inputs[i]->at(evaluateAddress(addresses[i], machine.loops)));
  };
  if (allSplat && !empty) {
    loadInputs();
    machine.run();
    machine.check(yielded);
    auto splat = std::make_shared<HostTensor>(
        *makeSplat(resultType, resultDims, roundTo(resultType, machine.slots[yielded])));
    splat->inexact = machine.inexact;
    return splat;
  }

  uint8_t *out = nullptr;
  auto result = makeDense(resultType, resultDims, out);
  const uint64_t size = dtypeSize(resultType);
  const int64_t count = result->elementCount();
  std::vector<Number> accumulators(count, toSlot(resultType, init));
  Address outAddress = makeAddress(maps.back(), resultDims, false);
  const int outSlot = inputSlots.back();
  if (!llvm::is_contained(ranges, 0)) {
    while (true) {
      loadInputs();
      int64_t position = evaluateAddress(outAddress, machine.loops);
      machine.slots[outSlot] = accumulators[position];
      machine.run();
      machine.check(yielded);
      accumulators[position] = machine.slots[yielded];
      size_t k = ranges.size();
      while (k-- > 0) {
        if (++machine.loops[k] < ranges[k])
          break;
        machine.loops[k] = 0;
      }
      if (k == static_cast<size_t>(-1))
        break;
    }
  }
  for (int64_t i = 0; i < count; ++i)
    storeElement(resultType, out + i * size, accumulators[i]);
  result->inexact = machine.inexact;
  return result;
}

} // namespace gantry::importer
