// Windows: the spatial attributes that convolutions and pools have in common.
//
// A window slides over the spatial dimensions of a tensor [N, C, spatial...]. The functions read
// and check the attributes and compute the result's spatial sizes, as the ONNX operator
// specification defines them (Conv, MaxPool). All functions fail by throwing ImportError
// (import_error.h). Thread safety: one thread at a time per MLIRContext.
#pragma once

#include "codegen/import/onnx/context.h"

namespace gantry::importer {

/// Every list has one entry per spatial axis, in elements.
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
/// if it is empty, the node must have the attribute kernel_shape.
Windows readWindows(const Node &node, llvm::ArrayRef<Dim> input, llvm::ArrayRef<int64_t> kernel);

/// Reads only the kernel's shape, strides and dilations, for ConvTranspose.
void readKernelAttributes(const Node &node, size_t spatialRank, llvm::ArrayRef<int64_t> kernel,
                          Windows &windows);

/// Reads the attribute pads: the padding before each spatial axis, then the padding after each.
/// Each is from 0 to 2^31.
llvm::SmallVector<int64_t> readPads(const Node &node, size_t spatialRank);

/// Reads auto_pad: NOTSET (also if it is empty or absent), SAME_UPPER, SAME_LOWER or VALID.
std::string readAutoPad(const Node &node);

/// Returns how many of `total` padding elements are before the data; the others are after it. If
/// the number is odd, SAME_UPPER has one more after the data, every other mode one more before it.
int64_t paddingBefore(llvm::StringRef autoPad, int64_t total);

} // namespace gantry::importer
