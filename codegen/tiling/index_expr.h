// Index expressions of kernels: integers as "constant + Σ coefficient · variable", simplified while
// they are built.
//
// A kernel addresses memory by such sums of its tile coordinates and loop counters. In this form
// two addresses of a register tile show at once whether they are equal, adjacent or aligned, which
// decides what is loaded once and what is loaded as a vector. Quotients and remainders by constants
// are split where ranges prove that this is exact. Otherwise they are variables of their own, with
// hash consing: equal quotients are one variable.
//
// This is not an affine analysis: there are no integer sets and no emptiness tests. Ranges are
// intervals.
//
// Threads: an IndexSpace belongs to one kernel and one thread.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gantry::codegen {

struct IndexExpr {
  llvm::SmallVector<std::pair<int32_t, int64_t>, 4>
      terms; // (variable, coefficient), sorted by variable.
  int64_t constant = 0;

  IndexExpr() = default;
  explicit IndexExpr(int64_t value) : constant(value) {}
  bool isConstant() const { return terms.empty(); }
  bool operator==(const IndexExpr &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator<(const IndexExpr &other) const {
    if (terms != other.terms)
      return std::lexicographical_compare(terms.begin(), terms.end(), other.terms.begin(),
                                          other.terms.end());
    return constant < other.constant;
  }
  /// The expression without its constant.
  IndexExpr base() const {
    IndexExpr result = *this;
    result.constant = 0;
    return result;
  }
};

/// Inclusive; saturates at ±kUnbounded, which also stands for "unknown".
struct IndexRange {
  int64_t low, high;
};

class IndexSpace {
public:
  static constexpr int64_t kUnbounded = int64_t(1) << 60;

  /// Makes a variable with this value (of index type; null when counting), which is in [low, high].
  /// perLane: invocations of one subgroup may see different values. Returns a constant if low
  /// equals high.
  IndexExpr addVariable(mlir::Value value, int64_t low, int64_t high, bool perLane = false);
  /// How many rounds the loops run that variables made from now on belong to.
  void setLoopWeight(double rounds) { weight_ = rounds; }
  double loopWeight() const { return weight_; }
  /// How often an expression is computed if it is moved out of the loops that it does not depend
  /// on.
  double weight(const IndexExpr &expr) const;
  /// Splits an expression into the terms that all invocations of a subgroup share, with the
  /// constant, and the others.
  std::pair<IndexExpr, IndexExpr> splitUniform(const IndexExpr &expr) const;
  /// Whether all invocations of a subgroup see the same value.
  bool isUniform(const IndexExpr &expr) const;

  IndexExpr add(const IndexExpr &a, const IndexExpr &b) const;
  IndexExpr sub(const IndexExpr &a, const IndexExpr &b) const { return add(a, scale(b, -1)); }
  IndexExpr scale(const IndexExpr &a, int64_t factor) const;
  IndexExpr mul(const IndexExpr &a, const IndexExpr &b);
  /// Floor division and remainder. b > 0.
  IndexExpr floorDiv(const IndexExpr &a, const IndexExpr &b);
  IndexExpr mod(const IndexExpr &a, const IndexExpr &b);
  IndexExpr ceilDiv(const IndexExpr &a, int64_t b) {
    return floorDiv(add(a, IndexExpr(b - 1)), IndexExpr(b));
  }

  /// Replaces the dimensions and symbols of an affine expression.
  IndexExpr evaluate(mlir::AffineExpr expr, llvm::ArrayRef<IndexExpr> dims,
                     llvm::ArrayRef<IndexExpr> symbols);

  IndexRange range(const IndexExpr &expr) const;
  /// The largest number known to divide every value of the expression without its constant (0 if
  /// the expression is constant).
  int64_t baseDivisor(const IndexExpr &expr) const;

  /// Whether the expression contains a variable, directly or in a quotient, remainder or product.
  bool dependsOn(const IndexExpr &expr, int32_t variable) const;

  /// Emits the expression as arith ops on index.
  mlir::Value materialize(const IndexExpr &expr, mlir::OpBuilder &builder,
                          mlir::Location loc) const;

private:
  enum class Kind : uint8_t { kLeaf, kDiv, kMod, kMul };
  struct Variable {
    Kind kind = Kind::kLeaf;
    mlir::Value value;
    IndexExpr lhs, rhs; // kDiv, kMod, kMul
    int64_t low = 0, high = 0;
    bool perLane = false;
    double weight = 1;
  };
  IndexExpr opaque(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs, IndexRange range);
  /// Splits a = b·quotient + remainder. No coefficient of the remainder is a multiple of b.
  static std::pair<IndexExpr, IndexExpr> split(const IndexExpr &a, int64_t b);
  mlir::Value materializeVariable(const Variable &variable, mlir::OpBuilder &builder,
                                  mlir::Location loc) const;

  std::vector<Variable> variables_;
  double weight_ = 1;
  std::map<std::pair<Kind, std::pair<IndexExpr, IndexExpr>>, int32_t> opaque_;
};

} // namespace gantry::codegen
