// Imports ConvTranspose as a reduction that gathers elements of the input.
//
// y[n, oc, o] = sum over ic and k of x[n, ic, i] * filter[ic, oc, k], where n is the batch, oc and
// ic are channels, o and i are positions in the output and the input, k is the kernel's tap, and
// o + padLow = i * stride + k * dilation. A tap for which no such i exists contributes 0.
#include "codegen/import/onnx/operators/conv.h"
#include "codegen/import/onnx/operators/windows.h"
#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

namespace {

struct TransposedConv {
  Tensor x, filter;
  size_t spatial = 0; // Number of spatial dimensions.
  Windows windows;
  int64_t group = 1, inPerGroup = 0, outPerGroup = 0; // Channels per group.
  llvm::SmallVector<int64_t> padLow;
  Dims outputs; // Spatial sizes of the result.

  // Loops: n, oc, output positions, then ic within the group, then the kernel's taps.
  unsigned channelLoop() const { return 2 + spatial; }
  unsigned tapLoop(size_t axis) const { return 3 + spatial + axis; }
  unsigned loopCount() const { return 3 + 2 * spatial; }
};

TransposedConv readOperands(ImportContext &import, const Node &node) {
  TransposedConv conv;
  conv.x = import.input(node, 0);
  conv.filter = import.input(node, 1);
  const Tensor &x = conv.x;
  if (x.rank() < 3 || conv.filter.rank() != x.rank())
    failBadInput("the input " + describeDims(x.dims) + " and the filter " +
                 describeDims(conv.filter.dims) + " must have the same rank of at least 3");
  conv.spatial = x.rank() - 2;
  llvm::SmallVector<int64_t> filterDims = staticDims(conv.filter.dims, "the filter");
  readKernelAttributes(node, conv.spatial, llvm::ArrayRef<int64_t>(filterDims).drop_front(2),
                       conv.windows);
  conv.group = node.intAttribute("group", 1);
  if (conv.group < 1 || filterDims[0] % conv.group != 0)
    failBadInput("group " + llvm::Twine(conv.group) + " does not divide " +
                 llvm::Twine(filterDims[0]) + " channels");
  if (auto channels = staticDim(x.dims[1]); channels && *channels != filterDims[0])
    failBadInput("the input has " + llvm::Twine(*channels) + " channels, but the filter has " +
                 llvm::Twine(filterDims[0]) + " input channels");
  conv.inPerGroup = filterDims[0] / conv.group;
  conv.outPerGroup = filterDims[1];
  return conv;
}

// Computes the result's spatial sizes and the padding before each axis.
void readOutputSizes(ImportContext &import, const Node &node, TransposedConv &conv) {
  const size_t spatial = conv.spatial;
  auto outputPadding =
      node.intsAttribute("output_padding").value_or(llvm::SmallVector<int64_t>(spatial, 0));
  auto pads = node.intsAttribute("pads").value_or(llvm::SmallVector<int64_t>(2 * spatial, 0));
  auto outputShape = node.intsAttribute("output_shape");
  const std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  const bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (outputPadding.size() != spatial || pads.size() != 2 * spatial)
    failBadInput("pads or output_padding have the wrong number of entries");
  if (outputShape && outputShape->size() == spatial + 2) // Some exporters include N and C.
    outputShape->erase(outputShape->begin(), outputShape->begin() + 2);
  if (outputShape && outputShape->size() != spatial)
    failBadInput("output_shape has the wrong number of entries");

  for (size_t i = 0; i < spatial; ++i) {
    Dim in = conv.x.dims[2 + i], stride = import.number(conv.windows.strides[i]);
    Dim full = addDims(mulDims(subDims(in, import.number(1)), stride),
                       import.number(conv.windows.extent(i) + outputPadding[i]));
    int64_t low = pads[i];
    Dim out = subDims(full, import.number(pads[i] + pads[spatial + i]));
    if (outputShape || same) {
      out = outputShape ? import.number((*outputShape)[i]) : mulDims(in, stride);
      auto total = staticDim(subDims(full, out));
      if (!total)
        failUnsupported("output_shape or auto_pad SAME over dynamic dimensions is not supported");
      low = paddingBefore(autoPad, std::max<int64_t>(*total, 0));
    } else if (autoPad == "VALID") {
      low = 0;
      out = full;
    }
    if (auto known = staticDim(out); known && *known < 1)
      failBadInput("impossible shape: an output of " + llvm::Twine(*known));
    conv.padLow.push_back(low);
    conv.outputs.push_back(out);
  }
}

// Returns the sum over channels and taps as a generic without its body, which reads x at computed
// positions.
GenericSpec loopsOf(ImportContext &import, const TransposedConv &conv) {
  const unsigned loops = conv.loopCount();
  GenericSpec spec;
  spec.reduction.assign(loops, false);
  for (unsigned i = conv.channelLoop(); i < loops; ++i)
    spec.reduction[i] = true;
  spec.resultType = conv.x.type;
  spec.resultDims = {conv.x.dims[0], import.number(conv.outPerGroup * conv.group)};
  spec.resultDims.append(conv.outputs);
  llvm::SmallVector<mlir::AffineExpr> results, filterExprs, windowExprs;
  for (unsigned i = 0; i < conv.channelLoop(); ++i)
    results.push_back(import.loop(i));
  spec.resultMap = import.map(loops, results);
  mlir::AffineExpr outChannel = import.loop(1), inner = import.loop(conv.channelLoop());
  mlir::AffineExpr groupIndex = outChannel.floorDiv(conv.outPerGroup);
  filterExprs.push_back(conv.group == 1 ? inner : groupIndex * conv.inPerGroup + inner);
  filterExprs.push_back(conv.group == 1 ? outChannel : outChannel % conv.outPerGroup);
  for (size_t i = 0; i < conv.spatial; ++i)
    filterExprs.push_back(import.loop(conv.tapLoop(i)));
  llvm::SmallVector<int64_t> windowDims{conv.inPerGroup};
  windowDims.append(conv.windows.kernel.begin(), conv.windows.kernel.end());
  for (unsigned i = conv.channelLoop(); i < loops; ++i)
    windowExprs.push_back(import.loop(i));
  spec.inputs.push_back({conv.filter, import.map(loops, filterExprs)});
  spec.inputs.push_back({import.window(windowDims, conv.x.type), import.map(loops, windowExprs)});
  spec.captured.push_back(conv.x);
  spec.usesDims = !allStatic(conv.x.dims);
  spec.init = numberOf(conv.x.type, 0);
  return spec;
}

// Returns the element of x for a point of the iteration space; 0 if the tap has no input position.
Scalar inputElement(BodyBuilder &b, const TransposedConv &conv) {
  auto number = [&](int64_t value) { return b.constantInt(DType::kIndex, value); };
  Scalar channel = b.loopIndex(conv.channelLoop());
  if (conv.group > 1) {
    Scalar g = b.div(b.loopIndex(1), number(conv.outPerGroup));
    channel = b.add(b.mul(g, number(conv.inPerGroup)), channel);
  }
  llvm::SmallVector<Scalar> indices{b.loopIndex(0), channel};
  std::optional<Scalar> hits;
  for (size_t i = 0; i < conv.spatial; ++i) {
    const int64_t stride = conv.windows.strides[i];
    Scalar tap = b.mul(b.loopIndex(conv.tapLoop(i)), number(conv.windows.dilations[i]));
    Scalar at = b.sub(b.add(b.loopIndex(2 + i), number(conv.padLow[i])), tap);
    // The division truncates. A negative `at` has no input position.
    Scalar position = b.div(at, number(stride));
    Scalar inside = b.compare(Compare::kGreaterEqual, at, number(0));
    Scalar below = b.compare(Compare::kLess, position, b.dimension(conv.x.dims[2 + i]));
    Scalar hit = b.andBits(inside, below);
    if (stride > 1)
      hit = b.andBits(hit, b.compare(Compare::kEqual, b.mul(position, number(stride)), at));
    hits = hits ? b.andBits(*hits, hit) : hit;
    Scalar last = b.sub(b.dimension(conv.x.dims[2 + i]), number(1));
    indices.push_back(b.clamp(position, number(0), last));
  }
  return b.select(*hits, b.extract(0, indices), b.constant(conv.x.type, 0));
}

void importConvTranspose(ImportContext &import, const Node &node) {
  TransposedConv conv = readOperands(import, node);
  readOutputSizes(import, node, conv);
  GenericSpec spec = loopsOf(import, conv);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar sum) {
    return b.add(sum, b.mul(inputElement(b, conv), in[0]));
  };
  Tensor y = import.generic(spec);
  if (auto bias = import.optionalInput(node, 2))
    y = addChannelBias(import, y, *bias);
  import.setOutput(node, 0, y);
}

} // namespace

void addConvTransposeOperators(OperatorTable &table) {
  table["ConvTranspose"] = importConvTranspose;
}

} // namespace gantry::importer
