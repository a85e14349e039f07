// Index expressions of kernels: integers as "constant + Σ coefficient · variable", simplified while
// they are built.
//
// A kernel addresses memory by such sums of its tile coordinates (which say what part of the result
// an invocation computes) and loop counters. In this form it is easy to test whether two addresses
// are equal, adjacent or aligned, and hence whether elements can be loaded once or as a vector.
// Quotients and remainders by constants are simplified where the ranges of variables prove that
// this is exact. Otherwise they are variables of their own, and equal quotients are one variable.
// Before a quotient or remainder by an extent that is known only at run time becomes a variable,
// the extent and the dividend's coefficients are divided by their largest common factor.
//
// This is not an affine analysis: there are no integer sets and no emptiness tests. A variable has
// a range, which is an interval, and may have an upper limit that is another expression.
//
// Ownership: an expression is valid as long as the IndexSpace that made it, and only together with
// other expressions of that space. Threads: an IndexSpace belongs to one kernel and one thread.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gantry::codegen {

/// A variable, by its number in the IndexSpace, and its coefficient.
using IndexTerm = std::pair<int32_t, int64_t>;

struct IndexExpr {
  // Sorted by variable. The IndexSpace owns the lists, and equal lists are one list, so that
  // expressions are cheap to copy and to compare.
  llvm::ArrayRef<IndexTerm> terms;
  int64_t constant = 0;

  IndexExpr() = default;
  explicit IndexExpr(int64_t value) : constant(value) {}
  bool isConstant() const { return terms.empty(); }
  bool operator==(const IndexExpr &other) const {
    return constant == other.constant && terms.data() == other.terms.data();
  }
  bool operator<(const IndexExpr &other) const {
    if (terms.data() == other.terms.data())
      return constant < other.constant;
    const size_t common = std::min(terms.size(), other.terms.size());
    for (size_t i = 0; i < common; ++i)
      if (terms[i] != other.terms[i])
        return terms[i] < other.terms[i];
    return terms.size() < other.terms.size();
  }
  /// The expression without its constant.
  IndexExpr base() const {
    IndexExpr result = *this;
    result.constant = 0;
    return result;
  }
};

/// Indices or extents, in most places one per dimension. Lists of more than 6 allocate memory.
using IndexList = llvm::SmallVector<IndexExpr, 6>;

/// An inclusive range. Bounds saturate at ±kUnbounded; a bound of ±kUnbounded may also be unknown.
struct IndexRange {
  int64_t low, high;
};

class IndexSpace {
public:
  IndexSpace() = default;
  IndexSpace(const IndexSpace &) = delete; // The copy's variables would refer to the original.
  IndexSpace &operator=(const IndexSpace &) = delete;

  static constexpr int64_t kUnbounded = int64_t(1) << 60;

  /// Makes a variable for `value`, which is of index type and in [low, high]. With a CountingSink
  /// (sink/kernel_sink.h), which counts the operations of a kernel instead of building them,
  /// `value` may be null. perLane: the value may differ between the invocations of one subgroup.
  /// Returns a constant if low equals high.
  IndexExpr addVariable(mlir::Value value, int64_t low, int64_t high, bool perLane = false);
  /// The same for a value from 0 to limit - 1. The limit may depend on other variables.
  IndexExpr addVariableBelow(mlir::Value value, const IndexExpr &limit, bool perLane = false);
  /// Sets the weight of the variables that addVariable() and addVariableBelow() make from now on:
  /// how often the code that is being emitted runs. That is the product of the round (iteration)
  /// counts of all loops around it.
  void setLoopWeight(double rounds) { weight_ = rounds; }
  double loopWeight() const { return weight_; }
  /// Returns how often an expression is computed if it is moved out of all loops that it does not
  /// depend on: the largest weight of its variables.
  double weight(const IndexExpr &expr) const;
  /// Splits an expression into two: first the constant and the terms that are equal in all
  /// invocations of a subgroup, then the other terms.
  std::pair<IndexExpr, IndexExpr> splitUniform(const IndexExpr &expr);
  /// Returns whether no variable of the expression was made with perLane, so that its value is the
  /// same in all invocations of a subgroup.
  bool isUniform(const IndexExpr &expr) const;

  IndexExpr add(const IndexExpr &a, const IndexExpr &b) { return addScaled(a, b, 1); }
  IndexExpr sub(const IndexExpr &a, const IndexExpr &b) { return addScaled(a, b, -1); }
  /// Returns a + factor * b.
  IndexExpr addScaled(const IndexExpr &a, const IndexExpr &b, int64_t factor);
  IndexExpr scale(const IndexExpr &a, int64_t factor);
  /// Divides the constant and all coefficients, which must be multiples of the divisor.
  IndexExpr divideExactly(const IndexExpr &a, int64_t divisor);
  /// Returns the expression without the term of the variable, and the coefficient of that term.
  std::pair<IndexExpr, int64_t> withoutVariable(const IndexExpr &a, int32_t variable);
  IndexExpr mul(const IndexExpr &a, const IndexExpr &b);
  /// Floor division and remainder. b > 0.
  IndexExpr floorDiv(const IndexExpr &a, const IndexExpr &b);
  IndexExpr mod(const IndexExpr &a, const IndexExpr &b);
  IndexExpr ceilDiv(const IndexExpr &a, int64_t b) {
    return floorDiv(add(a, IndexExpr(b - 1)), IndexExpr(b));
  }

  /// Returns x if `quotient` is floorDiv(x, divisor) and `remainder` is mod(x, divisor), so that
  /// quotient · divisor + remainder can be replaced by x. None if they are not, or if
  /// simplification has hidden that they are. None too if the divisor is constant: add() then
  /// simplifies this sum to x by itself.
  std::optional<IndexExpr> joined(const IndexExpr &quotient, const IndexExpr &remainder,
                                  const IndexExpr &divisor);

  /// Evaluates an affine expression with these values of its dimensions and symbols.
  IndexExpr evaluate(mlir::AffineExpr expr, llvm::ArrayRef<IndexExpr> dims,
                     llvm::ArrayRef<IndexExpr> symbols);

  IndexRange range(const IndexExpr &expr) const;
  /// Returns whether the value is certain to be at least 0. Uses, besides the ranges, the upper
  /// limits that are expressions (addVariableBelow()) and the divisors of remainders; range() does
  /// not use those.
  bool isNeverNegative(const IndexExpr &expr);
  /// Returns the greatest common divisor of the coefficients, which divides every value of the
  /// expression without its constant. 0 if the expression is constant.
  int64_t baseDivisor(const IndexExpr &expr) const;
  /// Returns the largest known divisor of every value of the expression. 0 for the constant 0.
  int64_t divisor(const IndexExpr &expr) const;

  /// Returns whether the expression contains a variable, directly or in a quotient, remainder or
  /// product.
  bool dependsOn(const IndexExpr &expr, int32_t variable) const;

  /// Returns whether the expressions contain a common variable, directly or in a quotient,
  /// remainder or product.
  bool shareVariables(const IndexExpr &a, const IndexExpr &b) const;

  /// Emits the expression as arith ops on index.
  mlir::Value materialize(const IndexExpr &expr, mlir::OpBuilder &builder, mlir::Location loc);

private:
  enum class Kind : uint8_t { kLeaf, kDiv, kMod, kMul };
  struct Variable {
    Kind kind = Kind::kLeaf;
    mlir::Value value;
    IndexExpr lhs, rhs; // The operands of kDiv, kMod and kMul.
    int64_t low = 0, high = 0;
    std::optional<IndexExpr> limit{}; // If set, the value is below it.
    bool perLane = false;
    double weight = 1;
  };
  /// Returns the variable for a quotient, remainder or product. Makes it if it does not exist yet.
  IndexExpr opaque(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs, IndexRange range);
  /// Returns (floor(a / factor), b / factor, factor), where the factor is the largest that divides
  /// b and all coefficients of a. Floor division of the first by the second gives floor(a / b).
  std::tuple<IndexExpr, IndexExpr, int64_t> withoutFactor(const IndexExpr &a, const IndexExpr &b);
  /// Splits a = b·quotient + remainder and returns (quotient, remainder). No coefficient of the
  /// remainder is a multiple of b, and its constant is in [0, b).
  std::pair<IndexExpr, IndexExpr> split(const IndexExpr &a, int64_t b);
  /// Returns the expression with these terms, which are sorted by variable and have coefficients
  /// other than 0.
  IndexExpr exprOf(llvm::ArrayRef<IndexTerm> terms, int64_t constant);
  IndexExpr exprOfVariable(int32_t variable) { return exprOf(IndexTerm(variable, 1), 0); }
  mlir::Value materializeVariable(const Variable &variable, mlir::OpBuilder &builder,
                                  mlir::Location loc);

  // A hash and an equality with which lists_ can be searched without copying the terms to a vector.
  struct TermsHash {
    using is_transparent = void;
    size_t operator()(llvm::ArrayRef<IndexTerm> terms) const {
      uint64_t hash = 0;
      for (auto [variable, coefficient] : terms) {
        hash = (hash ^ static_cast<uint32_t>(variable)) * 0x9e3779b97f4a7c15;
        hash = (hash ^ (hash >> 32) ^ static_cast<uint64_t>(coefficient)) * 0x9e3779b97f4a7c15;
      }
      return hash ^ (hash >> 32);
    }
  };
  struct TermsEqual {
    using is_transparent = void;
    bool operator()(llvm::ArrayRef<IndexTerm> a, llvm::ArrayRef<IndexTerm> b) const {
      return a == b;
    }
  };

  // The memory of lists_ and opaque_, from which nothing is removed. The choice of a kernel's tile
  // makes thousands of index spaces, so each must need few allocations.
  std::pmr::monotonic_buffer_resource memory_;
  // All lists of terms.
  std::pmr::unordered_set<std::pmr::vector<IndexTerm>, TermsHash, TermsEqual> lists_{&memory_};
  std::vector<Variable> variables_;
  double weight_ = 1;
  std::pmr::map<std::pair<Kind, std::pair<IndexExpr, IndexExpr>>, int32_t> opaque_{&memory_};
};

} // namespace gantry::codegen
