#include "codegen/import/onnx/conv.h"

#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

void readKernelAttributes(const Node &node, size_t spatialRank, llvm::ArrayRef<int64_t> kernel,
                          Windows &windows) {
  auto shape = node.intsAttribute("kernel_shape");
  if (kernel.empty() && !shape)
    failBadInput("the attribute kernel_shape is missing");
  windows.kernel.assign(kernel.begin(), kernel.end());
  if (kernel.empty())
    windows.kernel = *shape;
  else if (shape && llvm::ArrayRef<int64_t>(*shape) != kernel)
    failBadInput("kernel_shape disagrees with the filter's shape");
  auto list = [&](const char *name) {
    return node.intsAttribute(name).value_or(llvm::SmallVector<int64_t>(spatialRank, 1));
  };
  windows.strides = list("strides");
  windows.dilations = list("dilations");
  auto check = [&](llvm::ArrayRef<int64_t> values, const char *name) {
    if (values.size() != spatialRank)
      failBadInput(llvm::Twine(name) + " has " + llvm::Twine(values.size()) + " entries for " +
                   llvm::Twine(spatialRank) + " spatial dimensions");
    for (int64_t value : values)
      if (value < 1 || value > (int64_t(1) << 31))
        failBadInput(llvm::Twine(name) + " has the value " + llvm::Twine(value) +
                     "; it must be at least 1 and below 2^31");
  };
  check(windows.kernel, "kernel_shape");
  check(windows.strides, "strides");
  check(windows.dilations, "dilations");
  for (size_t i = 0; i < spatialRank; ++i)
    if (windows.kernel[i] > 1 && windows.dilations[i] > (int64_t(1) << 40) / windows.kernel[i])
      failBadInput("shape arithmetic overflows: a dilated kernel beyond 2^40");
}

Windows readWindows(const Node &node, llvm::ArrayRef<Dim> input, llvm::ArrayRef<int64_t> kernel) {
  const size_t rank = input.size() - 2;
  Windows windows;
  readKernelAttributes(node, rank, kernel, windows);
  windows.ceilMode = node.intAttribute("ceil_mode", 0) != 0;
  mlir::MLIRContext *context = input[0].getContext();
  auto number = [&](int64_t value) { return mlir::getAffineConstantExpr(value, context); };
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  auto pads = node.intsAttribute("pads").value_or(llvm::SmallVector<int64_t>(2 * rank, 0));
  if (pads.size() != 2 * rank)
    failBadInput("pads has " + llvm::Twine(pads.size()) + " entries; it needs " +
                 llvm::Twine(2 * rank));
  for (int64_t pad : pads)
    if (pad < 0 || pad > (int64_t(1) << 31))
      failBadInput("pads has the value " + llvm::Twine(pad) + "; it must be from 0 to 2^31");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && autoPad != "NOTSET" && autoPad != "VALID" && !autoPad.empty())
    failBadInput("auto_pad is \"" + autoPad + "\"");
  for (size_t i = 0; i < rank; ++i) {
    Dim size = input[2 + i], stride = number(windows.strides[i]);
    const int64_t extent = windows.extent(i);
    if (same) {
      Dim out = ceilDivDims(size, stride);
      Dim total = addDims(subDims(mulDims(subDims(out, number(1)), stride), size), number(extent));
      if (windows.strides[i] == 1)
        total = number(extent - 1);
      auto known = staticDim(total);
      if (!known)
        failUnsupported("auto_pad " + autoPad + " over a dynamic dimension with a stride");
      int64_t all = std::max<int64_t>(*known, 0);
      int64_t low = autoPad == "SAME_UPPER" ? all / 2 : all - all / 2;
      windows.padLow.push_back(number(low));
      windows.padHigh.push_back(number(all - low));
      windows.outputs.push_back(out);
      continue;
    }
    bool valid = autoPad == "VALID";
    const int64_t low = valid ? 0 : pads[i], high = valid ? 0 : pads[rank + i];
    windows.padLow.push_back(number(low));
    windows.padHigh.push_back(number(high));
    Dim space = addDims(size, number(low + high - extent));
    if (auto known = staticDim(space); known && *known < 0)
      failBadInput("impossible shape: a window of " + llvm::Twine(extent) + " does not fit " +
                   describeDims({size}) + " with pads " + llvm::Twine(low) + " and " +
                   llvm::Twine(high));
    Dim out = addDims(windows.ceilMode ? ceilDivDims(space, stride) : floorDivDims(space, stride),
                      number(1));
    if (windows.ceilMode) {
      // A window that starts in the padding after the end is left out.
      Dim lastStart = mulDims(subDims(out, number(1)), stride);
      Dim end = addDims(size, number(low));
      if (staticDim(lastStart) && staticDim(end)) {
        if (*staticDim(lastStart) >= *staticDim(end))
          out = subDims(out, number(1));
      } else if (windows.strides[i] > extent - high) {
        failUnsupported("ceil_mode over a dynamic dimension with such pads");
      }
    }
    windows.outputs.push_back(out);
  }
  return windows;
}

Tensor addChannelBias(ImportContext &import, const Tensor &in, const Tensor &bias) {
  if (bias.rank() != 1 || (bias.dims[0] != in.dims[1] && staticDim(in.dims[1])))
    failBadInput("the bias has the shape " + describeDims(bias.dims) +
                 "; it needs one value for each of " + describeDims({in.dims[1]}) + " channels");
  GenericSpec spec;
  const unsigned rank = in.rank();
  spec.reduction.assign(rank, false);
  spec.resultType = in.type;
  spec.resultDims = in.dims;
  spec.inputs.push_back({in, mlir::AffineMap::getMultiDimIdentityMap(rank, import.mlirContext())});
  spec.inputs.push_back({bias, import.map(rank, {import.loop(1)})});
  spec.body = [](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar) { return b.add(x[0], x[1]); };
  return import.generic(spec);
}

namespace {

Number zeroOf(DType type) {
  Number zero;
  if (isFloat(type))
    zero.f = 0;
  else
    zero.i = 0;
  return zero;
}

void importConv(ImportContext &import, const Node &node) {
  importConvolution(import, node, std::nullopt, std::nullopt, node);
}

// y[n, oc, o] = sum over ic, k of padded(x)[n, g * ICg + ic, k * inputStep...]: the transposed
// convolution in its gather form. Output position o takes input i and kernel tap k where
// o + padLow = i * stride + k * dilation; a tap that hits no input contributes nothing.
void importConvTranspose(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0), filter = import.input(node, 1);
  if (x.rank() < 3 || filter.rank() != x.rank())
    failBadInput("the input " + describeDims(x.dims) + " and the filter " +
                 describeDims(filter.dims) + " must have the same rank of at least 3");
  const size_t spatial = x.rank() - 2;
  llvm::SmallVector<int64_t> filterDims = staticDims(filter.dims, "the filter");
  Windows w;
  readKernelAttributes(node, spatial, llvm::ArrayRef<int64_t>(filterDims).drop_front(2), w);
  const int64_t group = node.intAttribute("group", 1);
  if (group < 1 || filterDims[0] % group != 0)
    failBadInput("group " + llvm::Twine(group) + " does not divide " + llvm::Twine(filterDims[0]) +
                 " channels");
  if (auto channels = staticDim(x.dims[1]); channels && *channels != filterDims[0])
    failBadInput("the input has " + llvm::Twine(*channels) + " channels, the filter is for " +
                 llvm::Twine(filterDims[0]));
  const int64_t inPerGroup = filterDims[0] / group, outPerGroup = filterDims[1];
  auto outputPadding =
      node.intsAttribute("output_padding").value_or(llvm::SmallVector<int64_t>(spatial, 0));
  auto pads = node.intsAttribute("pads").value_or(llvm::SmallVector<int64_t>(2 * spatial, 0));
  auto outputShape = node.intsAttribute("output_shape");
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  if (outputPadding.size() != spatial || pads.size() != 2 * spatial)
    failBadInput("pads or output_padding have the wrong number of entries");
  if (outputShape && outputShape->size() == spatial + 2)
    outputShape->erase(outputShape->begin(), outputShape->begin() + 2);
  if (outputShape && outputShape->size() != spatial)
    failBadInput("output_shape has the wrong number of entries");

  const unsigned loops = 2 + spatial + 1 + spatial;
  GenericSpec spec;
  spec.reduction.assign(loops, false);
  for (unsigned i = 2 + spatial; i < loops; ++i)
    spec.reduction[i] = true;
  spec.resultType = x.type;
  spec.resultDims = {x.dims[0], import.number(outPerGroup * group)};
  llvm::SmallVector<int64_t> low(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    Dim full =
        addDims(mulDims(subDims(x.dims[2 + i], import.number(1)), import.number(w.strides[i])),
                import.number(w.extent(i) + outputPadding[i]));
    low[i] = pads[i];
    Dim out = subDims(full, import.number(pads[i] + pads[spatial + i]));
    bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
    if (outputShape || same) {
      out = outputShape ? import.number((*outputShape)[i])
                        : mulDims(x.dims[2 + i], import.number(w.strides[i]));
      auto total = staticDim(subDims(full, out));
      if (!total)
        failUnsupported("output_shape over dynamic dimensions");
      int64_t all = std::max<int64_t>(*total, 0);
      low[i] = autoPad == "SAME_UPPER" ? all / 2 : all - all / 2;
    } else if (autoPad == "VALID") {
      low[i] = 0;
      out = full;
    }
    if (auto known = staticDim(out); known && *known < 1)
      failBadInput("impossible shape: an output of " + llvm::Twine(*known));
    spec.resultDims.push_back(out);
  }
  llvm::SmallVector<mlir::AffineExpr> results, filterExprs;
  for (unsigned i = 0; i < 2 + spatial; ++i)
    results.push_back(import.loop(i));
  spec.resultMap = import.map(loops, results);
  mlir::AffineExpr outChannel = import.loop(1), inner = import.loop(2 + spatial);
  mlir::AffineExpr groupIndex = outChannel.floorDiv(outPerGroup);
  filterExprs.push_back(group == 1 ? inner : groupIndex * inPerGroup + inner);
  filterExprs.push_back(group == 1 ? outChannel : outChannel % outPerGroup);
  for (size_t i = 0; i < spatial; ++i)
    filterExprs.push_back(import.loop(3 + spatial + i));
  llvm::SmallVector<int64_t> windowDims{inPerGroup};
  windowDims.append(w.kernel.begin(), w.kernel.end());
  llvm::SmallVector<mlir::AffineExpr> windowExprs;
  for (unsigned i = 2 + spatial; i < loops; ++i)
    windowExprs.push_back(import.loop(i));
  spec.inputs.push_back({filter, import.map(loops, filterExprs)});
  spec.inputs.push_back({import.window(windowDims, x.type), import.map(loops, windowExprs)});
  spec.captured.push_back(x);
  spec.usesDims = !allStatic(x.dims);
  spec.init = zeroOf(x.type);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar sum) {
    auto number = [&](int64_t value) { return b.constantInt(DType::Index, value); };
    Scalar channel = b.loopIndex(2 + spatial);
    if (group > 1) {
      Scalar g = b.div(b.loopIndex(1), number(outPerGroup));
      channel = b.add(b.mul(g, number(inPerGroup)), channel);
    }
    llvm::SmallVector<Scalar> indices{b.loopIndex(0), channel};
    std::optional<Scalar> hits;
    for (size_t i = 0; i < spatial; ++i) {
      Scalar tap = b.mul(b.loopIndex(3 + spatial + i), number(w.dilations[i]));
      Scalar at = b.sub(b.add(b.loopIndex(2 + i), number(low[i])), tap);
      Scalar position = b.div(at, number(w.strides[i])); // towards zero: at < 0 is masked below
      Scalar inside = b.compare(Compare::GreaterEqual, at, number(0));
      Scalar below = b.compare(Compare::Less, position, b.dimension(x.dims[2 + i]));
      Scalar hit = b.andBits(inside, below);
      if (w.strides[i] > 1)
        hit = b.andBits(hit, b.compare(Compare::Equal, b.mul(position, number(w.strides[i])), at));
      hits = hits ? b.andBits(*hits, hit) : hit;
      Scalar last = b.sub(b.dimension(x.dims[2 + i]), number(1));
      indices.push_back(b.clamp(position, number(0), last));
    }
    Scalar element = b.select(*hits, b.extract(0, indices), b.constant(x.type, 0));
    return b.add(sum, b.mul(element, in[0]));
  };
  Tensor y = import.generic(spec);
  if (auto bias = import.optionalInput(node, 2))
    y = addChannelBias(import, y, *bias);
  import.setOutput(node, 0, y);
}

} // namespace

Tensor convolve(ImportContext &import, const Node &node, const Tensor &x, const Tensor &filter,
                const ConvolutionSum &sum) {
  if (x.rank() < 3 || filter.rank() != x.rank())
    failBadInput("the input " + describeDims(x.dims) + " and the filter " +
                 describeDims(filter.dims) + " must have the same rank of at least 3");
  const unsigned spatial = x.rank() - 2;
  llvm::SmallVector<int64_t> filterDims = staticDims(filter.dims, "the filter");
  Windows w = readWindows(node, x.dims, llvm::ArrayRef<int64_t>(filterDims).drop_front(2));
  const int64_t group = node.intAttribute("group", 1);
  const int64_t outChannels = filterDims[0], inPerGroup = filterDims[1];
  if (group < 1 || outChannels % group != 0)
    failBadInput("group " + llvm::Twine(group) + " does not divide " + llvm::Twine(outChannels) +
                 " output channels");
  auto channels = staticDim(x.dims[1]);
  if (channels &&
      import.number(*channels) != mulDims(import.number(inPerGroup), import.number(group)))
    failBadInput("the input has " + llvm::Twine(*channels) + " channels, but the filter " +
                 describeDims(filter.dims) + " in " + llvm::Twine(group) + " groups needs " +
                 llvm::Twine(inPerGroup * group));

  llvm::SmallVector<Dim> low(2, import.number(0)), high(2, import.number(0));
  low.append(w.padLow);
  high.append(w.padHigh);
  Tensor input = import.pad(x, low, high, sum.padding);

  // Loops: n, oc, output positions; then ic where a group has several, and kernel taps.
  const bool dropChannel = inPerGroup == 1;
  const unsigned firstTap = 2 + spatial + (dropChannel ? 0 : 1), loops = firstTap + spatial;
  const int64_t outPerGroup = outChannels / group;
  mlir::AffineExpr outChannel = import.loop(1), inner = import.loop(2 + spatial);
  mlir::AffineExpr inChannel = inner;
  if (dropChannel)
    inChannel = group == 1 ? import.number(0) : outChannel.floorDiv(outPerGroup);
  else if (group > 1)
    inChannel = outChannel.floorDiv(outPerGroup) * inPerGroup + inner;
  llvm::SmallVector<mlir::AffineExpr> inputExprs{import.loop(0), inChannel};
  llvm::SmallVector<mlir::AffineExpr> filterExprs{outChannel,
                                                  dropChannel ? import.number(0) : inner};
  llvm::SmallVector<mlir::AffineExpr> results{import.loop(0), outChannel};
  GenericSpec spec;
  spec.resultDims = {x.dims[0], import.number(outChannels)};
  for (unsigned i = 0; i < spatial; ++i) {
    mlir::AffineExpr tap = import.loop(firstTap + i);
    inputExprs.push_back(import.loop(2 + i) * w.strides[i] + tap * w.dilations[i]);
    filterExprs.push_back(tap);
    results.push_back(import.loop(2 + i));
    spec.resultDims.push_back(w.outputs[i]);
  }
  spec.reduction.assign(loops, false);
  for (unsigned i = 2 + spatial; i < loops; ++i)
    spec.reduction[i] = true;
  spec.resultType = sum.resultType;
  spec.resultMap = import.map(loops, results);
  spec.init = zeroOf(sum.resultType);
  spec.inputs.push_back({input, import.map(loops, inputExprs)});
  spec.inputs.push_back({filter, import.map(loops, filterExprs)});
  for (const Tensor &parameter : sum.perChannel)
    spec.inputs.push_back({parameter, parameter.rank() == 0 ? import.map(loops, {})
                                                            : import.map(loops, {outChannel})});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar total) {
    return b.add(total, sum.term ? sum.term(b, in) : b.mul(in[0], in[1]));
  };
  return import.generic(spec);
}

void importConvolution(ImportContext &import, const Node &node, std::optional<Tensor> givenFilter,
                       std::optional<Tensor> givenBias, const Node &output) {
  Tensor x = import.input(node, 0);
  Tensor filter = givenFilter ? *givenFilter : import.input(node, 1);
  std::optional<Tensor> bias = givenFilter ? givenBias : import.optionalInput(node, 2);
  if (x.type != filter.type)
    failBadInput("the input is " + dtypeName(x.type) + ", but the filter " +
                 dtypeName(filter.type));
  Tensor y = convolve(import, node, x, filter, {x.type, zeroOf(x.type)});
  if (bias)
    y = addChannelBias(import, y, *bias);
  import.setOutput(output, 0, y);
}

void addConvOperators(OperatorTable &table) {
  table["Conv"] = importConv;
  table["ConvTranspose"] = importConvTranspose;
}

} // namespace gantry::importer
