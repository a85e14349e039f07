// Implements windows.h: reads and checks the window attributes of convolutions and pools.
#include "codegen/import/onnx/operators/windows.h"

namespace gantry::importer {

namespace {

// Upper limits in elements, which keep the arithmetic on sizes far from an overflow.
constexpr int64_t kMaxAttribute = int64_t(1) << 31; // A kernel's size, stride, dilation or padding.
constexpr int64_t kMaxExtent = int64_t(1) << 40;    // Windows::extent().

// Appends the padding and the output size of one spatial axis to a Windows.
class AxisReader {
public:
  AxisReader(Windows &windows, size_t axis, Dim size)
      : windows_(windows), size_(size), stride_(number(windows.strides[axis])),
        extent_(windows.extent(axis)), strideValue_(windows.strides[axis]) {}

  // For auto_pad SAME: the result has ceil(size / stride) elements, which determines the padding.
  void addSame(const std::string &autoPad) {
    Dim out = ceilDivDims(size_, stride_);
    Dim total = addDims(subDims(mulDims(subDims(out, number(1)), stride_), size_), number(extent_));
    if (strideValue_ == 1)
      total = number(extent_ - 1);
    auto known = staticDim(total);
    if (!known)
      failUnsupported("auto_pad " + autoPad +
                      " over a dynamic dimension with a stride is not supported");
    const int64_t all = std::max<int64_t>(*known, 0);
    const int64_t low = paddingBefore(autoPad, all);
    windows_.padLow.push_back(number(low));
    windows_.padHigh.push_back(number(all - low));
    windows_.outputs.push_back(out);
  }

  void addPadded(int64_t low, int64_t high) {
    windows_.padLow.push_back(number(low));
    windows_.padHigh.push_back(number(high));
    Dim space = addDims(size_, number(low + high - extent_));
    if (auto known = staticDim(space); known && *known < 0)
      failBadInput("impossible shape: a window of " + llvm::Twine(extent_) + " does not fit " +
                   describeDims({size_}) + " with pads " + llvm::Twine(low) + " and " +
                   llvm::Twine(high));
    Dim out = addDims(
        windows_.ceilMode ? ceilDivDims(space, stride_) : floorDivDims(space, stride_), number(1));
    windows_.outputs.push_back(windows_.ceilMode ? withoutWindowInPadding(out, low, high) : out);
  }

private:
  // Returns the output size for ceil_mode, without a last window that would begin in the padding
  // after the data.
  Dim withoutWindowInPadding(Dim out, int64_t low, int64_t high) {
    Dim lastStart = mulDims(subDims(out, number(1)), stride_);
    Dim end = addDims(size_, number(low));
    if (staticDim(lastStart) && staticDim(end))
      return *staticDim(lastStart) >= *staticDim(end) ? subDims(out, number(1)) : out;
    if (strideValue_ > extent_ - high)
      failUnsupported("ceil_mode over a dynamic dimension with these pads is not supported");
    return out;
  }

  Dim number(int64_t value) const { return mlir::getAffineConstantExpr(value, size_.getContext()); }

  Windows &windows_;
  Dim size_, stride_;
  int64_t extent_, strideValue_;
};

} // namespace

llvm::SmallVector<int64_t> readPads(const Node &node, size_t rank) {
  auto pads = node.intsAttribute("pads").value_or(llvm::SmallVector<int64_t>(2 * rank, 0));
  if (pads.size() != 2 * rank)
    failBadInput("pads has " + llvm::Twine(pads.size()) + " entries; it needs " +
                 llvm::Twine(2 * rank));
  for (int64_t pad : pads)
    if (pad < 0 || pad > kMaxAttribute)
      failBadInput("pads has the value " + llvm::Twine(pad) + "; it must be from 0 to 2^31");
  return pads;
}

std::string readAutoPad(const Node &node) {
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  if (autoPad.empty())
    return "NOTSET";
  if (autoPad != "NOTSET" && autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER" &&
      autoPad != "VALID")
    failBadInput("auto_pad is \"" + autoPad +
                 "\"; it must be NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  return autoPad;
}

int64_t paddingBefore(llvm::StringRef autoPad, int64_t total) {
  return autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
}

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
      if (value < 1 || value > kMaxAttribute)
        failBadInput(llvm::Twine(name) + " has the value " + llvm::Twine(value) +
                     "; it must be from 1 to 2^31");
  };
  check(windows.kernel, "kernel_shape");
  check(windows.strides, "strides");
  check(windows.dilations, "dilations");
  for (size_t i = 0; i < spatialRank; ++i)
    if (windows.kernel[i] > 1 && windows.dilations[i] > kMaxExtent / windows.kernel[i])
      failBadInput("shape arithmetic overflows: a dilated kernel spans more than 2^40 elements");
}

Windows readWindows(const Node &node, llvm::ArrayRef<Dim> input, llvm::ArrayRef<int64_t> kernel) {
  const size_t rank = input.size() - 2;
  Windows windows;
  readKernelAttributes(node, rank, kernel, windows);
  windows.ceilMode = node.intAttribute("ceil_mode", 0) != 0;
  const std::string autoPad = readAutoPad(node);
  const llvm::SmallVector<int64_t> pads = readPads(node, rank);
  const bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER", valid = autoPad == "VALID";
  for (size_t i = 0; i < rank; ++i) {
    AxisReader axis(windows, i, input[2 + i]);
    if (same)
      axis.addSame(autoPad);
    else
      axis.addPadded(valid ? 0 : pads[i], valid ? 0 : pads[rank + i]);
  }
  return windows;
}

} // namespace gantry::importer
