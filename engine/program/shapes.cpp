// Binds the symbols of a program (sizes that each run may choose) to the dimensions of a run's
// inputs, and checks shapes.
#include "engine/program/shapes.h"

#include <cinttypes>

namespace gantry::program {

namespace {

std::string listText(size_t rank, artifact::ElementType type, auto &&dimText) {
  std::string text = std::string(artifact::elementName(type)) + " [";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + dimText(i);
  return text + "]";
}

/// Returns text such as "dimension 1 (time) of input 'x'".
std::string dimName(const Port &port, size_t dim) {
  std::string text = "dimension " + std::to_string(dim);
  if (!port.dimNames[dim].empty())
    text += " (" + port.dimNames[dim] + ")";
  return text + " of input '" + port.name + "'";
}

Status mismatch(const Port &port, const TensorShape &given) {
  return statusf(StatusCode::kInvalidArgument, "input '%s' must be %s, not %s", port.name.c_str(),
                 shapeText(port).c_str(), shapeText(given).c_str());
}

} // namespace

std::string shapeText(const TensorShape &shape) {
  return listText(shape.dims.size(), shape.type,
                  [&](size_t i) { return std::to_string(shape.dims[i]); });
}

std::string shapeText(const Port &port) {
  return listText(port.dims.size(), port.type, [&](size_t i) {
    if (port.dims[i] != kDynamic)
      return std::to_string(port.dims[i]);
    return port.dimNames[i].empty() ? std::string("?") : port.dimNames[i];
  });
}

Result<std::vector<int64_t>> bindSymbols(const Program &program,
                                         std::span<const TensorShape> inputs) {
  const artifact::Program &metadata = program.metadata();
  if (inputs.size() != program.inputs().size())
    return statusf(StatusCode::kInvalidArgument, "%zu inputs given; the program has %zu",
                   inputs.size(), program.inputs().size());
  std::vector<int64_t> values(metadata.symbols()->size(), 0);
  // Per symbol: the name of the dimension from which the value was read.
  std::vector<std::string> boundBy(values.size());
  for (size_t p = 0; p < inputs.size(); ++p) {
    const Port &port = program.inputs()[p];
    const TensorShape &given = inputs[p];
    if (given.type != port.type || given.dims.size() != port.dims.size())
      return mismatch(port, given);
    for (size_t d = 0; d < given.dims.size(); ++d) {
      const int64_t size = given.dims[d];
      if (size < 0 || (port.dims[d] != kDynamic && size != port.dims[d]))
        return mismatch(port, given);
      const artifact::Expr &expr = *metadata.exprs()->Get(
          metadata.inputs()->Get(static_cast<uint32_t>(p))->dims()->Get(static_cast<uint32_t>(d)));
      if (expr.op() != artifact::ExprOp::symbol)
        continue;
      const auto s = static_cast<uint32_t>(expr.value());
      const artifact::Symbol &symbol = *metadata.symbols()->Get(s);
      const std::string name = dimName(port, d);
      if (size < symbol.min())
        return statusf(StatusCode::kInvalidArgument,
                       "%s is %" PRId64 "; it must be at least %" PRId64, name.c_str(), size,
                       symbol.min());
      if (symbol.max() != 0 && size > symbol.max())
        return statusf(StatusCode::kInvalidArgument,
                       "%s is %" PRId64 "; it may be at most %" PRId64, name.c_str(), size,
                       symbol.max());
      if (boundBy[s].empty()) {
        boundBy[s] = name;
        values[s] = size;
      } else if (values[s] != size) {
        return statusf(StatusCode::kInvalidArgument,
                       "%s is %" PRId64 ", but it must equal %s, which is %" PRId64, name.c_str(),
                       size, boundBy[s].c_str(), values[s]);
      }
    }
  }
  // The loop above has set every symbol that is the whole expression of a dimension. Each other
  // symbol takes its value from the dimension that the artifact names for it (Symbol.input and
  // Symbol.dim in artifact.fbs); the reader of artifacts has checked that this dimension exists.
  // evaluateExprs() checks the bounds.
  for (uint32_t s = 0; s < values.size(); ++s) {
    if (!boundBy[s].empty())
      continue;
    const artifact::Symbol &symbol = *metadata.symbols()->Get(s);
    values[s] = inputs[symbol.input()].dims[symbol.dim()];
  }
  return values;
}

Status checkDerivedDims(const Program &program, std::span<const TensorShape> inputs,
                        std::span<const int64_t> exprs) {
  for (size_t p = 0; p < inputs.size(); ++p) {
    const artifact::Port &port = *program.metadata().inputs()->Get(static_cast<uint32_t>(p));
    for (uint32_t d = 0; d < port.dims()->size(); ++d)
      if (inputs[p].dims[d] != exprs[port.dims()->Get(d)])
        return statusf(StatusCode::kInvalidArgument,
                       "%s is %" PRId64 "; the other dimensions require %" PRId64,
                       dimName(program.inputs()[p], d).c_str(), inputs[p].dims[d],
                       exprs[port.dims()->Get(d)]);
  }
  return {};
}

Result<uint64_t> byteSize(const TensorShape &shape, const std::string &name) {
  uint64_t bytes = artifact::elementSize(shape.type);
  bool overflow = false;
  for (int64_t dim : shape.dims)
    overflow |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes);
  if (overflow)
    return statusf(StatusCode::kInvalidArgument, "the size of '%s', %s, overflows 64 bits",
                   name.c_str(), shapeText(shape).c_str());
  return bytes;
}

} // namespace gantry::program
