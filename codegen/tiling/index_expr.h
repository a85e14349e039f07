// Index expressions of kernels: integers as "constant + Σ coefficient · variable", simplified while
// they are built.
//
// A kernel addresses memory by such sums of its tile coordinates and loop counters. In this form it
// is easy to test whether two addresses are equal, adjacent or aligned, and hence whether elements
// can be loaded once or as a vector. Quotients and remainders by constants are simplified where the
// ranges of variables prove that this is exact. Otherwise they are variables of their own, with
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

#include <algorithm>
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
    const size_t common = std::min(terms.size(), other.terms.size());
    for (size_t i = 0; i < common; ++i)
      if (terms[i] != other.terms[i])
        return terms[i] < other.terms[i];
    return terms.size() != other.terms.size() ? terms.size() < other.terms.size()
                                              : constant < other.constant;
  }
  /// The expression without its constant.
  IndexExpr base() const {
    IndexExpr result = *this;
    result.constant = 0;
    return result;
  }
};

/// An inclusive range. Bounds saturate at ±kUnbounded, which also means that a bound is unknown.
struct IndexRange {
  int64_t low, high;
};

class IndexSpace {
public:
  static constexpr int64_t kUnbounded = int64_t(1) << 60;

  /// Makes a variable for `value`, which is of index type and in [low, high]. With a CountingSink
  /// (sink/kernel_sink.h), `value` is null. perLane: the value may differ between the invocations
  /// of one subgroup. Returns a constant if low equals high.
  IndexExpr addVariable(mlir::Value value, int64_t low, int64_t high, bool perLane = false);
  /// Sets the weight of the variables that are made from now on: the number of rounds of the
  /// innermost enclosing loop, times those of all loops around it.
  void setLoopWeight(double rounds) { weight_ = rounds; }
  double loopWeight() const { return weight_; }
  /// Returns how often an expression is computed if it is moved out of all loops that it does not
  /// depend on: the largest weight of its variables.
  double weight(const IndexExpr &expr) const;
  /// Splits an expression into two: first the constant and the terms that are equal in all
  /// invocations of a subgroup, then the other terms.
  std::pair<IndexExpr, IndexExpr> splitUniform(const IndexExpr &expr) const;
  /// Returns whether the value is the same in all invocations of a subgroup.
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

  /// Evaluates an affine expression with these values of its dimensions and symbols.
  IndexExpr evaluate(mlir::AffineExpr expr, llvm::ArrayRef<IndexExpr> dims,
                     llvm::ArrayRef<IndexExpr> symbols);

  IndexRange range(const IndexExpr &expr) const;
  /// Returns the greatest common divisor of the coefficients, which divides every value of the
  /// expression without its constant. 0 if the expression is constant.
  int64_t baseDivisor(const IndexExpr &expr) const;

  /// Returns whether the expression contains a variable, directly or in a quotient, remainder or
  /// product.
  bool dependsOn(const IndexExpr &expr, int32_t variable) const;

  /// Returns whether the expressions contain a common variable, directly or in a quotient,
  /// remainder or product.
  bool shareVariables(const IndexExpr &a, const IndexExpr &b) const;

  /// Emits the expression as arith ops on index.
  mlir::Value materialize(const IndexExpr &expr, mlir::OpBuilder &builder,
                          mlir::Location loc) const;

private:
  enum class Kind : uint8_t { kLeaf, kDiv, kMod, kMul };
  struct Variable {
    Kind kind = Kind::kLeaf;
    mlir::Value value;
    IndexExpr lhs, rhs; // The operands of kDiv, kMod and kMul.
    int64_t low = 0, high = 0;
    bool perLane = false;
    double weight = 1;
  };
  /// Returns the variable for a quotient, remainder or product. Makes it if it does not exist yet.
  IndexExpr opaque(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs, IndexRange range);
  /// Splits a = b·quotient + remainder and returns (quotient, remainder). No coefficient of the
  /// remainder is a multiple of b, and its constant is in [0, b).
  static std::pair<IndexExpr, IndexExpr> split(const IndexExpr &a, int64_t b);
  mlir::Value materializeVariable(const Variable &variable, mlir::OpBuilder &builder,
                                  mlir::Location loc) const;

  std::vector<Variable> variables_;
  double weight_ = 1;
  std::map<std::pair<Kind, std::pair<IndexExpr, IndexExpr>>, int32_t> opaque_;
};

} // namespace gantry::codegen
