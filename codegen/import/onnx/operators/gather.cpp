// Imports operators that read elements at computed positions: Gather, GatherElements, GatherND, and
// Pad in all modes.
//
// The body of the generic computes the positions. A negative index counts from the end, and an
// index out of range is clamped, so that no kernel reads outside of its operand. In a Gather with a
// single constant index along a static dimension, and in a Gather with constant indices from a list
// whose elements are known as expressions of dimensions (Tensor::content), an index out of range
// fails the import instead.
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

#include <cmath>
#include <numeric>

namespace gantry::importer {

namespace {

// Counts a negative index from the end and clamps the result to the dimension.
Scalar wrapIndex(BodyBuilder &b, Scalar index, Dim dim) {
  Scalar position = b.cast(index, DType::kIndex), size = b.dimension(dim);
  Scalar zero = b.constantInt(DType::kIndex, 0), one = b.constantInt(DType::kIndex, 1);
  Scalar negative = b.compare(Compare::kLess, position, zero);
  position = b.select(negative, b.add(position, size), position);
  return b.clamp(position, zero, b.sub(size, one));
}

void checkIndices(const Tensor &indices) {
  if (indices.type != DType::kI32 && indices.type != DType::kI64)
    failBadInput("the indices are " + dtypeName(indices.type) + "; they must be i32 or i64");
}

// Throws ImportError (bad input) if there are indices, but the size of the gathered dimension,
// `size`, is 0.
void checkNotEmpty(const Tensor &data, Dim size, const Tensor &indices) {
  const bool nothing = llvm::any_of(indices.dims, [](Dim dim) { return staticDim(dim) == 0; });
  if (staticDim(size) == 0 && !nothing)
    failBadInput("there is nothing to gather from a dimension of size 0 in " +
                 describeDims(data.dims));
}

// If there is exactly one index, it is constant and exact, and the gathered dimension is static,
// imports the gather as a slice and returns true. Otherwise returns false.
bool gatherOne(ImportContext &import, const Node &node, const Tensor &data, const Tensor &indices,
               int64_t axis) {
  auto size = staticDim(data.dims[axis]);
  if (!size || !indices.constant || indices.constant->elementCount() != 1 ||
      indices.constant->inexact)
    return false;
  int64_t index = indices.constant->intAt(0);
  if (index < -*size || index >= *size)
    failBadInput("the index " + llvm::Twine(index) + " is outside of a dimension of size " +
                 llvm::Twine(*size));
  index = index < 0 ? index + *size : index;
  Dims starts(data.rank(), import.number(0)), sizes = data.dims, dims;
  starts[axis] = import.number(index);
  sizes[axis] = import.number(1);
  llvm::SmallVector<int64_t> steps(data.rank(), 1);
  for (int64_t i = 0; i < data.rank(); ++i) {
    if (i == axis)
      dims.append(indices.dims);
    else
      dims.push_back(data.dims[i]);
  }
  Tensor row = slice(import, data, starts, sizes, steps);
  import.setOutput(node, 0, reshape(import, row, dims));
  return true;
}

void importGather(ImportContext &import, const Node &node) {
  Tensor data = import.input(node, 0), indices = import.input(node, 1);
  checkIndices(indices);
  if (data.rank() == 0)
    failBadInput("the data of Gather is a scalar; it must have a rank of at least 1");
  const int64_t axis = normalizeAxis(node.intAttribute("axis", 0), data.rank());
  checkNotEmpty(data, data.dims[axis], indices);
  if (gatherOne(import, node, data, indices, axis))
    return;
  if (data.content && !data.constant && data.rank() == 1 && indices.constant &&
      indices.rank() <= 1 && indices.constant->elementCount() <= kMaxContentElements) {
    import.requireExact(indices);
    llvm::SmallVector<Dim> content;
    const int64_t size = data.content->size();
    for (int64_t i = 0; i < indices.constant->elementCount(); ++i) {
      int64_t index = indices.constant->intAt(i);
      if (index < -size || index >= size)
        failBadInput("the index " + llvm::Twine(index) + " is outside of a dimension of size " +
                     llvm::Twine(size));
      content.push_back((*data.content)[index < 0 ? index + size : index]);
    }
    return import.setOutput(node, 0, import.fromContent(data.type, content, indices.rank() == 0));
  }
  GenericSpec spec;
  spec.resultType = data.type;
  const unsigned rank = data.rank() - 1 + indices.rank();
  spec.reduction.assign(rank, false);
  llvm::SmallVector<mlir::AffineExpr> indexExprs;
  for (int64_t i = 0; i < data.rank(); ++i) {
    if (i != axis) {
      spec.resultDims.push_back(data.dims[i]);
      continue;
    }
    for (int64_t k = 0; k < indices.rank(); ++k) {
      bool one = isStaticOne(indices.dims[k]);
      indexExprs.push_back(one ? import.number(0) : import.loop(axis + k));
      spec.resultDims.push_back(indices.dims[k]);
    }
  }
  spec.inputs.push_back({indices, import.map(rank, indexExprs)});
  spec.captured.push_back(data);
  spec.usesDims = !staticDim(data.dims[axis]);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar) {
    llvm::SmallVector<Scalar> at;
    for (int64_t i = 0; i < data.rank(); ++i) {
      if (i == axis)
        at.push_back(wrapIndex(b, x[0], data.dims[axis]));
      else
        at.push_back(b.loopIndex(i < axis ? i : i - 1 + indices.rank()));
    }
    return b.extract(0, at);
  };
  import.setOutput(node, 0, import.generic(spec));
}

void importGatherElements(ImportContext &import, const Node &node) {
  Tensor data = import.input(node, 0), indices = import.input(node, 1);
  checkIndices(indices);
  if (data.rank() != indices.rank() || data.rank() == 0)
    failBadInput("the data " + describeDims(data.dims) + " and the indices " +
                 describeDims(indices.dims) + " have different ranks");
  const int64_t axis = normalizeAxis(node.intAttribute("axis", 0), data.rank());
  checkNotEmpty(data, data.dims[axis], indices);
  const unsigned rank = data.rank();
  for (unsigned i = 0; i < rank; ++i) {
    if (i == axis)
      continue;
    if (compareDims(indices.dims[i], data.dims[i]) == 1)
      failBadInput("the indices " + describeDims(indices.dims) + " are longer than the data " +
                   describeDims(data.dims) + " in dimension " + llvm::Twine(i));
    import.constraints().requireNonNegative(subDims(data.dims[i], indices.dims[i]));
  }
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = data.type;
  spec.resultDims = indices.dims;
  spec.inputs.push_back(
      {indices, mlir::AffineMap::getMultiDimIdentityMap(rank, import.mlirContext())});
  spec.captured.push_back(data);
  spec.usesDims = !staticDim(data.dims[axis]);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar) {
    llvm::SmallVector<Scalar> at;
    for (unsigned i = 0; i < rank; ++i)
      at.push_back(i == axis ? wrapIndex(b, x[0], data.dims[axis]) : b.loopIndex(i));
    return b.extract(0, at);
  };
  import.setOutput(node, 0, import.generic(spec));
}

void importGatherNd(ImportContext &import, const Node &node) {
  Tensor data = import.input(node, 0), indices = import.input(node, 1);
  checkIndices(indices);
  const int64_t batch = node.intAttribute("batch_dims", 0);
  if (indices.rank() < 1 || batch < 0 || batch >= indices.rank() || batch >= data.rank())
    failBadInput("batch_dims is " + llvm::Twine(batch) + " for data " + describeDims(data.dims) +
                 " and indices " + describeDims(indices.dims) +
                 "; it must be at least 0 and less than both ranks");
  auto depth = staticDim(indices.dims.back());
  if (!depth || *depth < 1 || batch + *depth > data.rank())
    failBadInput("the last dimension of the indices " + describeDims(indices.dims) +
                 " must be static, at least 1, and at most the rank of the data " +
                 describeDims(data.dims) + " minus batch_dims");
  for (int64_t i = 0; i < batch; ++i)
    import.constraints().requireEqual(indices.dims[i], data.dims[i]);
  GenericSpec spec;
  spec.resultType = data.type;
  spec.resultDims.assign(indices.dims.begin(), indices.dims.end() - 1);
  const unsigned outer = spec.resultDims.size();
  for (int64_t i = batch + *depth; i < data.rank(); ++i)
    spec.resultDims.push_back(data.dims[i]);
  const unsigned rank = spec.resultDims.size();
  spec.reduction.assign(rank, false);
  for (int64_t k = 0; k < *depth; ++k) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (unsigned i = 0; i < outer; ++i)
      exprs.push_back(import.loop(i));
    exprs.push_back(import.number(k));
    checkNotEmpty(data, data.dims[batch + k], indices);
    spec.inputs.push_back({indices, import.map(rank, exprs)});
    spec.usesDims |= !staticDim(data.dims[batch + k]);
  }
  spec.captured.push_back(data);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar) {
    llvm::SmallVector<Scalar> at;
    for (int64_t i = 0; i < batch; ++i)
      at.push_back(b.loopIndex(i));
    for (int64_t k = 0; k < *depth; ++k)
      at.push_back(wrapIndex(b, x[k], data.dims[batch + k]));
    for (unsigned i = outer; i < rank; ++i)
      at.push_back(b.loopIndex(i));
    return b.extract(0, at);
  };
  import.setOutput(node, 0, import.generic(spec));
}

// Returns the index of the input element that Pad copies to a position of the result, along one
// axis. `position` counts from the first input element, so it is negative in the padding before it.
Scalar mirroredIndex(BodyBuilder &b, llvm::StringRef mode, Scalar position, Dim dim) {
  Scalar zero = b.constantInt(DType::kIndex, 0), one = b.constantInt(DType::kIndex, 1);
  Scalar size = b.dimension(dim), last = b.sub(size, one);
  if (mode == "edge")
    return b.clamp(position, zero, last);
  if (mode == "wrap")
    return b.floorMod(position, size);
  // "reflect" repeats the data forwards and backwards, with a period of 2 * (size - 1) elements, or
  // 1 for a single element.
  Scalar period = b.max(b.add(last, last), one);
  Scalar phase = b.floorMod(position, period);
  return b.min(phase, b.sub(period, phase));
}

// Returns x with `low` elements before and `high` elements after each dimension, which repeat
// elements of x as the mode says. Throws ImportError (bad input) if there are none to repeat, or if
// the mode is none of edge, reflect and wrap.
Tensor padRepeating(ImportContext &import, const Tensor &x, const Dims &low, const Dims &high,
                    const std::string &mode) {
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    failBadInput("the mode is \"" + mode + "\"; it must be constant, edge, reflect or wrap");
  GenericSpec spec;
  const unsigned rank = x.rank();
  spec.reduction.assign(rank, false);
  spec.resultType = x.type;
  spec.captured.push_back(x);
  for (unsigned i = 0; i < rank; ++i) {
    spec.resultDims.push_back(addDims(addDims(x.dims[i], low[i]), high[i]));
    spec.usesDims |= !staticDim(x.dims[i]) || !staticDim(low[i]);
    if (staticDim(x.dims[i]) == 0 && (staticDim(low[i]) != 0 || staticDim(high[i]) != 0))
      failBadInput("dimension " + llvm::Twine(i) + " of " + describeDims(x.dims) +
                   " has no elements that the mode \"" + mode + "\" could repeat");
  }
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar>, Scalar) {
    llvm::SmallVector<Scalar> at;
    for (unsigned i = 0; i < rank; ++i) {
      Scalar position = b.loopIndex(i);
      if (staticDim(low[i]) != 0 || staticDim(high[i]) != 0)
        position = mirroredIndex(b, mode, b.sub(position, b.dimension(low[i])), x.dims[i]);
      at.push_back(position);
    }
    return b.extract(0, at);
  };
  return import.generic(spec);
}

void importPad(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const std::string mode = node.stringAttribute("mode", "constant");
  llvm::SmallVector<Dim> given;
  Number value = numberOf(x.type, 0);
  if (node.opset() < 11) {
    for (int64_t pad : node.intsAttribute(node.opset() < 2 ? "paddings" : "pads")
                           .value_or(llvm::SmallVector<int64_t>()))
      given.push_back(import.number(pad));
    const double number = node.floatAttribute("value", 0);
    if (!isFloat(x.type) && !(std::fabs(number) < 9.2e18)) // This range fits into 64 bits.
      failBadInput("the value of the padding does not fit " + dtypeName(x.type));
    value = numberOf(x.type, number);
  } else {
    given = import.dimsInput(node, 1, "the pads");
    if (node.hasInput(2)) {
      Constant constant = import.constantInput(node, 2, "the value of the padding");
      if (constant->elementCount() != 1 || constant->type != x.type)
        failBadInput("the value of the padding must be one " + dtypeName(x.type));
      value = constant->at(0);
    }
  }
  llvm::SmallVector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (node.hasInput(3))
    axes = import.intsInput(node, 3, "the axes");
  normalizeAxes(axes, x.rank());
  if (given.size() != 2 * axes.size())
    failBadInput("pads has " + llvm::Twine(given.size()) + " entries; it needs " +
                 llvm::Twine(2 * axes.size()));
  Dims low(x.rank(), import.number(0)), high = low;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = normalizeAxis(axes[i], x.rank());
    low[axis] = given[i];
    high[axis] = given[axes.size() + i];
  }
  // Negative pads remove elements. They are applied first, as a slice.
  Dims starts(x.rank(), import.number(0)), sizes = x.dims;
  llvm::SmallVector<int64_t> steps(x.rank(), 1);
  for (int64_t i = 0; i < x.rank(); ++i) {
    auto cut = [&](Dim &pad) {
      auto known = staticDim(pad);
      if (!known || *known >= 0)
        return import.number(0);
      pad = import.number(0);
      return import.number(-*known);
    };
    starts[i] = cut(low[i]);
    sizes[i] = subDims(subDims(x.dims[i], starts[i]), cut(high[i]));
    if (auto known = staticDim(sizes[i]); known && *known < 0)
      failBadInput("impossible shape: the pads " + describeDims(given) + " cut off more than " +
                   describeDims(x.dims) + " has");
  }
  x = slice(import, x, starts, sizes, steps);
  if (mode == "constant")
    return import.setOutput(node, 0, pad(import, x, low, high, value));
  import.setOutput(node, 0, padRepeating(import, x, low, high, mode));
}

} // namespace

void addGatherOperators(OperatorTable &table) {
  table["Gather"] = importGather;
  table["GatherElements"] = importGatherElements;
  table["GatherND"] = importGatherNd;
  table["Pad"] = importPad;
}

} // namespace gantry::importer
