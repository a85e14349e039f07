// Implements conv.h, and imports Conv.
#include "codegen/import/onnx/operators/conv.h"

#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/operators/windows.h"
#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

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

void importConv(ImportContext &import, const Node &node) {
  importConvolution(import, node, std::nullopt, std::nullopt, node);
}

} // namespace

Tensor convolve(ImportContext &import, const Node &node, const Tensor &x, const Tensor &filter,
                const ConvolutionSum &sum) {
  if (x.rank() < 3 || filter.rank() != x.rank())
    failBadInput("the input " + describeDims(x.dims) + " and the filter " +
                 describeDims(filter.dims) + " must have the same rank of at least 3");
  llvm::SmallVector<int64_t> filterDims = staticDims(filter.dims, "the filter");
  const Windows windows =
      readWindows(node, x.dims, llvm::ArrayRef<int64_t>(filterDims).drop_front(2));
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
  return convolve(import, x, filter, windows, group, sum);
}

// If the channels of a group do not divide into whole vectors, a loop over the output channels of
// all groups would have vectors that extend over two groups, which read different input channels.
// Images avoid this, because an image has the channels of one group. A dynamic number of channels
// cannot be divided among images.
bool groupsBecomeImages(Dim channels, int64_t group, int64_t inPerGroup, int64_t outPerGroup) {
  constexpr int64_t kVector = 4; // Elements that a kernel loads or stores at once.
  return staticDim(channels) && group > 1 && inPerGroup > 1 &&
         (inPerGroup % kVector != 0 || outPerGroup % kVector != 0);
}

Tensor imagesOfGroups(ImportContext &import, const Tensor &x, int64_t group, int64_t inPerGroup) {
  Dims dims{mulDims(x.dims[0], import.number(group)), import.number(inPerGroup)};
  dims.append(x.dims.begin() + 2, x.dims.end());
  return reshape(import, x, dims);
}

namespace {

/// Implements convolve() and, with asImages, convolveImages().
Tensor sumWindows(ImportContext &import, const Tensor &x, const Tensor &filter, const Windows &w,
                  int64_t group, bool asImages, const ConvolutionSum &sum) {
  const unsigned spatial = x.rank() - 2;
  const llvm::SmallVector<int64_t> filterDims = staticDims(filter.dims, "the filter");
  const int64_t outChannels = filterDims[0], inPerGroup = filterDims[1];
  const int64_t outPerGroup = outChannels / group;
  llvm::SmallVector<Dim> low(2, import.number(0)), high(2, import.number(0));
  low.append(w.padLow);
  high.append(w.padHigh);
  Tensor input = pad(import, x, low, high, sum.padding);

  // Loops: image n, output channel oc, output positions, then input channel ic if a group has
  // several input channels, then the kernel's taps.
  const bool dropChannel = inPerGroup == 1;
  const unsigned firstTap = 2 + spatial + (dropChannel ? 0 : 1), loops = firstTap + spatial;
  mlir::AffineExpr image = import.loop(0), outChannel = import.loop(1);
  mlir::AffineExpr inner = import.loop(2 + spatial), inChannel = inner;
  mlir::AffineExpr filterChannel = outChannel; // The output channel, counted over all groups.
  if (asImages)
    filterChannel = (image % group) * outPerGroup + outChannel;
  else if (dropChannel)
    inChannel = group == 1 ? import.number(0) : outChannel.floorDiv(outPerGroup);
  else if (group > 1)
    inChannel = outChannel.floorDiv(outPerGroup) * inPerGroup + inner;
  llvm::SmallVector<mlir::AffineExpr> inputExprs{image, inChannel};
  llvm::SmallVector<mlir::AffineExpr> filterExprs{filterChannel,
                                                  dropChannel ? import.number(0) : inner};
  llvm::SmallVector<mlir::AffineExpr> results{image, outChannel};
  GenericSpec spec;
  spec.resultDims = {input.dims[0], import.number(asImages ? outPerGroup : outChannels)};
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
  spec.init = numberOf(sum.resultType, 0);
  spec.inputs.push_back({input, import.map(loops, inputExprs)});
  spec.inputs.push_back({filter, import.map(loops, filterExprs)});
  for (const Tensor &parameter : sum.perChannel)
    spec.inputs.push_back({parameter, parameter.rank() == 0 ? import.map(loops, {})
                                                            : import.map(loops, {filterChannel})});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar total) {
    return b.add(total, sum.term ? sum.term(b, in) : b.mul(in[0], in[1]));
  };
  return import.generic(spec);
}

} // namespace

Tensor convolveImages(ImportContext &import, const Tensor &images, const Tensor &filter,
                      const Windows &w, int64_t group, const ConvolutionSum &sum) {
  return sumWindows(import, images, filter, w, group, true, sum);
}

Tensor convolve(ImportContext &import, const Tensor &x, const Tensor &filter, const Windows &w,
                int64_t group, const ConvolutionSum &sum) {
  const llvm::SmallVector<int64_t> filterDims = staticDims(filter.dims, "the filter");
  const int64_t outChannels = filterDims[0], inPerGroup = filterDims[1];
  if (!groupsBecomeImages(x.dims[1], group, inPerGroup, outChannels / group))
    return sumWindows(import, x, filter, w, group, false, sum);
  Dims dims{x.dims[0], import.number(outChannels)};
  dims.append(w.outputs.begin(), w.outputs.end());
  const Tensor images = imagesOfGroups(import, x, group, inPerGroup);
  return reshape(import, convolveImages(import, images, filter, w, group, sum), dims);
}

void importConvolution(ImportContext &import, const Node &node, std::optional<Tensor> givenFilter,
                       std::optional<Tensor> givenBias, const Node &output) {
  Tensor x = import.input(node, 0);
  Tensor filter = givenFilter ? *givenFilter : import.input(node, 1);
  std::optional<Tensor> bias = givenFilter ? givenBias : import.optionalInput(node, 2);
  if (x.type != filter.type)
    failBadInput("the input is " + dtypeName(x.type) + ", but the filter is " +
                 dtypeName(filter.type));
  Tensor y = convolve(import, node, x, filter, {x.type, numberOf(x.type, 0)});
  if (bias)
    y = addChannelBias(import, y, *bias);
  import.setOutput(output, 0, y);
}

void addConvOperators(OperatorTable &table) { table["Conv"] = importConv; }

} // namespace gantry::importer
