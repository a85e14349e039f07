// Reference implementations of the operators as plain loops. main.cpp compares the outputs of the
// random kernels with them. All arithmetic is in double.
#pragma once

#include "tests/e2e/random_kernels/tensor.h"

#include <functional>

namespace gantry::test {

struct Convolution {
  std::vector<int64_t> strides, dilations, padLow, padHigh;
  int64_t groups = 1;
};

/// Convolves x [N, C, spatial...] with filter [M, C / groups, kernel...]; elements outside of x are
/// 0. If `samples` is not empty, returns only the elements of the result at these positions.
Tensor convolution(const Tensor &x, const Tensor &filter, const Convolution &how,
                   const std::vector<size_t> &samples);
/// The transposed convolution of x [N, C, spatial...] with filter [C, M / groups, kernel...]: each
/// element of x adds filter times itself to the result. outputPadding: elements that are added to
/// the end of each spatial dimension of the result.
Tensor transposedConvolution(const Tensor &x, const Tensor &filter, const Convolution &how,
                             const std::vector<int64_t> &outputPadding);
/// Returns NumPy's matmul of tensors of rank 2 or more.
Tensor matmul(const Tensor &a, const Tensor &b);
Tensor transposed(const Tensor &x, const std::vector<size_t> &permutation);
/// Applies f to the elements, with NumPy's broadcasting.
Tensor combined(const Tensor &a, const Tensor &b, const std::function<double(double, double)> &f);
Tensor mapped(const Tensor &x, const std::function<double(double)> &f);
/// Reduces the axes with f, starting from init. The reduced axes keep size 1.
Tensor reduced(const Tensor &x, const std::vector<int64_t> &axes, double init,
               const std::function<double(double, double)> &f);
/// Returns the softmax over the last axis.
Tensor softmax(const Tensor &x);

} // namespace gantry::test
