// Imports ConvTranspose as ordinary convolutions, one for each phase of the output.
//
// y[n, oc, o] = sum over ic and k of x[n, ic, i] * filter[ic, oc, k], where n is the batch, oc and
// ic are channels, o and i are positions in the output and the input, k is the kernel's tap, and
// o + padLow = i * stride + k * dilation.
//
// Along one axis, let o + padLow = row * stride + phase with 0 <= phase < stride. A tap k
// contributes to a phase if k * dilation - phase is a multiple of the stride. This holds for no
// tap, or for every `step`-th tap from some first one on, where step is
// stride / gcd(stride, dilation). Such a tap reads x at i = row + (phase - k * dilation) / stride.
// Each phase is thus a convolution with stride 1 over the reversed taps, and no multiplication by
// zero is computed. (V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning",
// 2016; W. Shi et al., "Is the deconvolution layer the same as a convolutional layer?", 2016.)
//
// If the dilation is 1 and the stride divides the kernel's size, all phases read x at the same
// positions relative to their rows. If the stride also divides the output's sizes and the padding
// before the data, and there are one group and at most two axes, the phases are computed as one
// sum, with loops over the phases. Otherwise, if the stride divides the output's sizes, a
// gantry.concat interleaves the phases. It copies nothing: the convolutions of the phases write
// their elements of the output directly (codegen/dialect/GantryOps.td). In other cases, and for few
// channels, the results of the phases are concatenated along the channels, and one operator moves
// them to their places. Phases that read x at the same positions are then one convolution with more
// output channels.
//
// If ImportOptions::savesMemory is set and there are several phases, one operator computes y by the
// formula at the start of this comment instead. It needs no memory for the results of the phases,
// but multiplies by zero where a tap has no input position.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/operators/conv.h"
#include "codegen/import/onnx/registry.h"

#include <numeric>

namespace gantry::importer {

namespace {

struct TransposedConv {
  Tensor x, filter;
  size_t spatial = 0; // Number of spatial dimensions.
  Windows windows;
  int64_t group = 1, inPerGroup = 0, outPerGroup = 0; // The last two: channels of one group.
  llvm::SmallVector<int64_t> padLow;
  Dims outputs; // Spatial sizes of the result.

  // The numbers of the loops in loopsOf().
  unsigned channelLoop() const { return 2 + spatial; }
  unsigned tapLoop(size_t axis) const { return 3 + spatial + axis; }
  unsigned loopCount() const { return 3 + 2 * spatial; }

  /// The row and the phase of output position 0 along an axis.
  int64_t firstRow(size_t axis) const {
    return (padLow[axis] - firstPhase(axis)) / windows.strides[axis];
  }
  int64_t firstPhase(size_t axis) const {
    const int64_t stride = windows.strides[axis];
    return (padLow[axis] % stride + stride) % stride;
  }
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
  const llvm::SmallVector<int64_t> pads = readPads(node, spatial);
  auto outputShape = node.intsAttribute("output_shape");
  const std::string autoPad = readAutoPad(node);
  const bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (outputPadding.size() != spatial)
    failBadInput("output_padding has " + llvm::Twine(outputPadding.size()) + " entries; it needs " +
                 llvm::Twine(spatial));
  for (const int64_t padding : outputPadding)
    if (padding < 0)
      failBadInput("output_padding must not be negative, but has " + llvm::Twine(padding));
  if (outputShape && outputShape->size() == spatial + 2) // Some exporters include N and C.
    outputShape->erase(outputShape->begin(), outputShape->begin() + 2);
  if (outputShape && outputShape->size() != spatial)
    failBadInput("output_shape has " + llvm::Twine(outputShape->size()) + " entries; it needs " +
                 llvm::Twine(spatial));

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
      failBadInput("impossible shape: spatial dimension " + llvm::Twine(i) +
                   " of the output would have the size " + llvm::Twine(*known));
    conv.padLow.push_back(low);
    conv.outputs.push_back(out);
  }
}

// ---- The sum in one operator ----

/// Returns the sum over channels and taps as a generic without a body. The caller's body reads x,
/// which is captured, at positions that it computes. Loops: n, oc, output positions, then ic within
/// the group, then the kernel's taps.
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

/// Returns the element of x for a point of the iteration space; 0 if the tap has no input position.
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

Tensor sumInOneOperator(ImportContext &import, const TransposedConv &conv) {
  GenericSpec spec = loopsOf(import, conv);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar sum) {
    return b.add(sum, b.mul(inputElement(b, conv), in[0]));
  };
  return import.generic(spec);
}

// ---- The sum in phases ----

/// The taps that contribute to a phase along one axis, in ascending order.
struct Taps {
  int64_t first = 0, step = 1, count = 0; // In taps of the filter.
  /// The position in x, relative to the row of the phase, that the last tap reads. Each earlier tap
  /// reads the position that is `dilation` after that of the next tap.
  int64_t start = 0, dilation = 1;
  bool operator==(const Taps &other) const {
    return count == other.count && start == other.start && dilation == other.dilation;
  }
};

Taps tapsOf(const Windows &windows, size_t axis, int64_t phase) {
  const int64_t stride = windows.strides[axis], dilation = windows.dilations[axis];
  Taps taps;
  taps.step = stride / std::gcd(stride, dilation);
  taps.dilation = taps.step * dilation / stride;
  while (taps.first < windows.kernel[axis] && (phase - taps.first * dilation) % stride != 0)
    ++taps.first;
  if (taps.first >= windows.kernel[axis])
    return taps; // No tap contributes.
  taps.count = (windows.kernel[axis] - 1 - taps.first) / taps.step + 1;
  taps.start = (phase - taps.first * dilation) / stride - (taps.count - 1) * taps.dilation;
  return taps;
}

/// A phase of the output. remainders[axis] is the `phase` of the comment at the start of this file;
/// taps[axis] are the taps that contribute to it.
struct Phase {
  llvm::SmallVector<int64_t> remainders;
  llvm::SmallVector<Taps> taps;
  bool isEmpty() const {
    return llvm::any_of(taps, [](const Taps &axis) { return axis.count == 0; });
  }
};

/// Returns the phases in row-major order of their remainders.
std::vector<Phase> phasesOf(const TransposedConv &conv) {
  std::vector<Phase> phases(1);
  for (size_t axis = 0; axis < conv.spatial; ++axis) {
    std::vector<Phase> next;
    for (const Phase &phase : phases)
      for (int64_t r = 0; r < conv.windows.strides[axis]; ++r) {
        next.push_back(phase);
        next.back().remainders.push_back(r);
        next.back().taps.push_back(tapsOf(conv.windows, axis, r));
      }
    phases = std::move(next);
  }
  return phases;
}

/// Returns the part of the filter for a phase, as the filter of an ordinary convolution: [output
/// channels, input channels of a group, taps...].
Tensor filterOf(ImportContext &import, const TransposedConv &conv, const Phase &phase) {
  Dims starts(2, import.number(0)), sizes(conv.filter.dims.begin(), conv.filter.dims.begin() + 2);
  llvm::SmallVector<int64_t> steps(2, 1), order{0, 2, 1};
  Dims grouped{import.number(conv.group), import.number(conv.inPerGroup),
               import.number(conv.outPerGroup)};
  Dims result{import.number(conv.group * conv.outPerGroup), import.number(conv.inPerGroup)};
  for (const Taps &taps : phase.taps) {
    starts.push_back(import.number(taps.first + (taps.count - 1) * taps.step));
    sizes.push_back(import.number(taps.count));
    steps.push_back(-taps.step);
    order.push_back(static_cast<int64_t>(order.size()));
    grouped.push_back(sizes.back());
    result.push_back(sizes.back());
  }
  Tensor part = slice(import, conv.filter, starts, sizes, steps);
  return reshape(import, transpose(import, reshape(import, part, grouped), order), result);
}

/// The rows of a phase that are computed, along each axis.
struct Rows {
  llvm::SmallVector<int64_t> first; // The first `row`, as the start of this file defines it.
  Dims count;
};

/// Returns the part of x that the phase's windows read, with zeros where the windows extend beyond
/// x.
Tensor operandOf(ImportContext &import, const TransposedConv &conv, const Phase &phase,
                 const Rows &rows) {
  Dims low(2, import.number(0)), high = low, starts = low;
  Dims sizes(conv.x.dims);
  for (size_t axis = 0; axis < conv.spatial; ++axis) {
    const Taps &taps = phase.taps[axis];
    const int64_t begin = rows.first[axis] + taps.start;
    const Dim end =
        addDims(rows.count[axis], import.number(begin + (taps.count - 1) * taps.dilation));
    const Dim beyond = subDims(end, conv.x.dims[2 + axis]);
    const std::optional<int64_t> known = staticDim(beyond);
    if (!known)
      failUnsupported("a padding that depends on dynamic dimensions is not supported");
    low.push_back(import.number(std::max<int64_t>(-begin, 0)));
    high.push_back(import.number(std::max<int64_t>(*known, 0)));
    starts.push_back(import.number(std::max<int64_t>(begin, 0)));
    sizes[2 + axis] = subDims(subDims(sizes[2 + axis], starts.back()),
                              import.number(std::max<int64_t>(-*known, 0)));
  }
  const llvm::SmallVector<int64_t> steps(conv.x.rank(), 1);
  return pad(import, slice(import, conv.x, starts, sizes, steps), low, high,
             numberOf(conv.x.type, 0));
}

/// Returns the convolution of one or several phases that read the same elements of x. asImages:
/// each group is an image of its own, in conv.x (made by imagesOfGroups()) and in the result.
Tensor convolvePhases(ImportContext &import, const TransposedConv &conv,
                      llvm::ArrayRef<Phase> phases, const Rows &rows, bool asImages = false) {
  llvm::SmallVector<Tensor> filters;
  for (const Phase &phase : phases)
    filters.push_back(filterOf(import, conv, phase));
  Windows windows;
  windows.outputs.assign(rows.count.begin(), rows.count.end());
  windows.padLow.assign(conv.spatial, import.number(0));
  windows.padHigh = windows.padLow;
  windows.strides.assign(conv.spatial, 1);
  for (const Taps &taps : phases.front().taps) {
    windows.kernel.push_back(taps.count);
    windows.dilations.push_back(taps.dilation);
  }
  const Tensor operand = operandOf(import, conv, phases.front(), rows);
  const Tensor filter = concat(import, filters, 0);
  const ConvolutionSum sum{conv.x.type, numberOf(conv.x.type, 0)};
  return asImages ? convolveImages(import, operand, filter, windows, conv.group, sum)
                  : convolve(import, operand, filter, windows, conv.group, sum);
}

/// Returns whether the phases may be computed together: they are computed at run time, each has
/// taps, and all have the same, known number of rows.
bool canJoinPhases(ImportContext &import, const TransposedConv &conv,
                   llvm::ArrayRef<Phase> phases) {
  if (phases.size() == 1 || llvm::any_of(phases, std::mem_fn(&Phase::isEmpty)) ||
      conv.x.isConstant() || import.foldsEverything())
    return false;
  return llvm::all_of(llvm::seq<size_t>(0, conv.spatial), [&](size_t axis) {
    const std::optional<int64_t> size = staticDim(conv.outputs[axis]);
    return size && *size % conv.windows.strides[axis] == 0;
  });
}

/// Returns whether interleavePhases() is faster than one convolution for all phases. isOne: all
/// phases read the same elements of x; otherwise one convolution is not possible.
bool paysToInterleave(const TransposedConv &conv, bool isOne) {
  // With few output channels, one convolution for all phases is faster, because it loads x once.
  // Measured for 64 input channels at 28 x 28 with kernels of 2 and 4 and stride 2: for 3, 8 and 12
  // output channels one convolution takes 0.53 to 0.92 of the time of interleaved ones, for 4, 16
  // and 32 it takes 0.88 to 1.24.
  constexpr int64_t kMinChannels = 16;
  return !isOne || conv.outPerGroup * conv.group >= kMinChannels;
}

/// Moves the elements of the phases to their places in the output. phases: has the dimensions n,
/// oc, and for each axis the row and, unless the stride is 1, the phase.
Tensor unfold(ImportContext &import, const TransposedConv &conv, const Tensor &phases) {
  const auto rank = static_cast<unsigned>(conv.x.rank());
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = conv.x.type;
  spec.resultDims = {conv.x.dims[0], import.number(conv.outPerGroup)};
  spec.resultDims.append(conv.outputs);
  llvm::SmallVector<mlir::AffineExpr> exprs{import.loop(0), import.loop(1)};
  for (unsigned axis = 0; axis < conv.spatial; ++axis) {
    const mlir::AffineExpr at = import.loop(2 + axis);
    const int64_t stride = conv.windows.strides[axis];
    exprs.push_back(at.floorDiv(stride));
    if (stride > 1)
      exprs.push_back(at % stride);
  }
  spec.inputs.push_back({phases, import.map(rank, exprs)});
  spec.body = [](BodyBuilder &, llvm::ArrayRef<Scalar> x, Scalar) { return x[0]; };
  return import.generic(spec);
}

/// Returns the filters of all phases with the dimensions oc, phase, ic, taps.
Tensor filtersByChannel(ImportContext &import, const TransposedConv &conv,
                        llvm::ArrayRef<Phase> phases) {
  llvm::SmallVector<Tensor> filters;
  for (const Phase &phase : phases) {
    const Tensor filter = filterOf(import, conv, phase);
    Dims apart = filter.dims;
    apart.insert(apart.begin() + 1, import.number(1));
    filters.push_back(reshape(import, filter, apart));
  }
  return concat(import, filters, 1);
}

/// Computes all phases in one sum with loops over n, oc, for each axis the row and, unless the
/// stride is 1, the phase, then ic and the taps. Returns the output. The phases must have equal
/// rows and read the same elements of x, and output position 0 must belong to phase 0.
Tensor sumInPhases(ImportContext &import, const TransposedConv &conv,
                   llvm::ArrayRef<Phase> phases) {
  const auto spatial = static_cast<unsigned>(conv.spatial);
  const bool hasChannels = conv.inPerGroup > 1;
  const auto split = static_cast<unsigned>(
      llvm::count_if(conv.windows.strides, [](int64_t stride) { return stride > 1; }));
  const unsigned channelLoop = 2 + spatial + split;
  const unsigned firstTap = channelLoop + (hasChannels ? 1 : 0), loops = firstTap + spatial;
  const mlir::AffineExpr channel = hasChannels ? import.loop(channelLoop) : import.number(0);
  Rows rows;
  GenericSpec spec;
  spec.resultType = conv.x.type;
  spec.resultDims = {conv.x.dims[0], import.number(conv.outPerGroup)};
  Dims filterDims{import.number(conv.outPerGroup)};
  llvm::SmallVector<mlir::AffineExpr> results{import.loop(0), import.loop(1)};
  llvm::SmallVector<mlir::AffineExpr> inputs{import.loop(0), channel}, filters{import.loop(1)};
  for (unsigned axis = 0; axis < spatial; ++axis) {
    const Dim stride = import.number(conv.windows.strides[axis]);
    const mlir::AffineExpr row = import.loop(static_cast<unsigned>(results.size()));
    rows.first.push_back(conv.firstRow(axis));
    rows.count.push_back(ceilDivDims(conv.outputs[axis], stride));
    spec.resultDims.push_back(rows.count.back());
    results.push_back(row);
    inputs.push_back(row + import.loop(firstTap + axis) * phases.front().taps[axis].dilation);
    if (conv.windows.strides[axis] == 1)
      continue;
    const mlir::AffineExpr phase = import.loop(static_cast<unsigned>(results.size()));
    spec.resultDims.push_back(stride);
    results.push_back(phase);
    filters.push_back(phase);
    filterDims.push_back(stride);
  }
  filters.push_back(channel);
  filterDims.push_back(import.number(conv.inPerGroup));
  for (unsigned axis = 0; axis < spatial; ++axis) {
    filters.push_back(import.loop(firstTap + axis));
    filterDims.push_back(import.number(phases.front().taps[axis].count));
  }
  spec.reduction.assign(loops, false);
  std::fill(spec.reduction.begin() + channelLoop, spec.reduction.end(), true);
  spec.resultMap = import.map(loops, results);
  spec.init = numberOf(conv.x.type, 0);
  spec.inputs.push_back({operandOf(import, conv, phases.front(), rows), import.map(loops, inputs)});
  spec.inputs.push_back({reshape(import, filtersByChannel(import, conv, phases), filterDims),
                         import.map(loops, filters)});
  spec.body = [](BodyBuilder &b, llvm::ArrayRef<Scalar> in, Scalar total) {
    return b.add(total, b.mul(in[0], in[1]));
  };
  return unfold(import, conv, import.generic(spec));
}

/// Computes each phase as a convolution, adds the bias to each, and interleaves the phases with
/// gantry.concat. The concat's inputs must be results of operators, which then write into its
/// result; reshapes are no operators. convolve() ends with a reshape if groups become images
/// (groupsBecomeImages()). If a bias is added after it, the addition is the operator. Without a
/// bias, the images themselves are interleaved, and the result of the concat is reshaped.
Tensor interleavePhases(ImportContext &import, const TransposedConv &given,
                        llvm::ArrayRef<Phase> phases, const std::optional<Tensor> &bias) {
  TransposedConv conv = given;
  const bool asImages =
      !bias && groupsBecomeImages(conv.x.dims[1], conv.group, conv.inPerGroup, conv.outPerGroup);
  if (asImages)
    conv.x = imagesOfGroups(import, conv.x, conv.group, conv.inPerGroup);
  // The convolutions for each position in the output modulo the strides, in row-major order.
  llvm::SmallVector<Tensor> results;
  llvm::SmallVector<int64_t> position(conv.spatial, 0);
  for (size_t count = phases.size(); results.size() < count;) {
    Rows rows;
    size_t phase = 0;
    for (size_t axis = 0; axis < conv.spatial; ++axis) {
      const int64_t stride = conv.windows.strides[axis], at = position[axis] + conv.padLow[axis];
      rows.first.push_back(llvm::divideFloorSigned(at, stride));
      rows.count.push_back(ceilDivDims(conv.outputs[axis], import.number(stride)));
      phase = phase * stride + (at - rows.first.back() * stride);
    }
    Tensor result = convolvePhases(import, conv, phases[phase], rows, asImages);
    results.push_back(bias ? addChannelBias(import, result, *bias) : result);
    for (size_t axis = conv.spatial; axis-- > 0;) {
      if (++position[axis] < conv.windows.strides[axis])
        break;
      position[axis] = 0;
    }
  }
  for (size_t axis = conv.spatial; axis-- > 0;) {
    const int64_t stride = conv.windows.strides[axis];
    if (stride == 1)
      continue;
    llvm::SmallVector<Tensor> joined;
    for (size_t first = 0; first < results.size(); first += stride) {
      llvm::SmallVector<mlir::Value> inputs;
      for (const Tensor &input : llvm::ArrayRef(results).slice(first, stride))
        inputs.push_back(import.valueOf(input));
      Dims dims = results[first].dims;
      dims[2 + axis] = conv.outputs[axis];
      mlir::Value whole = import.builder().create<codegen::ConcatOp>(
          import.location(), import.tensorType(conv.x.type, dims), inputs,
          static_cast<int64_t>(2 + axis), /*interleaved=*/true);
      joined.push_back(import.fromValue(conv.x.type, dims, whole));
    }
    results = std::move(joined);
  }
  Dims dims{given.x.dims[0], import.number(conv.outPerGroup * conv.group)};
  dims.append(conv.outputs);
  return asImages ? reshape(import, results.front(), dims) : results.front();
}

/// Moves the rows of the phases to their places in the output, with one operator. phases: [n, phase
/// * channels + channel, rows...].
Tensor interleave(ImportContext &import, const TransposedConv &conv, const Tensor &phases) {
  const unsigned rank = phases.rank();
  mlir::AffineExpr phase = import.number(0);
  llvm::SmallVector<mlir::AffineExpr> exprs{import.loop(0), mlir::AffineExpr()};
  for (size_t axis = 0; axis < conv.spatial; ++axis) {
    const int64_t stride = conv.windows.strides[axis];
    const mlir::AffineExpr at = import.loop(2 + axis) + conv.firstPhase(axis);
    phase = phase * stride + at % stride;
    exprs.push_back(at.floorDiv(stride));
  }
  exprs[1] = phase * (conv.outPerGroup * conv.group) + import.loop(1);
  GenericSpec spec;
  spec.reduction.assign(rank, false);
  spec.resultType = conv.x.type;
  spec.resultDims = {conv.x.dims[0], import.number(conv.outPerGroup * conv.group)};
  spec.resultDims.append(conv.outputs);
  spec.inputs.push_back({phases, import.map(rank, exprs)});
  spec.body = [](BodyBuilder &, llvm::ArrayRef<Scalar> x, Scalar) { return x[0]; };
  return import.generic(spec);
}

void importConvTranspose(ImportContext &import, const Node &node) {
  TransposedConv conv = readOperands(import, node);
  readOutputSizes(import, node, conv);
  const std::optional<Tensor> bias = import.optionalInput(node, 2);
  const std::vector<Phase> phases = phasesOf(conv);
  const auto withBias = [&](const Tensor &y) {
    import.setOutput(node, 0, bias ? addChannelBias(import, y, *bias) : y);
  };
  if (import.savesMemory() && phases.size() > 1)
    return withBias(sumInOneOperator(import, conv));
  const bool isOne =
      conv.group == 1 && !phases.front().isEmpty() &&
      llvm::all_of(phases, [&](const Phase &phase) { return phase.taps == phases.front().taps; });
  const bool canJoin = canJoinPhases(import, conv, phases);
  const bool isAligned = llvm::all_of(llvm::seq<size_t>(0, conv.spatial),
                                      [&](size_t axis) { return conv.firstPhase(axis) == 0; });
  // An axis adds up to two dimensions to the sum (row and phase), and a tensor has at most 8.
  constexpr size_t kMaxAxes = 2;
  if (canJoin && isOne && isAligned && conv.spatial <= kMaxAxes)
    return withBias(sumInPhases(import, conv, phases));
  if (canJoin && paysToInterleave(conv, isOne))
    return import.setOutput(node, 0, interleavePhases(import, conv, phases, bias));
  Rows rows;
  for (size_t axis = 0; axis < conv.spatial; ++axis) {
    const int64_t stride = conv.windows.strides[axis], rest = conv.padLow[axis] % stride;
    rows.first.push_back(conv.firstRow(axis));
    rows.count.push_back(
        ceilDivDims(addDims(conv.outputs[axis], import.number(rest)), import.number(stride)));
  }
  const int64_t channels = conv.outPerGroup * conv.group;
  llvm::SmallVector<Tensor> results;
  if (isOne) {
    results.push_back(convolvePhases(import, conv, phases, rows));
    if (bias)
      results.back() =
          addChannelBias(import, results.back(),
                         concat(import, llvm::SmallVector<Tensor>(phases.size(), *bias), 0));
  }
  for (size_t i = 0; !isOne && i < phases.size(); ++i) {
    Dims dims{conv.x.dims[0], import.number(channels)};
    dims.append(rows.count);
    results.push_back(phases[i].isEmpty() ? broadcastTo(import, import.scalar(conv.x.type, 0), dims)
                                          : convolvePhases(import, conv, phases[i], rows));
    if (bias)
      results.back() = addChannelBias(import, results.back(), *bias);
  }
  Tensor y = concat(import, results, 1);
  import.setOutput(node, 0, phases.size() == 1 ? y : interleave(import, conv, y));
}

} // namespace

void addConvTransposeOperators(OperatorTable &table) {
  table["ConvTranspose"] = importConvTranspose;
}

} // namespace gantry::importer
