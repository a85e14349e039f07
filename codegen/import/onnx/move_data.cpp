// Implements move_data.h: moves elements on the host if they are known, and otherwise builds
// operations that move them.
#include "codegen/import/onnx/move_data.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::importer {

namespace tensor = mlir::tensor;

namespace {

// Max number of elements of the result when a constant is padded while importing.
constexpr int64_t kMaxFoldedPadding = int64_t(1) << 22;

// Returns the elements at base + sum(i_k * strides_k) for all indices i_k below sizes[k], in
// row-major order.
llvm::SmallVector<Dim> gatherContent(llvm::ArrayRef<Dim> content, llvm::ArrayRef<int64_t> sizes,
                                     int64_t base, llvm::ArrayRef<int64_t> strides) {
  llvm::SmallVector<Dim> out;
  if (sizes.empty())
    return {content[base]};
  for (int64_t i = 0; i < sizes[0]; ++i)
    out.append(
        gatherContent(content, sizes.drop_front(), base + i * strides[0], strides.drop_front()));
  return out;
}

} // namespace

Tensor transpose(ImportContext &import, const Tensor &in, llvm::ArrayRef<int64_t> permutation) {
  const unsigned rank = in.rank();
  Dims dims;
  for (int64_t from : permutation)
    dims.push_back(in.dims[from]);
  if (llvm::is_sorted(permutation))
    return in;
  if (in.constant) {
    llvm::SmallVector<int64_t> strides = rowMajorStrides(in.constant->dims), sizes, moved;
    for (int64_t from : permutation) {
      sizes.push_back(in.constant->dims[from]);
      moved.push_back(strides[from]);
    }
    return import.fromConstant(gathered(in.constant, sizes, 0, moved));
  }
  if (in.content) {
    llvm::SmallVector<int64_t> sizes = staticDims(dims, "a shape"), moved;
    llvm::SmallVector<int64_t> strides = rowMajorStrides(staticDims(in.dims, "a shape"));
    for (int64_t from : permutation)
      moved.push_back(strides[from]);
    return import.fromContent(in.type, gatherContent(*in.content, sizes, 0, moved), sizes);
  }
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = in.type;
  spec.resultDims = dims;
  llvm::SmallVector<mlir::AffineExpr> exprs(rank);
  for (unsigned i = 0; i < rank; ++i)
    exprs[permutation[i]] = import.loop(i);
  spec.inputs.push_back({in, import.map(rank, exprs)});
  spec.body = [](BodyBuilder &, llvm::ArrayRef<Scalar> x, Scalar) { return x[0]; };
  return import.generic(spec);
}

namespace {

// Consecutive dimensions of a reshape's operand, and the consecutive dimensions of its result whose
// sizes have the same product.
struct Group {
  llvm::SmallVector<int64_t, 2> from, to;
};

// Divides both shapes into the smallest groups of equal products. If two dynamic products cannot be
// compared, the rest of both shapes becomes one group. The shapes of a tensor without elements are
// one group too, because a product with a dimension of 0 says nothing about the other dimensions.
llvm::SmallVector<Group> groupDims(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to) {
  llvm::SmallVector<Group> groups;
  size_t i = 0, j = 0;
  auto rest = [&](Group group) {
    for (; i < from.size(); ++i)
      group.from.push_back(i);
    for (; j < to.size(); ++j)
      group.to.push_back(j);
    groups.push_back(group);
  };
  if (llvm::any_of(from, [](Dim dim) { return staticDim(dim) == 0; })) {
    rest({});
    return groups;
  }
  while (i < from.size() && j < to.size()) {
    Group group;
    Dim a = from[i], b = to[j];
    group.from.push_back(i++);
    group.to.push_back(j++);
    while (a != b) {
      // A product of 1 gets the next dimension, whatever the other product is. Dimensions of size 1
      // thus join the group of their neighbours.
      std::optional<int> order = staticDim(a) == 1 ? -1 : staticDim(b) == 1 ? 1 : compareDims(a, b);
      bool growFrom = order && *order < 0;
      if (!order || (growFrom ? i == from.size() : j == to.size())) {
        rest(group);
        return groups;
      }
      if (growFrom) {
        a = mulDims(a, from[i]);
        group.from.push_back(i++);
      } else {
        b = mulDims(b, to[j]);
        group.to.push_back(j++);
      }
    }
    groups.push_back(group);
  }
  if (!groups.empty()) { // The dimensions that are left over have size 1.
    for (; i < from.size(); ++i)
      groups.back().from.push_back(i);
    for (; j < to.size(); ++j)
      groups.back().to.push_back(j);
  }
  return groups;
}

} // namespace

Tensor reshape(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> dims) {
  if (Dims(dims) == in.dims)
    return in;
  Dim before = productOf(import.mlirContext(), in.dims),
      after = productOf(import.mlirContext(), dims);
  if (before != after && (staticDim(before) && staticDim(after)))
    failBadInput("cannot reshape " + describeDims(in.dims) + " to " + describeDims(dims) +
                 ": the element counts differ");
  if (before != after)
    failUnsupported("cannot prove that " + describeDims(in.dims) + " reshapes to " +
                    describeDims(dims) +
                    ": the element counts may differ for some sizes s0, s1, ...");
  import.tensorType(in.type, dims);
  if (in.constant)
    return import.fromConstant(reshaped(in.constant, staticDims(dims, "the shape of a constant")));
  if (in.content)
    return import.fromContent(in.type, *in.content, staticDims(dims, "a shape"));
  mlir::Value value = import.valueOf(in);
  auto finish = [&](mlir::Value v) { return import.fromValue(in.type, dims, v); };
  if (dims.empty() || in.dims.empty()) {
    llvm::SmallVector<mlir::ReassociationIndices> none;
    if (dims.empty())
      return finish(import.builder().create<tensor::CollapseShapeOp>(
          import.location(), import.tensorType(in.type, dims), value, none));
    llvm::SmallVector<mlir::OpFoldResult> shape(dims.size(), import.builder().getIndexAttr(1));
    return finish(import.builder().create<tensor::ExpandShapeOp>(
        import.location(), import.tensorType(in.type, dims), value, none, shape));
  }
  llvm::SmallVector<Group> groups = groupDims(in.dims, dims);
  llvm::SmallVector<mlir::ReassociationIndices> collapse, expand;
  const auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
  const auto isDynamic = [](Dim dim) { return !staticDim(dim); };
  llvm::SmallVector<int64_t> middle;
  for (const Group &group : groups) {
    collapse.emplace_back(group.from.begin(), group.from.end());
    expand.emplace_back(group.to.begin(), group.to.end());
    Dim product = import.number(1);
    bool fromDynamic = false, toDynamic = false;
    for (int64_t i : group.from) {
      product = mulDims(product, in.dims[i]);
      fromDynamic = fromDynamic || isDynamic(in.dims[i]);
    }
    for (int64_t i : group.to)
      toDynamic = toDynamic || isDynamic(dims[i]);
    // MLIR requires a dynamic size here if both sides have one, even if the product is 0.
    middle.push_back(fromDynamic && toDynamic
                         ? mlir::ShapedType::kDynamic
                         : staticDim(product).value_or(mlir::ShapedType::kDynamic));
  }
  if (middle.size() < in.dims.size())
    value = import.builder().create<tensor::CollapseShapeOp>(
        import.location(), mlir::RankedTensorType::get(middle, type.getElementType()), value,
        collapse);
  if (middle.size() < dims.size()) {
    llvm::SmallVector<mlir::OpFoldResult> shape;
    for (Dim dim : dims)
      shape.push_back(import.foldedDim(dim));
    value = import.builder().create<tensor::ExpandShapeOp>(
        import.location(), import.tensorType(in.type, dims), value, expand, shape);
  }
  return finish(value);
}

Tensor broadcastTo(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> dims) {
  if (Dims(dims) == in.dims)
    return in;
  if (in.constant && in.constant->splat && allStatic(dims))
    return import.fromConstant(reshaped(in.constant, staticDims(dims, "a shape")));
  GenericSpec spec;
  const unsigned rank = dims.size();
  spec.reduction.assign(rank, false);
  spec.resultType = in.type;
  spec.resultDims.assign(dims.begin(), dims.end());
  llvm::SmallVector<mlir::AffineExpr> exprs;
  for (size_t i = 0; i < in.dims.size(); ++i) {
    size_t at = rank - in.dims.size() + i;
    exprs.push_back(isStaticOne(in.dims[i]) && !isStaticOne(dims[at]) ? import.number(0)
                                                                      : import.loop(at));
  }
  spec.inputs.push_back({in, import.map(rank, exprs)});
  spec.body = [](BodyBuilder &, llvm::ArrayRef<Scalar> x, Scalar) { return x[0]; };
  return import.generic(spec);
}

Tensor slice(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> starts,
             llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<int64_t> steps) {
  const unsigned rank = in.rank();
  Dims dims(sizes.begin(), sizes.end());
  if (dims == in.dims && llvm::all_of(steps, [](int64_t s) { return s == 1; }))
    return in;
  if ((in.constant || in.content) && allStatic(starts) && allStatic(sizes)) {
    llvm::SmallVector<int64_t> strides = rowMajorStrides(staticDims(in.dims, "a shape")), count;
    int64_t base = 0;
    for (unsigned i = 0; i < rank; ++i) {
      base += *staticDim(starts[i]) * strides[i];
      strides[i] *= steps[i];
      count.push_back(*staticDim(sizes[i]));
    }
    if (in.constant)
      return import.fromConstant(gathered(in.constant, count, base, strides));
    return import.fromContent(in.type, gatherContent(*in.content, count, base, strides), count);
  }
  mlir::RankedTensorType type = import.tensorType(in.type, dims);
  if (llvm::all_of(steps, [](int64_t s) { return s > 0; })) {
    llvm::SmallVector<mlir::OpFoldResult> offsets, lengths, strides;
    for (unsigned i = 0; i < rank; ++i) {
      offsets.push_back(import.foldedDim(starts[i]));
      lengths.push_back(import.foldedDim(sizes[i]));
      strides.push_back(import.builder().getIndexAttr(steps[i]));
    }
    mlir::Value value = import.builder().create<tensor::ExtractSliceOp>(
        import.location(), type, import.valueOf(in), offsets, lengths, strides);
    return import.fromValue(in.type, dims, value);
  }
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = in.type;
  spec.resultDims = dims;
  if (allStatic(starts)) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (unsigned i = 0; i < rank; ++i)
      exprs.push_back(import.loop(i) * steps[i] + *staticDim(starts[i]));
    spec.inputs.push_back({in, import.map(rank, exprs)});
    spec.body = [](BodyBuilder &, llvm::ArrayRef<Scalar> x, Scalar) { return x[0]; };
    return import.generic(spec);
  }
  spec.captured.push_back(in);
  spec.usesDims = true;
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar>, Scalar) {
    llvm::SmallVector<Scalar> indices;
    for (unsigned i = 0; i < rank; ++i)
      indices.push_back(b.add(b.mul(b.loopIndex(i), b.constantInt(DType::kIndex, steps[i])),
                              b.dimension(starts[i])));
    return b.extract(0, indices);
  };
  return import.generic(spec);
}

Tensor concat(ImportContext &import, llvm::ArrayRef<Tensor> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts[0];
  Dims dims = parts[0].dims;
  dims[axis] = import.number(0);
  bool constant = true, content = true;
  for (const Tensor &part : parts) {
    if (part.rank() != parts[0].rank() || part.type != parts[0].type)
      failBadInput("cannot concatenate " + describeDims(parts[0].dims) + " of " +
                   dtypeName(parts[0].type) + " with " + describeDims(part.dims) + " of " +
                   dtypeName(part.type));
    for (int64_t i = 0; i < part.rank(); ++i) {
      if (i == axis || part.dims[i] == dims[i])
        continue;
      if (staticDim(part.dims[i]) && staticDim(dims[i]))
        failBadInput("cannot concatenate " + describeDims(parts[0].dims) + " with " +
                     describeDims(part.dims) + " along axis " + llvm::Twine(axis));
      dims[i] = import.constraints().requireEqual(dims[i], part.dims[i]);
    }
    dims[axis] = addDims(dims[axis], part.dims[axis]);
    constant &= part.constant != nullptr;
    content &= part.content.has_value();
  }
  mlir::RankedTensorType type = import.tensorType(parts[0].type, dims);
  if (constant) {
    llvm::SmallVector<Constant> constants;
    for (const Tensor &part : parts)
      constants.push_back(part.constant);
    return import.fromConstant(concatenated(constants, axis));
  }
  if (content && axis == 0 &&
      staticDim(productOf(import.mlirContext(), dims)) <= kMaxContentElements) {
    llvm::SmallVector<Dim> all;
    for (const Tensor &part : parts)
      all.append(part.content->begin(), part.content->end());
    return import.fromContent(parts[0].type, all, staticDims(dims, "a shape"));
  }
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor &part : parts)
    if (staticDim(part.dims[axis]) != 0)
      values.push_back(import.valueOf(part));
  if (values.size() == 1)
    return import.fromValue(parts[0].type, dims, values[0]);
  return import.fromValue(
      parts[0].type, dims,
      import.builder().create<tensor::ConcatOp>(import.location(), type, axis, values));
}

Tensor pad(ImportContext &import, const Tensor &in, llvm::ArrayRef<Dim> low,
           llvm::ArrayRef<Dim> high, Number value) {
  auto isZero = [](Dim dim) { return staticDim(dim) == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return in;
  Dims dims;
  for (int64_t i = 0; i < in.rank(); ++i)
    dims.push_back(addDims(addDims(in.dims[i], low[i]), high[i]));
  mlir::RankedTensorType type = import.tensorType(in.type, dims);
  bool fold = in.constant && allStatic(low) && allStatic(high);
  if (fold && (import.foldsEverything() ||
               staticDim(productOf(import.mlirContext(), dims)) <= kMaxFoldedPadding))
    return import.fromConstant(
        padded(in.constant, staticDims(low, "padding"), staticDims(high, "padding"), value));
  llvm::SmallVector<mlir::OpFoldResult> lows, highs;
  for (int64_t i = 0; i < in.rank(); ++i) {
    lows.push_back(import.foldedDim(low[i]));
    highs.push_back(import.foldedDim(high[i]));
  }
  mlir::Value source = import.valueOf(in);
  mlir::Value constant = import.scalarValue(in.type, value);
  auto op = import.builder().create<tensor::PadOp>(import.location(), type, source, lows, highs,
                                                   constant);
  return import.fromValue(in.type, dims, op);
}

} // namespace gantry::importer
