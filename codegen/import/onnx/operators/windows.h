// Windows: the spatial attributes that convolutions and pools share.
//
// A window slides over the spatial dimensions of a tensor [N, C, spatial...]. The attributes are
// read and checked here, and the result's spatial sizes are computed from them as the ONNX operator
// specification says (Conv, MaxPool). All functions fail by throwing ImportError.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// One entry per spatial axis in every list; lengths and steps in elements.
struct Windows {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  llvm::SmallVector<Dim> padLow, padHigh;
  Dims outputs; // Spatial sizes of the result.
  bool ceilMode = false;
  /// The number of input elements that a window spans: (kernel - 1) * dilation + 1.
  int64_t extent(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Reads the kernel's shape, strides, dilations, pads, auto_pad and ceil_mode, and computes the
/// result's sizes for an input with the dimensions `input`. `kernel` is the filter's spatial shape;
/// where it is empty, the attribute kernel_shape is needed.
Windows readWindows(const Node &node, llvm::ArrayRef<Dim> input, llvm::ArrayRef<int64_t> kernel);

/// The part of readWindows that ConvTranspose shares: kernel, strides and dilations.
void readKernelAttributes(const Node &node, size_t spatialRank, llvm::ArrayRef<int64_t> kernel,
                          Windows &windows);

/// The share of `total` padding elements that auto_pad puts before the data: SAME_UPPER puts an odd
/// element behind it, every other mode before it.
int64_t paddingBefore(llvm::StringRef autoPad, int64_t total);

} // namespace gantry::importer
