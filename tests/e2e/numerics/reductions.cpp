// The reductions' rows of the special-value test's table.
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

} // namespace

void addReductions(Table &t) {
  const Types types = kFloats + kLarge, ordered = types + Types{GANTRY_TYPE_I8, GANTRY_TYPE_U8};
  // Float sums take two columns, whose sum has no order; integers wrap, in any order.
  auto sum = [&](const std::string &op, auto element, auto finish, auto finishInteger,
                 double bound = 0) {
    for (size_t columns : {size_t(2), size_t(9)})
      addRows(
          t, op, columns == 2 ? kFloats + kLarge : kLarge, columns, bound,
          [=](Type type, Args x, size_t) {
            if (isFloat(type)) {
              const Arithmetic a{type};
              Quad total = 0;
              for (const Number &n : x)
                total = a.step(total + a.step(element(n.f)));
              return ofFloat(finish(a, total));
            }
            Wide total = 0;
            for (const Number &n : x)
              total = wrapped(type, total + wrapped(type, element(n.i)));
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
          const Quad most = maximum(x[0].f, x[1].f);
          if (isinfq(most) || isnanq(most))
            return ofFloat(most);
          const Quad rest = expq(minimum(x[0].f, x[1].f) - most);
          return withScale(ofFloat(most + log1pq(rest)), 1);
        },
        "", {}, true);
  }
  addRows(t, "ReduceL2", kLarge, 2, 0, [](Type of, Args x, size_t) {
    const Arithmetic a{GANTRY_TYPE_F64};
    auto square = [&](const Number &n) { return a.step(a.step(Quad(n.i)) * a.step(Quad(n.i))); };
    const Quad root = a.step(sqrtq(a.step(square(x[0]) + square(x[1]))));
    return ofInteger(root >= Quad(highest(of)) ? highest(of) : Wide(root));
  });
  addRows(t, "ReduceProd", kFloats + kLarge, 2, 0, [](Type type, Args x, size_t) {
    if (isFloat(type))
      return ofFloat(Arithmetic{type}.step(x[0].f * x[1].f));
    return ofInteger(wrapped(type, static_cast<unsigned __int128>(x[0].i) * x[1].i));
  });
  for (bool isMax : {true, false})
    for (size_t columns : {2, 9}) {
      addRows(
          t, isMax ? "ReduceMax" : "ReduceMin", ordered + kBool, columns, 0,
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
        for (Type type : kNumbers) {
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
        const Quad most = maximum(x[0].f, x[1].f);
        const Quad e0 = expq(a.step(x[0].f - most)), e1 = expq(a.step(x[1].f - most));
        return ofFloat((position ? e1 : e0) / (e0 + e1));
      },
      true);
  columnsOf(
      "LogSoftmax", Table::kUlp,
      [](Type type, Args x, size_t position) {
        const Arithmetic a{type};
        const Quad most = maximum(x[0].f, x[1].f);
        const Quad d0 = a.step(x[0].f - most), d1 = a.step(x[1].f - most);
        return withScale(ofFloat((position ? d1 : d0) - logq(expq(d0) + expq(d1))), 1);
      },
      true);
  columnsOf(
      "CumSum", 0,
      [](Type type, Args x, size_t position) {
        if (!isFloat(type))
          return ofInteger(wrapped(type, x[0].i + (position ? x[1].i : 0)));
        return ofFloat(Arithmetic{type}.step(0.0Q + x[0].f + (position ? x[1].f : 0)));
      },
      false, kFloats + kLarge);
}

} // namespace gantry::numerics
