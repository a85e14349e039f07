// Implements evaluate_compare.h: the comparison predicates of the arith dialect, and zeroExtend.
#include "codegen/import/onnx/evaluate_compare.h"

#include <cmath>

namespace gantry::importer {

namespace arith = mlir::arith;

uint64_t zeroExtend(int64_t value, int bits) {
  return bits == 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << bits) - 1);
}

bool compareFloats(arith::CmpFPredicate predicate, double x, double y) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case P::OEQ:
    return x == y;
  case P::UNE:
    return x != y;
  case P::OLT:
    return x < y;
  case P::OLE:
    return x <= y;
  case P::OGT:
    return x > y;
  case P::OGE:
    return x >= y;
  case P::ONE:
    return !unordered && x != y;
  case P::UEQ:
    return unordered || x == y;
  case P::ULT:
    return !(x >= y);
  case P::ULE:
    return !(x > y);
  case P::UGT:
    return !(x <= y);
  case P::UGE:
    return !(x < y);
  case P::UNO:
    return unordered;
  case P::ORD:
    return !unordered;
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  }
  return false;
}

bool compareIntegers(arith::CmpIPredicate predicate, int64_t x, int64_t y, int bits) {
  using P = arith::CmpIPredicate;
  uint64_t ux = zeroExtend(x, bits), uy = zeroExtend(y, bits);
  switch (predicate) {
  case P::eq:
    return x == y;
  case P::ne:
    return x != y;
  case P::slt:
    return x < y;
  case P::sle:
    return x <= y;
  case P::sgt:
    return x > y;
  case P::sge:
    return x >= y;
  case P::ult:
    return ux < uy;
  case P::ule:
    return ux <= uy;
  case P::ugt:
    return ux > uy;
  case P::uge:
    return ux >= uy;
  }
  return false;
}

} // namespace gantry::importer
