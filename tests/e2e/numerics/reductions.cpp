// Adds the reductions, Softmax, LogSoftmax and CumSum to the table of the special-value test
// (operators.h).
#include "tests/e2e/numerics/table.h"

#include <algorithm>
#include <cmath>

namespace gantry::numerics {

namespace {

using RowReference = std::function<Expected(Type, const std::vector<Number> &, size_t)>;

void addRows(Table &t, const std::string &op, const Types &types, size_t columns, double bound,
             const RowReference &reference, const std::string &variant = "",
             std::function<void(onnx::NodeProto &)> attributes = {}, bool isElementary = false) {
  for (Type type : types) {
    Case &c = t.add(
        op, {type}, type, [=](Args x, size_t position) { return reference(type, x, position); },
        bound);
    c.shape = Shape::kRow;
    c.columns = columns;
    c.variant = variant;
    c.attributes = attributes;
    c.foldedOnly = isElementary && type == GANTRY_TYPE_F64;
  }
}

/// Adds a case with sparse rows (Case::isSparse), whose sums and products are exact in any order.
void addSparse(Table &t, const std::string &op, double bound, const RowReference &reference,
               bool isElementary = false, Shape shape = Shape::kRow) {
  const size_t before = t.list.size();
  const bool isExponential = op == "ReduceLogSumExp" || shape == Shape::kColumns;
  for (size_t columns : {size_t(9), size_t(257)}) {
    if (columns > 9 && isExponential)
      continue; // Sums of powers of e are rounded at every step.
    addRows(t, op, kFloats, columns, bound, reference,
            std::to_string(columns) + " columns of zeros and ones", {}, isElementary);
  }
  for (size_t i = before; i < t.list.size(); ++i) {
    t.list[i].isSparse = true;
    t.list[i].shape = shape;
  }
}

/// Returns a reference that computes finish(arithmetic, sum of element(x) over the row, row
/// length).
template <typename Element, typename Finish>
RowReference sparseSum(Element element, Finish finish) {
  return [=](Type type, Args x, size_t) {
    const Arithmetic a{type};
    Quad total = 0;
    for (const Number &n : x)
      total = a.step(total + element(n.f));
    return ofFloat(finish(a, total, static_cast<Quad>(x.size())));
  };
}

Quad maximumOf(Args x) {
  Quad maxValue = x[0].f;
  for (const Number &n : x)
    maxValue = maximum(maxValue, n.f);
  return maxValue;
}

/// Returns log(sum of e^(x - maxValue)), where maxValue is the largest element. The result is NaN
/// if maxValue is not finite.
Quad logSumShifted(Args x, Quad maxValue) {
  Quad sum = 0;
  for (const Number &n : x)
    sum += expq(n.f - maxValue);
  return logq(sum);
}

void addSparseRows(Table &t) {
  auto same = [](Quad x) { return x; };
  auto square = [](Quad x) { return x * x; };
  auto total = [](Arithmetic, Quad sum, Quad) { return sum; };
  addSparse(t, "ReduceSum", 0, sparseSum(same, total));
  addSparse(t, "ReduceL1", 0, sparseSum([](Quad x) { return fabsq(x); }, total));
  addSparse(t, "ReduceSumSquare", 0, sparseSum(square, total));
  addSparse(t, "ReduceMean", 0, sparseSum(same, [](Arithmetic a, Quad sum, Quad count) {
              return a.step(sum / count);
            }));
  addSparse(t, "ReduceL2", 0,
            sparseSum(square, [](Arithmetic a, Quad sum, Quad) { return a.step(sqrtq(sum)); }));
  addSparse(t, "ReduceLogSum", Table::kUlp,
            sparseSum(same, [](Arithmetic, Quad sum, Quad) { return logq(sum); }), true);
  addSparse(t, "ReduceProd", 0, [](Type, Args x, size_t) {
    Quad product = 1;
    for (const Number &n : x)
      product *= n.f;
    return ofFloat(product);
  });
  for (bool isMax : {true, false})
    addSparse(t, isMax ? "ReduceMax" : "ReduceMin", 0, [=](Type, Args x, size_t) {
      Quad best = x[0].f;
      for (const Number &n : x)
        best = isMax ? maximum(best, n.f) : minimum(best, n.f);
      return ofFloat(best);
    });
  addSparse(
      t, "ReduceLogSumExp", Table::kUlp,
      [](Type, Args x, size_t) {
        const Quad maxValue = maximumOf(x);
        return isinfq(maxValue) ? ofFloat(maxValue)
                                : withScale(ofFloat(maxValue + logSumShifted(x, maxValue)), 1);
      },
      true);
  addSparse(
      t, "Softmax", Table::kUlp,
      [](Type, Args x, size_t position) {
        const Quad maxValue = maximumOf(x);
        Quad sum = 0;
        for (const Number &n : x)
          sum += expq(n.f - maxValue);
        return ofFloat(expq(x[position].f - maxValue) / sum);
      },
      true, Shape::kColumns);
  addSparse(
      t, "LogSoftmax", Table::kUlp,
      [](Type, Args x, size_t position) {
        const Quad maxValue = maximumOf(x);
        return withScale(ofFloat(x[position].f - maxValue - logSumShifted(x, maxValue)), 1);
      },
      true, Shape::kColumns);
}

/// Adds CumSum: y[i] is the sum of x[j] for j up to i, or from i on, with or without x[i].
void addCumulativeSums(Table &t) {
  for (int which = 0; which < 4; ++which) {
    const bool isExclusive = which & 1, isReverse = which & 2;
    const std::string variant =
        std::string(isExclusive ? " exclusive=1" : "") + (isReverse ? " reverse=1" : "");
    auto attributes = [=](onnx::NodeProto &node) {
      intAttribute("exclusive", isExclusive)(node);
      intAttribute("reverse", isReverse)(node);
    };
    auto isIncluded = [=](size_t from, size_t to) {
      return (from == to && !isExclusive) || (isReverse ? from > to : from < to);
    };
    auto reference = [=](Type type, Args x, size_t position) {
      const Arithmetic a{type};
      Quad sum = 0;
      Wide whole = 0;
      for (size_t i = 0; i < x.size(); ++i)
        if (isIncluded(i, position) && isFloat(type))
          sum = a.step(sum + x[i].f);
        else if (isIncluded(i, position))
          whole = wrapped(type, whole + x[i].i);
      return isFloat(type) ? ofFloat(sum) : ofInteger(whole);
    };
    const size_t before = t.list.size();
    addRows(t, "CumSum", which == 0 ? kNumbers : kFloats, 2, 0, reference,
            variant.empty() ? "" : variant.substr(1), attributes);
    addRows(t, "CumSum", kIntegers, 9, 0, reference, "9 columns" + variant, attributes);
    const size_t sparse = t.list.size();
    addRows(t, "CumSum", kFloats, 9, 0, reference, "9 columns of zeros and ones" + variant,
            attributes);
    for (size_t i = before; i < t.list.size(); ++i) {
      t.list[i].shape = Shape::kColumns;
      t.list[i].isSparse = i >= sparse;
    }
  }
}

void addRefusedReductions(Table &t) {
  for (const char *op : {"ReduceLogSum", "ReduceLogSumExp"})
    for (Type type : kIntegers) {
      addRows(t, op, {type}, 2, 0, [](Type, Args, size_t) { return undefined(); });
      t.list.back().refusal =
          std::string(op) + " of " + gantry_type_name(type) + " is not supported yet";
    }
}

} // namespace

void addReductions(Table &t) {
  // Float sums have two columns, so the order of the additions does not matter. Sums of integers
  // wrap and are equal in any order, so they may have more columns.
  auto sum = [&](const std::string &op, auto element, auto finish, auto finishInteger,
                 double bound = 0) {
    for (size_t columns : {size_t(2), size_t(9)})
      addRows(
          t, op, columns == 2 ? kNumbers : kIntegers, columns, bound,
          [=](Type type, Args x, size_t) {
            if (isFloat(type)) {
              const Arithmetic a{type};
              Quad total = 0;
              for (const Number &n : x)
                total = a.step(total + a.step(element(n.f)));
              return ofFloat(finish(a, total));
            }
            // The mean of 8- and 16-bit integers is computed from their exact sum.
            const Type sumType = op == "ReduceMean" && bitsOf(type) < 32 ? GANTRY_TYPE_I64 : type;
            Wide total = 0;
            for (const Number &n : x)
              total = wrapped(sumType, total + wrapped(sumType, element(n.i)));
            return ofInteger(finishInteger(total, Wide(x.size())));
          },
          columns == 2 ? "" : "9 columns");
  };
  auto same = [](auto x) { return x; };
  auto square = [](auto x) -> decltype(x) {
    if constexpr (std::is_same_v<decltype(x), Wide>)
      return Wide(static_cast<unsigned __int128>(x) * x);
    else
      return x * x;
  };
  auto magnitude = [](auto x) -> decltype(x) {
    if constexpr (std::is_same_v<decltype(x), Wide>)
      return x < 0 ? -x : x;
    else
      return fabsq(x);
  };
  auto kept = [](Arithmetic, Quad total) { return total; };
  auto keptInteger = [](Wide total, Wide) { return total; };
  sum("ReduceSum", same, kept, keptInteger);
  sum("ReduceL1", magnitude, kept, keptInteger);
  sum("ReduceSumSquare", square, kept, keptInteger);
  sum(
      "ReduceMean", same, [](Arithmetic a, Quad total) { return a.step(total / 2); },
      [](Wide total, Wide count) { return total / count; });
  for (Type type : kFloats) {
    addRows(t, "ReduceL2", {type}, 2, 0, [](Type of, Args x, size_t) {
      const Arithmetic a{of};
      return ofFloat(a.step(sqrtq(a.step(a.step(x[0].f * x[0].f) + a.step(x[1].f * x[1].f)))));
    });
    addRows(
        t, "ReduceLogSum", {type}, 2, Table::kUlp,
        [](Type of, Args x, size_t) { return ofFloat(logq(Arithmetic{of}.step(x[0].f + x[1].f))); },
        "", {}, true);
    addRows(
        t, "ReduceLogSumExp", {type}, 2, Table::kUlp,
        [](Type, Args x, size_t) {
          const Quad maxValue = maximum(x[0].f, x[1].f);
          if (isinfq(maxValue) || isnanq(maxValue))
            return ofFloat(maxValue);
          const Quad rest = expq(minimum(x[0].f, x[1].f) - maxValue);
          return withScale(ofFloat(maxValue + log1pq(rest)), 1);
        },
        "", {}, true);
  }
  addRows(t, "ReduceL2", kIntegers, 2, 0, [](Type of, Args x, size_t) {
    const Arithmetic a{GANTRY_TYPE_F64};
    auto square = [&](const Number &n) { return a.step(a.step(Quad(n.i)) * a.step(Quad(n.i))); };
    const Quad root = a.step(sqrtq(a.step(square(x[0]) + square(x[1]))));
    return ofInteger(root >= Quad(highest(of)) ? highest(of) : Wide(root));
  });
  for (size_t columns : {size_t(2), size_t(9)})
    addRows(
        t, "ReduceProd", columns == 2 ? kNumbers : kIntegers, columns, 0,
        [](Type type, Args x, size_t) {
          if (isFloat(type))
            return ofFloat(Arithmetic{type}.step(x[0].f * x[1].f));
          Wide product = 1;
          for (const Number &n : x)
            product = wrapped(type, Wide(static_cast<unsigned __int128>(product) * n.i));
          return ofInteger(product);
        },
        columns == 2 ? "" : "9 columns");
  for (bool isMax : {true, false})
    for (size_t columns : {2, 9}) {
      addRows(
          t, isMax ? "ReduceMax" : "ReduceMin", kNumbers + kBool, columns, 0,
          [=](Type type, Args x, size_t) {
            Number best = x[0];
            for (const Number &n : x)
              if (isFloat(type))
                best.f = isMax ? maximum(best.f, n.f) : minimum(best.f, n.f);
              else
                best.i = isMax ? std::max(best.i, n.i) : std::min(best.i, n.i);
            Expected e;
            e.value = best;
            return e;
          },
          columns == 2 ? "" : "9 columns");
      for (bool last : {false, true})
        for (Type type : kNumbers + kBool) {
          addRows(
              t, isMax ? "ArgMax" : "ArgMin", {type}, columns, 0,
              [=](Type of, Args x, size_t) {
                size_t best = 0;
                auto isNaN = [&](size_t i) { return isFloat(of) && isnanq(x[i].f); };
                for (size_t i = 1; i < x.size(); ++i) {
                  const bool less = isFloat(of) ? x[i].f < x[best].f : x[i].i < x[best].i;
                  const bool more = isFloat(of) ? x[i].f > x[best].f : x[i].i > x[best].i;
                  const bool better = isNaN(best) ? false : isNaN(i) || (isMax ? more : less);
                  const bool tie = isNaN(best) ? isNaN(i) : !isNaN(i) && !less && !more;
                  if (better || (last && tie))
                    best = i;
                }
                return ofInteger(Wide(best));
              },
              std::string(last ? "select_last_index=1" : "") + (columns == 2 ? ""
                                                                : last       ? ", 9 columns"
                                                                             : "9 columns"),
              [=](onnx::NodeProto &node) {
                intAttribute("axis", 1)(node);
                intAttribute("keepdims", 0)(node);
                intAttribute("select_last_index", last)(node);
              });
          t.list.back().result = GANTRY_TYPE_I64;
        }
    }
  addSparseRows(t);
  addRefusedReductions(t);
  auto columnsOf = [&](const std::string &op, double bound, const RowReference &reference,
                       bool isElementary, const Types &of = kFloats) {
    addRows(t, op, of, 2, bound, reference, "", {}, isElementary);
    for (size_t i = t.list.size() - of.size(); i < t.list.size(); ++i)
      t.list[i].shape = Shape::kColumns;
  };
  columnsOf(
      "Softmax", Table::kUlp,
      [](Type type, Args x, size_t position) {
        const Arithmetic a{type};
        const Quad maxValue = maximum(x[0].f, x[1].f);
        const Quad e0 = expq(a.step(x[0].f - maxValue)), e1 = expq(a.step(x[1].f - maxValue));
        return ofFloat((position ? e1 : e0) / (e0 + e1));
      },
      true);
  columnsOf(
      "LogSoftmax", Table::kUlp,
      [](Type type, Args x, size_t position) {
        const Arithmetic a{type};
        const Quad maxValue = maximum(x[0].f, x[1].f);
        const Quad d0 = a.step(x[0].f - maxValue), d1 = a.step(x[1].f - maxValue);
        return withScale(ofFloat((position ? d1 : d0) - logq(expq(d0) + expq(d1))), 1);
      },
      true);
  addCumulativeSums(t);
}

} // namespace gantry::numerics
