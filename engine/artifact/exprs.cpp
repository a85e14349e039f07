// Implements exprs.h, and evaluateExprs() of artifact.h, in 64-bit arithmetic with overflow checks.
#include "engine/artifact/exprs.h"

#include <algorithm>

namespace gantry::artifact {

namespace {

constexpr size_t kMaxTextLength = 160;

/// Appends the expression, and stops when the text exceeds kMaxTextLength. A subexpression is
/// written again at each of its uses, so a limit on the depth would not limit the length.
void appendText(const Program &program, uint32_t index, std::string &text) {
  if (text.size() > kMaxTextLength)
    return;
  const Expr &expr = *program.exprs()->Get(index);
  const char *infix = nullptr;
  switch (expr.op()) {
  case ExprOp::constant:
    text += std::to_string(expr.value());
    return;
  case ExprOp::symbol:
    text += program.symbols()->Get(static_cast<uint32_t>(expr.value()))->name()->str();
    return;
  case ExprOp::add:
    infix = " + ";
    break;
  case ExprOp::sub:
    infix = " - ";
    break;
  case ExprOp::mul:
    infix = " * ";
    break;
  case ExprOp::floor_div:
  case ExprOp::ceil_div:
  case ExprOp::mod:
  case ExprOp::min:
  case ExprOp::max:
    break;
  }
  if (infix == nullptr)
    text += EnumNameExprOp(expr.op());
  text += "(";
  appendText(program, expr.lhs(), text);
  text += infix != nullptr ? infix : ", ";
  appendText(program, expr.rhs(), text);
  text += ")";
}

enum class Arithmetic { kOk, kOverflow, kDivisionByZero };

Arithmetic apply(ExprOp op, int64_t lhs, int64_t rhs, int64_t &result) {
  const auto checked = [](bool overflow) {
    return overflow ? Arithmetic::kOverflow : Arithmetic::kOk;
  };
  switch (op) {
  case ExprOp::add:
    return checked(__builtin_add_overflow(lhs, rhs, &result));
  case ExprOp::sub:
    return checked(__builtin_sub_overflow(lhs, rhs, &result));
  case ExprOp::mul:
    return checked(__builtin_mul_overflow(lhs, rhs, &result));
  case ExprOp::floor_div:
  case ExprOp::ceil_div:
  case ExprOp::mod: {
    if (rhs == 0)
      return Arithmetic::kDivisionByZero;
    if (lhs == INT64_MIN && rhs == -1)
      return Arithmetic::kOverflow;
    const int64_t quotient = lhs / rhs; // The division rounds towards zero.
    const int64_t remainder = lhs % rhs;
    const bool sameSign = (lhs < 0) == (rhs < 0);
    if (op == ExprOp::floor_div)
      result = quotient - (remainder != 0 && !sameSign ? 1 : 0);
    else if (op == ExprOp::ceil_div)
      result = quotient + (remainder != 0 && sameSign ? 1 : 0);
    else
      result = remainder != 0 && !sameSign ? remainder + rhs : remainder; // lhs - floor_div * rhs
    return Arithmetic::kOk;
  }
  case ExprOp::min:
    result = std::min(lhs, rhs);
    return Arithmetic::kOk;
  case ExprOp::max:
    result = std::max(lhs, rhs);
    return Arithmetic::kOk;
  case ExprOp::constant:
  case ExprOp::symbol:
    break;
  }
  result = 0;
  return Arithmetic::kOk;
}

/// Evaluates the expressions in order. If `symbols` is empty, expressions that depend on a symbol
/// have no value.
Result<std::vector<std::optional<int64_t>>> evaluate(const Program &program,
                                                     std::span<const int64_t> symbols) {
  const auto &exprs = *program.exprs();
  std::vector<std::optional<int64_t>> values(exprs.size());
  for (uint32_t i = 0; i < exprs.size(); ++i) {
    const Expr &expr = *exprs.Get(i);
    if (expr.op() == ExprOp::constant) {
      values[i] = expr.value();
      continue;
    }
    if (expr.op() == ExprOp::symbol) {
      if (!symbols.empty())
        values[i] = symbols[static_cast<size_t>(expr.value())];
      continue;
    }
    const std::optional<int64_t> lhs = values[expr.lhs()];
    const std::optional<int64_t> rhs = values[expr.rhs()];
    if (!lhs || !rhs)
      continue;
    int64_t result = 0;
    const Arithmetic outcome = apply(expr.op(), *lhs, *rhs, result);
    if (outcome != Arithmetic::kOk)
      return statusf(StatusCode::kInvalidArgument,
                     "shape expression %u, %s, %s (operands %lld and %lld)", i,
                     exprText(program, i).c_str(),
                     outcome == Arithmetic::kOverflow ? "overflows 64 bits" : "divides by zero",
                     static_cast<long long>(*lhs), static_cast<long long>(*rhs));
    values[i] = result;
  }
  return values;
}

/// Returns an error if the value of the expression, a size or a count, is negative. `what` and
/// `owner` name the size in the message.
Status checkSize(const Program &program, const std::vector<int64_t> &values, uint32_t expr,
                 const char *what, const flatbuffers::String &owner) {
  if (values[expr] >= 0)
    return Status::ok();
  return statusf(StatusCode::kInvalidArgument, "%s of \"%s\" would be %lld: %s", what,
                 owner.c_str(), static_cast<long long>(values[expr]),
                 exprText(program, expr).c_str());
}

Status checkSizes(const Program &program, const std::vector<int64_t> &values) {
  for (const Value *value : *program.values()) {
    for (const uint32_t dim : *value->dims())
      GANTRY_RETURN_IF_ERROR(checkSize(program, values, dim, "a dimension", *value->name()));
    GANTRY_RETURN_IF_ERROR(checkSize(program, values, value->size(), "the size", *value->name()));
  }
  for (const auto *ports : {program.inputs(), program.outputs()})
    for (const Port *port : *ports)
      for (const uint32_t dim : *port->dims())
        GANTRY_RETURN_IF_ERROR(checkSize(program, values, dim, "a dimension", *port->name()));
  for (const Command *command : *program.commands()) {
    for (const auto *counts : {command->workgroups(), command->other_workgroups()})
      for (uint32_t i = 0; counts && i < counts->size(); ++i)
        GANTRY_RETURN_IF_ERROR(
            checkSize(program, values, counts->Get(i), "a workgroup count", *command->name()));
    GANTRY_RETURN_IF_ERROR(
        checkSize(program, values, command->flops(), "the operation count", *command->name()));
    GANTRY_RETURN_IF_ERROR(
        checkSize(program, values, command->bytes_moved(), "the byte count", *command->name()));
  }
  return Status::ok();
}

} // namespace

Result<std::vector<std::optional<int64_t>>> foldConstantExprs(const Program &program) {
  return evaluate(program, {});
}

std::string exprText(const Program &program, uint32_t index) {
  std::string text;
  appendText(program, index, text);
  if (text.size() > kMaxTextLength)
    text = text.substr(0, kMaxTextLength) + "...";
  return text;
}

Result<std::vector<int64_t>> evaluateExprs(const Program &program,
                                           std::span<const int64_t> symbols) {
  if (symbols.size() != program.symbols()->size())
    return statusf(StatusCode::kInvalidArgument,
                   "%zu symbol values given; the program has %u symbols", symbols.size(),
                   program.symbols()->size());
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const Symbol &symbol = *program.symbols()->Get(i);
    const auto given = static_cast<long long>(symbols[i]);
    if (symbols[i] < symbol.min())
      return statusf(StatusCode::kInvalidArgument, "dimension %s is %lld; it must be at least %lld",
                     symbol.name()->c_str(), given, static_cast<long long>(symbol.min()));
    if (symbol.max() != 0 && symbols[i] > symbol.max())
      return statusf(StatusCode::kInvalidArgument, "dimension %s is %lld; it may be at most %lld",
                     symbol.name()->c_str(), given, static_cast<long long>(symbol.max()));
  }
  GANTRY_ASSIGN_OR_RETURN(const auto partial, evaluate(program, symbols));
  std::vector<int64_t> values(partial.size());
  for (size_t i = 0; i < partial.size(); ++i)
    values[i] = partial[i].value_or(0); // Every value is present, because every symbol has one.
  for (const uint32_t requirement : *program.requirements())
    if (values[requirement] < 0)
      return statusf(StatusCode::kInvalidArgument,
                     "the model does not accept these sizes: %s is %lld and must not be negative",
                     exprText(program, requirement).c_str(),
                     static_cast<long long>(values[requirement]));
  GANTRY_RETURN_IF_ERROR(checkSizes(program, values));
  return values;
}

} // namespace gantry::artifact
