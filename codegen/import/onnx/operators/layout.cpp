// Imports operators that rearrange data: Reshape, Transpose, Concat, Split, Slice, Expand, Tile and
// others.
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

namespace {

void importIdentity(ImportContext &import, const Node &node) {
  import.setOutput(node, 0, import.input(node, 0));
}

// Imports Dropout as the identity, with a mask of ones. In training mode the ratio must be 0.
void importDropout(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  if (node.hasInput(2)) {
    Constant training = import.constantInput(node, 2, "training_mode");
    const Constant ratio = node.hasInput(1) ? import.constantInput(node, 1, "ratio") : nullptr;
    const bool dropsNothing = ratio && ratio->elementCount() == 1 && ratio->floatAt(0) == 0;
    if (!dropsNothing && (training->elementCount() != 1 || training->intAt(0) != 0))
      failUnsupported("Dropout in training mode is not supported; export for inference");
  }
  import.setOutput(node, 0, x);
  if (node.hasOutput(1))
    import.setOutput(node, 1, broadcastTo(import, import.scalar(DType::kBool, 1), x.dims));
}

void importFlatten(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  int64_t axis = node.intAttribute("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    failBadInput("the axis " + llvm::Twine(axis) + " is outside of a tensor of rank " +
                 llvm::Twine(x.rank()));
  axis = axis < 0 ? axis + x.rank() : axis;
  llvm::ArrayRef<Dim> dims = x.dims;
  import.setOutput(node, 0,
                   reshape(import, x,
                           {productOf(import.mlirContext(), dims.take_front(axis)),
                            productOf(import.mlirContext(), dims.drop_front(axis))}));
}

void importReshape(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  llvm::SmallVector<Dim> wanted;
  if (node.opset() < 5) {
    for (int64_t dim : node.intsAttribute("shape").value_or(llvm::SmallVector<int64_t>()))
      wanted.push_back(import.number(dim));
  } else {
    wanted = import.dimsInput(node, 1, "the shape");
  }
  const bool allowZero = node.intAttribute("allowzero", 0) != 0;
  Dims dims;
  std::optional<size_t> free;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto known = staticDim(wanted[i]);
    if (known == 0 && !allowZero) {
      if (i >= x.dims.size())
        failBadInput("the shape copies dimension " + llvm::Twine(i) + " of a tensor of rank " +
                     llvm::Twine(x.rank()));
      dims.push_back(x.dims[i]);
    } else if (known && *known < 0) {
      if (*known != -1 || free)
        failBadInput("impossible shape " + describeDims(wanted) +
                     ": one dimension may be -1, and no other may be negative");
      free = i;
      dims.push_back(import.number(1));
    } else {
      dims.push_back(wanted[i]);
    }
  }
  if (free) {
    Dim rest = productOf(import.mlirContext(), dims);
    Dim total = productOf(import.mlirContext(), x.dims);
    if (staticDim(rest) == 0)
      failBadInput("impossible shape " + describeDims(wanted) +
                   ": -1 together with a dimension of 0");
    dims[*free] = floorDivDims(total, rest);
    if (allStatic({total, rest}) && *staticDim(total) % *staticDim(rest) != 0)
      failBadInput("cannot reshape " + describeDims(x.dims) + " to " + describeDims(wanted) +
                   ": no size in place of -1 gives the same element count");
  }
  import.setOutput(node, 0, reshape(import, x, dims));
}

// Returns the axes of Squeeze and Unsqueeze: an attribute, or from opset 13 on an input.
std::optional<llvm::SmallVector<int64_t>> axesOf(ImportContext &import, const Node &node) {
  if (node.opset() < 13)
    return node.intsAttribute("axes");
  if (!node.hasInput(1))
    return std::nullopt;
  return import.intsInput(node, 1, "the axes");
}

void importSqueeze(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  auto axes = axesOf(import, node);
  llvm::SmallVector<int64_t> drop;
  if (axes)
    drop = normalizeAxes(*axes, x.rank());
  Dims dims;
  for (int64_t i = 0; i < x.rank(); ++i) {
    bool dropped = axes ? llvm::is_contained(drop, i) : isStaticOne(x.dims[i]);
    if (dropped && !isStaticOne(x.dims[i]))
      failBadInput("cannot squeeze dimension " + llvm::Twine(i) + " of " + describeDims(x.dims));
    if (!dropped)
      dims.push_back(x.dims[i]);
  }
  import.setOutput(node, 0, reshape(import, x, dims));
}

void importUnsqueeze(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  auto axes = axesOf(import, node);
  if (!axes)
    failBadInput("the axes are missing");
  llvm::SmallVector<int64_t> added = normalizeAxes(*axes, x.rank() + int64_t(axes->size()));
  Dims dims = x.dims;
  for (int64_t axis : added)
    dims.insert(dims.begin() + axis, import.number(1));
  import.setOutput(node, 0, reshape(import, x, dims));
}

void importTranspose(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  llvm::SmallVector<int64_t> permutation;
  if (auto given = node.intsAttribute("perm")) {
    permutation = *given;
  } else {
    for (int64_t i = x.rank(); i-- > 0;)
      permutation.push_back(i);
  }
  llvm::SmallVector<int64_t> sorted = normalizeAxes(permutation, x.rank());
  if (int64_t(sorted.size()) != x.rank())
    failBadInput("perm has " + llvm::Twine(sorted.size()) + " entries for a tensor of rank " +
                 llvm::Twine(x.rank()));
  for (int64_t &axis : permutation)
    axis = normalizeAxis(axis, x.rank());
  import.setOutput(node, 0, transpose(import, x, permutation));
}

void importConcat(ImportContext &import, const Node &node) {
  llvm::SmallVector<Tensor> parts;
  for (size_t i = 0; i < node.inputCount(); ++i)
    parts.push_back(import.input(node, i));
  if (parts.empty() || parts[0].rank() == 0)
    failBadInput("Concat needs at least one input, whose rank is at least 1");
  int64_t axis = normalizeAxis(node.intAttribute("axis", 1), parts[0].rank());
  import.setOutput(node, 0, concat(import, parts, axis));
}

void importSplit(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const int64_t axis = normalizeAxis(node.intAttribute("axis", 0), x.rank());
  const size_t count = node.outputCount();
  llvm::SmallVector<Dim> sizes;
  if (auto given = node.intsAttribute("split")) {
    for (int64_t size : *given)
      sizes.push_back(import.number(size));
  } else if (node.hasInput(1)) {
    sizes = import.dimsInput(node, 1, "the sizes of the split");
  } else {
    Dim part = ceilDivDims(x.dims[axis], import.number(count));
    Dim rest = x.dims[axis];
    for (size_t i = 0; i + 1 < count; ++i) {
      sizes.push_back(part);
      rest = subDims(rest, part);
    }
    sizes.push_back(rest);
  }
  if (sizes.size() != count)
    failBadInput("it has " + llvm::Twine(count) + " outputs for " + llvm::Twine(sizes.size()) +
                 " sizes");
  Dims starts(x.rank(), import.number(0)), shape = x.dims;
  llvm::SmallVector<int64_t> steps(x.rank(), 1);
  Dim at = import.number(0);
  for (size_t i = 0; i < count; ++i) {
    if (auto size = staticDim(sizes[i]); size && *size < 0)
      failBadInput("the sizes of the split " + describeDims(sizes) + " do not fit " +
                   describeDims(x.dims));
    starts[axis] = at;
    shape[axis] = sizes[i];
    at = addDims(at, sizes[i]);
    if (compareDims(at, x.dims[axis]) == 1)
      break;
    import.setOutput(node, i, slice(import, x, starts, shape, steps));
  }
  if (at != x.dims[axis] && (allStatic({at, x.dims[axis]}) || compareDims(at, x.dims[axis])))
    failBadInput("the sizes of the split " + describeDims(sizes) + " do not add up to " +
                 describeDims({x.dims[axis]}));
  import.constraints().requireEqual(at, x.dims[axis]);
}

struct Range {
  Dim start, size;
};

// Returns the range that start:end:step selects from a dimension by Python's rules. Whether the
// start or the end is clamped to the dimension may depend on the dynamic dimensions. This function
// then assumes that it is not clamped, and records this as a condition on the dimensions (for
// example that "time" is at most 64).
Range sliceRange(ImportContext &import, Dim dim, Dim start, Dim end, int64_t step) {
  Dim zero = import.number(0), one = import.number(1);
  auto wrap = [&](Dim value) {
    auto known = staticDim(value);
    return known && *known < 0 ? addDims(value, dim) : value;
  };
  auto far = [](Dim value, bool up) {
    auto known = staticDim(value);
    return known && (up ? *known >= INT32_MAX : *known <= -INT32_MAX);
  };
  Dim low = step > 0 ? zero : import.number(-1);
  Dim high = step > 0 ? dim : subDims(dim, one);
  auto clamp = [&](Dim value) {
    if (far(value, true))
      return high;
    if (far(value, false))
      return low;
    value = wrap(value);
    auto order = compareDims(value, low);
    if (order && *order < 0)
      return low;
    if (!order)
      import.constraints().requireNonNegative(subDims(value, low));
    order = compareDims(value, high);
    if (order && *order > 0)
      return high;
    if (!order)
      import.constraints().requireNonNegative(subDims(high, value));
    return value;
  };
  Dim from = clamp(start), to = clamp(end);
  Dim span = step > 0 ? subDims(to, from) : subDims(from, to);
  Dim size = ceilDivDims(span, import.number(step > 0 ? step : -step));
  if (auto order = compareDims(size, zero); order && *order < 0)
    size = zero;
  else if (!order)
    import.constraints().requireNonNegative(size);
  return {staticDim(size) == 0 ? zero : from, size};
}

void importSlice(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  llvm::SmallVector<Dim> starts, ends;
  llvm::SmallVector<int64_t> axes, steps;
  if (node.opset() < 10) {
    for (int64_t value : node.intsAttribute("starts").value_or(llvm::SmallVector<int64_t>()))
      starts.push_back(import.number(value));
    for (int64_t value : node.intsAttribute("ends").value_or(llvm::SmallVector<int64_t>()))
      ends.push_back(import.number(value));
    axes = node.intsAttribute("axes").value_or(llvm::SmallVector<int64_t>());
  } else {
    starts = import.dimsInput(node, 1, "the starts");
    ends = import.dimsInput(node, 2, "the ends");
    if (node.hasInput(3))
      axes = import.intsInput(node, 3, "the axes");
    if (node.hasInput(4))
      steps = import.intsInput(node, 4, "the steps");
  }
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(i);
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    failBadInput("starts, ends, axes and steps have different lengths");
  normalizeAxes(axes, x.rank());
  Dims allStarts(x.rank(), import.number(0)), sizes = x.dims;
  llvm::SmallVector<int64_t> allSteps(x.rank(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = normalizeAxis(axes[i], x.rank());
    if (steps[i] == 0 || steps[i] == INT64_MIN)
      failBadInput("the step of a slice is " + llvm::Twine(steps[i]) +
                   "; it must not be 0 or -2^63");
    Range range = sliceRange(import, x.dims[axis], starts[i], ends[i], steps[i]);
    allStarts[axis] = range.start;
    sizes[axis] = range.size;
    allSteps[axis] = isStaticOne(range.size) ? 1 : steps[i];
  }
  import.setOutput(node, 0, slice(import, x, allStarts, sizes, allSteps));
}

void importExpand(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), shape;
  auto wanted = import.dimsInput(node, 1, "the shape");
  shape.dims.assign(wanted.begin(), wanted.end());
  for (Dim dim : wanted)
    if (auto known = staticDim(dim); known && *known < 0)
      failBadInput("impossible shape " + describeDims(wanted));
  import.setOutput(node, 0, broadcastTo(import, x, import.broadcastDims({x, shape})));
}

void importTile(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  auto repeats = import.dimsInput(node, 1, "the repeats");
  if (int64_t(repeats.size()) != x.rank())
    failBadInput("repeats has " + llvm::Twine(repeats.size()) + " entries for a tensor of rank " +
                 llvm::Twine(x.rank()));
  // [a, b] repeated (r, s) times is [1, a, 1, b] broadcast to [r, a, s, b] and flattened.
  Dims apart, wide, flat;
  bool spread = false;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (auto known = staticDim(repeats[i]); known && *known < 0)
      failBadInput("a tensor is repeated " + llvm::Twine(*known) +
                   " times; the number must be at least 0");
    flat.push_back(mulDims(x.dims[i], repeats[i]));
    if (!isStaticOne(repeats[i]) && !isStaticOne(x.dims[i])) {
      apart.push_back(import.number(1));
      wide.push_back(repeats[i]);
      spread = true;
    }
    apart.push_back(x.dims[i]);
    wide.push_back(isStaticOne(x.dims[i]) ? repeats[i] : x.dims[i]);
  }
  Tensor source = spread ? reshape(import, x, apart) : x;
  import.setOutput(node, 0, reshape(import, broadcastTo(import, source, wide), flat));
}

void importDepthToSpace(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const int64_t block = node.intAttribute("blocksize", 0);
  if (x.rank() != 4 || block < 1 || block > 4096)
    failBadInput("it needs a tensor of rank 4 and a blocksize from 1 to 4096");
  Dim b = import.number(block), area = import.number(block * block);
  Dim n = x.dims[0], c = x.dims[1], h = x.dims[2], w = x.dims[3];
  if (auto known = staticDim(modDims(c, area)); known != 0)
    failBadInput("the square of the blocksize " + llvm::Twine(block) + " does not divide " +
                 describeDims({c}) + " channels");
  Dim depth = floorDivDims(c, area);
  const bool crd = node.stringAttribute("mode", "DCR") == "CRD";
  Tensor apart =
      crd ? transpose(import, reshape(import, x, {n, depth, b, b, h, w}), {0, 1, 4, 2, 5, 3})
          : transpose(import, reshape(import, x, {n, b, b, depth, h, w}), {0, 3, 4, 1, 5, 2});
  import.setOutput(node, 0, reshape(import, apart, {n, depth, mulDims(h, b), mulDims(w, b)}));
}

void importSpaceToDepth(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const int64_t block = node.intAttribute("blocksize", 0);
  if (x.rank() != 4 || block < 1 || block > 4096)
    failBadInput("it needs a tensor of rank 4 and a blocksize from 1 to 4096");
  Dim b = import.number(block);
  Dim n = x.dims[0], c = x.dims[1], h = x.dims[2], w = x.dims[3];
  for (Dim dim : {h, w})
    if (auto known = staticDim(modDims(dim, b)); known && *known != 0)
      failBadInput("the blocksize " + llvm::Twine(block) + " does not divide " +
                   describeDims({h, w}));
  Dim rows = floorDivDims(h, b), columns = floorDivDims(w, b);
  Tensor apart =
      transpose(import, reshape(import, x, {n, c, rows, b, columns, b}), {0, 3, 5, 1, 2, 4});
  import.setOutput(
      node, 0,
      reshape(import, apart, {n, mulDims(c, import.number(block * block)), rows, columns}));
}

} // namespace

void addLayoutOperators(OperatorTable &table) {
  table["Identity"] = importIdentity;
  table["Dropout"] = importDropout;
  table["Flatten"] = importFlatten;
  table["Reshape"] = importReshape;
  table["Squeeze"] = importSqueeze;
  table["Unsqueeze"] = importUnsqueeze;
  table["Transpose"] = importTranspose;
  table["Concat"] = importConcat;
  table["Split"] = importSplit;
  table["Slice"] = importSlice;
  table["Expand"] = importExpand;
  table["Tile"] = importTile;
  table["DepthToSpace"] = importDepthToSpace;
  table["SpaceToDepth"] = importSpaceToDepth;
}

} // namespace gantry::importer
